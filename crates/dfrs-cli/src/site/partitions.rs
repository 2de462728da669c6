//! Partitions of slurm.conf: what they inherit, and which nodes they have.

use std::collections::BTreeSet;

use dfrs_proto::slurm_conf::host_list_entries;

use super::hosts::expand_hosts;
use super::nodes::ConfNodes;
use super::slurm_conf::{ConfFields, NamedLine};
use super::warning::ReadWarnings;

/// What `PartitionName=DEFAULT` does not say for others (`_parse_partitionname()` of Slurm 24.11).
const NOT_INHERITED: [&str; 6] = [
    "disablerootjobs",
    "exclusivetopo",
    "exclusiveuser",
    "powerdownonidle",
    "selecttypeparameters",
    "suspendtime",
];

/// The fields of a `PartitionName=` line, with `Shared` as `OverSubscribe` and `Priority` as `PriorityTier`.
pub fn with_defaults(own: ConfFields, defaults: &ConfFields) -> ConfFields {
    let mut fields = defaults.clone();
    fields.retain(|key, _| !NOT_INHERITED.contains(&key.as_str()));
    fields.extend(own);
    if let Some(shared) = fields.remove("shared") {
        fields.entry("oversubscribe".to_owned()).or_insert(shared);
    }
    if let Some(both) = fields.remove("priority") {
        fields.insert("prioritytier".to_owned(), both);
    }
    fields
}

/// The most nodes of all partitions together: so many need a few hundred megabytes.
const MAX_MEMBERS: usize = 1 << 21;

/// The nodes of each partition, by their places in the list, ascending.
pub fn members(
    partitions: &[NamedLine],
    sets: &[NamedLine],
    nodes: &ConfNodes,
    warnings: &mut ReadWarnings,
) -> Vec<Vec<usize>> {
    let mut left = MAX_MEMBERS;
    let mut of = |partition: &NamedLine| {
        let list = partition.fields.get("nodes").map_or("", String::as_str);
        let mut found = FoundNodes::default();
        found.add(list, sets, nodes);
        if let Some(names) = crate::doctor::nodes::some_of(&found.unknown) {
            let (place, name) = (&partition.place, &partition.name);
            warnings.add(
                format!("{place}: PartitionName={name}: no line has these nodes: {names}"),
                "write a NodeName= line for them; Slurm does not start without",
            );
        }
        let Some(rest) = left.checked_sub(found.indexes.len()) else {
            let (place, name) = (&partition.place, &partition.name);
            let what = format!(
                "{place}: PartitionName={name}: more than {MAX_MEMBERS} nodes of partitions"
            );
            warnings.add(what, "its nodes are not looked at");
            return Vec::new();
        };
        left = rest;
        found.indexes.into_iter().collect()
    };
    partitions.iter().map(&mut of).collect()
}

#[derive(Default)]
struct FoundNodes {
    indexes: BTreeSet<usize>,
    unknown: Vec<String>,
}

impl FoundNodes {
    /// Adds the nodes of `Nodes=`: hosts, names of node sets, or `ALL`.
    fn add(&mut self, list: &str, sets: &[NamedLine], nodes: &ConfNodes) {
        if list.eq_ignore_ascii_case("ALL") {
            self.indexes.extend(0..nodes.all.len());
            return;
        }
        let list = list.replace(char::is_whitespace, ",");
        for entry in host_list_entries(&list) {
            let set = sets.iter().filter(|set| set.name == entry);
            let mut is_set = false;
            for set in set {
                is_set = true;
                self.add_set(set, nodes);
            }
            if !is_set {
                self.add_hosts(entry, nodes);
            }
        }
    }

    fn add_set(&mut self, set: &NamedLine, nodes: &ConfNodes) {
        if let Some(feature) = set.fields.get("feature") {
            self.indexes.extend(nodes.with_feature(feature));
        }
        if let Some(list) = set.fields.get("nodes") {
            // Sets of sets are none to Slurm.
            self.add(list, &[], nodes);
        }
    }

    fn add_hosts(&mut self, entry: &str, nodes: &ConfNodes) {
        let names = expand_hosts(entry).unwrap_or_else(|_| vec![entry.to_owned()]);
        for name in names {
            match nodes.index(&name) {
                Some(index) => drop(self.indexes.insert(index)),
                None => self.unknown.push(name),
            }
        }
    }
}
