//! Imports that may never be: layers of a crate, of which lower ones do not know higher ones.

use std::path::Path;

use super::types::is_test;

/// A line for where files lie, and the modules of their crate, or other crates, that they must not use.
const FORBIDDEN: &str = include_str!("arrows.txt");

/// What to print of a file's imports, a line each. Tests may use everything.
pub fn problems(path: &Path, text: &str) -> Vec<String> {
    let file = path.to_string_lossy();
    // The table of phases is printed by a test, and fixtures are what tests are made of.
    if is_test(path) || file.contains("/life/table") || file == "crates/dfrs-agent/src/fixtures.rs"
    {
        return Vec::new();
    }
    let rules = FORBIDDEN.lines().filter_map(|line| line.split_once(": "));
    let rules = rules.filter(|(place, _)| file.starts_with(place));
    let forbidden: Vec<&str> = rules.flat_map(|(_, modules)| modules.split(' ')).collect();
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
                let line = from_root(&file, line);
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

/// The line with `super::` at its first path written as `crate::` and the module that is meant.
fn from_root(file: &str, line: &str) -> String {
    let Some((before, mut rest)) = line.split_once("super::") else {
        return line.to_owned();
    };
    let module = file.split_once("/src/").map_or("", |(_, module)| module);
    let mut above = Path::new(module).parent();
    while let Some(further) = rest.strip_prefix("super::") {
        rest = further;
        above = above.and_then(Path::parent);
    }
    let modules = above.into_iter().flat_map(Path::iter);
    let path: String = modules
        .map(|module| format!("{}::", module.to_string_lossy()))
        .collect();
    format!("{before}crate::{path}{rest}")
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
        let reader = problems(
            Path::new("crates/dfrs-sim/src/trace/limits.rs"),
            "use super::read::Reading;\nuse super::values::shown;\nuse super::super::simulate::x;\n",
        );
        assert_eq!(reader.len(), 2, "{reader:?}");
        assert_eq!(
            found("crates/dfrs-agent/src/job/life/tests.rs"),
            Vec::<String>::new()
        );
    }
}
