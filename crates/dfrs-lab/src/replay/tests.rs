//! Replays of small files.

use std::path::PathBuf;

use clap::{Args, Command, FromArgMatches};

use super::{Replay, ReplayOptions, beside};

const HEADER: &str =
    "JobID|Submit|Start|End|NNodes|NCPUS|ReqMem|MaxRSS|TotalCPU|Timelimit|State|AllocTRES\n";
const SITE: [&str; 6] = [
    "--nodes",
    "2",
    "--cpus-per-node",
    "8",
    "--memory-per-node",
    "64G",
];
const TRACE: &str = "id,submit,tasks,cpu,mem,runtime\na,0,1,0.5,0.1,600\n";

/// A file that is removed when the test ends.
struct TestFile(PathBuf);

impl TestFile {
    fn new(name: &str, text: &str) -> Self {
        let name = format!("dfrs-replay-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).expect("a file");
        Self(path)
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn options(arguments: &[&str]) -> ReplayOptions {
    let command = ReplayOptions::augment_args(Command::new("replay").no_binary_name(true));
    let matches = command.try_get_matches_from(arguments).expect("options");
    ReplayOptions::from_arg_matches(&matches).expect("options")
}

fn run_beside(log: &TestFile, own: &TestFile, arguments: &[&str]) -> Result<String, String> {
    beside::run(&log.0, &own.0, false, &options(arguments)).map(|(text, _)| text)
}

#[test]
fn job_is_left_out_when_one_of_the_batch_schedulers_can_never_start_it() {
    let text = "id,submit,tasks,cpu,mem,runtime,gpus\na,0,1,1,0.1,600,0\nb,0,1,0.5,0.1,600,0\n";
    let trace = TestFile::new("restricted", text);
    let policies = ["--policy", "default", "--policy", "EASY/restricted"];
    let options = options(&[&["--nodes", "1"][..], &policies].concat());
    let replay = Replay::new(&trace.0, false, &options).expect("a replay");
    let warnings = replay.warnings();
    assert!(
        warnings.contains("not restricted to jobs with GPUs"),
        "{warnings}"
    );
}

#[test]
fn jobs_with_devices_hold_cpus_beside_others() {
    let jobs = "1|1000|1000|4600|1|4|1G||04:00:00|02:00:00|COMPLETED|cpu=4,gres/gpu=1\n\
        2|1000|1000|4600|1|4|1G||04:00:00|02:00:00|COMPLETED|cpu=4\n\
        3|1000|1000|4600|1|8|99G||04:00:00|02:00:00|COMPLETED|cpu=8\n";
    let log = TestFile::new("gres", &format!("{HEADER}{jobs}"));
    let own = TestFile::new("gres-own", TRACE);
    let text = run_beside(&log, &own, &SITE).expect("a run");
    assert!(
        text.contains("2 jobs on 2 nodes, as they ran, held 50.0%"),
        "{text}"
    );
    let left_out = "Left out, so that what they held counts as idle: \
        jobs that had more than such nodes have: 1, with 50.0% of the core-hours.";
    assert!(text.contains(left_out), "{text}");
}

#[test]
fn trace_that_says_when_jobs_ran_is_taken_beside_a_dump() {
    let swf = TestFile::new("swf", "1 1000 0 600 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n");
    let jobs = "1|1000|1000|4600|1|4|1G||04:00:00|02:00:00|COMPLETED|cpu=4\n";
    let dump = TestFile::new("swf-dump", &format!("{HEADER}{jobs}"));
    let own = TestFile::new("swf-own", TRACE);
    let text = run_beside(&swf, &dump, &SITE).expect("a run");
    assert!(text.contains("1 jobs on 2 nodes"), "{text}");
    let error = run_beside(&swf, &own, &SITE).expect_err("no dump");
    assert!(error.contains("leave out --cpus-per-node"), "{error}");
}

#[test]
fn journal_is_refused_beside_others() {
    let text = r#"{"t":0,"event":"platform","version":1,"policy":"EASY","nodes":[{"name":"n0","cpu":1.0,"mem":1.0}]}
{"t":5,"event":"submit","job":"7","tasks":1,"cpu":0.5,"mem":0.5,"runtime":10}
{"t":5,"event":"start","job":"7","nodes":[0]}
{"t":5,"event":"yield","job":"7","value":1.0}
{"t":15,"event":"finish","job":"7"}
"#;
    let journal = TestFile::new("journal", text);
    let own = TestFile::new("journal-own", TRACE);
    let error = run_beside(&journal, &own, &[]).expect_err("a journal");
    assert!(error.contains("is a journal"), "{error}");
    assert!(error.contains("give a dump of sacct"), "{error}");
}
