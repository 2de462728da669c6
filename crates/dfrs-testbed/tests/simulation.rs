//! The reconciler against the model of a cluster, with faults that follow from seeds, and the
//! scenarios in which it once did wrong.

use std::fs;
use std::path::{Path, PathBuf};

use dfrs_testbed::simulation::generate::{Kinds, UNSOUND, generate};
use dfrs_testbed::simulation::{TrialScenario, minimise, run, run_with_transcript};

/// Tries so many seeds from `first` on.
fn seeds(first: u64, count: u64) {
    for seed in first..first + count {
        let scenario = generate(seed, &Kinds::sound());
        if let Err(failure) = run(&scenario) {
            panic!("seed {seed}: {failure}\n{}", minimise(&scenario));
        }
    }
}

#[test]
fn first_hundred_seeds_break_no_rule() {
    seeds(1, 100);
}

#[test]
fn second_hundred_seeds_break_no_rule() {
    seeds(101, 100);
}

fn scenarios(directory: &str) -> Vec<(PathBuf, String, TrialScenario)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let entries = fs::read_dir(&directory).expect("a directory");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{}", directory.display());
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a file");
        let scenario = TrialScenario::parse(&text);
        let scenario = scenario.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, text, scenario)
    };
    files.into_iter().map(read).collect()
}

#[test]
fn regression_scenarios_break_no_rule() {
    for (path, _, scenario) in scenarios("tests/regressions") {
        if let Err(failure) = run(&scenario) {
            panic!("{}: {failure}", path.display());
        }
    }
}

/// Where one of these goes well, its file belongs to the regressions, and its kind of fault to the
/// sound ones.
#[test]
fn unsound_scenarios_break_their_rule() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unsound");
    assert_eq!(UNSOUND.is_empty(), !directory.exists());
    if UNSOUND.is_empty() {
        return;
    }
    for (path, text, scenario) in scenarios("tests/unsound") {
        let rule = text
            .lines()
            .find_map(|line| line.strip_prefix("# breaks: "));
        let broken = run(&scenario).err().map(|failure| failure.rule);
        assert_eq!(broken, rule, "{}", path.display());
    }
}

/// The runs of `tests/e2e` on a real Slurm go the same way here.
#[test]
fn cluster_scenarios_have_the_expected_log() {
    for (path, text, scenario) in scenarios("tests/transcripts") {
        let (log, result) = run_with_transcript(&scenario);
        let log = log.join("\n");
        assert!(result.is_ok(), "{}: {result:?}\n{log}", path.display());
        let mut lines = log.lines();
        for then in text
            .lines()
            .filter_map(|line| line.strip_prefix("# then: "))
        {
            let found = lines.any(|line| line.ends_with(&format!(": {then}")));
            assert!(found, "{}: not then: {then}\n{log}", path.display());
        }
    }
}

#[test]
fn scenario_is_the_same_when_read_from_its_text() {
    for seed in 1..200 {
        let scenario = generate(seed, &Kinds::all());
        let read = TrialScenario::parse(&scenario.to_string()).expect("a scenario");
        assert_eq!(read, scenario, "seed {seed}");
    }
}

#[test]
fn a_seed_is_reproduced_exactly() {
    for seed in [3, 14] {
        let scenario = generate(seed, &Kinds::sound());
        assert_eq!(run(&scenario), run(&scenario));
    }
}
