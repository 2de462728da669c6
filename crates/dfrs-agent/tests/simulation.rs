//! The reconciler against the model of a cluster, with faults that follow from seeds, and the scenarios
//! in which it once did wrong.

use std::fs;
use std::path::{Path, PathBuf};

use dfrs_agent::simulation::generate::{Kinds, UNSOUND, generate};
use dfrs_agent::simulation::{Scenario, minimise, narrate, run};

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
fn nothing_goes_wrong_in_the_first_hundred_seeds() {
    seeds(1, 100);
}

#[test]
fn nothing_goes_wrong_in_the_second_hundred_seeds() {
    seeds(101, 100);
}

fn scenarios(directory: &str) -> Vec<(PathBuf, String, Scenario)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let entries = fs::read_dir(&directory).expect("a directory");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{}", directory.display());
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a file");
        let scenario = Scenario::parse(&text);
        let scenario = scenario.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, text, scenario)
    };
    files.into_iter().map(read).collect()
}

#[test]
fn what_once_went_wrong_goes_well() {
    for (path, _, scenario) in scenarios("tests/regressions") {
        if let Err(failure) = run(&scenario) {
            panic!("{}: {failure}", path.display());
        }
    }
}

/// Where one of these goes well, its file belongs to the regressions, and its kind of fault to the sound
/// ones.
#[test]
fn what_is_known_to_go_wrong_is_found() {
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

/// What `tests/cluster` tells of a real Slurm goes the same way here.
#[test]
fn stories_of_the_cluster_are_told_alike() {
    for (path, text, scenario) in scenarios("tests/stories") {
        let (told, result) = narrate(&scenario);
        let told = told.join("\n");
        assert!(result.is_ok(), "{}: {result:?}\n{told}", path.display());
        let mut lines = told.lines();
        for then in text
            .lines()
            .filter_map(|line| line.strip_prefix("# then: "))
        {
            let said = lines.any(|line| line.ends_with(&format!(": {then}")));
            assert!(said, "{}: not then: {then}\n{told}", path.display());
        }
    }
}

#[test]
fn a_scenario_is_what_its_text_says() {
    for seed in 1..200 {
        let scenario = generate(seed, &Kinds::all());
        let read = Scenario::parse(&scenario.to_string()).expect("a scenario");
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
