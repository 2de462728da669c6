//! What the lines of slurm.conf say: options, nodes, sets of nodes and partitions.

use std::collections::BTreeMap;
use std::path::Path;

use super::known::{self, OptionAge};
use super::lines::{self, ConfPlace, LogicalLine};
use super::pairs::{self, ConfPair};
use super::warning::ReadWarnings;
use super::{nodes, partitions};

/// The fields of a line, by their names in lower case.
pub type ConfFields = BTreeMap<String, String>;

/// An option of the whole cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfOption {
    /// Its name as it stands there.
    pub key: String,
    pub value: String,
    /// Where it stands, unless it is to be added.
    pub place: Option<ConfPlace>,
}

/// Options by their names in lower case. Of one that stands there more than once the last counts.
pub type ConfOptions = BTreeMap<String, ConfOption>;

/// A line about nodes, sets of nodes or partitions.
#[derive(Clone, Debug)]
pub struct NamedLine {
    /// What the line is about, as it stands there.
    pub name: String,
    /// With what lines named `DEFAULT` say for it.
    pub fields: ConfFields,
    pub text: String,
    pub place: ConfPlace,
}

/// Everything that DFRS's checks look at.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    pub options: ConfOptions,
    pub nodes: Vec<NamedLine>,
    pub node_sets: Vec<NamedLine>,
    pub partitions: Vec<NamedLine>,
}

/// Reads slurm.conf and what it includes.
///
/// # Errors
///
/// One line, if the file cannot be read, is a template, or has nothing of slurm.conf.
pub fn read(path: &Path, warnings: &mut ReadWarnings) -> Result<Statements, String> {
    let lines = lines::read(path, warnings)?;
    let mut reader = StatementReader::default();
    lines.iter().for_each(|line| reader.add(line));
    let fault = if !reader.has_known {
        "no line of slurm.conf is in it"
    } else if reader.problems.texts > lines.len() / 4 * 3 {
        "most lines are none of slurm.conf"
    } else {
        reader.problems.warn(warnings);
        return Ok(reader.statements);
    };
    Err(format!("{}: {fault}", path.display()))
}

/// Reads cgroup.conf, whose lines are like the options of slurm.conf.
///
/// # Errors
///
/// As [`read`].
pub fn read_options(path: &Path, warnings: &mut ReadWarnings) -> Result<ConfOptions, String> {
    let mut options = ConfOptions::new();
    for line in lines::read(path, warnings)? {
        if let Some(pair) = pairs::first(&line.text) {
            options.insert(pair.key.to_ascii_lowercase(), option(&pair, &line));
        }
    }
    Ok(options)
}

fn option(pair: &ConfPair<'_>, line: &LogicalLine) -> ConfOption {
    ConfOption {
        key: pair.key.to_owned(),
        value: pair.value.to_owned(),
        place: Some(line.place.clone()),
    }
}

#[derive(Default)]
struct StatementReader {
    statements: Statements,
    node_defaults: ConfFields,
    partition_defaults: ConfFields,
    problems: LineProblems,
    /// A line had an option that Slurm has or had.
    has_known: bool,
}

/// What is wrong with lines, by kind: there is one warning for each kind.
#[derive(Default)]
struct LineProblems {
    removed: Vec<String>,
    unknown: Vec<String>,
    removed_values: Vec<String>,
    no_numbers: Vec<String>,
    unread: Vec<String>,
    repeated: Vec<String>,
    /// Lines without any `=`.
    texts: usize,
}

impl StatementReader {
    fn add(&mut self, line: &LogicalLine) {
        let Some(pair) = pairs::first(&line.text) else {
            self.problems.texts += usize::from(!line.text.contains('='));
            return self.problems.unread(line, &line.text);
        };
        let age = known::of_cluster(pair.key);
        self.has_known |= age != OptionAge::Unknown;
        let is_known_field = match pair.key.to_ascii_lowercase().as_str() {
            "nodename" => known::of_node,
            "partitionname" => known::of_partition,
            "nodeset" | "downnodes" | "frontendname" => |_: &str| OptionAge::Known,
            _ => {
                self.problems.unread(line, &line.text[pair.range.end..]);
                self.problems.look_at(pair.key, age, line);
                self.problems.look_at_value(&pair, line);
                return self.add_option(&pair, line);
            }
        };
        let (pairs, end) = pairs::all(&line.text, pair.range.end);
        self.problems.unread(line, &line.text[end..]);
        for field in &pairs {
            self.problems
                .look_at(field.key, is_known_field(field.key), line);
            if pair.key.eq_ignore_ascii_case("NodeName") {
                self.problems.look_at_number(field, line);
            }
        }
        let fields = pairs
            .iter()
            .map(|it| (it.key.to_ascii_lowercase(), it.value.to_owned()));
        self.add_named(&pair, fields.collect(), line);
    }

