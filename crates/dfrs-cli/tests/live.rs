//! `dfrs sim --live` as its user sees it.

mod common;

use common::{Scratch, dfrs};
use serde_json::Value;

const POLICY: &str = "GreedyPM*/per/OPT=MIN/MINVT=600";

/// Long jobs that fill two nodes, and short ones that come when these are full.
fn trace() -> String {
    let mut text = String::from("id,submit,tasks,cpu,mem,runtime\n");
    for job in 0..6 {
        text += &format!("long{job},{},1,0.5,0.4,900\n", 1_000_000 + job);
        text += &format!("short{job},{},2,0.25,0.3,60\n", 1_000_100 + 40 * job);
    }
    text
}

/// A directory with the trace.
fn with_trace(test: &str) -> Scratch {
    let scratch = Scratch::new(test);
    std::fs::write(scratch.path("trace.csv"), trace()).expect("temporary file");
    scratch
}

/// What `dfrs sim --live --format json` says of the trace.
fn results(scratch: &Scratch, more: &[&str]) -> Vec<Value> {
    let trace = scratch.path("trace.csv");
    let usual = [
        "sim", &trace, "--nodes", "2", "--live", "--format", "json", "--policy", POLICY,
    ];
    let (code, output, errors) = dfrs(&[&usual, more].concat());
    assert_eq!((code, errors.as_str()), (0, ""));
    serde_json::from_str(&output).expect("an array")
}

#[test]
fn ideal_and_live_results_are_both_listed() {
    let scratch = with_trace("beside");
    let results = results(&scratch, &["--policy", "EASY", "--penalty", "0"]);
    let names: Vec<&str> = results
        .iter()
        .filter_map(|result| result["policy"].as_str())
        .collect();
    assert_eq!(names, [POLICY, &format!("{POLICY} live"), "EASY"]);
    let number = |row: usize, name: &str| results[row][name].as_f64().expect("a number");
    // A launch takes its time.
    assert_eq!(number(0, "mean_wait"), 0.0);
    assert!((0.1..60.0).contains(&number(1, "mean_wait")));
    assert!(number(1, "mean_stretch") >= number(0, "mean_stretch") * 0.9);
    assert!(number(1, "makespan") >= 1440.0, "2880 s of work on 2 nodes");
}

/// Where shares fall with virtual time they depend on how a job can move, which it cannot while it
/// settles. In builds with assertions the agent compares the shares that it keeps with those
/// computed again.
#[test]
fn live_shares_are_consistent_while_jobs_settle() {
    let scratch = Scratch::new("settle");
    let trace = scratch.path("trace.csv");
    let made = dfrs(&[
        "generate", "--jobs", "300", "--nodes", "16", "--load", "0.8", "--seed", "3", "--output",
        &trace,
    ]);
    assert_eq!(made.0, 0, "{}", made.2);
    let policy = "GreedyPMC*/move-per/OPT=VT/MINVT=600";
    let (code, _, errors) = dfrs(&["sim", &trace, "--nodes", "16", "--policy", policy, "--live"]);
    assert_eq!((code, errors.as_str()), (0, ""));
}

#[test]
fn the_files_are_those_of_the_live_run() {
    let scratch = with_trace("files");
    let [journal, jobs, use_of_cpu] = ["journal", "jobs", "cpu"].map(|name| scratch.path(name));
    let files = [
        "--journal",
        &journal,
        "--jobs-csv",
        &jobs,
        "--utilization-csv",
        &use_of_cpu,
        "--mobility",
        "park=1",
    ];
    let results = results(&scratch, &files);
    let (code, output, errors) = dfrs(&["check", &journal]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(output.contains("submitted 12, finished 12"), "{output}");
    let pauses = &results[1]["pauses"];
    assert!(output.contains(&format!("pauses {pauses}")), "{output}");
    assert!(pauses.as_u64() > Some(0), "{pauses}");
    let text = std::fs::read_to_string(&jobs).expect("a file");
    assert_eq!(text.lines().count(), 13);
    assert!(
        text.contains("\nlong0,1000000,1,900,1,1000000."),
        "its launch takes a part of a second: {text}"
    );
    let text = std::fs::read_to_string(&use_of_cpu).expect("a file");
    assert!(text.starts_with("time,demand,used,stalled\n1000000"));
}

#[test]
fn the_same_seed_gives_the_same_result() {
    let scratch = with_trace("seed");
    let result = |seed: &str| {
        let mut result = results(&scratch, &["--seed", seed]).remove(1);
        let object = result.as_object_mut().expect("an object");
        for measured in ["decide_seconds_mean", "decide_seconds_max"] {
            object.remove(measured);
        }
        result
    };
    assert_eq!(result("7"), result("7"));
    assert_ne!(result("7")["mean_wait"], result("8")["mean_wait"]);
}

#[test]
fn launch_latency_adds_to_the_wait() {
    let scratch = with_trace("latency");
    let wait = |latency: &str| {
        let results = results(&scratch, &["--latency", latency]);
        results[1]["mean_wait"].as_f64().expect("a number")
    };
    let (fast, slow) = (wait("launch=0.1"), wait("launch=10"));
    assert!(slow > fast + 4.0, "{slow} {fast}");
}

#[test]
fn faults_lose_no_job() {
    let scratch = with_trace("faults");
    let journal = scratch.path("journal");
    let faults = "fail=2,hang=2,slow=2,kill=2";
    for mobility in ["checkpoint=1", "park=1", "restart=1"] {
        let more = [
            "--faults",
            faults,
            "--journal",
            &journal,
            "--mobility",
            mobility,
        ];
        let results = results(&scratch, &more);
        assert_eq!(results[1]["jobs"], 12);
        let (code, output, _) = dfrs(&["check", &journal]);
        assert_eq!(code, 0, "{mobility}: {output}");
    }
}

#[test]
fn bad_options_are_one_line_and_code_2() {
    let scratch = with_trace("errors");
    let trace = scratch.path("trace.csv");
    let refusal = |more: &[&str]| {
        let usual = ["sim", &trace, "--nodes", "2", "--policy", POLICY, "--live"];
        let (code, output, errors) = dfrs(&[&usual, more].concat());
        assert_eq!((code, output.as_str()), (2, ""));
        errors
    };
    for (more, words) in [
        (["--live-conf", "Policy=Greedy*"], "give --policy"),
        (["--live-conf", "SetleTime=5"], "did you mean"),
        (["--period", "60.5"], "whole seconds"),
        (["--swap-speed", "0"], "from 0.001"),
    ] {
        let errors = refusal(&more);
        assert!(errors.contains(words), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
    assert!(refusal(&["--latency", "prolog=1"]).contains("allowed: launch"));
    assert!(refusal(&["--faults", "fire=1"]).contains("allowed: fail"));
}

#[test]
fn live_journal_of_batch_policy_is_refused() {
    let scratch = with_trace("batch");
    let (trace, journal) = (scratch.path("trace.csv"), scratch.path("journal.jsonl"));
    let line = [
        "sim",
        &trace,
        "--nodes",
        "2",
        "--live",
        "--policy",
        "EASY",
        "--journal",
        &journal,
    ];
    let (code, output, errors) = dfrs(&line);
    assert_eq!((code, output.as_str()), (2, ""));
    assert!(errors.contains("leave out --live"), "{errors}");
}
