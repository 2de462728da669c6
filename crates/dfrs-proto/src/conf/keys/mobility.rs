//! How the jobs of a partition can give up their places.

use dfrs_core::Mobility;

use super::partition::refuse_for_moldable;
use crate::conf::Partition;
use crate::conf::key::{GivenText, Key, Preset};
use crate::conf::value::{Keywords, NONE, set};

pub(super) const MOBILITIES: &Keywords<Mobility> = &[
    ("park", Mobility::Park),
    ("carry", Mobility::Carry),
    ("checkpoint", Mobility::Checkpoint),
    ("restart", Mobility::Restart),
    ("never", Mobility::Never),
];

pub(super) const MOBILITY: Key<Partition> = Key {
    name: "Mobility",
    preset: Preset::Left,
    read: |partition, given| {
        refuse_for_moldable(partition, given)?;
        set(&mut partition.mobility, given.word(MOBILITIES))
    },
};

/// All mobilities that a job can request, in the order of the words.
pub(in crate::conf) fn all_mobilities() -> Vec<Mobility> {
    MOBILITIES.iter().map(|(_, mobility)| *mobility).collect()
}

pub(super) const ALLOW_MOBILITY: Key<Partition> = Key {
    name: "AllowMobility",
    preset: Preset::Left,
    read: |partition, given| {
        refuse_for_moldable(partition, given)?;
        set(&mut partition.allowed, list(given))
    },
};

/// A list of mobilities with commas, `all` or `none`; in the order of the words, each once.
fn list(given: &GivenText) -> Result<Vec<Mobility>, String> {
    if given.text.eq_ignore_ascii_case(NONE) {
        return Ok(Vec::new());
    }
    let mut allowed = all_mobilities();
    if given.text.eq_ignore_ascii_case("all") {
        return Ok(allowed);
    }
    let mut chosen = Vec::new();
    for text in given.text.split(',') {
        chosen.push(GivenText { text, ..*given }.word(MOBILITIES)?);
    }
    allowed.retain(|mobility| chosen.contains(mobility));
    Ok(allowed)
}

pub(super) const INTERACTIVE_MOBILITY: Key<Partition> = Key {
    name: "InteractiveMobility",
    preset: Preset::Left,
    read: |partition, given| {
        refuse_for_moldable(partition, given)?;
        partition.interactive = Some(mobility(given)?);
        Ok(())
    },
};

/// What a job without a script can do.
fn mobility(given: &GivenText) -> Result<Mobility, String> {
    match given.word(MOBILITIES)? {
        mobility @ (Mobility::Park | Mobility::Never) => Ok(mobility),
        _ => Err(format!(
            "{}={} is impossible: a job without a script cannot be requeued; allowed: park, never",
            given.key, given.text
        )),
    }
}

#[cfg(test)]
mod tests {
    use dfrs_core::Mobility;

    use crate::conf::key::testing::{config, partition_mistake, printed};

    #[test]
    fn mobility_is_a_word() {
        assert_eq!(printed("", "Mobility"), "park");
        assert_eq!(printed("Partition=b Mobility=Never", "Mobility"), "never");
        let partition = &config("Partition=b Mobility=Checkpoint").partitions[1];
        assert_eq!(partition.mobility, Mobility::Checkpoint);
        assert_eq!(
            partition_mistake("Mobility=freeze"),
            "Mobility=freeze is not known; allowed: park, carry, checkpoint, restart, never"
        );
        let error = partition_mistake("Policy=DEMT Mobility=park");
        assert!(error.starts_with("Mobility has no place"), "{error}");
    }

    #[test]
    fn allowed_mobilities_are_a_list() {
        let shown = |value: &str| {
            let line = format!("Partition=b AllowMobility={value}");
            printed(&line, "AllowMobility")
        };
        assert_eq!(shown("Never,park,park"), "park,never");
        assert_eq!(shown("NONE"), "none");
        let all = &config("Partition=b AllowMobility=All").partitions[1];
        assert_eq!(all.allowed.len(), 5);
        assert!(!all.to_string().contains("AllowMobility"));
        assert!(all.allowed.contains(&Mobility::Restart));
        let error = partition_mistake("AllowMobility=park,frozen");
        assert!(
            error.starts_with("AllowMobility=frozen is not known"),
            "{error}"
        );
        let error = partition_mistake("Policy=DEMT AllowMobility=all");
        assert!(error.starts_with("AllowMobility has no place"), "{error}");
    }

    #[test]
    fn jobs_without_a_script_are_never_requeued() {
        let key = "InteractiveMobility";
        assert_eq!(config("").partitions[0].interactive, None);
        assert_eq!(
            printed("Partition=b InteractiveMobility=Never", key),
            "never"
        );
        let error = partition_mistake("InteractiveMobility=restart");
        assert!(
            error.ends_with("cannot be requeued; allowed: park, never"),
            "{error}"
        );
        let error = partition_mistake("InteractiveMobility=fly");
        assert!(
            error.contains("is not known; allowed: park, carry"),
            "{error}"
        );
        let error = partition_mistake("Policy=DEMT InteractiveMobility=never");
        assert!(
            error.starts_with("InteractiveMobility has no place"),
            "{error}"
        );
    }
}
