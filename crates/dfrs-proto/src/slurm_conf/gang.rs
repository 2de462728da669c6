//! Whether another part of Slurm pauses jobs as well.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, _: Requirements<'_>, findings: &mut Findings) {
    if facts.slices_time {
        findings.refuse(
            About::Scheduler,
            "slurm.conf: PreemptMode=GANG: its time slicer suspends and resumes jobs as DFRS does",
            "take GANG out",
        );
    }
}
