//! Whether jobs that get whole nodes have nodes of their own: those that share them would take them
//! from each other for ever.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    let whole = |name: &str| requirements.gives_whole_nodes(name);
    for partition in requirements.managed(facts).filter(|it| whole(&it.name)) {
        let name = &partition.name;
        let others = requirements
            .managed(facts)
            .filter(|other| other.name != *name && other.overlaps(partition));
        for other in others {
            findings.refuse(
                About::Partition(name.clone()),
                format!(
                    "slurm.conf: PartitionName={} shares nodes with {name}, which has Policy=DEMT in dfrs.conf",
                    other.name
                ),
                "give it other nodes",
            );
        }
    }
}
