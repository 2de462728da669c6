//! Whether dfrs.conf names partitions that there are.

use super::facts::Facts;
use super::finding::{About, Findings};
use super::wanted::Wanted;

pub(super) fn check(facts: &Facts, wanted: Wanted<'_>, findings: &mut Findings) {
    for line in wanted.lines() {
        let name = &line.name;
        if facts.partition(name).is_none() {
            findings.refuse(
                About::Partition(name.clone()),
                format!("dfrs.conf: Partition={name}: slurm.conf has no such partition"),
                "write its name as slurm.conf does, or take the line out",
            );
        }
    }
    if wanted.config.is_some() && wanted.lines().is_empty() {
        findings.refuse(
            About::DfrsConf,
            "dfrs.conf: no Partition= line: DFRS has nothing to manage",
            "name a partition",
        );
    }
}
