//! `dfrs reproduce` as its user sees it: the files, the report, errors, going on.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use common::{Scratch, dfrs};

/// Code, standard output and standard error.
fn reproduce(arguments: &[&str]) -> (i32, String, String) {
    dfrs(&[&["reproduce"], arguments].concat())
}

fn files(directory: &str) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    entries
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, std::fs::read_to_string(path).expect("a text"))
        })
        .collect()
}

/// Two weeks of a few jobs.
fn small_hpc2n(scratch: &Scratch) -> String {
    let mut swf = String::from("; MaxProcs: 240\n");
    for job in 0..16 {
        let submit = job * 3600 + (job % 2) * 604_800;
        let (processors, runtime) = (1 + job * 17 % 60, 60 + job * 997 % 20_000);
        let _ = writeln!(
            swf,
            "{} {submit} 0 {runtime} {processors} -1 300000 {processors} -1 300000 1 1 1 1 1 1 -1 -1",
            job + 1
        );
    }
    // As the second half of the lines is of the second week.
    let (head, lines) = swf.split_once('\n').expect("a header");
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.sort_by_key(|line| {
        line.split(' ')
            .nth(1)
            .and_then(|time| time.parse::<u64>().ok())
    });
    let path = scratch.path("small.swf");
    std::fs::write(&path, format!("{head}\n{}\n", lines.join("\n"))).expect("a file");
    path
}

const SMALL: [&str; 4] = ["--traces", "1", "--jobs", "20"];

#[test]
fn report_is_complete_and_second_call_reuses_all_runs() {
    let scratch = Scratch::new("whole");
    let (trace, output) = (small_hpc2n(&scratch), scratch.path("out"));
    let mut arguments = vec!["--trace", &trace, "--output", &output];
    arguments.extend(SMALL);
    let (code, stdout, errors) = reproduce(&arguments);
    assert_eq!(code, 0, "{errors}");
    assert_eq!(stdout.trim(), format!("{output}/report.html"));
    assert!(errors.contains("the papers' trace has 202876"), "{errors}");
    let first = files(&output);
    for name in [
        "tpds-figure-1.svg",
        "tpds-figure-2-unscaled.svg",
        "tpds-figure-2-scaled.svg",
        "tpds-figure-2-hpc2n-weeks.svg",
        "tpds-figure-3.svg",
        "ipdps-figure-1a.svg",
        "ipdps-figure-1b.svg",
        "tpds-underutilization.csv",
        "ipdps-table-1.csv",
        "ipdps-table-2.csv",
        "runs.csv",
        "runs.jsonl",
    ] {
        assert!(
            first.get(name).is_some_and(|text| text.len() > 200),
            "{name}"
        );
    }
    let report = &first["report.html"];
    for text in [
        "The published EASY is not EASY",
        "IPDPS 2010, Table II",
        "HPC2N weeks",
        "EASY/no-shadow (as published)",
        "1,470.30", // published, Table I
        "49.7%",
        "What the papers conclude",
        "This is no full reproduction",
        "1 synthetic trace of 20 jobs",
        "1 week of HPC2N",
        "Left out: only a full reproduction",
    ] {
        assert!(report.contains(text), "{text} is not in the report");
    }
    assert!(!report.contains("NaN") && !report.contains("inf,"));
    for foreign in ["<script", "<img", "<link", "https:"] {
        assert!(!report.contains(foreign), "{foreign}");
    }

    let (code, _, errors) = reproduce(&arguments);
    assert_eq!(code, 0, "{errors}");
    let runs = first["runs.jsonl"].lines().count() - 1;
    assert!(
        errors.contains(&format!("runs taken from it: {runs}\n")),
        "{errors}"
    );
    assert_eq!(files(&output), first);
}

#[test]
fn interrupted_call_resumes_and_other_seed_reruns() {
    let scratch = Scratch::new("resumed");
    let output = scratch.path("out");
    let mut arguments = vec!["--output", &output, "--only", "ipdps-table-1"];
    arguments.extend(SMALL);
    let (code, _, errors) = reproduce(&arguments);
    assert_eq!(code, 0, "{errors}");
    assert!(
        errors.contains("Parallel Workloads Archive") && errors.contains("--trace"),
        "{errors}"
    );
    let whole = files(&output);
    assert!(!whole["report.html"].contains("HPC2N weeks:"));
    // Killed in the middle of a line.
    let runs = &whole["runs.jsonl"];
    std::fs::write(scratch.path("out/runs.jsonl"), &runs[..runs.len() / 2]).expect("a file");
    let (code, _, errors) = reproduce(&arguments);
    assert_eq!(code, 0, "{errors}");
    assert!(errors.contains("runs taken from it"), "{errors}");
    let name = "ipdps-table-1.csv";
    assert_eq!(files(&output)[name], whole[name]);

    arguments.extend(["--seed", "77"]);
    let (code, _, errors) = reproduce(&arguments);
    assert_eq!(code, 0, "{errors}");
    assert!(!errors.contains("runs taken from it"), "{errors}");
    assert_ne!(files(&output)[name], whole[name]);
}

#[test]
fn bad_input_is_one_line() {
    let scratch = Scratch::new("errors");
    let (output, file) = (scratch.path("out"), scratch.path("file"));
    std::fs::write(&file, "nothing\n").expect("a file");
    for (arguments, part) in [
        (vec!["--trace", "/nowhere.swf.gz"], "/nowhere.swf.gz"),
        (vec!["--trace", file.as_str()], "file"),
        (vec!["--only", "figure-9"], "ipdps-table-1"),
        (vec!["--traces", "0"], "--traces"),
        (vec!["--traces", "5", "--quick"], "--quick"),
        (vec!["--jobs", "1"], "--jobs"),
        (vec!["--seed", "first"], "--seed"),
        (vec!["--output", file.as_str()], "cannot be made"),
    ] {
        let mut arguments = arguments;
        if !arguments.contains(&"--output") {
            arguments.extend(["--output", &output]);
        }
        if !arguments.contains(&"--traces") && !arguments.contains(&"--quick") {
            arguments.extend(["--traces", "1"]);
        }
        let (code, stdout, errors) = reproduce(&arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{arguments:?}: {errors}");
        assert!(errors.contains(part), "{arguments:?}: {errors}");
        assert!(!PathBuf::from(&output).exists(), "{arguments:?}");
    }
}
