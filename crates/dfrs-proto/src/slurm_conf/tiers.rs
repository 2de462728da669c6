//! What puts jobs of one partition before those of another under Slurm, and not under DFRS.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    for partition in requirements.managed(facts) {
        let (name, tier) = (&partition.name, partition.tier);
        let below = requirements.managed(facts).find(|other| other.tier < tier);
        if let Some(other) = below {
            findings.warn(
                About::Partition(name.clone()),
                format!(
                    "slurm.conf: PartitionName={name} PriorityTier={tier}: its jobs come before those of {} under Slurm, and not under DFRS",
                    other.name
                ),
                "write PriorityJobFactor= for both, and PriorityWeightPartition=, in place of PriorityTier= (with JobWeight=priority in dfrs.conf, the default), or live with it",
            );
        }
    }
}
