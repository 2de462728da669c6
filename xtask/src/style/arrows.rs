//! Imports that may never be: layers of a crate, of which lower ones do not know higher ones.

use std::path::Path;

use super::types::is_test;

/// A line for where files lie, and the modules of their crate, or other crates, that they must not use.
const FORBIDDEN: &str = "\
# What slurmctld shows, at the bottom; records know no index.
crates/dfrs-agent/src/slurm/: job plan publish pass
crates/dfrs-agent/src/slurm/records.rs: slurm::observation
# A job's phases know the job, its nodes and each other.
crates/dfrs-agent/src/job/: plan publish pass
crates/dfrs-agent/src/job/life/: job::ledger job::limits job::recovery
crates/dfrs-agent/src/plan/: publish pass
crates/dfrs-agent/src/publish/: pass
# The simulator: settings, errors and sinks at the bottom, the two worlds beside each other,
# and what chooses between them at the top.
crates/dfrs-sim/src/settings.rs: journal batch scheduler world simulate
crates/dfrs-sim/src/error.rs: journal batch scheduler world simulate
crates/dfrs-sim/src/sink.rs: journal batch scheduler world simulate
crates/dfrs-sim/src/journal.rs: batch scheduler world simulate
crates/dfrs-sim/src/batch: scheduler world simulate
crates/dfrs-sim/src/scheduler.rs: world simulate
crates/dfrs-sim/src/world: batch scheduler simulate
# Readers of traces: values and lines, formats, and what takes any of them.
crates/dfrs-sim/src/trace: journal batch scheduler world simulate
crates/dfrs-sim/src/trace/bad_line.rs: trace::limits trace::read
crates/dfrs-sim/src/trace/values.rs: trace::limits trace::csv trace::swf trace::sacct trace::read
crates/dfrs-sim/src/trace/limits.rs: trace::csv trace::swf trace::sacct trace::read
crates/dfrs-sim/src/trace/csv.rs: trace::swf trace::sacct trace::read
crates/dfrs-sim/src/trace/swf.rs: trace::csv trace::sacct trace::read
crates/dfrs-sim/src/trace/sacct: trace::csv trace::swf trace::read
# What a decision looks at, from what a node is to what all of them have left.
crates/dfrs-core/src/node_index.rs: model
crates/dfrs-core/src/mapping.rs: model
crates/dfrs-core/src/node_set.rs: model
crates/dfrs-core/src/space.rs: load_limits usage headroom
crates/dfrs-core/src/load_limits.rs: usage headroom
crates/dfrs-core/src/usage.rs: headroom
# Policies know the constraints, and goals that others bring in.
crates/dfrs-core/src/constraints: policy yields
crates/dfrs-core/src/policy: packing yields
# The test bed, readers of journals and what only experiments need are not linked into slurmctld.
crates/dfrs-agent/src/: fixtures dfrs_journal dfrs_node_proto dfrs_testbed dfrs_papers dfrs_moldable_lab dfrs_scenario
crates/dfrs-core/src/: dfrs_papers
crates/dfrs-moldable/src/: dfrs_papers dfrs_moldable_lab dfrs_random
crates/dfrs-proto/src/: dfrs_papers
crates/dfrs-scenario/src/: dfrs_papers
# The plugin: the thread above what it does, and what that needs of slurmctld below.
src/host.rs: life breaker scheduler runtime
src/life: host live shim breaker scheduler runtime
src/breaker.rs: scheduler runtime
src/scheduler.rs: runtime
# Nor is the laboratory, which knows no command line.
src/: dfrs_agent::fixtures dfrs_node_proto dfrs_testbed dfrs_papers dfrs_moldable_lab dfrs_scenario dfrs_lab dfrs_cli
crates/dfrs-lab/src/: dfrs_cli
# Files are read without knowing what for.
crates/dfrs-lab/src/input: replay reproduce sim study
crates/dfrs-lab/src/input/source/log_jobs.rs: input::source::accounting input::source::journal input::source::trace
# Simulations serve studies; replays and reproductions stand by themselves.
crates/dfrs-lab/src/sim: replay reproduce study
crates/dfrs-lab/src/replay: sim::run reproduce study
crates/dfrs-lab/src/study: sim::run replay reproduce
crates/dfrs-lab/src/reproduce: sim replay study
";

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
