//! `Mobility`: how the jobs of a partition can give up their places.

use dfrs_core::Mobility;

use super::partition_policy::refuse_for_moldable;
use crate::conf::Partition;
use crate::conf::key::{Key, KeyPurpose, Preset};
use crate::conf::value::{Keywords, word_for};

pub(super) const MOBILITIES: &Keywords<Mobility> = &[
    ("park", Mobility::Park),
    ("checkpoint", Mobility::Checkpoint),
    ("restart", Mobility::Restart),
    ("never", Mobility::Never),
];

pub(super) const KEY: Key<Partition> = Key {
    name: "Mobility",
    purpose: KeyPurpose::Operation,
    values: "`park`, `checkpoint`, `restart`, `never`",
    preset: Preset::Left("`park`"),
    meaning: "What DFRS may do with its jobs, unless a job [says \
        otherwise](#how-a-job-says-what-may-be-done-with-it). `checkpoint`: jobs with \
        `--signal`; others are parked.",
    sample: None,
    read: |partition, given| {
        refuse_for_moldable(partition, given)?;
        partition.mobility = given.word(MOBILITIES)?;
        Ok(())
    },
    show: |partition| shown_unless_moldable(partition, word_for(MOBILITIES, &partition.mobility)),
};

/// All mobilities that a job can request, in the order of the words.
pub(in crate::conf) fn all_mobilities() -> Vec<Mobility> {
    MOBILITIES.iter().map(|(_, mobility)| *mobility).collect()
}

/// A value that is printed only for partitions whose jobs can give up their places.
pub(super) fn shown_unless_moldable(partition: &Partition, text: String) -> Option<String> {
    partition.moldable.is_none().then_some(text)
}

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{partition_mistake, printed};

    #[test]
    fn mobility_is_a_word() {
        assert_eq!(printed("", "Mobility"), "park");
        assert_eq!(printed("Partition=b Mobility=Never", "Mobility"), "never");
        assert_eq!(
            partition_mistake("Mobility=freeze"),
            "Mobility=freeze is not known; allowed: park, checkpoint, restart, never"
        );
        let error = partition_mistake("Policy=DEMT Mobility=park");
        assert!(error.starts_with("Mobility has no place"), "{error}");
    }
}
