//! Whether a job keeps others off nodes that it does not have.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    let managed = requirements.managed(facts);
    for partition in managed.filter(|it| it.has_exclusive_topology) {
        let name = &partition.name;
        findings.refuse(
            About::Partition(name.clone()),
            format!("slurm.conf: PartitionName={name}: DFRS does not know which nodes a job of Exclusive=TOPO (ExclusiveTopo) keeps others from"),
            "take Exclusive=TOPO out",
        );
    }
}
