//! Whether users may think that jobs end others.

use super::facts::Facts;
use super::finding::{About, Findings};
use super::wanted::Wanted;

pub(super) fn check(facts: &Facts, wanted: Wanted<'_>, findings: &mut Findings) {
    let by = facts.preempt_type.as_str();
    if ["", "preempt/none"].contains(&by) {
        return;
    }
    for partition in wanted.managed(facts).filter(|it| it.has_preemption) {
        let name = &partition.name;
        findings.warn(
            About::Partition(name.clone()),
            format!("slurm.conf: PreemptType={by}: jobs of {name} preempt nobody, and nobody preempts them: they share"),
            &format!("write PreemptMode=OFF for PartitionName={name}, so that users know"),
        );
    }
}
