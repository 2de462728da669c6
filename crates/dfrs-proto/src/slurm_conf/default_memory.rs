//! Whether jobs that ask for no memory get some of it, and not all.

use super::facts::Facts;
use super::finding::{About, Findings};
use super::wanted::Wanted;

pub(super) fn check(facts: &Facts, wanted: Wanted<'_>, findings: &mut Findings) {
    for partition in wanted.managed(facts) {
        let name = &partition.name;
        let is_known = facts.has_default_memory || partition.has_default_memory;
        if !is_known && !wanted.gives_whole_nodes(name) {
            findings.warn(
                About::Partition(name.clone()),
                format!("slurm.conf: PartitionName={name}: a job that asks for no memory gets all of its nodes', and shares them with nobody"),
                "set DefMemPerCPU or DefMemPerNode",
            );
        }
    }
}
