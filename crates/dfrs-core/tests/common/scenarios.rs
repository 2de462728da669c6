//! Whether decisions are as the files in a directory say.

use std::fs;
use std::path::{Path, PathBuf};

use dfrs_core::PolicyReader;
use dfrs_scenario::{Scenario, read, rewritten};

/// The files of a directory, in order of their names.
fn files(directory: &Path) -> Vec<PathBuf> {
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

/// Fails unless all decisions are as expected; `DFRS_REWRITE=1` makes the files expect what is
/// decided instead. `policy` reads names of policies.
pub fn check_scenarios(directory: &Path, policy: PolicyReader) {
    let rewrites = std::env::var_os("DFRS_REWRITE").is_some_and(|value| value == "1");
    let mut differences = String::new();
    for path in files(directory) {
        let file = path.display().to_string();
        let text = fs::read_to_string(&path).expect("UTF-8");
        let scenarios = read(&text, &file, policy).unwrap_or_else(|error| panic!("{error}"));
        let found: Vec<String> = scenarios.iter().filter_map(difference).collect();
        if rewrites && !found.is_empty() {
            let text = rewritten(&text, &file, policy).unwrap_or_else(|error| panic!("{error}"));
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
