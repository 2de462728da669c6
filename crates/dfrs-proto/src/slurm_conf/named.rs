//! Whether dfrs.conf names partitions that there are.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    for line in requirements.lines() {
        let name = &line.name;
        if facts.partition(name).is_none() {
            findings.refuse(
                About::Partition(name.clone()),
                format!("dfrs.conf: Partition={name}: slurm.conf has no such partition"),
                "write its name as slurm.conf does, or take the line out",
            );
        }
    }
    if requirements.config.is_some() && requirements.lines().is_empty() {
        findings.refuse(
            About::DfrsConf,
            "dfrs.conf: no Partition= line: DFRS has nothing to manage",
            "name a partition",
        );
    }
}
