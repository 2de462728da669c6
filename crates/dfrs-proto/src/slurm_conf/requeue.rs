//! Whether jobs that are to move by a requeue may be requeued.

use dfrs_core::Mobility;

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    let moves = |mobility| matches!(mobility, Mobility::Checkpoint | Mobility::Restart);
    let mut lines = requirements.lines().iter();
    let moving = lines.find(|line| moves(line.mobility));
    if let Some(line) = moving.filter(|_| !facts.requeues) {
        findings.warn(
            About::Requeue,
            format!(
                "slurm.conf: JobRequeue=0: jobs of partition {} can only move if they ask for --requeue",
                line.name
            ),
            "write JobRequeue=1, or another Mobility in dfrs.conf",
        );
    }
}
