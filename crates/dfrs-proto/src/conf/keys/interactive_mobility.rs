//! `InteractiveMobility`: how jobs without a script can give up their places.

use dfrs_core::Mobility;

use super::mobility::MOBILITIES;
use super::partition_policy::refuse_for_moldable;
use crate::conf::Partition;
use crate::conf::key::{GivenText, Key, KeyPurpose, Preset};
use crate::conf::value::word_for;

pub(super) const KEY: Key<Partition> = Key {
    name: "InteractiveMobility",
    purpose: KeyPurpose::Operation,
    values: "`park`, `never`",
    preset: Preset::Left("as `Mobility`"),
    meaning: "The same for jobs without a script (`salloc`, `srun`). They cannot be requeued.",
    sample: None,
    read: |partition, given| {
        refuse_for_moldable(partition, given)?;
        partition.interactive = Some(mobility(given)?);
        Ok(())
    },
    show: |partition| Some(word_for(MOBILITIES, &partition.interactive?)),
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
    use crate::conf::key::testing::{config, partition_mistake, printed};

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
            error.contains("is not known; allowed: park, checkpoint"),
            "{error}"
        );
        let error = partition_mistake("Policy=DEMT InteractiveMobility=never");
        assert!(
            error.starts_with("InteractiveMobility has no place"),
            "{error}"
        );
    }
}
