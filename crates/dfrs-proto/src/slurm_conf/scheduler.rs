//! What starts and pauses jobs, and where Slurm puts them.

use dfrs_core::Mobility;

use super::examination::Examination;
use super::facts::{lists, value};
use super::finding::{About, Verdict};
use crate::conf::Mode;

/// Whether slurmctld runs the plugin.
pub(super) fn started(examination: &mut Examination<'_>) {
    if let Some(other) = &examination.facts.other_scheduler {
        examination.add(
            Verdict::Later,
            About::Scheduler,
            format!("slurm.conf: SchedulerType={other}"),
            "write SchedulerType=sched/dfrs and restart slurmctld",
        );
    }
}

/// Whether Slurm counts what DFRS shares out.
pub(super) fn select(examination: &mut Examination<'_>) {
    if examination.facts.select_type != "select/cons_tres" {
        examination.refuse(
            About::Select,
            format!("slurm.conf: SelectType={}", examination.facts.select_type),
            "write SelectType=select/cons_tres; this loses all jobs, running and pending, unless it was select/cons_res",
        );
    }
    if !examination.facts.counts_memory || !examination.facts.counts_cores {
        examination.refuse(
            About::Select,
            "slurm.conf: SelectTypeParameters: memory has to be counted, and cores or CPUs",
            "write SelectTypeParameters=CR_Core_Memory",
        );
    }
}

/// What keeps them away.
const KEEP_AWAY: &str = "write BurstBufferType=burst_buffer/dfrs and restart slurmctld, or add sched_interval=-1,defer,bf_interval=5,bf_max_time=30 to SchedulerParameters";

/// Whether Slurm's own loops leave jobs of DFRS alone.
pub(super) fn slurm_starts(examination: &mut Examination<'_>) {
    let has = |option| lists(&examination.facts.scheduler_parameters, option);
    let (is_off, defers) = (has("sched_interval=-1"), has("defer"));
    if examination.facts.is_withheld {
        if is_off || defers {
            examination.warn(
                About::Scheduler,
                "slurm.conf: with BurstBufferType=burst_buffer/dfrs jobs of other partitions need not wait for backfill",
                "take sched_interval=-1 and defer out of SchedulerParameters",
            );
        }
    } else if !is_off || !defers {
        starts(examination);
    }
}

fn starts(examination: &mut Examination<'_>) {
    let own = &examination.facts.scheduler_parameters;
    let own = if own.is_empty() {
        ""
    } else {
        &format!("SchedulerParameters={own}: ")
    };
    let what = format!("slurm.conf: {own}Slurm starts DFRS's jobs itself");
    match (examination.mode(), &examination.facts.other_scheduler) {
        (Mode::Full, None) => examination.refuse(About::Scheduler, what, KEEP_AWAY),
        (Mode::Full, Some(_)) => {
            examination.add(Verdict::Later, About::Scheduler, what, KEEP_AWAY);
        }
        (Mode::Shadow | Mode::Off, _) => examination.add(
            Verdict::Later,
            About::Scheduler,
            format!("{what}, as it should until Mode=full"),
            format!("before Mode=full: {KEEP_AWAY}"),
        ),
    }
}

/// Whether another part of Slurm pauses jobs as well.
pub(super) fn gang(examination: &mut Examination<'_>) {
    if examination.facts.slices_time {
        examination.refuse(
            About::Scheduler,
            "slurm.conf: PreemptMode=GANG: its time slicer suspends and resumes jobs as DFRS does",
            "take GANG out",
        );
    }
}

/// Whether slurmctld sees the steps of jobs.
pub(super) fn stepmgr(examination: &mut Examination<'_>) {
    if lists(&examination.facts.slurmctld_parameters, "enable_stepmgr") {
        examination.warn(
            About::Scheduler,
            "slurm.conf: SlurmctldParameters=enable_stepmgr: DFRS does not see when steps of such jobs begin, and may pause them too early",
            "leave it out, or make SettleTime in dfrs.conf long",
        );
    }
}

/// Seconds of which nothing is said: pauses are longer. Slurm's own default is 2.
const MAX_GRACE_SECONDS: u32 = 5;

/// How long slurmstepd takes to pause a job. dfrsd freezes it at once; but a job that is brought
/// back within that time is stopped until it is over, which DFRS counts as progress.
pub(super) fn suspend_grace(examination: &mut Examination<'_>) {
    let grace = value(&examination.facts.preempt_parameters, "suspend_grace_time");
    let is_long = |grace: &str| {
        grace
            .parse()
            .is_ok_and(|seconds: u32| seconds > MAX_GRACE_SECONDS)
    };
    if let Some(grace) = grace.filter(|grace| is_long(grace)) {
        examination.warn(
            About::Pauses,
            format!("slurm.conf: PreemptParameters=suspend_grace_time={grace}: a job that is paused and comes back within {grace} s is stopped until they are over"),
            &format!("write at most {MAX_GRACE_SECONDS}"),
        );
    }
}

/// Whether jobs that are to move by a requeue may be requeued.
pub(super) fn requeue(examination: &mut Examination<'_>) {
    let moves = |mobility: Mobility| mobility.is_free() || mobility == Mobility::Restart;
    let mut lines = examination.lines().iter();
    let moving = lines.find(|line| moves(line.mobility));
    if let Some(line) = moving.filter(|_| !examination.facts.requeues) {
        examination.warn(
            About::Requeue,
            format!(
                "slurm.conf: JobRequeue=0: jobs of partition {} can only move if they ask for --requeue",
                line.name
            ),
            "write JobRequeue=1, or another Mobility in dfrs.conf",
        );
    }
}

/// What Slurm calls a network without a shape, over the years.
const FLAT: [&str; 4] = ["", "topology/none", "topology/default", "topology/flat"];

/// Whether all nodes are alike to Slurm.
pub(super) fn topology(examination: &mut Examination<'_>) {
    let plugin = examination.facts.topology_plugin.as_str();
    if FLAT.contains(&plugin) {
        return;
    }
    let known = match plugin {
        "topology/tree" => "DFRS counts leaf switches for jobs with --switches only",
        _ => "DFRS knows no topology but that of topology/tree",
    };
    examination.warn(
        About::Topology,
        format!("slurm.conf: TopologyPlugin={plugin}: {known}: it puts other tasks on any nodes, and Slurm refuses places that are not connected"),
        "give DFRS partitions whose nodes are all connected, of one switch or block if all jobs want it",
    );
}
