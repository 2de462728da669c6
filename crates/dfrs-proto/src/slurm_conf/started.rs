//! Whether slurmctld runs the plugin.

use super::facts::SlurmFacts;
use super::finding::{About, Findings, Verdict};
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, _: Requirements<'_>, findings: &mut Findings) {
    if let Some(other) = &facts.other_scheduler {
        findings.add(
            Verdict::Later,
            About::Scheduler,
            format!("slurm.conf: SchedulerType={other}"),
            "write SchedulerType=sched/dfrs and restart slurmctld",
        );
    }
}
