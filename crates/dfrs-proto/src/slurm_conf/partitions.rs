//! What a partition that DFRS schedules has to be like.

use super::examination::Examination;
use super::facts::{SlurmFacts, SlurmPartition, lists};
use super::finding::About;

/// How long it may take to see that Slurm preempts a job.
const GRACE_MARGIN_SECONDS: u64 = 10;

/// Whether Slurm takes several jobs on one core.
pub(super) fn oversubscribe(examination: &mut Examination<'_>, partition: &SlurmPartition) {
    let name = &partition.name;
    if !partition.is_forced_to_one {
        examination.refuse(
            About::of(partition),
            format!("slurm.conf: PartitionName={name} has no OverSubscribe=FORCE:1"),
            "write OverSubscribe=FORCE:1",
        );
    }
}

/// Whether a job keeps others off nodes that it does not have.
pub(super) fn exclusive_topology(examination: &mut Examination<'_>, partition: &SlurmPartition) {
    let name = &partition.name;
    if partition.has_exclusive_topology {
        examination.refuse(
            About::of(partition),
            format!("slurm.conf: PartitionName={name}: DFRS does not know which nodes a job of Exclusive=TOPO (ExclusiveTopo) keeps others from"),
            "take Exclusive=TOPO out",
        );
    }
}

/// Which other partitions have its nodes, too. Jobs that have cores of their own may be there, and
/// DFRS's get the CPUs that they leave. Slurm does not know which cores DFRS's jobs use: those that
/// share cores would be put on the same ones.
pub(super) fn shared_nodes(examination: &mut Examination<'_>, partition: &SlurmPartition) {
    let name = &partition.name;
    let has_whole_nodes = examination.gives_whole_nodes(name);
    for other in others_on(partition, examination) {
        let other_name = &other.name;
        if has_whole_nodes || !other.shares_no_cores {
            examination.refuse(
                About::of(partition),
                format!("slurm.conf: PartitionName={other_name} shares nodes with {name}, which DFRS schedules"),
                if has_whole_nodes {
                    "give it other nodes or State=DOWN"
                } else {
                    "write OverSubscribe=NO for it, or give it other nodes or State=DOWN"
                },
            );
        } else if !may_preempt(other, partition, examination) {
            examination.warn(
                About::of(partition),
                format!("slurm.conf: PartitionName={other_name} shares nodes with {name}: its jobs wait for memory that jobs of {name} hold"),
                &format!("let it preempt them: PreemptType=preempt/partition_prio, {}, a higher PriorityTier= than that of {name}, and PreemptMode=REQUEUE GraceTime=120 for {name}; or accept that", signal_setting(examination.facts)),
            );
        } else {
            grace(examination, partition);
        }
    }
}

/// What a job that is preempted needs to leave with its work.
fn grace(examination: &mut Examination<'_>, partition: &SlurmPartition) {
    let name = &partition.name;
    let least = grace_needed(examination);
    if u64::from(partition.grace_seconds) < least {
        examination.warn(
            About::of(partition),
            format!("slurm.conf: PartitionName={name} GraceTime={}: Slurm requeues jobs that it preempts before they can be parked or write a checkpoint", partition.grace_seconds),
            &format!("write GraceTime={least} or more"),
        );
    }
    if !sends_users_signals(examination.facts) {
        examination.warn(
            About::of(partition),
            format!("slurm.conf: jobs of {name} that Slurm preempts get SIGTERM in all their steps, which ends them before they are parked"),
            &format!("write {}", signal_setting(examination.facts)),
        );
    }
}

/// Seconds: as long as jobs may take to leave, those that have just begun a step, too.
fn grace_needed(examination: &Examination<'_>) -> u64 {
    let ways = examination.config.map_or(0, |config| {
        let longest = config.park_timeout.max(config.checkpoint_wait) + config.settle_time;
        longest.0.unsigned_abs().div_ceil(1_000_000)
    });
    ways + GRACE_MARGIN_SECONDS
}

