//! `dfrs sim --results`: finished runs are kept, whatever happens to the call.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{Scratch, outcome};

/// A directory with a trace, and with results of runs.
struct Runs(Scratch);

impl Runs {
    fn new(test: &str) -> Self {
        let scratch = Scratch::new(test);
        let jobs =
            (0..400).map(|id| format!("{id},{},{},0.5,0.3,{}\n", id * 7, id % 5 + 1, id % 90));
        scratch.file("trace.csv", &jobs.collect::<String>());
        Self(scratch)
    }

    fn results(&self) -> String {
        std::fs::read_to_string(self.0.path("results")).unwrap_or_default()
    }

    /// `dfrs sim` with these policies.
    fn command(&self, policies: &[&str], more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dfrs"));
        command
            .current_dir(self.0.directory())
            .args(["sim", "trace.csv", "--results", "results"]);
        command
            .args(policies.iter().flat_map(|policy| ["--policy", policy]))
            .args(more);
        if !more.contains(&"--nodes") {
            command.args(["--nodes", "8"]);
        }
        command
    }

    fn run(&self, policies: &[&str], more: &[&str]) -> (i32, String, String) {
        outcome(&mut self.command(policies, more))
    }
}

const POLICIES: [&str; 3] = ["EASY", "Greedy*/OPT=MIN", "FCFS"];

#[test]
fn second_call_prints_the_same_and_runs_nothing() {
    let scratch = Runs::new("again");
    for format in ["table", "json", "csv"] {
        let of = || scratch.run(&POLICIES, &["--format", format, "--strict"]);
        let (first, second) = (of(), of());
        assert_eq!((first.0, second.0), (0, 0), "{}", first.2);
        assert_eq!(second.1, first.1); // measured times of decisions included
        assert_eq!(second.2, "results: runs taken from it: 3\n");
        assert_eq!(scratch.results().lines().count(), 4);
    }
}

#[test]
fn changed_input_is_run_again() {
    let scratch = Runs::new("changed");
    let fresh = |policy: &str, more: &[&str]| {
        let (code, _, errors) = scratch.run(&[policy], more);
        assert_eq!((code, errors.as_str()), (0, ""), "{policy} {more:?}");
    };
    fresh("Greedy*/OPT=MIN", &[]);
    fresh("Greedy*/OPT=AVG", &[]);
    fresh("Greedy*/OPT=MIN", &["--nodes", "9"]);
    fresh("Greedy*/OPT=MIN", &["--penalty", "100"]);
    fresh("Greedy*/OPT=MIN", &["--period", "100"]);
    fresh("Greedy*/OPT=MIN", &["--stretch-bound", "30"]);
    let trace = scratch.0.path("trace.csv");
    let jobs = std::fs::read_to_string(&trace).expect("a trace");
    std::fs::write(trace, jobs.replacen("0,0,1,0.5", "0,0,1,0.6", 1)).expect("a trace");
    fresh("Greedy*/OPT=MIN", &[]);
    let (_, _, errors) = scratch.run(&["Greedy*/OPT=MIN"], &["--penalty", "300"]);
    assert_eq!(errors, "results: runs taken from it: 1\n"); // the default
}

#[test]
fn a_killed_call_loses_no_finished_run() {
    let slow = [
        "FCFS",
        "DYNMCB8",
        "DYNMCB8-STRETCH-PER",
        "GreedyPM*/per/OPT=AVG/MINVT=600",
    ];
    for signal in ["-KILL", "-INT"] {
        let scratch = Runs::new(signal);
        let mut command = scratch.command(&slow, &[]);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("dfrs runs");
        while scratch.results().lines().count() < 2 {
            assert!(
                child
                    .try_wait()
                    .expect("a child")
                    .is_none_or(|status| status.success())
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        let kill = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(kill.is_ok()); // it may have ended on its own
        child.wait().expect("a child");
        let kept = scratch.results();
        let first: serde_json::Value =
            serde_json::from_str(kept.lines().nth(1).expect("a result")).expect("JSON");
        let policy = first["run"]["policy"].as_str().expect("a name");
        let (code, _, errors) = scratch.run(&[policy], &[]);
        assert_eq!(code, 0, "{errors}");
        assert!(
            errors.ends_with("results: runs taken from it: 1\n"),
            "{errors}"
        );
    }
}

/// A limit on the size of files simulates a full disk.
#[test]
fn a_full_disk_is_one_error_and_loses_no_finished_run() {
    let scratch = Runs::new("full");
    assert_eq!(scratch.run(&["FCFS", "EASY"], &[]).0, 0);
    let before = scratch.results();
    let blocks = before.len().div_ceil(512);
    let plain = scratch.command(&POLICIES, &["--policy", "DYNMCB8", "--penalty", "100"]);
    let mut sh = Command::new("sh");
    sh.args([
        "-c",
        &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\""),
    ])
    .arg(plain.get_program())
    .args(plain.get_args())
    .current_dir(scratch.0.directory());
    let (code, output, errors) = outcome(&mut sh);
    assert_eq!((code, output.as_str()), (2, ""));
    assert!(
        errors.starts_with("results: cannot be written: "),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(scratch.results().starts_with(&before));
    assert!(scratch.results().ends_with('\n'));
    let (code, _, errors) = scratch.run(&["FCFS", "EASY"], &[]);
    assert_eq!(
        (code, errors.as_str()),
        (0, "results: runs taken from it: 2\n")
    );
}

#[test]
fn wrong_files_are_one_line_and_code_2() {
    let scratch = Runs::new("wrong");
    let fails = |more: &[&str], words: &str| {
        let (code, output, errors) = scratch.run(&["FCFS"], more);
        assert_eq!((code, output.as_str()), (2, ""));
        assert!(errors.contains(words), "{errors}");
    };
    fails(&["--journal", "j"], "cannot be used with");
    assert!(!Path::new("j").exists());
    scratch.0.file("results", "my thesis");
    fails(
        &[],
        "results: is no file of results of dfrs; name another one\n",
    );
    assert_eq!(scratch.results(), "my thesis");
}
