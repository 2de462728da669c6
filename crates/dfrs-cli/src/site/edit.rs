//! Changes of the files, and the lines that they come to.

use std::collections::BTreeSet;

use serde::Serialize;

use super::SlurmConfFiles;
use super::lines::ConfPlace;
use super::pairs;
use super::slurm_conf::{ConfOption, ConfOptions, NamedLine};

/// A line that is to be changed, added or taken out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineChange {
    /// `slurm.conf`, `cgroup.conf`, or a file that slurm.conf includes.
    pub file: String,
    /// Where the line begins; `None` if it is to be added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The line as it is, without comments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The line as it is to be; `None` if it is to be taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

/// What memory a node has is not known here.
const MEMORY: &str = "<MB, as \"slurmd -C\" prints it on such a node>";

impl SlurmConfFiles {
    /// Gives an option of slurm.conf this value, or takes it out.
    pub fn set_option(&mut self, key: &str, value: Option<&str>) {
        set(&mut self.statements.options, key, value);
    }

    /// The same in cgroup.conf.
    pub fn set_cgroup_option(&mut self, key: &str, value: Option<&str>) {
        set(self.cgroup.get_or_insert_default(), key, value);
    }

    /// Gives a field of a partition's line this value, or takes it out. `key` is its name in Slurm.
    pub fn set_partition_field(&mut self, partition: &str, key: &str, value: Option<&str>) {
        let mut lines = self.statements.partitions.iter_mut();
        if let Some(line) = lines.find(|line| line.name == partition) {
            let name = key.to_ascii_lowercase();
            match value {
                Some(value) => drop(line.fields.insert(name, value.to_owned())),
                None => drop(line.fields.remove(&name)),
            }
            line.text = with_field(&line.text, key, value);
        }
    }

    /// Gives the lines of nodes without `RealMemory` a place for it, where a node of this partition is theirs.
    pub fn ask_for_memory(&mut self, partition: &str) {
        let mut lines = self.statements.partitions.iter();
        let Some(index) = lines.position(|line| line.name == partition) else {
            return;
        };
        let members = self.members.get(index).into_iter().flatten();
        let nodes = members.filter_map(|&index| self.nodes.all.get(index));
        let nodes = nodes.filter(|node| node.memory().is_none());
        let places: BTreeSet<ConfPlace> = nodes.map(|node| node.place.clone()).collect();
        for line in &mut self.statements.nodes {
            if places.contains(&line.place) {
                line.text = with_field(&line.text, "RealMemory", Some(MEMORY));
            }
        }
    }

    /// The lines in which this differs from what it was.
    pub fn changes_since(&self, former: &Self) -> Vec<LineChange> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let (now, then) = (&self.statements, &former.statements);
        let mut changes = of_options(&now.options, &then.options, &name);
        changes.extend(of_lines(&now.nodes, &then.nodes));
        changes.extend(of_lines(&now.partitions, &then.partitions));
        let none = ConfOptions::new();
        let now = self.cgroup.as_ref().unwrap_or(&none);
        let then = former.cgroup.as_ref().unwrap_or(&none);
        changes.extend(of_options(now, then, "cgroup.conf"));
        // Lines that are to be added come last in their file.
        changes.sort_by_key(|it| {
            (
                it.file != name,
                it.file.clone(),
                it.line.unwrap_or(usize::MAX),
            )
        });
        changes
    }
}

fn set(options: &mut ConfOptions, key: &str, value: Option<&str>) {
    let name = key.to_ascii_lowercase();
    match (options.get_mut(&name), value) {
        (Some(option), Some(value)) => value.clone_into(&mut option.value),
        (_, None) => drop(options.remove(&name)),
        (None, Some(value)) => {
            let option = ConfOption {
                key: key.to_owned(),
                value: value.to_owned(),
                place: None,
            };
            options.insert(name, option);
        }
    }
}

/// Older names of a field.
fn is_same_field(key: &str, other: &str) -> bool {
    let shared = key.eq_ignore_ascii_case("OverSubscribe") && other.eq_ignore_ascii_case("Shared");
    shared || key.eq_ignore_ascii_case(other)
}

