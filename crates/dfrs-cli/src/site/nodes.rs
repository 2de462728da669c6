//! Nodes of slurm.conf.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::hosts::expand_hosts;
use super::lines::ConfPlace;
use super::slurm_conf::{ConfFields, NamedLine};
use super::warning::ReadWarnings;

/// The most nodes that are looked at: Slurm has no more.
const MAX_NODES: usize = 1 << 16;

/// A node that a `NodeName=` line names.
#[derive(Clone, Debug)]
pub struct ConfNode {
    pub name: String,
    /// What its line says, with `NodeName=DEFAULT`.
    pub fields: Rc<ConfFields>,
    /// Where its line stands.
    pub place: ConfPlace,
}

/// All nodes, in the order of slurm.conf, and where each is among them.
#[derive(Clone, Debug, Default)]
pub struct ConfNodes {
    pub all: Vec<ConfNode>,
    indexes: BTreeMap<String, usize>,
}

/// The fields of a `NodeName=` line. Of `CPUs` and `Procs`, and of `Feature` and `Features`, the first counts,
/// wherever it stands; what a line says itself comes before `DEFAULT`.
pub fn with_defaults(own: ConfFields, defaults: &ConfFields) -> ConfFields {
    let mut fields = defaults.clone();
    if own.contains_key("feature") || own.contains_key("features") {
        fields.remove("feature");
        fields.remove("features");
    }
    fields.extend(own);
    for (name, older) in [("cpus", "procs"), ("feature", "features")] {
        let value = fields.remove(older);
        if let (Some(value), false) = (value, fields.contains_key(name)) {
            fields.insert(name.to_owned(), value);
        }
    }
    fields
}

/// The fields of a `NodeName=` line that are looked at as numbers.
const NUMBERS: [&str; 8] = [
    "Boards",
    "CoresPerSocket",
    "CPUs",
    "Procs",
    "RealMemory",
    "Sockets",
    "SocketsPerBoard",
    "ThreadsPerCore",
];

/// Whether the field has to be a number, and Slurm takes this for none.
pub fn is_number_missing(key: &str, value: &str) -> bool {
    let is_number = || slurm_number(value).is_some();
    let is_without_end = || {
        let words = ["UNLIMITED", "INFINITE"];
        words.iter().any(|word| value.eq_ignore_ascii_case(word))
    };
    let is_one = NUMBERS.iter().any(|it| it.eq_ignore_ascii_case(key));
    is_one && !is_number() && !is_without_end()
}

/// A number as Slurm reads it: decimal, hexadecimal after `0x`, octal after `0`; `K` at the end means 1024 of it.
fn slurm_number(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let (digits, unit) = match text.strip_suffix('k') {
        Some(digits) => (digits, 1024),
        None => (&*text, 1),
    };
    let number = match (digits.strip_prefix("0x"), digits.strip_prefix('0')) {
        (Some(digits), _) => u64::from_str_radix(digits, 16),
        (None, Some(digits)) if !digits.is_empty() => u64::from_str_radix(digits, 8),
        _ => digits.parse(),
    };
    number.ok()?.checked_mul(unit)
}

impl ConfNodes {
    /// The nodes of these lines, but those of `State=FUTURE`, which are not there yet.
    pub fn of(lines: &[NamedLine], warnings: &mut ReadWarnings) -> Self {
        let mut nodes = Self::default();
        for line in lines {
            let state = line.fields.get("state").map_or("", String::as_str);
            if state
                .get(..6)
                .is_some_and(|it| it.eq_ignore_ascii_case("FUTURE"))
            {
                continue;
            }
            match expand_hosts(&line.name) {
                Ok(names) if nodes.all.len() + names.len() <= MAX_NODES => {
                    nodes.add(names, line, warnings);
                }
                Ok(_) => warnings.add(
                    format!(
                        "{}: NodeName={}: more than {MAX_NODES} nodes",
                        line.place, line.name
                    ),
                    "the rest is not looked at",
                ),
                Err(problem) => warnings.add(
                    format!("{}: NodeName={problem}", line.place),
                    "write names of hosts, as n[01-20,30]",
                ),
            }
        }
        nodes
    }

