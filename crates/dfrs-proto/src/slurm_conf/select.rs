//! Whether Slurm counts what DFRS shares out.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, _: Requirements<'_>, findings: &mut Findings) {
    if facts.select_type != "select/cons_tres" {
        findings.refuse(
            About::Select,
            format!("slurm.conf: SelectType={}", facts.select_type),
            "write SelectType=select/cons_tres; this loses all jobs, running and pending, unless it was select/cons_res",
        );
    }
    if !facts.counts_memory || !facts.counts_cores {
        findings.refuse(
            About::Select,
            "slurm.conf: SelectTypeParameters: memory has to be counted, and cores or CPUs",
            "write SelectTypeParameters=CR_Core_Memory",
        );
    }
}
