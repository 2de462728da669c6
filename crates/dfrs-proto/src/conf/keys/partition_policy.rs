//! `Policy` of a partition: whether its jobs are moldable.

use crate::conf::key::{GivenText, Key, KeyPurpose, KeySample, Preset};
use crate::conf::{DEFAULT_LINEAR_SPEEDUP, MoldableSettings, Partition};

/// The name of the policy that partitions of moldable jobs have.
pub(super) const DEMT: &str = "DEMT";

pub(super) const KEY: Key<Partition> = Key {
    name: "Policy",
    purpose: KeyPurpose::Operation,
    values: "`DEMT`",
    preset: Preset::Left(""),
    meaning: "Its jobs are moldable and get whole nodes: [below](#partitions-of-moldable-jobs). The \
        three keys of mobility cannot stand beside it.",
    sample: Some(KeySample {
        comment: "A partition of moldable jobs (\"sbatch -N 2-16\"), which get whole nodes, as many as \
            is best for all, and are never paused. Jobs that say nothing of their speedup are as \
            many times as fast as they have nodes, up to LinearSpeedup.",
        line: "#Partition=moldable Policy=DEMT LinearSpeedup=8",
    }),
    read: |partition, given| {
        if !given.text.eq_ignore_ascii_case(DEMT) {
            let (key, text) = (given.key, given.text);
            return Err(format!(
                "{key}={text} on a Partition= line is wrong; allowed: DEMT (the policy of all other partitions stands on a line of its own)"
            ));
        }
        let linear_speedup = DEFAULT_LINEAR_SPEEDUP;
        let name = std::mem::take(&mut partition.name);
        *partition = Partition::whole_nodes(name, MoldableSettings { linear_speedup });
        Ok(())
    },
    show: |partition| partition.moldable.map(|_| DEMT.into()),
};

/// Refuses a key of mobility on the line of a partition whose jobs never give up their places.
pub(super) fn refuse_for_moldable(partition: &Partition, given: &GivenText) -> Result<(), String> {
    match partition.moldable {
        None => Ok(()),
        Some(_) => Err(out_of_place(
            given,
            "Policy=DEMT never pauses or moves a job",
        )),
    }
}

/// What is said of a key that says nothing beside the others of its line.
pub(super) fn out_of_place(given: &GivenText, why: &str) -> String {
    let key = given.key;
    format!("{key} has no place on this Partition= line: {why}; take it out")
}

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{config, partition_mistake, printed};

    #[test]
    fn partition_policy_makes_jobs_moldable() {
        assert!(config("").partitions[0].moldable.is_none());
        assert!(
            config("Partition=b Policy=demt").partitions[1]
                .moldable
                .is_some()
        );
        assert_eq!(printed("Partition=b Policy=demt", "Policy"), "DEMT");
        let error = partition_mistake("Policy=default");
        assert!(error.contains("is wrong; allowed: DEMT"), "{error}");
    }
}
