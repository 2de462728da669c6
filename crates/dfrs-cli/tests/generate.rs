//! `dfrs generate` as its user sees it: output, files, errors, exit code.

mod common;

use common::{Scratch, dfrs};

/// Standard output of what succeeds.
fn good(arguments: &[&str]) -> String {
    let (code, output, errors) = dfrs(arguments);
    assert_eq!((code, errors.as_str()), (0, ""), "{arguments:?}");
    output
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).expect("a file")
}

#[test]
fn generated_trace_has_requested_size_and_can_be_simulated() {
    let text = good(&["generate", "--jobs", "50", "--nodes", "16", "--seed", "3"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        (lines[0], lines.len()),
        ("id,submit,tasks,cpu,mem,runtime", 51)
    );
    for line in &lines[1..] {
        let fields: Vec<&str> = line.split(',').collect();
        let tasks: u32 = fields[2].parse().expect("a whole number");
        assert!((1..=16).contains(&tasks));
        assert!(
            fields[1].parse::<u64>().is_ok() && fields[5].parse::<u64>().is_ok(),
            "{line}"
        );
    }
    let scratch = Scratch::new("sim");
    let file = scratch.path("trace.csv");
    let again = [
        "generate", "--jobs", "50", "--nodes", "16", "--seed", "3", "--output", &file,
    ];
    assert_eq!(good(&again), "");
    assert_eq!(read(&file), text);
    let policy = [
        "--policy",
        "EASY",
        "--policy",
        "GreedyPM*/per/OPT=MIN/MINVT=600",
    ];
    let results = good(
        &[
            &["sim", &file, "--nodes", "16", "--format", "csv"],
            &policy[..],
        ]
        .concat(),
    );
    assert!(
        results.lines().skip(1).all(|line| line.contains(",50,")),
        "{results}"
    );
}

#[test]
fn count_numbers_the_files_by_seed() {
    let scratch = Scratch::new("count");
    let file = scratch.path("trace.swf");
    let options = [
        "generate",
        "--format",
        "swf",
        "--jobs",
        "9",
        "--job-types",
        "off",
        "--load",
        "0.5",
    ];
    good(
        &[
            &options[..],
            &["--seed", "7", "--count", "2", "--output", &file],
        ]
        .concat(),
    );
    for seed in ["7", "8"] {
        let one = good(&[&options[..], &["--seed", seed]].concat());
        assert_eq!(read(&scratch.path(&format!("trace-{seed}.swf"))), one);
        assert!(one.contains("; MaxProcs: 128\n"), "{one}");
        assert_eq!(one.lines().filter(|line| !line.starts_with(';')).count(), 9);
    }
}

#[test]
fn a_trace_is_annotated_and_brought_to_another_load() {
    let scratch = Scratch::new("from");
    let file = scratch.path("trace.swf");
    good(&[
        "generate", "--format", "swf", "--seed", "5", "--output", &file,
    ]);
    assert_eq!(
        good(&["generate", "--from", &file, "--annotate", "--seed", "5"]),
        good(&["generate", "--seed", "5"])
    );
    let pairs = good(&["generate", "--from", &file, "--model", "hpc2n"]);
    let needs = || {
        pairs
            .lines()
            .skip(1)
            .filter_map(|line| line.split(',').nth(3))
    };
    assert!(needs().all(|need| matches!(need, "1" | "0.5")), "{pairs}");
    assert!(needs().any(|need| need == "0.5"), "{pairs}");
    let bare = good(&["generate", "--from", &file, "--load", "0.2"]);
    assert!(
        bare.lines()
            .skip(1)
            .all(|line| line.split(',').nth(4) == Some("0"))
    );
}

#[test]
fn time_limits_of_the_trace_are_kept() {
    let scratch = Scratch::new("limits");
    let file = scratch.path("trace.swf");
    let job =
        |id: u32, limit: &str| format!("{id} 0 0 10 1 -1 -1 1 {limit} -1 1 1 1 -1 -1 -1 -1 -1\n");
    let text: String = [job(1, "60"), job(2, "-1"), job(3, "x")].concat();
    std::fs::write(&file, text).expect("a file");
    let (code, output, errors) = dfrs(&["generate", "--from", &file]);
    assert_eq!(code, 0, "{errors}");
    assert_eq!(
        output,
        "id,submit,tasks,cpu,mem,runtime,limit\n1,0,1,1,0,10,60\n2,0,1,1,0,10,\n3,0,1,1,0,10,\n"
    );
    assert!(
        errors.contains("note: time limits that make no sense, taken as unknown: 1"),
        "{errors}"
    );
}

#[test]
fn errors_are_one_line_and_code_2() {
    let scratch = Scratch::new("errors");
    let fails = |arguments: &[&str], words: &str| {
        let (code, output, errors) = dfrs(&[&["generate"], arguments].concat());
        assert_eq!((code, output.as_str()), (2, ""), "{errors}");
        assert!(errors.contains(words), "{errors}");
        errors.lines().count()
    };
    assert_eq!(fails(&["--load", "0"], "above 0"), 1);
    assert_eq!(fails(&["--load", "0.0000001"], "use a higher load"), 1);
    assert_eq!(
        fails(&["--jobs", "1", "--load", "0.5"], "no load to change"),
        1
    );
    assert_eq!(fails(&["--count", "2"], "give --output"), 1);
    let last = u64::MAX.to_string();
    let file = scratch.path("trace");
    assert_eq!(
        fails(
            &["--seed", &last, "--count", "2", "--output", &file],
            "smaller --seed"
        ),
        1
    );
    assert_eq!(
        fails(
            &["--output", "/nowhere/trace.csv"],
            "/nowhere/trace.csv: cannot be written"
        ),
        1
    );
    assert_eq!(
        fails(&["--from", "/nowhere"], "/nowhere: cannot be opened"),
        1
    );
    assert_eq!(
        fails(&["--from", "/nowhere", "--format", "swf"], "writes CSV"),
        1
    );
    assert_eq!(fails(&["--jobs", "0"], "--jobs"), 1);
    assert_eq!(fails(&["--nodes", "0"], "--nodes"), 1);
    fails(&["--from", "/nowhere", "--jobs", "5"], "cannot be used");
    fails(&["--model", "hpc2n"], "--from");
    let csv = scratch.path("trace.csv");
    good(&["generate", "--jobs", "5", "--output", &csv]);
    assert_eq!(fails(&["--from", &csv, "--load", "0.5"], "give --nodes"), 1);
}
