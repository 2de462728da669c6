//! `dfrs decide` as its user sees it: output, errors, exit code.

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use common::{ScratchFile, dfrs};

const SCENARIO: &str = "\
# About the file.
scenario what an administrator sent
# slurm-dfrs 0.1.0
policy GreedyP*/per/OPT=MIN
now 1000s
nodes n[0-1] cpu=16 memory=64G swap=32G
nodes n2 cpu=16 memory=64G draining
job 17 tasks=4 cpu=8 memory=8G submit=10s virtual-time=600s mobility=park running=n[0-1]*2
job 18 cpu=16 memory=30G submit=20s virtual-time=900s running=n1
job 30 cpu=2 memory=60G submit=1000s
job 31 cpu=2 memory=100G submit=900s
event submitted 30
----
pause 17: makes room for 30
start 30 on n0: fits
yield 18,30 1
waits 31: never fits
";

const TABLE: &str = "\
what an administrator sent
  slurm-dfrs 0.1.0
GreedyP*/per/OPT=MIN at 1000 s, job 30 submitted: 3 nodes (2 up), 2 jobs run, 2 wait

Plan:
  0  pause  job 17         preempted by the new job 30
  1  start  job 30  on n0  its memory fits now

Yields:
  job 18  1  16 of 16 cores a task  on n1
  job 30  1  2 of 2 cores a task    on n0

Waiting:
  job 31  requires more than the cluster has

As expected.
";

fn expected(code: i32, output: &str, errors: &str) -> (i32, String, String) {
    (code, output.to_owned(), errors.to_owned())
}

#[test]
fn table_shows_plan_reasons_and_as_expected() {
    let file = ScratchFile::new("right", SCENARIO);
    assert_eq!(file.dfrs("decide", &[]), expected(0, TABLE, ""));
}

#[test]
fn difference_is_shown_fails_and_can_be_rewritten() {
    let wrong = SCENARIO.replace("start 30 on n0: fits\n", "start 30 on n1: fits\n");
    let file = ScratchFile::new("wrong", &wrong);
    let verdict = "\
Not as expected (-), but decided (+):
  - start 30 on n1: fits
  + start 30 on n0: fits
";
    let table = TABLE.replace("As expected.\n", verdict);
    assert_eq!(file.dfrs("decide", &[]), expected(1, &table, ""));
    assert_eq!(file.content(), wrong);
    assert_eq!(file.dfrs("decide", &["--rewrite"]).0, 0);
    assert_eq!(file.content(), SCENARIO);
    assert_eq!(file.dfrs("decide", &["--rewrite"]).0, 0);
    assert_eq!(file.content(), SCENARIO);
}

