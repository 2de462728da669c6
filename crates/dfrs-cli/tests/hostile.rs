//! Hostile files: each is one clear error (or a right result), in bounded time and memory.
#![cfg(unix)]

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use common::{Scratch, outcome};

/// Address space that dfrs may use, in KiB.
const MEMORY_KIB: u32 = 1 << 20;

/// Seconds after which it hangs.
const TIMEOUT_SECONDS: u32 = 120;

const JOB: &str = "7 10 0 100 4 -1 -1 8 600 -1 1 1 1 -1 -1 -1 -1 -1\n";
const PLATFORM: &str = "{\"t\":0,\"event\":\"platform\",\"version\":1,\"policy\":\"FCFS\",\"nodes\":[{\"name\":\"n\",\"cpu\":1,\"mem\":1}]}\n";

/// A directory with a file.
struct Hostile(Scratch);

impl Hostile {
    fn new(test: &str) -> Self {
        Self(Scratch::new(test))
    }

    fn file(&self, content: &[u8]) {
        self.0.file("file", content);
    }

    /// Runs a line of shell with little memory, `$dfrs` being the program: code, output, errors.
    fn shell(&self, line: &str) -> (i32, String, String) {
        let line = format!("ulimit -v {MEMORY_KIB}; exec timeout {TIMEOUT_SECONDS} {line}");
        let mut bash = Command::new("bash");
        bash.args(["-c", &line]);
        bash.env("dfrs", env!("CARGO_BIN_EXE_dfrs"));
        outcome(bash.current_dir(self.0.directory()).stdin(Stdio::null()))
    }

    fn sim(&self, file: &str) -> (i32, String, String) {
        self.shell(&format!("$dfrs sim {file} --nodes 8 --policy FCFS --policy 'GreedyPM*/per/OPT=MIN/MINVT=600' --format csv"))
    }

    /// The error of `dfrs sim` and `dfrs check` alike.
    fn refused(&self, file: &str, words: &str) {
        for (code, output, errors) in [self.sim(file), self.shell(&format!("$dfrs check {file}"))] {
            assert_eq!((code, output.as_str()), (2, ""), "{errors}");
            assert!(errors.contains(words) && errors.contains(file), "{errors}");
            is_one_line(&errors);
        }
    }
}

fn is_one_line(errors: &str) {
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.len() < 1500, "{} bytes", errors.len());
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut child = Command::new("gzip")
        .args(["-9", "-c"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("gzip runs");
    let mut input = child.stdin.take().expect("a pipe");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(bytes).expect("gzip reads"));
        child.wait_with_output().expect("gzip ends")
    });
    output.stdout
}

#[test]
fn special_file_is_refused() {
    let scratch = Hostile::new("no-file");
    scratch.refused("nothing", "No such file");
    scratch.refused("/", "it is a directory");
    scratch.refused("/dev/zero", "it is no regular file");
    scratch.refused("/dev/tty", "");
    assert!(
        Command::new("mkfifo")
            .arg(scratch.0.path("fifo"))
            .status()
            .is_ok_and(|status| status.success())
    );
    scratch.refused("./fifo", "it is no regular file");
    std::os::unix::fs::symlink("fifo", scratch.0.path("link")).expect("a link");
    scratch.refused("./link", "it is no regular file");
    std::os::unix::fs::symlink("loop", scratch.0.path("loop")).expect("a link");
    scratch.refused("./loop", "cannot be");
    scratch.file(JOB.as_bytes());
    let locked = std::os::unix::fs::PermissionsExt::from_mode(0o0);
    std::fs::set_permissions(scratch.0.path("file"), locked).expect("a file of ours");
    if std::fs::read(scratch.0.path("file")).is_err() {
        scratch.refused("file", "ermission denied"); // root may read it
    }
}

#[test]
fn trace_is_read_from_a_pipe() {
    let scratch = Hostile::new("pipe");
    scratch.file(JOB.as_bytes());
    for (file, line) in [
        ("/dev/stdin", "$dfrs sim /dev/stdin < <(cat file)"),
        ("", "$dfrs sim <(cat file)"),
    ] {
        let (code, output, errors) =
            scratch.shell(&format!("{line} --nodes 8 --policy FCFS --format csv"));
        assert_eq!((code, errors.as_str()), (0, ""), "{file}");
        assert!(output.contains("\nFCFS,1,"), "{output}");
    }
}

