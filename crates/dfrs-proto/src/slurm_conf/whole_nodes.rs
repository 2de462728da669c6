//! Whether jobs that get whole nodes have nodes of their own: those that share them would take them
//! from each other for ever.

use super::facts::Facts;
use super::finding::{About, Findings};
use super::wanted::Wanted;

pub(super) fn check(facts: &Facts, wanted: Wanted<'_>, findings: &mut Findings) {
    let whole = |name: &str| wanted.gives_whole_nodes(name);
    for partition in wanted.managed(facts).filter(|it| whole(&it.name)) {
        let name = &partition.name;
        let others = wanted
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
