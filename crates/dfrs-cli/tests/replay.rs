//! `dfrs replay` as a site's admin runs it.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::Scratch;

/// Hand-written, with everything odd that sacct prints.
const ODD: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../dfrs-sim/tests/data/sacct.txt"
);

const SITE: [&str; 6] = [
    "--nodes",
    "4",
    "--cpus-per-node",
    "8",
    "--memory-per-node",
    "16G",
];

const HEADER: &str = "JobID|Submit|Start|End|NNodes|NCPUS|ReqMem|MaxRSS|TotalCPU|Timelimit|State";

fn dfrs(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_dfrs");
    Command::new(program)
        .args(arguments)
        .output()
        .expect("dfrs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn replays(arguments: &[&str]) -> (String, String) {
    let output = dfrs(&[&["replay"], arguments].concat());
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    (text(&output.stdout), errors)
}

fn fails(arguments: &[&str], words: &str) {
    let output = dfrs(&[&["replay"], arguments].concat());
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        output.stdout.is_empty() && errors.contains(words),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 1, "{errors}");
}

/// The cells of the line that begins with this name.
fn line<'a>(output: &'a str, name: &str) -> Vec<&'a str> {
    let found = output
        .lines()
        .find(|line| line.starts_with(&format!("{name}  ")));
    let found = found.unwrap_or_else(|| panic!("no line {name} in {output}"));
    found
        .split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect()
}