#[test]
fn a_dump_is_read_from_a_pipe() {
    let scratch = Hostile::new("pipe-dump");
    scratch.file(
        b"JobID|Submit|Start|End|NNodes|NCPUS|ReqMem|AllocTRES|TotalCPU|Timelimit|State\n\
          1|1000|1010|1100|1|1|1G||00:10.000|00:05:00|COMPLETED\n",
    );
    let site = "--nodes 8 --cpus-per-node 4 --memory-per-node 4G";
    for content in ["cat file", "gzip -c file"] {
        let (code, output, errors) = scratch.shell(&format!(
            "$dfrs sim /dev/stdin {site} --policy FCFS --format csv < <({content})"
        ));
        assert_eq!((code, errors.as_str()), (0, ""), "{content}");
        assert!(output.contains("\nFCFS,1,"), "{output}");
    }
    let (code, _, errors) = scratch.shell("$dfrs generate --from file");
    assert_eq!(code, 2);
    assert!(
        errors.contains("file: is a dump of sacct, no trace;"),
        "{errors}"
    );
    is_one_line(&errors);
}

#[test]
fn foreign_format_is_named_in_the_error() {
    let scratch = Hostile::new("foreign");
    let utf16: Vec<u8> = format!("\u{feff}{JOB}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (content, what) in [
        (&b"\xfd7zXZ\0\0\x04,|"[..], "it is compressed with xz"),
        (b"BZh91AY&SY,|", "it is compressed with bzip2"),
        (b"\x28\xb5\x2f\xfd,|", "it is compressed with zstd"),
        (b"PK\x03\x04,|", "it is a zip archive"),
        (&utf16, "it is UTF-16"),
    ] {
        scratch.file(content);
        let site = "--cpus-per-node 4 --memory-per-node 4G";
        for command in ["sim file --policy FCFS", &format!("replay file {site}")] {
            let (code, _, errors) = scratch.shell(&format!("$dfrs {command} --nodes 8"));
            let expected =
                format!("file: {what}; make it UTF-8 text, plain or compressed with gzip\n");
            assert_eq!((code, errors), (2, expected), "{command}");
        }
    }
    for content in [
        "id;submit;tasks;cpu;mem;runtime\n1;0;1;1;1;5\n",
        "1\t0\t1\t1\t1\t5\n",
    ] {
        scratch.file(content.as_bytes());
        let (code, _, errors) = scratch.sim("file");
        assert_eq!(code, 2);
        assert!(
            errors.contains("expected is SWF, or CSV with commas between the columns id,"),
            "{errors}"
        );
        is_one_line(&errors);
    }
}

#[test]
fn file_without_valid_line_is_refused() {
    let scratch = Hostile::new("senseless");
    scratch.file(b"");
    let (code, _, errors) = scratch.sim("file");
    assert_eq!(
        (code, errors.as_str()),
        (
            2,
            "file: is empty; expected is SWF, or CSV with commas between the columns id,submit,tasks,cpu,mem,runtime, plain or compressed with gzip, or a dump of sacct --parsable2 with its header (docs/replay.md)\n"
        )
    );
    scratch.refused("file", "");
    for content in [
        &b"\n\n \n"[..],
        b"\0",
        b"\0\0\0\n\0",
        b"\xff\xfe;\0 \0\n\0",
        b"\xef\xbb\xbf",
        b"\x1f\x8b",
        &[0x80; 5000],
        "x".repeat(200_000).as_bytes(),
    ] {
        scratch.file(content);
        scratch.refused("file", "");
    }
}

#[test]
fn crlf_and_byte_order_mark_are_accepted() {
    let scratch = Hostile::new("marks");
    scratch.file(JOB.as_bytes());
    let plain = scratch.sim("file").1;
    let fields = |output: &str| -> Vec<String> {
        output
            .lines()
            .map(|line| line.split(',').take(12).collect::<Vec<_>>().join(","))
            .collect()
    };
    scratch.file(format!("\u{feff}; MaxProcs: 8\r\n{}\r\n", JOB.trim_end()).as_bytes());
    let (code, output, _) = scratch.sim("file");
    assert_eq!((code, fields(&output)), (0, fields(&plain)));
}

