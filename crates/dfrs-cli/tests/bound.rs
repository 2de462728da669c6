//! `dfrs bound` and `dfrs sim --bound` as their user sees them.

mod common;

use serde_json::Value;

use common::Scratch;

/// Two jobs of a kind on one node: one of them has a stretch of 2 at least.
const TRACE: &str = "id,submit,tasks,cpu,mem,runtime\na,0,1,1.0,0.6,100\nb,0,1,1.0,0.6,100\n";

fn with_trace(test: &str) -> Scratch {
    let scratch = Scratch::new(test);
    scratch.file("trace.csv", TRACE);
    scratch
}

fn json(scratch: &Scratch, arguments: &[&str]) -> Value {
    let (code, output, errors) = scratch.dfrs(&[arguments, &["--format", "json"]].concat());
    assert_eq!((code, errors.as_str()), (0, ""));
    serde_json::from_str(&output).expect("JSON")
}

/// At most 1 / 8192 below.
fn is_about(value: &Value, expected: f64) -> bool {
    let value = value.as_f64().expect("a number");
    value <= expected * (1.0 + 1e-9) && value >= expected * (1.0 - 1.3e-4)
}

#[test]
fn bound_is_printed_as_object_and_table() {
    let scratch = with_trace("object");
    let found = json(&scratch, &["bound", "trace.csv", "--nodes", "1"]);
    assert!(is_about(&found["bound"], 2.0), "{found}");
    assert_eq!((&found["jobs"], &found["nodes"]), (&2.into(), &1.into()));
    let found = json(
        &scratch,
        &[
            "bound",
            "trace.csv",
            "--nodes",
            "1",
            "--stretch-bound",
            "160",
        ],
    );
    assert!(is_about(&found["bound"], 1.25), "{found}");
    let found = json(&scratch, &["bound", "trace.csv", "--nodes", "2"]);
    assert_eq!(found["bound"], 1.0);
    let (code, output, errors) = scratch.dfrs(&["bound", "trace.csv", "--nodes", "2"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert_eq!(output, "jobs   2\nnodes  2\nbound  1.0000\n");
}

#[test]
fn bad_input_is_one_line_and_code_2() {
    let scratch = with_trace("errors");
    let fails = |arguments: &[&str], words: &str| {
        let (code, output, errors) = scratch.dfrs(&[&["bound"], arguments].concat());
        assert_eq!((code, output.as_str()), (2, ""), "{errors}");
        assert!(
            errors.contains(words) && errors.lines().count() == 1,
            "{errors}"
        );
    };
    fails(&["nowhere", "--nodes", "1"], "nowhere: cannot be opened");
    fails(&["trace.csv"], "give --nodes");
    fails(&["trace.csv", "--nodes", "0"], "0");
    fails(
        &["trace.csv", "--nodes", "1", "--stretch-bound", "0"],
        "above 0",
    );
    scratch.file("bad.csv", &format!("{TRACE}c,1\n"));
    fails(&["bad.csv", "--nodes", "1", "--strict"], "line 4");
    let (code, output, errors) = scratch.dfrs(&["bound", "bad.csv", "--nodes", "1"]);
    assert_eq!((code, errors.lines().count()), (0, 2), "{errors}");
    assert!(output.starts_with("jobs   2\n"), "{output}");
}

/// A search among jobs that pile up by the hundred thousand would take hours, unless each of them can use the
/// whole machine.
#[test]
fn too_small_machine_is_refused_for_the_bound() {
    let scratch = with_trace("overload");
    let trace = |jobs: u32| {
        let jobs = (0..jobs).map(|id| format!("{id},{id},1,1,0,100\n"));
        scratch.file("many.csv", &jobs.collect::<String>());
    };
    trace(110_000);
    let (code, output, errors) = scratch.dfrs(&["bound", "many.csv", "--nodes", "2"]);
    assert_eq!((code, output.as_str()), (2, ""), "{errors}");
    let same = scratch.dfrs(&["sim", "many.csv", "--nodes=2", "--policy=FCFS", "--bound"]);
    assert_eq!((same.0, &same.2), (2, &errors));
    assert_eq!(
        errors,
        "many.csv: the machine is too small: it needs 50.0 times as long for the work as the jobs take to come; use --nodes 100 or more, or a shorter trace\n"
    );
    trace(10_000);
    let found = json(&scratch, &["bound", "many.csv", "--nodes", "1"]);
    assert!(is_about(&found["bound"], 9_900.01), "{found}");
}

#[test]
fn policies_are_compared_with_the_bound_and_with_the_best() {
    let scratch = with_trace("compared");
    let arguments = [
        "sim",
        "trace.csv",
        "--nodes",
        "1",
        "--policy",
        "FCFS",
        "--policy",
        "Greedy*",
        "--bound",
        "--results",
        "kept",
    ];
    let check = |results: &Value| {
        for result in results.as_array().expect("an array") {
            assert!(is_about(&result["bound"], 2.0), "{result}");
            let stretch = result["max_stretch"].as_f64().expect("a number");
            let bound = result["bound"].as_f64().expect("a number");
            assert_eq!(result["degradation"], stretch / bound);
            assert_eq!(result["degradation_from_best"], 1.0);
        }
    };
    check(&json(&scratch, &arguments));
    let (code, output, errors) = scratch.dfrs(&arguments);
    assert_eq!(code, 0);
    assert!(errors.contains("runs taken from it: 3"), "{errors}");
    let heads = output.lines().next().unwrap_or_default();
    assert!(
        heads.contains("degr. bound") && heads.contains("degr. best"),
        "{output}"
    );
    let (code, output, _) = scratch.dfrs(&[&arguments[..], &["--format", "csv"]].concat());
    assert_eq!(code, 0);
    let mut lines = output
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let heads = lines.next().expect("names");
    let place = heads
        .iter()
        .position(|head| *head == "bound")
        .expect("a column");
    for line in lines {
        assert_eq!(line.len(), heads.len());
        let bound: f64 = line[place].parse().expect("a number");
        assert!(bound > 1.9, "{bound}");
    }
}

#[test]
fn utilization_over_time_is_written() {
    let scratch = with_trace("utilization");
    let (code, _, errors) = scratch.dfrs(&[
        "sim",
        "trace.csv",
        "--nodes",
        "1",
        "--policy",
        "EASY",
        "--utilization-csv",
        "used.csv",
        "--journal",
        "journal",
    ]);
    assert_eq!((code, errors.as_str()), (0, ""));
    let used = std::fs::read_to_string(scratch.path("used.csv")).expect("a file");
    assert_eq!(used, "time,demand,used,stalled\n0,1,1,0\n200,0,0,0\n");
    let (code, output, _) = scratch.dfrs(&["check", "journal"]);
    assert_eq!(code, 0, "{output}");
    let (code, _, errors) = scratch.dfrs(&[
        "sim",
        "trace.csv",
        "--nodes",
        "1",
        "--policy",
        "EASY",
        "--utilization-csv",
        "/nowhere/x",
    ]);
    assert_eq!((code, errors.lines().count()), (2, 1), "{errors}");
    assert!(errors.contains("/nowhere/x: cannot be written"), "{errors}");
}