#[test]
fn dump_is_replayed_to_table_and_page() {
    let scratch = Scratch::new("page");
    let page = scratch.path("page.html");
    let (output, errors) = replays(&[&[ODD][..], &SITE, &["--output", &page]].concat());
    assert!(
        output.contains("of jobs are on one node and have no GPUs, with"),
        "{output}"
    );
    assert!(
        output.contains("9 jobs on 4 nodes, submitted from 2026-10-01 00:00"),
        "{output}"
    );
    for name in [
        "as it was",
        "EASY",
        "EASY/shared",
        "GreedyPMCR*/move-per/OPT=VT/MINVT=600",
    ] {
        assert_eq!(line(&output, name).len(), 8, "{output}");
    }
    for message in [
        "line 28: ReqMem is \"lots\"",
        "left out, malformed lines: 7",
        "left out, jobs that had not ended: 8",
        "left out, jobs that ended before they started: 2",
        "left out, steps whose job is not in the dump: 1",
    ] {
        assert!(errors.contains(message), "{message} in {errors}");
    }
    let html = fs::read_to_string(&page).expect("a page");
    for part in [
        "<h2 id=\"s1\">In short",
        "Better off and worse off",
        "The machine over time",
        "What it takes",
        "What this page rests on",
        "1 of 9 jobs are later runs of the same job",
        "2 of 9 jobs are components of heterogeneous jobs",
        "100.0% of jobs can be parked",
        "<td class=\"words\">jobs that had not ended</td><td class=\"number\">8</td>",
        "16.0 GiB of memory",
    ] {
        assert!(html.contains(part), "{part} is not on the page");
    }
    assert!(
        !html.contains("<script") && !html.contains("cancelled while it ran"),
        "names of jobs"
    );
    let again = scratch.path("again.html");
    replays(&[&[ODD][..], &SITE, &["--output", &again]].concat());
    let without_times = |path: &str| {
        let html = fs::read_to_string(Path::new(path)).expect("a page");
        let lines = html.lines().filter(|line| !line.contains(" ms</td>"));
        lines.map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(without_times(&page), without_times(&again));
}

#[test]
fn as_it_was_has_the_waits_of_the_dump() {
    let scratch = Scratch::new("was");
    // One node, two jobs, the second waited for 1000 s although it would have fitted beside the first.
    let dump = scratch.file(
        "dump",
        &format!(
            "{HEADER}|AllocTRES\n1|1000|1000|2000|1|1|1G||16:40|01:00:00|COMPLETED|\n2|1000|2000|2100|1|1|1G||01:40|01:00:00|COMPLETED|\n"
        ),
    );
    let site = [
        "--nodes",
        "1",
        "--cpus-per-node",
        "2",
        "--memory-per-node",
        "4096",
    ];
    let (output, errors) = replays(&[&[dump.as_str()][..], &site].concat());
    let was = line(&output, "as it was");
    assert_eq!(
        was[1..6],
        ["8 min 20 s", "17 min", "8 min 20 s", "6.00", "11.0"],
        "{output}"
    );
    for better in ["EASY", "GreedyPMCR*/move-per/OPT=VT/MINVT=600"] {
        assert_eq!(
            line(&output, better)[1..6],
            ["0 s", "0 s", "0 s", "1.00", "1.0"],
            "{output}"
        );
    }
    assert!(
        output.contains("50.0% of jobs are done more than a minute sooner"),
        "{output}"
    );
    assert!(output.contains("0.0% more than a minute later"), "{output}");
    assert_eq!(errors, "");
    let both = fs::read_to_string(&dump)
        .expect("the dump")
        .replace("|2000|2100|", "|1000|2100|");
    let both = scratch.file("both", &both);
    let site = [
        "--nodes",
        "1",
        "--cpus-per-node",
        "1",
        "--memory-per-node",
        "4096",
    ];
    let (_, errors) = replays(&[&[both.as_str()][..], &site].concat());
    assert!(
        errors.contains("note: Jobs had up to 2 CPUs at one time, and 1 nodes of 1 CPUs have 1"),
        "{errors}"
    );
}

/// A dump of three jobs of an hour on 4 CPUs, of which these have all GPUs of their node.
fn with_gpus(which: &[u32]) -> String {
    let job = |id: u32| {
        let gpus = if which.contains(&id) {
            ",gres/gpu:a=4,gres/gpu=4"
        } else {
            ""
        };
        format!("{id}|1000|1000|4600|1|4|1G||04:00:00|02:00:00|COMPLETED|cpu=4,mem=1G{gpus}\n")
    };
    let jobs: String = (1..=3).map(job).collect();
    format!("{HEADER}|AllocTRES\n{jobs}")
}

#[test]
fn jobs_with_gpus_are_left_out_and_counted() {
    let scratch = Scratch::new("gpus");
    let dump = scratch.file("one", &with_gpus(&[2]));
    let page = scratch.path("page.html");
    let summary = "eft out of the jobs that ran and ended: 1 of 3, with 33.3% of their core-hours (jobs that had GPUs or other devices: 1)";
    let (output, errors) = replays(&[&[&dump[..], "--output", &page][..], &SITE].concat());
    assert!(
        output.contains(summary) && errors.contains(summary),
        "{output}{errors}"
    );
    assert!(output.contains("2 jobs on 4 nodes"), "{output}");
    assert!(
        errors.contains("one: line 3: job 2 had gres/gpu=4\n"),
        "{errors}"
    );
    let html = fs::read_to_string(&page).expect("a page");
    assert!(html.contains(summary), "{html}");
    let sim = ["sim", &dump, "--policy", "EASY"];
    let simulated = dfrs(&[&sim[..], &SITE].concat());
    assert!(text(&simulated.stderr).contains(summary));
    let (output, errors) = replays(&[&[&dump[..], "--keep-gres"][..], &SITE].concat());
    let kept = "1 of 3 jobs had GPUs or other devices, which count for nothing here";
    assert!(
        output.contains(kept) && errors.contains(kept),
        "{output}{errors}"
    );
    fails(
        &[&[&dump[..], "--strict"][..], &SITE].concat(),
        "line 3: job 2 had gres/gpu=4, which is not simulated; for GPUs give --gpus-per-node, leave out --strict",
    );
    let dump = scratch.file("all", &with_gpus(&[1, 2, 3]));
    fails(
        &[&[&dump[..]][..], &SITE].concat(),
        "no job is left: all had GPUs or other devices (line 2: job 1 had gres/gpu=4)",
    );
}

#[test]
fn jobs_with_gpus_wait_for_gpus_where_nodes_have_some() {
    let scratch = Scratch::new("gpu-nodes");
    let dump = scratch.file("three", &with_gpus(&[1, 2, 3]));
    let waits = |gpu_nodes: &str| {
        let gpus = ["--gpus-per-node", "4", "--gpu-nodes", gpu_nodes];
        let (output, errors) = replays(&[&[&dump[..]][..], &SITE, &gpus].concat());
        let said = "3 of 3 jobs had GPUs, which nothing shares";
        assert!(errors.contains(said), "{errors}");
        assert!(output.contains("3 jobs on 4 nodes"), "{output}");
        let of = |begin: &str| {
            let line = output.lines().find(|line| line.starts_with(begin));
            line.expect("a scheduler").to_owned()
        };
        [of("EASY/shared"), of("Greedy")]
    };
    let (enough, too_few) = (waits("3"), waits("1"));
    for (enough, too_few) in enough.iter().zip(&too_few) {
        assert_ne!(enough, too_few);
    }
    let gpus = ["--gpus-per-node", "2"];
    fails(
        &[&[&dump[..], "--strict"][..], &SITE, &gpus].concat(),
        "job 1 had 4 GPUs on 1 nodes, a node has 2 (--gpus-per-node)",
    );
    fails(
        &[&[&dump[..]][..], &SITE, &gpus, &["--gpu-nodes", "5"]].concat(),
        "--gpu-nodes is 5, and there are 4 nodes",
    );
}

/// On nodes of 8 CPUs jobs 1 and 2 have 4 each for an hour, and job 3 all of a node for half an hour.
const LOG: &str = "\
1|1000|1000|4600|1|4|1G||04:00:00|02:00:00|COMPLETED
2|1000|1000|4600|1|4|1G||04:00:00|02:00:00|COMPLETED
3|1000|2800|4600|1|8|1G||04:00:00|02:00:00|COMPLETED
";

#[test]
fn jobs_run_beside_those_of_a_log_as_they_ran() {
    let scratch = Scratch::new("beside");
    let log = scratch.file("log", &format!("{HEADER}\n{LOG}"));
    let header = "id,submit,tasks,cpu,mem,runtime\n";
    let own = scratch.file(
        "own",
        &format!("{header}a,0,1,0.5,0.1,600\nb,10,1,1,0.1,1200\n"),
    );
    let site = [&["--nodes", "2"][..], &SITE[2..]].concat();
    let (output, errors) = replays(&[&[&log[..], "--beside", &own][..], &site].concat());
    let held = "3 jobs on 2 nodes, as they ran, held 75.0% of all CPU; 4.0 core-hours were idle. \
        The jobs beside them use 3.3.";
    assert!(output.contains(held), "{output}");
    let row: Vec<&str> = output
        .lines()
        .last()
        .expect("a row")
        .split_whitespace()
        .collect();
    assert_eq!(row[row.len() - 2..], ["0.7500", "0.9583"], "{output}");
    assert!(
        errors.contains("its jobs come at other times than those of"),
        "{errors}"
    );
    let (output, _) = replays(
        &[
            &[&log[..], "--beside", &own, "--nodes", "1"][..],
            &SITE[2..],
        ]
        .concat(),
    );
    assert!(
        output.contains(" 1 of the jobs as they ran had no room"),
        "{output}"
    );
    let (_, errors) = replays(&[&[&log[..], "--beside", &log][..], &site].concat());
    assert!(!errors.contains("other times"), "{errors}");
    let beside = |log: &str, more: &[&str], words: &str| {
        fails(&[&[log, "--beside", &own][..], more].concat(), words);
    };
    beside(
        &own,
        &["--nodes", "2"],
        "does not say when its jobs started and ended",
    );
    let two = ["--policy", "default", "--policy", "EASY"];
    beside(
        &log,
        &[&site[..], &two].concat(),
        "--beside is for policies of DFRS, and EASY",
    );
    fails(
        &[&[&log[..], "--beside", "/no/such"][..], &site].concat(),
        "/no/such",
    );
}

#[test]
fn sim_takes_a_trace_beside_a_dump() {
    let scratch = Scratch::new("sim-beside");
    let log = scratch.file("log", &format!("{HEADER}\n{LOG}"));
    let header = "id,submit,tasks,cpu,mem,runtime\n";
    let own = scratch.file("own", &format!("{header}a,1000,1,0.5,0.1,600\n"));
    let site = [&["--nodes", "2"][..], &SITE[2..]].concat();
    let sim = |one: &str, other: &str| {
        let files = ["sim", one, "--beside", other, "--policy", "default"];
        dfrs(&[&files[..], &site].concat())
    };
    for (one, other) in [(&own, &log), (&log, &own)] {
        let output = sim(one, other);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let output = sim(&own, &own);
    assert_eq!(output.status.code(), Some(2));
    let errors = text(&output.stderr);
    assert!(errors.contains("leave out --cpus-per-node"), "{errors}");
}

#[test]
fn unsimulated_behaviour_is_listed_with_the_results() {
    let scratch = Scratch::new("not-simulated");
    let run = |id: u32, used: &str, memory: &str, tres: &str| {
        format!("{id}|1000|1000|4600|1|1|1G|{memory}|{used}|04:00:00|COMPLETED|{tres}\n")
    };
    let jobs = run(1, "04:00:00", "500M", "cpu=1")
        + &run(2, "01:00:00", "2G", "cpu=1")
        + &run(3, "01:00:00", "500M", "cpu=1,license/solver=1");
    let dump = scratch.file("dump", &format!("{HEADER}|AllocTRES\n{jobs}"));
    let page = scratch.path("page.html");
    let (output, errors) = replays(&[&[&dump[..], "--output", &page][..], &SITE].concat());
    let html = fs::read_to_string(&page).expect("a page");
    // Under caps the first runs for four hours.
    let dfrs = line(&output, "GreedyPMCR*/move-per/OPT=VT/MINVT=600");
    assert_eq!((dfrs[3], dfrs[5]), ("1 h", "4.0"), "{output}");
    assert_eq!(line(&output, "EASY/shared")[3], "0 s", "{output}");
    assert!(
        output.contains("33.3% more than a minute later"),
        "{output}"
    );
    for words in [
        "1 of 3 jobs used more CPU time than their CPUs have, up to 400% of it, 3.0 core-hours beyond",
        "1 of 3 jobs had more memory than they asked for",
        "1 of 3 jobs had licences or burst buffers",
    ] {
        for place in [&output, &errors, &html] {
            assert!(place.contains(words), "{words} in {place}");
        }
    }
    let dump = scratch.file(
        "plain",
        &format!("{HEADER}\n{}", run(1, "", "", "").replace("|\n", "\n")),
    );
    let (output, _) = replays(&[&[&dump[..]][..], &SITE].concat());
    assert!(
        output.contains("does not say whether jobs had GPUs"),
        "{output}"
    );
}

#[test]
fn cpu_and_memory_are_measured_or_requested() {
    let scratch = Scratch::new("rules");
    // Two jobs that request all memory of a node, and each use a quarter of its CPU and memory.
    let job = |id: u32| {
        format!(
            "{id}|1000|1000|2000|1|4|4G||16:40|01:00:00|COMPLETED\n{id}.batch|1000|1000|2000|1|4||1G|16:40||COMPLETED\n"
        )
    };
    let dump = scratch.file("dump", &format!("{HEADER}\n{}{}", job(1), job(2)));
    let site = [
        "--nodes",
        "1",
        "--cpus-per-node",
        "4",
        "--memory-per-node",
        "4G",
    ];
    let lost = |options: &[&str]| {
        let (output, _) = replays(&[&[dump.as_str()][..], &site, options].concat());
        line(&output, "GreedyPMCR*/move-per/OPT=VT/MINVT=600")[3].to_owned()
    };
    // One after the other; side by side at full speed; side by side at half of it.
    assert_eq!(lost(&["--mobility", "never=1"]), "8 min 20 s");
    assert_eq!(lost(&["--memory", "measured"]), "0 s");
    assert_eq!(
        lost(&["--memory", "measured", "--cpu", "requested"]),
        "17 min"
    );
}

#[test]
fn a_journal_is_replayed() {
    let scratch = Scratch::new("journal");
    let jobs = "1,0,2,1,0.5,1000\n2,10,1,0.5,0.25,500\n3,20,2,0.25,0.75,700\n4,30,1,1,0.125,3600\n5,40,2,1,0.5,10\n";
    let trace = scratch.file("jobs.csv", jobs);
    let policy = "GreedyPMCR*/move-per/OPT=VT/MINVT=600";
    let journal = scratch.path("journal");
    let simulated = dfrs(&[
        "sim",
        &trace,
        "--nodes",
        "2",
        "--policy",
        policy,
        "--journal",
        &journal,
    ]);
    assert_eq!(
        simulated.status.code(),
        Some(0),
        "{}",
        text(&simulated.stderr)
    );
    let (output, errors) = replays(&[&journal, "--mobility", "checkpoint=1"]);
    assert_eq!(errors, "");
    let was = line(&output, &format!("as it was ({policy})"));
    // The same policy on what the journal says does the same again.
    assert_eq!(was[1..], line(&output, policy)[1..], "{output}");
    assert!(output.contains("5 jobs on 2 nodes"), "{output}");
}

#[test]
fn traces_are_replayed() {
    let scratch = Scratch::new("traces");
    let line_of =
        |id: u32, wait: i32| format!("{id} 0 {wait} 100 1 -1 -1 1 600 -1 1 1 1 -1 -1 -1 -1 -1\n");
    let swf = scratch.file(
        "t.swf",
        &format!("; MaxProcs: 1\n{}{}", line_of(1, 0), line_of(2, 500)),
    );
    let (output, _) = replays(&[&swf]);
    assert_eq!(line(&output, "as it was")[1], "4 min 10 s", "{output}");
    assert_eq!(line(&output, "EASY")[1], "50 s", "{output}");
    let unknown = scratch.file("u.swf", &format!("; MaxProcs: 1\n{}", line_of(1, -1)));
    let (output, _) = replays(&[&unknown, "--policy", "FCFS", "--policy", "Greedy*"]);
    assert!(
        !output.contains("as it was") && output.contains("Under Greedy*, against EASY"),
        "{output}"
    );
}

#[test]
fn page_lists_the_settings() {
    let scratch = Scratch::new("settings");
    let line =
        |id: u32, wait: i32| format!("{id} 0 {wait} 100 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n");
    let swf = scratch.file(
        "t.swf",
        &format!("; MaxProcs: 2\n{}{}", line(1, 0), line(2, -1)),
    );
    let page = |options: &[&str]| {
        let page = scratch.path("page.html");
        replays(&[&[&swf[..], "--output", &page], options].concat());
        fs::read_to_string(&page).expect("the page")
    };
    let plain = page(&[]);
    let changed = page(&[
        "--mobility=park=0.5,never=0.25",
        "--seed=5",
        "--run-time-hint=limits",
        "--period=120",
        "--load-ceiling=150%",
        "--parallel-least-yield=0.5",
    ]);
    for (words, in_plain) in [
        ("places: park=1 (", true),
        (
            "never=0.25,park=0.5,checkpoint=0.25, drawn with the seed 5",
            false,
        ),
        (
            "by their time limits, as far as these have been true (--run-time-hint limits); no job has one",
            false,
        ),
        ("every 120 s", false),
        ("no more load than 150% on a node", false),
        ("a yield of at least 0.5", false),
    ] {
        assert_eq!(
            (plain.contains(words), changed.contains(words)),
            (in_plain, !in_plain),
            "{words}"
        );
    }
    assert!(plain.contains("of 1 of 2 jobs when they started"));
}

#[test]
fn sim_reads_a_dump_as_trace() {
    let arguments = [
        "sim",
        ODD,
        "--policy",
        "EASY",
        "--policy",
        "GreedyPM*",
        "--format",
        "json",
    ];
    let output = dfrs(&[&arguments[..], &SITE].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).matches("\"jobs\":9").count(), 2);
    assert!(text(&output.stderr).contains("line 28: ReqMem"));
    let output = dfrs(&["sim", ODD, "--policy", "EASY", "--nodes", "4"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("give --cpus-per-node"));
}

#[test]
fn invalid_time_limit_keeps_the_job() {
    let scratch = Scratch::new("odd-limits");
    let odd = "note: time limits that make no sense, taken as unknown: 1; the first: line ";
    let swf = scratch.file(
        "trace.swf",
        "1 0 0 10 1 -1 -1 1 99999999999 -1 1 1 1 -1 -1 -1 -1 -1\n",
    );
    let dump = scratch.file(
        "dump.txt",
        "JobID|Submit|Start|End|NNodes|NCPUS|ReqMem|MaxRSS|TotalCPU|Timelimit|State\n\
         1|1000|1010|1100|1|1|1G||00:10.000|99999999999-00:00:00|COMPLETED\n",
    );
    let site = ["--cpus-per-node", "4", "--memory-per-node", "4G"];
    for (file, site) in [(&swf, &[][..]), (&dump, &site[..])] {
        let page = scratch.path("page.html");
        let fixed = [file.as_str(), "--nodes", "2", "--output", &page];
        let (_, errors) = replays(&[&fixed[..], site].concat());
        assert!(errors.contains(odd), "{errors}");
        let page = fs::read_to_string(&page).expect("a page");
        assert!(page.contains("taken as unknown: 1"), "{page}");
    }
}

#[test]
fn bad_input_is_one_line() {
    let scratch = Scratch::new("mistakes");
    fails(&["/nowhere"], "/nowhere: cannot be opened");
    fails(&[ODD, "--policy", "FCFS"], "no --policy is one of DFRS");
    fails(&[ODD], "give --nodes");
    fails(&[ODD, "--nodes", "4"], "give --cpus-per-node");
    fails(
        &[ODD, "--nodes", "4", "--cpus-per-node", "8"],
        "give --memory-per-node",
    );
    let strict = [&[ODD][..], &SITE, &["--strict"]].concat();
    fails(&strict, "line 25: has 2 fields");
    let one = format!("{HEADER}\n1|1000|1000|2000|1|1|20G||16:40||COMPLETED\n");
    let large = scratch.file("large", &one);
    fails(
        &[&[large.as_str()][..], &SITE].concat(),
        "no job fits on such nodes (line 2: job 1 had 20480M",
    );
    let page = [&[ODD][..], &SITE, &["--output", "/nowhere/page.html"]].concat();
    fails(&page, "/nowhere/page.html: cannot be written");
    let columns = scratch.file("columns", "JobID|State\n1|COMPLETED\n");
    fails(
        &[&[columns.as_str()][..], &SITE].concat(),
        "columns are missing: Submit, Start",
    );
    let wide = scratch.file(
        "wide",
        "JobID   JobName  Partition\n------- ------- ------\n",
    );
    fails(
        &[&[wide.as_str()][..], &SITE].concat(),
        "which --parsable2 writes",
    );
    let headless = scratch.file("headless", "1|1000|1000|2000|1|1|20G||16:40||COMPLETED\n");
    fails(
        &[&[headless.as_str()][..], &SITE].concat(),
        "was --noheader given?",
    );
    let empty = scratch.file("empty", "");
    fails(
        &[&[empty.as_str()][..], &SITE].concat(),
        "or a dump of sacct",
    );
    let journal = scratch.file(
        "journal",
        "{\"t\":0,\"event\":\"submit\",\"job\":\"1\",\"tasks\":1,\"cpu\":1,\"mem\":1}\n",
    );
    fails(&[&journal], "has no platform");
    let broken = scratch.file("broken", "{\"t\":0}\n");
    fails(&[&broken], "line 1:");
    let memory = [
        "--nodes",
        "4",
        "--cpus-per-node",
        "8",
        "--memory-per-node",
        "16GB",
    ];
    fails(&[&[ODD][..], &memory].concat(), "187G");
}

#[test]
fn foreign_format_is_named_by_replay_and_sim() {
    let scratch = Scratch::new("foreign");
    let columns = "JobID,Submit,Start,End,NNodes,NCPUS,ReqMem,TotalCPU,Timelimit,State";
    let header = |delimiter: &str| columns.replace(',', delimiter) + "\n";
    let job = "1|1000|1010|1100|1|4|8G|02:00:00|02:00:00|COMPLETED\n";
    for (content, words) in [
        (
            "{\n  \"meta\": {},\n  \"jobs\": [\n".to_owned(),
            "is JSON, as sacct --json",
        ),
        (header("^|^"), "has ^|^ between columns"),
        (header(";"), "has ; between columns"),
        (
            format!("User\t{}", header("\t")),
            "has tabs between columns",
        ),
        (job.to_owned(), "was --noheader given?"),
        (header("|"), "nor another line behind its header"),
        ("<html>\n<body>404</body>\n".to_owned(), "is HTML or XML"),
        (
            "sacct: error: no database\n".to_owned(),
            "begins with the message \"sacct: error: no database\"; a dump begins",
        ),
        ("-- MySQL dump 10.13\n".to_owned(), "is SQL"),
        (String::new(), "is empty; expected is SWF"),
        (
            format!("Cluster|{}a|{job}b|{job}", header("|")),
            "is of cluster b",
        ),
    ] {
        let file = scratch.file("file", &content);
        fails(&[&[&file[..]][..], &SITE].concat(), words);
        let output = dfrs(&[&["sim", &file, "--policy", "EASY"][..], &SITE].concat());
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(words), "{words}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
    let swf = scratch.file("a.swf", "1 0 0 10 1 -1 -1 1 600 -1 1 1 1 -1 -1 -1 -1 -1\n");
    fails(
        &[&[&swf[..]][..], &SITE].concat(),
        "is a trace (SWF or CSV) and is no dump of sacct; leave out --cpus-per-node",
    );
    let journal = scratch.file("journal", &journal_of(8, ""));
    let output = dfrs(&["sim", &journal, "--nodes", "1", "--policy", "EASY"]);
    assert!(
        text(&output.stderr).contains("is a journal of slurm-dfrs, no trace; dfrs replay takes it")
    );
}

#[test]
fn hpc2n_jobs_hold_processors_not_nodes() {
    let scratch = Scratch::new("processors");
    // Waited 1 s each: one processor, three (odd: a task each), and four (two nodes).
    let line = |id: u32, processors: u32| {
        format!("{id} {id} 1 100 {processors} -1 100000 {processors} 200 -1 1 1 1 1 1 1 -1 -1\n")
    };
    let trace = scratch.file("hpc2n.swf", &(line(1, 1) + &line(2, 3) + &line(3, 4)));
    let page = scratch.path("page.html");
    let output = dfrs(&[
        "replay",
        &trace,
        "--model=hpc2n",
        "--nodes=8",
        "--output",
        &page,
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = fs::read_to_string(&page).expect("the page");
    // Each job can use all the processors that it had, so that no table parts jobs by that.
    assert!(page.contains("By CPUs of the job"), "{page}");
    assert!(page.contains("4</td><td class=\"number\">2</td>"));
    assert!(!page.contains("share of its CPUs that it can use"));
}

/// Nodes whose CPUs are no whole parts of a million, and jobs that fill one exactly: so many CPUs each.
const EXACT: [(u32, u32); 7] = [
    (24, 1),
    (48, 1),
    (48, 2),
    (48, 16),
    (96, 32),
    (128, 1),
    (128, 32),
];

/// MiB that each of them requests: all memory together.
fn memory_of_each(cpus: u32, of_job: u32) -> u32 {
    192_000 / (cpus / of_job)
}

/// Whatever the scheduler.
fn assert_no_wait(output: &str, (cpus, of_job): (u32, u32)) {
    for policy in [
        "EASY",
        "EASY/shared",
        "GreedyPMCR*/move-per/OPT=VT/MINVT=600",
    ] {
        let cells = line(output, policy);
        assert_eq!(
            cells[1..5],
            ["0 s", "0 s", "0 s", "1.00"],
            "{cpus}/{of_job}: {output}"
        );
    }
}

#[test]
fn jobs_of_a_dump_that_fill_a_node_exactly_run_at_once() {
    let scratch = Scratch::new("exact-dump");
    for (cpus, of_job) in EXACT {
        let memory = memory_of_each(cpus, of_job);
        let job = |id: u32| {
            format!("{id}|1000|1000|2000|1|{of_job}|{memory}M||16:40|01:00:00|COMPLETED\n")
        };
        let jobs: String = (1..=cpus / of_job).map(job).collect();
        let dump = scratch.file("dump", &format!("{HEADER}\n{jobs}"));
        let count = cpus.to_string();
        let site = [
            "--nodes",
            "1",
            "--cpus-per-node",
            &count,
            "--memory-per-node",
            "192000",
        ];
        let requested = ["--cpu", "requested"];
        let (output, _) = replays(&[&[dump.as_str()][..], &site, &requested].concat());
        assert_no_wait(&output, (cpus, of_job));
    }
}

/// A journal of one node, of which these are the jobs.
fn journal_of(cpus: u32, jobs: &str) -> String {
    format!(
        "{{\"t\":0,\"event\":\"platform\",\"version\":1,\"policy\":\"EASY\",\"nodes\":[{{\"name\":\"n1\",\"cpu\":{cpus},\"mem\":192000}}]}}\n{jobs}"
    )
}

/// The lines of a job of one task that starts when it is submitted.
fn started_at(t: u32, id: u32, (cpu, memory): (u32, u32)) -> String {
    format!(
        "{{\"t\":{t},\"event\":\"submit\",\"job\":\"{id}\",\"tasks\":1,\"cpu\":{cpu},\"mem\":{memory}}}\n\
         {{\"t\":{t},\"event\":\"start\",\"job\":\"{id}\",\"nodes\":[0]}}\n\
         {{\"t\":{t},\"event\":\"yield\",\"job\":\"{id}\",\"value\":1}}\n"
    )
}

#[test]
fn jobs_of_a_journal_that_fill_a_node_exactly_run_at_once() {
    let scratch = Scratch::new("exact-journal");
    for (cpus, of_job) in EXACT {
        let memory = memory_of_each(cpus, of_job);
        let submitted = |id: u32| started_at(10, id, (of_job, memory));
        let finished = |id: u32| format!("{{\"t\":1010,\"event\":\"finish\",\"job\":\"{id}\"}}\n");
        let ids = || 1..=cpus / of_job;
        let jobs: String = ids().map(submitted).chain(ids().map(finished)).collect();
        let journal = scratch.file("journal", &journal_of(cpus, &jobs));
        let (output, errors) = replays(&[&journal]);
        assert_eq!(errors, "");
        assert_no_wait(&output, (cpus, of_job));
    }
}

#[test]
fn jobs_of_a_journal_share_no_gpus() {
    let scratch = Scratch::new("gpu-journal");
    // Three jobs at once, which hold these devices.
    let of = |devices: &str| {
        let jobs = [1, 2, 3].map(|id| started_at(10, id, (1, 10)));
        let with_devices = format!("\"mem\":10{devices}");
        let jobs = jobs.concat().replace("\"mem\":10", &with_devices);
        let end = |id: u32| format!("{{\"t\":1010,\"event\":\"finish\",\"job\":\"{id}\"}}\n");
        let journal = journal_of(8, &(jobs + &[1, 2, 3].map(end).concat()));
        let nodes = "\"mem\":192000,\"devices\":{\"gpu\":2,\"gpu:a100\":2,\"nic\":1}";
        scratch.file("journal", &journal.replace("\"mem\":192000", nodes))
    };
    let lost = |devices: &str, note: &str| {
        let policies = ["--policy", "default", "--policy", "EASY/shared"];
        let (output, errors) = replays(&[&[of(devices).as_str()][..], &policies].concat());
        assert!(errors.contains(note), "{errors}");
        line(&output, "EASY/shared")[1].to_owned()
    };
    assert_eq!(lost("", ""), "0 s");
    let typed = ",\"devices\":{\"gpu:a100\":2}";
    // They run one after the other: 0, 1000 and 2000 s.
    assert_eq!(lost(typed, "3 of 3 jobs had GPUs"), "17 min");
    let other = ",\"devices\":{\"nic\":1}";
    let note = "3 of 3 jobs had devices other than GPUs";
    assert_eq!(lost(other, note), "0 s");
    let too_many = of(",\"devices\":{\"gpu\":3}");
    fails(
        &[&too_many, "--strict"],
        "job 1 needs 3 GPUs on a node, of which none has more than 2",
    );
}

#[test]
fn job_ended_during_a_journal_gap_is_left_out() {
    let scratch = Scratch::new("gap");
    let run = |t: u32, id: u32| started_at(t, id, (1, 10));
    let platform = journal_of(8, "").replace("\"t\":0", "\"t\":9000");
    let jobs = run(10, 1)
        + &run(20, 2)
        + "{\"t\":500,\"event\":\"finish\",\"job\":\"2\"}\n"
        + &platform
        + "{\"t\":9000,\"event\":\"finish\",\"job\":\"1\",\"outcome\":\"other\"}\n"
        + &run(9100, 3)
        + "{\"t\":9200,\"event\":\"finish\",\"job\":\"3\"}\n";
    let journal = scratch.file("journal", &journal_of(8, &jobs));
    let (output, errors) = replays(&[&journal]);
    assert!(output.contains("2 jobs on 1 node"), "{output}");
    assert!(
        errors.contains("left out, jobs that ended while the journal was not written: 1"),
        "{errors}"
    );
}

#[test]
fn strict_refuses_a_journal_job_that_does_not_fit() {
    let scratch = Scratch::new("strict");
    let jobs = "{\"t\":10,\"event\":\"submit\",\"job\":\"1\",\"tasks\":1,\"cpu\":9,\"mem\":1}\n\
                {\"t\":10,\"event\":\"start\",\"job\":\"1\",\"nodes\":[0]}\n\
                {\"t\":20,\"event\":\"finish\",\"job\":\"1\"}\n";
    let journal = scratch.file("journal", &journal_of(8, jobs));
    fails(
        &[&journal, "--strict"],
        "leave out --strict to skip such jobs",
    );
}
