//! Whether a job keeps others off nodes that it does not have.

use super::facts::Facts;
use super::finding::{About, Findings};
use super::wanted::Wanted;

pub(super) fn check(facts: &Facts, wanted: Wanted<'_>, findings: &mut Findings) {
    let managed = wanted.managed(facts);
    for partition in managed.filter(|it| it.has_exclusive_topology) {
        let name = &partition.name;
        findings.refuse(
            About::Partition(name.clone()),
            format!("slurm.conf: PartitionName={name}: DFRS does not know which nodes a job of Exclusive=TOPO (ExclusiveTopo) keeps others from"),
            "take Exclusive=TOPO out",
        );
    }
}
