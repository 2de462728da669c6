//! The options that Slurm has, and those that it had.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Names in lower case.
type OptionNames = LazyLock<BTreeSet<String>>;

static OF_CLUSTER: OptionNames = LazyLock::new(|| names(include_str!("options/cluster.txt")));
static OF_NODE: OptionNames = LazyLock::new(|| names(include_str!("options/node.txt")));
static OF_PARTITION: OptionNames = LazyLock::new(|| names(include_str!("options/partition.txt")));
static REMOVED: OptionNames = LazyLock::new(|| names(include_str!("options/removed.txt")));

fn names(text: &str) -> BTreeSet<String> {
    text.split_whitespace()
        .map(str::to_ascii_lowercase)
        .collect()
}

/// What an option is to the Slurm releases that DFRS is for, 22.05 to 26.05.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionAge {
    /// At least one of them has it.
    Known,
    /// Only older ones had it: with it these do not start.
    Removed,
    /// None ever had it, or it is of an extension of Slurm.
    Unknown,
}

/// The option of a line that stands for itself.
pub fn of_cluster(key: &str) -> OptionAge {
    age(key, &OF_CLUSTER)
}

/// Whether it is an option that there is, with a value that only older releases had.
pub fn is_removed_value(key: &str, value: &str) -> bool {
    if key.eq_ignore_ascii_case("FastSchedule") {
        // 1 is still read, and does nothing.
        return value != "1";
    }
    let is_it = |(of, removed): &(&str, &str)| {
        key.eq_ignore_ascii_case(of) && value.eq_ignore_ascii_case(removed)
    };
    REMOVED_VALUES.iter().any(is_it)
}

/// The database itself is for slurmdbd, and files are for none.
const REMOVED_VALUES: [(&str, &str); 3] = [
    ("AccountingStorageType", "accounting_storage/filetxt"),
    ("AccountingStorageType", "accounting_storage/mysql"),
    ("TaskPluginParam", "Sched"),
];

/// What takes the place of options that are gone, where something does (read_config.c of 22.05 to 26.05).
const REPLACEMENTS: [(&str, &str); 3] = [
    ("FastSchedule=2", "SlurmdParameters=config_overrides"),
    (
        "AccountingStoreJobComment",
        "AccountingStoreFlags=job_comment",
    ),
    (
        "SallocDefaultCommand",
        "LaunchParameters=use_interactive_step",
    ),
];

/// Which of these options, each with what follows it, have something in their place: "; in place of ... write ..." for
/// each.
pub fn replacements(found: &[String]) -> String {
    let stands = |old: &str| {
        let begins = |text: &String| {
            let start = text.get(..old.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(old))
        };
        found.iter().any(begins)
    };
    let those = REPLACEMENTS.iter().filter(|(old, _)| stands(old));
    those
        .map(|(old, new)| format!("; in place of {old} write {new}"))
        .collect()
}

/// The field of a `NodeName=` line.
pub fn of_node(key: &str) -> OptionAge {
    age(key, &OF_NODE)
}

/// The field of a `PartitionName=` line.
pub fn of_partition(key: &str) -> OptionAge {
    age(key, &OF_PARTITION)
}

/// Options that may stand there more than once.
pub fn is_repeatable(key: &str) -> bool {
    let repeatable = [
        "SlurmctldHost",
        "Prolog",
        "Epilog",
        "PrologSlurmctld",
        "EpilogSlurmctld",
    ];
    repeatable.iter().any(|it| it.eq_ignore_ascii_case(key))
}

fn age(key: &str, known: &BTreeSet<String>) -> OptionAge {
    let key = key.to_ascii_lowercase();
    if known.contains(&key) {
        OptionAge::Known
    } else if REMOVED.contains(&key) {
        OptionAge::Removed
    } else {
        OptionAge::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_known_in_any_case() {
        assert_eq!(of_cluster("SELECTTYPE"), OptionAge::Known);
        assert_eq!(of_cluster("cachegroups"), OptionAge::Removed);
        assert_eq!(of_cluster("RealMemory"), OptionAge::Unknown);
        assert_eq!(of_node("realmemory"), OptionAge::Known);
        assert_eq!(of_partition("Shared"), OptionAge::Known);
        assert_eq!(of_partition("Sharing"), OptionAge::Unknown);
    }

    #[test]
    fn options_that_are_read_only_to_be_refused_count_as_removed() {
        for key in [
            "AccountingStorageLoc",
            "AccountingStoreJobComment",
            "SallocDefaultCommand",
        ] {
            assert_eq!(of_cluster(key), OptionAge::Removed, "{key}");
        }
        assert!(is_removed_value("fastschedule", "0"));
        assert!(!is_removed_value("FastSchedule", "1"));
        assert!(is_removed_value("TaskPluginParam", "sched"));
        assert!(!is_removed_value("TaskPluginParam", "Cores"));
    }
}