    fn add_option(&mut self, pair: &ConfPair<'_>, line: &LogicalLine) {
        let key = pair.key.to_ascii_lowercase();
        let former = self.statements.options.insert(key, option(pair, line));
        let former = former.filter(|former| former.value != pair.value);
        if former.is_some() && !known::is_repeatable(pair.key) {
            let what = format!("{} ({})", pair.key, line.place);
            self.problems.repeated.push(what);
        }
    }

    fn add_named(&mut self, pair: &ConfPair<'_>, fields: ConfFields, line: &LogicalLine) {
        let is_default = pair.value.eq_ignore_ascii_case("DEFAULT");
        let named = |fields| NamedLine {
            name: pair.value.to_owned(),
            fields,
            text: line.text.trim().to_owned(),
            place: line.place.clone(),
        };
        let statements = &mut self.statements;
        match (pair.key.to_ascii_lowercase().as_str(), is_default) {
            ("nodename", true) => self.node_defaults.extend(fields),
            ("nodename", false) => {
                let fields = nodes::with_defaults(fields, &self.node_defaults);
                statements.nodes.push(named(fields));
            }
            ("partitionname", true) => self.partition_defaults.extend(fields),
            ("partitionname", false) => {
                let fields = partitions::with_defaults(fields, &self.partition_defaults);
                // Of two lines with one name the last counts.
                statements.partitions.retain(|it| it.name != pair.value);
                statements.partitions.push(named(fields));
            }
            ("nodeset", false) => statements.node_sets.push(named(fields)),
            ("frontendname", _) => {
                let key = "frontendname".to_owned();
                statements.options.insert(key, option(pair, line));
            }
            _ => {}
        }
    }
}

impl LineProblems {
    fn look_at(&mut self, key: &str, age: OptionAge, line: &LogicalLine) {
        let list = match age {
            OptionAge::Known => return,
            OptionAge::Removed => &mut self.removed,
            OptionAge::Unknown => &mut self.unknown,
        };
        let is_there = |it: &String| {
            it.split(' ')
                .next()
                .is_some_and(|it| it.eq_ignore_ascii_case(key))
        };
        if !list.iter().any(is_there) {
            list.push(format!("{key} ({})", line.place));
        }
    }

    fn look_at_value(&mut self, pair: &ConfPair<'_>, line: &LogicalLine) {
        if known::is_removed_value(pair.key, pair.value) {
            let what = format!("{}={} ({})", pair.key, pair.value, line.place);
            self.removed_values.push(what);
        }
    }

    fn look_at_number(&mut self, field: &ConfPair<'_>, line: &LogicalLine) {
        if nodes::is_number_missing(field.key, field.value) {
            let what = format!("{}={} ({})", field.key, field.value, line.place);
            self.no_numbers.push(what);
        }
    }

    fn unread(&mut self, line: &LogicalLine, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            let shown: String = text.chars().take(30).collect();
            self.unread.push(format!("\"{shown}\" ({})", line.place));
        }
    }

    fn warn(self, warnings: &mut ReadWarnings) {
        for (found, what, remedy) in [
            (
                self.removed,
                "Slurm 22.05 and later do not start with these options",
                "take them out; DFRS needs Slurm 22.05 or later",
            ),
            (
                self.unknown,
                "Slurm has no such options, and does not start with them",
                "look for a slip, or take them out",
            ),
            (
                self.removed_values,
                "Slurm 22.05 and later do not start with these values",
                "take the lines out; for accounting write accounting_storage/slurmdbd",
            ),
            (
                self.no_numbers,
                "these have to be numbers, and Slurm does not start with them",
                "write what \"slurmd -C\" prints on such a node",
            ),
            (
                self.unread,
                "Slurm does not read this, and does not start with it",
                "write KEY=VALUE or take it out; values with spaces in double quotes, lists without spaces",
            ),
            (
                self.repeated,
                "of these options, which stand there more than once, the last counts",
                "take the others out",
            ),
        ] {
            if let Some(names) = crate::doctor::nodes::some_of(&found) {
                let remedy = format!("{remedy}{}", known::replacements(&found));
                warnings.add(format!("{what}: {names}"), remedy);
            }
        }
    }
}

#[cfg(test)]
mod tests;
