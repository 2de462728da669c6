//! Imports that may never be: layers of a crate, of which lower ones do not know higher ones.

use std::path::Path;

use super::types::is_test;

/// Where files lie, and the modules of their crate, or other crates, that they must not use.
const FORBIDDEN: &[(&str, &[&str])] = &[
    // What slurmctld shows, at the bottom; records know no index.
    (
        "crates/dfrs-agent/src/slurm/",
        &["job", "plan", "publish", "pass"],
    ),
    (
        "crates/dfrs-agent/src/slurm/records.rs",
        &["slurm::observation"],
    ),
    // A job's phases know the job, its nodes and each other.
    ("crates/dfrs-agent/src/job/", &["plan", "publish", "pass"]),
    (
        "crates/dfrs-agent/src/job/life/",
        &["job::ledger", "job::limits", "job::recovery"],
    ),
    ("crates/dfrs-agent/src/plan/", &["publish", "pass"]),
    ("crates/dfrs-agent/src/publish/", &["pass"]),
    // The test bed is not linked into slurmctld.
    ("crates/dfrs-agent/src/", &["fixtures", "dfrs_testbed"]),
    // Nor is the laboratory, which knows no command line.
    (
        "src/",
        &[
            "dfrs_agent::fixtures",
            "dfrs_testbed",
            "dfrs_lab",
            "dfrs_cli",
        ],
    ),
    ("crates/dfrs-lab/src/", &["dfrs_cli"]),
];

/// What to print of a file's imports, a line each. Tests may use everything.
pub fn problems(path: &Path, text: &str) -> Vec<String> {
    let file = path.to_string_lossy();
    // The table of phases is printed by a test.
    if is_test(path) || file.contains("/life/table") {
        return Vec::new();
    }
    let rules = FORBIDDEN
        .iter()
        .filter(|(place, _)| file.starts_with(place));
    let forbidden: Vec<&str> = rules.flat_map(|(_, modules)| *modules).copied().collect();
    let lines = text.lines().enumerate();
    lines
        .take_while(|(_, line)| *line != "mod tests {")
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .filter_map(|(index, line)| {
            let used = |module: &&&str| {
                let path = match module.starts_with("dfrs_") {
                    true => (*module).to_string(),
                    false => format!("crate::{module}"),
                };
                line.split_once(&path).is_some_and(|(_, rest)| {
                    !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')
                })
            };
            let module = forbidden.iter().find(used)?;
            Some(format!(
                "{file}:{}: uses {module}, which is above it; move what both need below",
                index + 1
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::problems;

    #[test]
    fn imports_of_higher_layers_are_problems_outside_tests() {
        let text = "use crate::pass::Agent;\nuse crate::passage::X;\n// crate::pass\nmod tests {\nuse crate::fixtures::job;\n";
        let found = |path: &str| problems(Path::new(path), text);
        assert_eq!(
            found("crates/dfrs-agent/src/job/ledger.rs"),
            [
                "crates/dfrs-agent/src/job/ledger.rs:1: uses pass, which is above it; move what both need below"
            ]
        );
        assert_eq!(
            found("crates/dfrs-agent/src/pass/act.rs"),
            Vec::<String>::new()
        );
        let product = problems(
            Path::new("src/breaker.rs"),
            "use dfrs_testbed::model::ClusterModel;\n",
        );
        assert_eq!(product.len(), 1, "{product:?}");
        assert_eq!(found("crates/dfrs-lab/src/study.rs"), Vec::<String>::new());
        let laboratory = problems(
            Path::new("crates/dfrs-lab/src/study.rs"),
            "use dfrs_cli::command;\n",
        );
        assert_eq!(laboratory.len(), 1, "{laboratory:?}");
        assert_eq!(
            found("crates/dfrs-agent/src/job/life/tests.rs"),
            Vec::<String>::new()
        );
    }
}
