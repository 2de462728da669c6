//! Whether Slurm's own loops leave jobs of DFRS alone.

use super::facts::{SlurmFacts, lists};
use super::finding::{About, Findings, Verdict};
use super::requirements::Requirements;
use crate::conf::Mode;

/// What keeps them away.
const KEEP_AWAY: &str = "write BurstBufferType=burst_buffer/dfrs and restart slurmctld, or add sched_interval=-1,defer,bf_interval=5,bf_max_time=30 to SchedulerParameters";

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    let has = |option| lists(&facts.scheduler_parameters, option);
    let (is_off, defers) = (has("sched_interval=-1"), has("defer"));
    if facts.is_withheld {
        if is_off || defers {
            findings.warn(
                About::Scheduler,
                "slurm.conf: with BurstBufferType=burst_buffer/dfrs jobs of other partitions need not wait for backfill",
                "take sched_interval=-1 and defer out of SchedulerParameters",
            );
        }
    } else if !is_off || !defers {
        starts(facts, requirements, findings);
    }
}

fn starts(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    let what = format!(
        "slurm.conf: SchedulerParameters={}: Slurm starts DFRS's jobs itself",
        facts.scheduler_parameters
    );
    match (requirements.mode(), &facts.other_scheduler) {
        (Mode::Full, None) => findings.refuse(About::Scheduler, what, KEEP_AWAY),
        (Mode::Full, Some(_)) => {
            findings.add(Verdict::Later, About::Scheduler, what, KEEP_AWAY);
        }
        (Mode::Shadow | Mode::Off, _) => findings.add(
            Verdict::Later,
            About::Scheduler,
            format!("{what}, as it should until Mode=full"),
            format!("before Mode=full: {KEEP_AWAY}"),
        ),
    }
}
