//! Whether users may think that jobs end others.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    let by = facts.preempt_type.as_str();
    if ["", "preempt/none"].contains(&by) {
        return;
    }
    for partition in requirements.managed(facts).filter(|it| it.has_preemption) {
        let name = &partition.name;
        findings.warn(
            About::Partition(name.clone()),
            format!("slurm.conf: PreemptType={by}: jobs of {name} neither preempt nor are preempted: they share"),
            &format!("write PreemptMode=OFF for PartitionName={name}, so that users know"),
        );
    }
}
