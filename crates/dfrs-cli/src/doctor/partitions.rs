//! The partitions that dfrs.conf names.

use dfrs_proto::conf::Config;
use dfrs_proto::slurm_conf::{About, Finding};

use super::finding::DoctorFindings;
use super::slurm::ScontrolRecord;

/// Says what the shared checks found of each, and whether it takes jobs.
pub fn examine(
    found: &[Finding],
    config: &Config,
    partitions: &[ScontrolRecord],
    findings: &mut DoctorFindings,
) {
    for wanted in &config.partitions {
        let name = wanted.name.as_str();
        let about = About::Partition(name.to_owned());
        let mut topic = findings.topic("partition");
        topic.shared(found.iter().filter(|finding| finding.about == about));
        let mut shown = partitions.iter();
        let shown = shown.find(|partition| partition.get("PartitionName") == name);
        let Some(partition) = shown else { continue };
        let state = partition.get("State");
        if state != "UP" {
            topic.warning(
                format!("{name} is {state}"),
                format!("scontrol update partitionname={name} state=up"),
            );
        }
        topic.done(format!("{name}: Nodes={}", partition.get("Nodes")));
    }
}