#[test]
fn gzip_bomb_and_damaged_archive_are_bounded() {
    let scratch = Hostile::new("gzip");
    let whole = gzip(JOB.repeat(100).as_bytes());
    scratch.file(&whole[..whole.len() - 9]);
    let (code, _, errors) = scratch.sim("file");
    assert_eq!(code, 2);
    assert!(errors.contains("is the file whole?"), "{errors}");
    is_one_line(&errors);
    scratch.file(&gzip(&vec![0; 1 << 30]));
    let (code, _, errors) = scratch.sim("file");
    assert_eq!(code, 2);
    assert!(
        errors.contains("line 1: cannot be read: the line is longer than 65536 bytes"),
        "{errors}"
    );
    is_one_line(&errors);
    scratch.file(&gzip(JOB.repeat(1 << 18).as_bytes()));
    let (code, output, errors) = scratch.sim("file");
    assert_eq!(code, 0, "{errors}");
    assert!(output.contains("\nFCFS,1,"), "{output}");
    assert_eq!(errors.lines().count(), 22, "{errors}"); // 20 lines, their number, the memory of SWF
}

#[test]
fn huge_numbers_are_refused_or_bounded() {
    let scratch = Hostile::new("numbers");
    let digits = "9".repeat(10_000);
    for (line, words) in [
        ("; MaxProcs: 1000000000\n".to_owned(), ""),
        (
            JOB.replace(" 4 ", " 1000000000 "),
            "are 1000000000, allowed are 1 to 1048576",
        ),
        (
            JOB.replace(" 100 ", &format!(" {digits} ")),
            "the run time (field 4) is \"9999",
        ),
        (
            JOB.replace("7 10 ", "7 1e308 "),
            "the submit time (field 2) is \"1e308\"",
        ),
        (
            JOB.replace("7 10 ", "7 -5 "),
            "the submit time (field 2) is \"-5\"",
        ),
    ] {
        scratch.file(format!("{}{line}", JOB.replacen('7', "6", 1)).as_bytes());
        let (code, output, errors) = scratch.sim("file");
        assert!(
            code == 0 && output.contains("\nFCFS,1,"),
            "{output}{errors}"
        );
        assert!(errors.contains(words), "{errors}");
    }
    for nodes in ["1000000000", "18446744073709551616", "-1", "NaN"] {
        let (code, _, errors) =
            scratch.shell(&format!("$dfrs sim file --nodes {nodes} --policy FCFS"));
        assert_eq!(code, 2);
        is_one_line(&errors);
    }
    // The longest times that a trace may name, on the most nodes that it may have.
    scratch.file(b"a,4294967296,1,1,0.1,4294967296\nb,0,1048576,0.001,0,4294967296\nc,0,1,1,1,0\n");
    let (code, output, errors) = scratch.shell(
        "$dfrs sim file --nodes 1000000 --policy EASY --policy 'Greedy*/OPT=MIN' --format csv",
    );
    assert_eq!(code, 0, "{errors}");
    assert_eq!(output.lines().count(), 3, "{output}");
}

#[test]
fn hostile_journal_is_one_line_error() {
    let scratch = Hostile::new("journal");
    let fails = |content: String, words: &str| {
        scratch.file(content.as_bytes());
        let (code, output, errors) = scratch.shell("$dfrs check file");
        assert!(code == 1 || code == 2, "{code} {errors}");
        assert_eq!(output, "");
        assert!(errors.contains(words), "{errors}");
        is_one_line(&errors);
    };
    let event = |t: &str, rest: &str| {
        format!(
            "{PLATFORM}{{\"t\":{t},{rest}}}
"
        )
    };
    let submit = |tasks: &str, cpu: &str| {
        event(
            "1",
            &format!(
                "\"event\":\"submit\",\"job\":\"a\",\"tasks\":{tasks},\"cpu\":{cpu},\"mem\":0"
            ),
        )
    };
    let digits = "9".repeat(10_000);
    fails(submit("1", &digits), "number out of range");
    fails(submit("1", "1e309"), "number out of range");
    fails(submit("1", "NaN"), "file:2: is no JSON object");
    fails(submit("1000000000000", "1"), "file:2: is no event");
    fails(submit("-1", "1"), "file:2: is no event");
    fails(
        event("1e300", "\"event\":\"pause\",\"job\":\"a\""),
        "out of range",
    );
    fails(
        event(
            "1",
            &format!("\"event\":\"pause\",\"job\":\"{}\"", "x".repeat(100_000)),
        ),
        "too long",
    );
    fails(
        event("1", "\"event\":\"pause\",\"job\":\"a\\nb\""),
        "not printable",
    );
    fails(
        event(
            "1",
            &format!("\"event\":\"start\",\"job\":{digits},\"nodes\":[]"),
        ),
        "file:2: ",
    );
    fails(
        event(
            "1",
            "\"event\":\"start\",\"job\":\"a\",\"nodes\":[4294967295]",
        ),
        "file:2: ",
    );
    fails(
        format!(
            "{{\"t\":0,\"event\":\"pause\",\"job\":\"a\",\"x\":{}0{}}}\n",
            "[".repeat(100_000),
            "]".repeat(100_000)
        ),
        "recursion limit",
    );
    fails(
        format!("{{{}", "x".repeat(65 << 20)),
        "file:1: is no JSON object",
    );
    fails(
        format!("{{\"event\":\"{}\"}}\n", "x".repeat(100_000)),
        "file:1: is no event",
    );
    scratch.file(format!("{PLATFORM}{{\"t\":1,\"event\"").as_bytes());
    assert_eq!(scratch.shell("$dfrs check file").0, 0); // it is still being written
}

