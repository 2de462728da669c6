//! `LinearSpeedup`: how far the speedup of moldable jobs is linear.

use super::partition_policy::out_of_place;
use crate::conf::Partition;
use crate::conf::key::{GivenText, Key, KeyPurpose, Preset};

pub(super) const KEY: Key<Partition> = Key {
    name: "LinearSpeedup",
    purpose: KeyPurpose::Operation,
    values: "1 to 100000",
    preset: Preset::Left("8"),
    meaning: "With `Policy=DEMT`: up to so many nodes a job without a given speedup is as many times \
        as fast as it has nodes.",
    sample: None,
    read: |partition, given| {
        let why = "only Policy=DEMT has moldable jobs";
        let moldable = partition.moldable.as_mut();
        let moldable = moldable.ok_or_else(|| out_of_place(given, why))?;
        moldable.linear_speedup = nodes(given)?;
        Ok(())
    },
    show: |partition| Some(partition.moldable?.linear_speedup.to_string()),
};

fn nodes(given: &GivenText) -> Result<u32, String> {
    let (key, text) = (given.key, given.text);
    let number = text.parse().ok();
    let number = number.filter(|max| (1..=100_000).contains(max));
    number.ok_or_else(|| {
        format!("{key}={text} is wrong; allowed: a whole number of nodes from 1 to 100000")
    })
}

#[cfg(test)]
mod tests {
    use crate::conf::key::testing::{partition_mistake, printed};

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
