//! A partition that DFRS schedules, and what its jobs are like.

use crate::conf::key::{GivenText, Key, Preset};
use crate::conf::value::set;
use crate::conf::{DEFAULT_LINEAR_SPEEDUP, MoldableSettings, Partition};

pub(in crate::conf) const PARTITION: Key<Partition> = Key {
    name: "Partition",
    preset: Preset::Left,
    read: |partition, given| set(&mut partition.name, name(given.text)),
};

fn name(text: &str) -> Result<String, String> {
    if text.contains(|c: char| c == ',' || c.is_whitespace() || c.is_control()) {
        return Err(format!(
            "Partition={text} is wrong; write one Partition= line for each partition"
        ));
    }
    if text.eq_ignore_ascii_case("DEFAULT") {
        return Err(format!(
            "Partition={text} is not supported; repeat the keys on each Partition= line"
        ));
    }
    Ok(text.to_owned())
}

/// The name of the policy that partitions of moldable jobs have.
pub(super) const DEMT: &str = "DEMT";

pub(super) const PARTITION_POLICY: Key<Partition> = Key {
    name: "Policy",
    preset: Preset::Left,
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

pub(super) const LINEAR_SPEEDUP: Key<Partition> = Key {
    name: "LinearSpeedup",
    preset: Preset::Left,
    read: |partition, given| {
        let why = "only Policy=DEMT has moldable jobs";
        let moldable = partition.moldable.as_mut();
        let moldable = moldable.ok_or_else(|| out_of_place(given, why))?;
        let nodes = given.number("a whole number of nodes", 1, 100_000);
        set(&mut moldable.linear_speedup, nodes)
    },
};

#[cfg(test)]
mod tests {
    use dfrs_core::Mobility;

    use crate::conf::Partition;
    use crate::conf::key::testing::{config, mistake, partition_mistake, printed};

    #[test]
    fn partition_is_one_name() {
        let alone = Partition::new("a", Mobility::Park);
        assert_eq!(config("").partitions, [alone]);
        assert_eq!(printed("Partition=b", "Partition"), "b");
        assert_eq!(
            mistake("Partition=b,c"),
            "Partition=b,c is wrong; write one Partition= line for each partition"
        );
        assert_eq!(
            mistake("Partition=default"),
            "Partition=default is not supported; repeat the keys on each Partition= line"
        );
    }

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

    #[test]
    fn linear_speedup_is_of_moldable_jobs() {
        let shown =
            |keys: &str| printed(&format!("Partition=b Policy=DEMT {keys}"), "LinearSpeedup");
        assert_eq!(shown(""), "8");
        assert_eq!(shown("LinearSpeedup=64"), "64");
        assert_eq!(
            partition_mistake("Policy=DEMT LinearSpeedup=0"),
            "LinearSpeedup=0 is wrong; allowed: a whole number of nodes from 1 to 100000"
        );
        let error = partition_mistake("LinearSpeedup=8");
        assert!(error.contains("only Policy=DEMT"), "{error}");
    }
}
