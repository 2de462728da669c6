//! Decisions worked out by hand: every file in `scenarios/` says what is given and what is
//! expected.
//!
//! `DFRS_REWRITE=1` makes the files expect what is decided: look at the difference before you
//! commit it.

use std::fs;
use std::path::{Path, PathBuf};

use dfrs_scenario::{Scenario, read, rewritten};

/// The files, in order of their names.
fn files() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let entries = fs::read_dir(directory).expect("scenarios");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

/// What is not as the scenario expects, with its title.
fn difference(scenario: &Scenario) -> Option<String> {
    let outcome = scenario.decide().outcome();
    let difference = scenario.difference(&outcome);
    let is_as_expected = difference.is_empty() && scenario.expected.is_some();
    (!is_as_expected).then(|| format!("{}\n{}\n", scenario.title, difference.join("\n")))
}

#[test]
fn decisions_are_as_expected() {
    let rewrites = std::env::var_os("DFRS_REWRITE").is_some_and(|value| value == "1");
    let mut differences = String::new();
    for path in files() {
        let file = path.display().to_string();
        let text = fs::read_to_string(&path).expect("UTF-8");
        let scenarios = read(&text, &file).unwrap_or_else(|error| panic!("{error}"));
        let found: Vec<String> = scenarios.iter().filter_map(difference).collect();
        if rewrites && !found.is_empty() {
            let text = rewritten(&text, &file).unwrap_or_else(|error| panic!("{error}"));
            fs::write(&path, text).expect("a file of ours");
        } else {
            differences.extend(found.iter().map(|found| format!("\n{file}: {found}")));
        }
    }
    assert!(
        differences.is_empty(),
        "not as expected (DFRS_REWRITE=1 rewrites the files):\n{differences}"
    );
}
