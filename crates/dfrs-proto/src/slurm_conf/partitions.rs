//! What a partition that DFRS schedules has to be like.

use super::examination::Examination;
use super::facts::SlurmPartition;
use super::finding::About;

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

/// Whether Slurm itself starts jobs on nodes of DFRS: it does not know which cores DFRS's jobs use.
pub(super) fn shared_nodes(examination: &mut Examination<'_>, partition: &SlurmPartition) {
    let name = &partition.name;
    let config = examination.config;
    let is_scheduled = |name: &str| config.is_some_and(|config| config.schedules(name));
    let others = examination.facts.partitions.iter().filter(|other| {
        other.takes_jobs && !is_scheduled(&other.name) && other.overlaps(partition)
    });
    for SlurmPartition { name: other, .. } in others {
        examination.refuse(
            About::of(partition),
            format!(
                "slurm.conf: PartitionName={other} shares nodes with {name}, which DFRS schedules"
            ),
            "give it other nodes or State=DOWN",
        );
    }
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
            "write PriorityJobFactor= for both, and PriorityWeightPartition=, in place of PriorityTier= (with JobWeight=priority in dfrs.conf, the default), or live with it",
        );
    }
}

/// Whether users may think that jobs end others.
pub(super) fn preemption(examination: &mut Examination<'_>, partition: &SlurmPartition) {
    let (name, by) = (&partition.name, examination.facts.preempt_type.as_str());
    if partition.has_preemption && !["", "preempt/none"].contains(&by) {
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
