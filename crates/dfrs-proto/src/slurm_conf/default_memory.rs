//! Whether jobs that request no memory get some of it, and not all.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    for partition in requirements.managed(facts) {
        let name = &partition.name;
        let is_known = facts.has_default_memory || partition.has_default_memory;
        if !is_known && !requirements.gives_whole_nodes(name) {
            findings.warn(
                About::Partition(name.clone()),
                format!("slurm.conf: PartitionName={name}: a job without a memory request gets all of its nodes', and does not share them"),
                "set DefMemPerCPU or DefMemPerNode",
            );
        }
    }
}
