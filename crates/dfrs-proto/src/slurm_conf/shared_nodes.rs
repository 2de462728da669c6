//! Whether Slurm itself starts jobs on nodes of DFRS: it does not know which cores DFRS's jobs use.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    for partition in requirements.managed(facts) {
        let name = &partition.name;
        let others = facts.partitions.iter().filter(|other| {
            other.takes_jobs && !requirements.schedules(&other.name) && other.overlaps(partition)
        });
        for other in others {
            findings.refuse(
                About::Partition(name.clone()),
                format!(
                    "slurm.conf: PartitionName={} shares nodes with {name}, which DFRS schedules",
                    other.name
                ),
                "give it other nodes or State=DOWN",
            );
        }
    }
}