    fn add(&mut self, names: Vec<String>, line: &NamedLine, warnings: &mut ReadWarnings) {
        let fields = Rc::new(line.fields.clone());
        let mut twice = Vec::new();
        for name in names {
            if self.indexes.contains_key(&name) {
                twice.push(name);
                continue;
            }
            self.indexes.insert(name.clone(), self.all.len());
            self.all.push(ConfNode {
                name,
                fields: Rc::clone(&fields),
                place: line.place.clone(),
            });
        }
        if let Some(names) = crate::doctor::nodes::some_of(&twice) {
            let what = format!(
                "{}: another line names these nodes, too: {names}",
                line.place
            );
            warnings.add(what, "name each node once");
        }
    }

    /// Where a node is in the list.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.indexes.get(name).copied()
    }

    /// The nodes with a feature.
    pub fn with_feature(&self, feature: &str) -> BTreeSet<usize> {
        let has = |node: &ConfNode| {
            let features = node.fields.get("feature").map_or("", String::as_str);
            features.split([',', '&']).any(|it| it.trim() == feature)
        };
        let all = self.all.iter().enumerate();
        all.filter(|(_, node)| has(node))
            .map(|(index, _)| index)
            .collect()
    }
}

impl ConfNode {
    /// A number of its line, if it is one.
    fn number(&self, key: &str) -> Option<u64> {
        slurm_number(self.fields.get(key)?)
    }

    /// `RealMemory`, in MB, if the line has it.
    pub fn memory(&self) -> Option<u64> {
        self.number("realmemory")
    }

    /// `ThreadsPerCore`; 1 if nothing says.
    pub fn threads_per_core(&self) -> u64 {
        self.number("threadspercore").unwrap_or(1).max(1)
    }

    /// The CPUs that Slurm counts: `CPUs`, or the product of sockets, cores and threads if the line has no
    /// `CPUs` or a number that fits none of them (`_parse_nodename()` of Slurm 24.11).
    pub fn cpus(&self) -> u64 {
        let positive = |key| self.number(key).map(|it| it.clamp(1, 1 << 16));
        let (cores, threads) = (
            positive("corespersocket").unwrap_or(1),
            self.threads_per_core(),
        );
        let (boards, cpus) = (positive("boards").unwrap_or(1), positive("cpus"));
        let per_socket = cores.saturating_mul(threads);
        let inferred = cpus
            .filter(|cpus| cpus % per_socket == 0)
            .map(|cpus| cpus / per_socket);
        let sockets = match (positive("socketsperboard"), positive("sockets")) {
            (Some(each), _) => boards.saturating_mul(each),
            (None, Some(sockets)) => sockets,
            (None, None) => inferred.unwrap_or(boards),
        };
        let product = sockets.saturating_mul(per_socket);
        let fits = |cpus: &u64| [sockets, sockets.saturating_mul(cores), product].contains(cpus);
        cpus.filter(fits).unwrap_or(product)
    }

    /// `Gres` without the sockets and cores of devices.
    pub fn gres(&self) -> String {
        let list = self.fields.get("gres").map_or("", String::as_str);
        let mut depth = 0_u32;
        let outside = list.chars().filter(|character| match character {
            '(' => {
                depth += 1;
                false
            }
            ')' => {
                depth = depth.saturating_sub(1);
                false
            }
            _ => depth == 0,
        });
        outside.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_slurm_reads_them() {
        for (text, number) in [
            ("128", Some(128)),
            ("0", Some(0)),
            ("125K", Some(128_000)),
            ("0x10", Some(16)),
            ("010", Some(8)),
            ("09", None),
            ("64G", None),
            ("#MEMORY", None),
            ("", None),
        ] {
            assert_eq!(slurm_number(text), number, "{text}");
        }
        assert!(is_number_missing("realmemory", "64G"));
        assert!(!is_number_missing("RealMemory", "UNLIMITED"));
        assert!(!is_number_missing("Weight", "x"));
    }
}
