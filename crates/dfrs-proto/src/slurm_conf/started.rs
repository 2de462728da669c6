//! Whether slurmctld runs the plugin.

use super::facts::Facts;
use super::finding::{About, Findings, Verdict};
use super::wanted::Wanted;

pub(super) fn check(facts: &Facts, _: Wanted<'_>, findings: &mut Findings) {
    if let Some(other) = &facts.other_scheduler {
        findings.add(
            Verdict::Later,
            About::Scheduler,
            format!("slurm.conf: SchedulerType={other}"),
            "write SchedulerType=sched/dfrs and restart slurmctld",
        );
    }
}