#[test]
fn only_violations_fail_without_expectation() {
    let given = SCENARIO.split("----").next().expect("what is given");
    let file = ScratchFile::new("given", given);
    let (code, output, errors) = file.dfrs("decide", &[]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(!output.contains("xpected"), "{output}");
    let broken = given.replace("tasks=4", "tasks=5");
    let file = ScratchFile::new("broken", &broken);
    let (code, output, errors) = file.dfrs("decide", &[]);
    assert_eq!((code, errors.as_str()), (1, ""));
    let rule = "Broken rules:\n  error: job 17: 4 tasks are placed, but the job has 5\n";
    assert!(output.contains(rule), "{output}");
    // A violation that is expected is right.
    assert_eq!(file.dfrs("decide", &["--rewrite"]).0, 1);
    let rule = "violation error: job 17: 4 tasks are placed, but the job has 5\n";
    assert!(file.content().contains(rule), "{}", file.content());
    assert_eq!(file.dfrs("decide", &[]).0, 0);
}

#[test]
fn scenario_format_has_the_decision() {
    let given = SCENARIO.split("----").next().expect("what is given");
    let file = ScratchFile::new("print", given);
    let printed = SCENARIO.replace("# About the file.\n", "");
    assert_eq!(
        file.dfrs("decide", &["--format", "scenario"]),
        expected(0, &printed, "")
    );
}

#[test]
fn json_has_one_object_per_scenario() {
    let file = ScratchFile::new("json", format!("{SCENARIO}\n{SCENARIO}"));
    let (code, output, errors) = file.dfrs("decide", &["--format", "json"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    for part in [
        r#"{"action":"start","job":30,"nodes":[{"node":"n0","tasks":1}],"why":"its memory fits now"}"#,
        r#"{"action":"yield","job":30,"why":"loads changed","yield":1.0}"#,
        r#""waiting":[{"job":31,"why":"requires more than the cluster has"}]"#,
        r#""as_expected":true,"difference":[]"#,
        r#""violations":[]"#,
    ] {
        assert_eq!(output.matches(part).count(), 2, "{part}: {output}");
    }
    let broken = SCENARIO.replace("tasks=4", "tasks=5");
    let file = ScratchFile::new("json-broken", broken);
    let (code, output, _) = file.dfrs("decide", &["--format", "json"]);
    assert_eq!(code, 1);
    let violation = r#"{"rule":"task count","severity":"error","what":"error: job 17: 4 tasks are placed, but the job has 5"}"#;
    assert!(output.contains(violation), "{output}");
    assert!(output.contains(r#""as_expected":false"#), "{output}");
}

#[test]
fn several_scenarios_are_counted() {
    let wrong = SCENARIO.replace("waits 31: never fits\n", "");
    let file = ScratchFile::new("several", format!("{SCENARIO}{wrong}"));
    let (code, output, _) = file.dfrs("decide", &[]);
    assert_eq!(code, 1);
    assert!(
        output.ends_with("  + waits 31: never fits\n\n2 scenarios, 1 not right\n"),
        "{output}"
    );
}

#[test]
fn standard_input_is_read() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dfrs"))
        .args(["decide", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("dfrs runs");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(SCENARIO.as_bytes()).expect("dfrs reads");
    drop(input);
    let output = child.wait_with_output().expect("dfrs ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), TABLE);
    let (code, _, errors) = dfrs(&["decide", "-", "--rewrite"]);
    assert_eq!(code, 2);
    let error = "standard input cannot be rewritten; use --format scenario\n";
    assert_eq!(errors, error);
}

#[test]
fn recorded_decision_is_decided_again_and_printed_as_scenario() {
    let record = include_str!("../../dfrs-fuzz/seeds/scenario/recorded");
    let file = ScratchFile::new("recorded", record);
    let (code, table, errors) = file.dfrs("decide", &[]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(
        table.starts_with("a decision that was asked for\n"),
        "{table}"
    );
    assert!(table.ends_with("\nAs expected.\n"), "{table}");
    let (code, scenario, _) = file.dfrs("decide", &["--format", "scenario"]);
    assert_eq!(code, 0);
    let printed = ScratchFile::new("printed", &scenario);
    assert_eq!(printed.dfrs("decide", &[]), expected(0, &table, ""));
    let error = "FILE: a recorded decision cannot be rewritten; use --format scenario\n";
    assert_eq!(file.dfrs("decide", &["--rewrite"]), expected(2, "", error));
    assert_eq!(file.content(), record);
}

#[test]
fn bad_input_is_one_line() {
    for (name, text, error) in [
        (
            "empty",
            "",
            "FILE:1: holds no scenario; begin with 'scenario TITLE'\n",
        ),
        (
            "line",
            "scenario x\nnow soon\n",
            "FILE:2: 'now' must be a time with its unit (s, m, h or d), e.g. 90s or 1.5h\n",
        ),
        (
            "record",
            "{\"title\":7}",
            "FILE: is no decision as DFRS records it: invalid type: integer `7`, expected a string at \
             line 1 column 10; use dfrs of the plugin's version\n",
        ),
    ] {
        let file = ScratchFile::new(name, text);
        assert_eq!(file.dfrs("decide", &[]), expected(2, "", error));
        assert_eq!(file.dfrs("decide", &["--rewrite"]).0, 2);
        assert_eq!(file.content(), text);
    }
    let binary = ScratchFile::new("binary", b"scenario \xff\xfe\n");
    let (code, output, errors) = binary.dfrs("decide", &[]);
    assert_eq!((code, output.as_str()), (2, ""));
    assert!(
        errors.starts_with("FILE: cannot be read: ") && errors.lines().count() == 1,
        "{errors}"
    );
    for path in ["/nonexistent/scenario", "/", "/dev/zero"] {
        let (code, _, errors) = dfrs(&["decide", path]);
        assert_eq!(code, 2);
        assert!(
            errors.starts_with(path) && errors.lines().count() == 1,
            "{errors}"
        );
    }
}