/// The line with this field once, where it stood first, or without it.
fn with_field(text: &str, key: &str, value: Option<&str>) -> String {
    let (fields, read) = pairs::all(text, 0);
    let field = value.map(|value| format!("{key}={value}"));
    let is_it = |it: &&pairs::ConfPair<'_>| is_same_field(key, it.key);
    let ranges: Vec<_> = fields
        .iter()
        .filter(is_it)
        .map(|it| it.range.clone())
        .collect();
    let mut line = text.trim_end().to_owned();
    for (index, range) in ranges.iter().enumerate().rev() {
        let (before, after) = (
            line[..range.start].trim_end(),
            line[range.end..].trim_start(),
        );
        let new = field.as_deref().filter(|_| index == 0);
        let words = [Some(before), new, Some(after)].into_iter().flatten();
        let words: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
        line = words.join(" ");
    }
    match field.filter(|_| ranges.is_empty()) {
        // What Slurm does not read, and what is after it, stays behind the new field.
        Some(field) => {
            let (before, after) = (text[..read].trim_end(), text[read..].trim());
            let words = [before, &field, after].into_iter();
            let words: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
            words.join(" ")
        }
        None => line,
    }
}

fn of_options(now: &ConfOptions, then: &ConfOptions, file: &str) -> Vec<LineChange> {
    let text = |option: &ConfOption| {
        let is_word = !option.value.is_empty() && !option.value.contains(char::is_whitespace);
        let quote = if is_word { "" } else { "\"" };
        format!("{}={quote}{}{quote}", option.key, option.value)
    };
    let place = |option: &ConfOption| option.place.clone();
    let changed = now
        .iter()
        .filter(|(key, option)| then.get(*key).is_none_or(|it| it.value != option.value));
    let taken_out = then.iter().filter(|(key, _)| !now.contains_key(*key));
    let changed = changed.map(|(key, option)| (then.get(key), Some(option)));
    let pairs = changed.chain(taken_out.map(|(_, option)| (Some(option), None)));
    let pairs = pairs.map(|(old, new)| {
        let place = old.and_then(place);
        LineChange {
            file: place
                .as_ref()
                .map_or(file.to_owned(), |it| it.file.to_string()),
            line: place.map(|it| it.line),
            old: old.map(text),
            new: new.map(text),
        }
    });
    pairs.collect()
}

fn of_lines<'a>(
    now: &'a [NamedLine],
    then: &'a [NamedLine],
) -> impl Iterator<Item = LineChange> + 'a {
    let changed = now
        .iter()
        .zip(then)
        .filter(|(now, then)| now.text != then.text);
    changed.map(|(now, then)| LineChange {
        file: then.place.file.to_string(),
        line: Some(then.place.line),
        old: Some(then.text.clone()),
        new: Some(now.text.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::with_field;

    #[test]
    fn a_field_is_replaced_where_it_stands_or_added_at_the_end() {
        let line = "PartitionName=a  Shared=YES:4 Nodes=n[1-2] State=UP";
        for (key, value, expected) in [
            (
                "OverSubscribe",
                Some("NO"),
                "PartitionName=a OverSubscribe=NO Nodes=n[1-2] State=UP",
            ),
            ("state", None, "PartitionName=a  Shared=YES:4 Nodes=n[1-2]"),
            (
                "CpuBind",
                Some("none"),
                "PartitionName=a  Shared=YES:4 Nodes=n[1-2] State=UP CpuBind=none",
            ),
            ("CpuBind", None, line),
        ] {
            assert_eq!(with_field(line, key, value), expected);
        }
        let unread = "NodeName=n1 FILL_IN State=UNKNOWN";
        assert_eq!(
            with_field(unread, "RealMemory", Some("1")),
            "NodeName=n1 RealMemory=1 FILL_IN State=UNKNOWN"
        );
        let twice = "PartitionName=a Shared=NO Nodes=n1 OverSubscribe=NO";
        let once = with_field(twice, "OverSubscribe", Some("FORCE:1"));
        assert_eq!(once, "PartitionName=a OverSubscribe=FORCE:1 Nodes=n1");
    }
}
