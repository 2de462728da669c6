//! The shim's calls for many jobs, on records that change (`looks.c`).

use std::process::Command;

use crate::build;

/// What the program printed.
fn run(scenario: &str) -> Vec<String> {
    let output = Command::new(build::LOOKS.path())
        .arg(scenario)
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{scenario}: {} after:\n{text}",
        output.status
    );
    text.lines().map(str::to_owned).collect()
}

fn assert_has(lines: &[String], line: &str) {
    assert!(
        lines.iter().any(|printed| printed == line),
        "no line {line:?} in:\n{}",
        lines.join("\n")
    );
}

#[test]
fn deltas_say_what_complete_snapshots_say_and_no_more() {
    assert_eq!(run("random"), ["rounds compared"]);
}

#[test]
fn of_thirty_thousand_jobs_only_those_that_changed_are_copied() {
    let lines = run("many");
    for line in [
        "first: complete 1 jobs 30000 gone 0 nodes 2000 sets 20 indexes 39980 of 30000",
        "unchanged: complete 0 jobs 0 gone 0 nodes 0 sets 0 indexes 0 of 30000",
        "changed: complete 0 jobs 10 gone 1 nodes 0 sets 10 indexes 19990 of 29999",
        "cores visible 1",
        "forgotten: complete 1 jobs 29999 gone 0 nodes 2000 sets 20 indexes 39980 of 29999",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn locks_are_given_back_between_slices_and_nothing_is_locked_for_nothing() {
    let lines = run("slices");
    for line in [
        // The clock is looked at after eight jobs.
        "gate of 40 at a millisecond each: reads 0 writes 5 longest lately 8000",
        "reasons: reads 1 writes 1 longest lately 0",
        "the same reasons: reads 1 writes 0 longest lately 0",
        "job 2 says DFRS: waits for memory",
        // Four between the five slices, and one before the next lock is taken.
        "calls nanosleep 5",
    ] {
        assert_has(&lines, line);
    }
}

#[test]
fn arrays_are_split_as_far_as_asked() {
    let lines = run("arrays");
    for line in [
        "an array: complete 1 jobs 1 gone 0 nodes 10 sets 0 indexes 0 of 1",
        "37 tasks split off: complete 0 jobs 37 gone 0 nodes 0 sets 0 indexes 0 of 38",
        "left 63",
        "all: complete 0 jobs 63 gone 0 nodes 0 sets 0 indexes 0 of 100",
        "single 1",
    ] {
        assert_has(&lines, line);
    }
}