fn sends_users_signals(facts: &SlurmFacts) -> bool {
    lists(&facts.preempt_parameters, "send_user_signal")
        || lists(&facts.slurmctld_parameters, "preempt_send_user_signal")
}

/// It has another name to 22.05.
fn signal_setting(facts: &SlurmFacts) -> &'static str {
    match facts.has_extra {
        true => "PreemptParameters=send_user_signal",
        false => "SlurmctldParameters=preempt_send_user_signal",
    }
}

/// The partitions on its nodes in which Slurm itself starts jobs.
fn others_on<'a>(
    partition: &SlurmPartition,
    examination: &Examination<'a>,
) -> Vec<&'a SlurmPartition> {
    let config = examination.config;
    let is_scheduled = |name: &str| config.is_some_and(|config| config.schedules(name));
    let others = examination.facts.partitions.iter();
    let others = others.filter(|other| other.takes_jobs && !is_scheduled(&other.name));
    others.filter(|other| other.overlaps(partition)).collect()
}

/// Whether Slurm ends jobs of one partition for those of another that wait.
fn may_preempt(by: &SlurmPartition, of: &SlurmPartition, examination: &Examination<'_>) -> bool {
    let by_partition = examination.facts.preempt_type == "preempt/partition_prio";
    by_partition && by.tier > of.tier && of.has_preemption
}

/// Whether jobs that get whole nodes have nodes of their own: those that share them would take them
/// from each other for ever.
pub(super) fn whole_nodes(examination: &mut Examination<'_>, partition: &SlurmPartition) {
    let name = &partition.name;
    if !examination.gives_whole_nodes(name) {
        return;
    }
    let others = examination.managed();
    let others = others.filter(|other| other.name != *name && other.overlaps(partition));
    for SlurmPartition { name: other, .. } in others {
        examination.refuse(
            About::of(partition),
            format!("slurm.conf: PartitionName={other} shares nodes with {name}, which has Policy=DEMT in dfrs.conf"),
            "give it other nodes",
        );
    }
}

/// What puts jobs of one partition before those of another under Slurm, and not under DFRS.
pub(super) fn tiers(examination: &mut Examination<'_>, partition: &SlurmPartition) {
    let (name, tier) = (&partition.name, partition.tier);
    let mut managed = examination.managed();
    if let Some(SlurmPartition { name: other, .. }) = managed.find(|other| other.tier < tier) {
        examination.warn(
            About::of(partition),
            format!("slurm.conf: PartitionName={name} PriorityTier={tier}: its jobs come before those of {other} under Slurm, and not under DFRS"),
            "write PriorityJobFactor= for both, and PriorityWeightPartition=, in place of PriorityTier= (with JobWeight=priority in dfrs.conf, the default), or accept that",
        );
    }
}

/// Whether users may think that jobs end others.
pub(super) fn preemption(examination: &mut Examination<'_>, partition: &SlurmPartition) {
    let (name, by) = (&partition.name, examination.facts.preempt_type.as_str());
    let others = others_on(partition, examination);
    let is_meant = others
        .into_iter()
        .any(|other| may_preempt(other, partition, examination));
    if partition.has_preemption && !is_meant && !["", "preempt/none"].contains(&by) {
        examination.warn(
            About::of(partition),
            format!("slurm.conf: PreemptType={by}: jobs of {name} neither preempt nor are preempted: they share"),
            &format!("write PreemptMode=OFF for PartitionName={name}, so that users know"),
        );
    }
}

/// Whether jobs that request no memory get some of it, and not all.
pub(super) fn default_memory(examination: &mut Examination<'_>, partition: &SlurmPartition) {
    let name = &partition.name;
    let is_known = examination.facts.has_default_memory || partition.has_default_memory;
    if !is_known && !examination.gives_whole_nodes(name) {
        examination.warn(
            About::of(partition),
            format!("slurm.conf: PartitionName={name}: a job without a memory request gets all of its nodes', and does not share them"),
            "set DefMemPerCPU or DefMemPerNode",
        );
    }
}
