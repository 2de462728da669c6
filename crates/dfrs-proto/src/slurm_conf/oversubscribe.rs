//! Whether Slurm takes several jobs on one core.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    let managed = requirements.managed(facts);
    for partition in managed.filter(|it| !it.is_forced_to_one) {
        let name = &partition.name;
        findings.refuse(
            About::Partition(name.clone()),
            format!("slurm.conf: PartitionName={name} has no OverSubscribe=FORCE:1"),
            "write OverSubscribe=FORCE:1",
        );
    }
}