#[test]
fn hostile_configuration_is_one_line_error() {
    let scratch = Hostile::new("conf");
    let fails = |content: &str, words: &str| {
        scratch.file(content.as_bytes());
        let (code, output, errors) = scratch.shell("$dfrs check file");
        assert_eq!((code, output.as_str()), (2, ""));
        assert!(errors.contains(words), "{errors}");
        is_one_line(&errors);
    };
    let long = "x".repeat(500_000);
    fails(&format!("{long}=1\n"), "unknown key");
    fails(&long, "without blanks around '='");
    fails(&format!("Mode={long}\n"), "is not known");
    fails(
        &format!("Policy={long}\nPartition=a\n"),
        "a policy's name of 500000 bytes",
    );
    fails(
        &format!("Partition=a\nPeriod={}\n", "9".repeat(10_000)),
        "allowed: whole seconds",
    );
    fails(
        &format!("Partition={long} Mobility=x\n"),
        "Mobility=x is not known",
    );
    fails(&"Partition=a \\\n".repeat(50_000), "");
    fails("Partition=a\u{85}b\u{7}\"\n", "");
    fails(&long.repeat(3), "too long for a dfrs.conf");
    let many: String = (0..60_000)
        .map(|number| format!("Partition=p{number}\n"))
        .collect();
    scratch.file(many.as_bytes());
    let (code, output, errors) = scratch.shell("$dfrs check file");
    assert_eq!(code, 0, "{}", &errors[..errors.len().min(300)]);
    assert!(
        output.starts_with("file: dfrs.conf is right"),
        "{}",
        &output[..100]
    );
}

#[test]
fn slurm_conf_of_any_size_is_judged_or_refused() {
    let scratch = Hostile::new("slurm-conf");
    let many = |count: usize, line: &str| line.repeat(count);
    let everything: String = (0..999)
        .map(|it| format!("PartitionName=p{it} Nodes=ALL\n"))
        .collect();
    for (text, words) in [
        (
            "NodeName=n[0-2999]\n".to_owned() + &everything,
            "more than 2097152 nodes",
        ),
        (
            "NodeName=n[0-9999999999]\n".to_owned(),
            "more than 65536 numbers",
        ),
        (
            many(40_000, "Include file\n") + "ClusterName=c\n",
            "it includes itself",
        ),
        (many(100_000, "ClusterName=c \\\n"), "no partition"),
        (many(100_000, "Fnord=1\nClusterName=c\n"), "Fnord (file:1)"),
        (many(2_000_000, "NodeName"), "no line of slurm.conf"),
    ] {
        scratch.file(text.as_bytes());
        let (code, output, errors) = scratch.shell("$dfrs doctor --slurm-conf file");
        assert!(
            (1..=2).contains(&code) && errors.is_empty(),
            "{code} {errors}"
        );
        assert!(
            output.contains(words),
            "no {words:?} in {}",
            &output[..output.len().min(999)]
        );
    }
    let (code, output, errors) = scratch.shell("$dfrs doctor --slurm-conf /dev/zero");
    assert_eq!((code, errors.as_str()), (2, ""));
    assert!(output.contains("no slurm.conf"), "{output}");
}
