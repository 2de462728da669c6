//! Whether Slurm itself starts jobs on nodes of DFRS: it is not told which cores DFRS's jobs use.

use super::facts::Facts;
use super::finding::{About, Findings};
use super::wanted::Wanted;

pub(super) fn check(facts: &Facts, wanted: Wanted<'_>, findings: &mut Findings) {
    for partition in wanted.managed(facts) {
        let name = &partition.name;
        let others = facts.partitions.iter().filter(|other| {
            other.takes_jobs && !wanted.schedules(&other.name) && other.overlaps(partition)
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
