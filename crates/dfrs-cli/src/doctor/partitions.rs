//! The partitions that dfrs.conf names, and the others on their nodes.

use std::collections::BTreeSet;

use dfrs_proto::conf::{Config, Weighting};

use super::finding::{Findings, Topic};
use super::slurm::{Record, Settings};

/// Partitions and nodes as `scontrol show` has them.
pub fn examine(
    settings: &Settings,
    config: &Config,
    (partitions, nodes): (&[Record], &[Record]),
    findings: &mut Findings,
) {
    for wanted in &config.partitions {
        let mut topic = findings.topic("partition");
        let name = wanted.name.as_str();
        let found = partitions
            .iter()
            .find(|partition| partition.get("PartitionName") == name);
        let Some(partition) = found else {
            topic.error(
                format!("dfrs.conf: Partition={name}: slurm.conf has no such partition"),
                "write its name as slurm.conf does, or take the line out",
            );
            continue;
        };
        one(settings, partition, name, &mut topic);
        binding(settings, (partition, nodes), name, &mut topic);
        standing(settings, (partition, partitions), config, &mut topic);
        if wanted.moldable.is_none() {
            memory(settings, partition, name, &mut topic);
        }
        others(config, name, (partitions, nodes), &mut topic);
        topic.done(format!("{name}: Nodes={}", partition.get("Nodes")));
    }
}

fn one(settings: &Settings, partition: &Record, name: &str, topic: &mut Topic) {
    let shared = partition.get("OverSubscribe");
    if !shared.eq_ignore_ascii_case("FORCE:1") {
        topic.error(
            format!("slurm.conf: PartitionName={name} OverSubscribe={shared}"),
            "write OverSubscribe=FORCE:1",
        );
    }
    if powers_down(settings, partition, name) {
        topic.error(
            format!("slurm.conf: PartitionName={name}: DFRS does not wake nodes that power saving (SuspendTime) has put to sleep"),
            format!("add {name} to SuspendExcParts"),
        );
    }
    if partition.get("ExclusiveTopo").eq_ignore_ascii_case("YES") {
        topic.error(
            format!("slurm.conf: PartitionName={name}: DFRS does not know which nodes a job of Exclusive=TOPO keeps others from"),
            "take Exclusive=TOPO out",
        );
    }
    let state = partition.get("State");
    if state != "UP" {
        topic.warning(
            format!("{name} is {state}"),
            format!("scontrol update partitionname={name} state=up"),
        );
    }
}

/// Whether tasks are bound to cores. srun binds those of jobs that leave threads idle, whatever CpuBind says.
fn binding(
    settings: &Settings,
    (partition, nodes): (&Record, &[Record]),
    name: &str,
    topic: &mut Topic,
) {
    if !settings.lists("TaskPlugin", "task/affinity") {
        return;
    }
    let is_threaded = |node: &Record| {
        let threads = node.get("ThreadsPerCore").parse();
        threads.is_ok_and(|threads: u32| threads > 1)
            && node.items("Partitions").any(|partition| partition == name)
    };
    if !partition.get("CpuBind").eq_ignore_ascii_case("none") {
        topic.warning(
            format!("slurm.conf: PartitionName={name}: TaskPlugin=task/affinity binds tasks to cores, and DFRS shares CPU time"),
            "write CpuBind=none for this partition",
        );
    } else if nodes.iter().any(is_threaded) {
        topic.warning(
            format!("slurm.conf: PartitionName={name}: TaskPlugin=task/affinity binds jobs with --hint=nomultithread to the same first threads, whatever CpuBind says"),
            "take task/affinity out of TaskPlugin",
        );
    }
}

/// What puts jobs of one partition before those of another under Slurm, and not under DFRS.
fn standing(
    settings: &Settings,
    (partition, partitions): (&Record, &[Record]),
    config: &Config,
    topic: &mut Topic,
) {
    let name = partition.get("PartitionName");
    let tier = partition.get("PriorityTier");
    let is_above = |other: &&Record| {
        let number = |tier: &str| tier.parse::<u32>().unwrap_or(1);
        config.schedules(other.get("PartitionName"))
            && number(tier) > number(other.get("PriorityTier"))
    };
    let by_priority = config.job_weight != Weighting::Equal;
    if let Some(other) = partitions
        .iter()
        .find(|other| !by_priority && is_above(other))
    {
        topic.warning(
            format!(
                "slurm.conf: PartitionName={name} PriorityTier={tier}: its jobs come before those of {} under Slurm, and not under DFRS",
                other.get("PartitionName")
            ),
            "write JobWeight=priority in dfrs.conf and PriorityJobFactor= here, or live with it",
        );
    }
    let preempts = settings.get("PreemptType");
    let is_none = ["", "preempt/none"].contains(&preempts);
    if !is_none && partition.get("PreemptMode") != "OFF" {
        topic.warning(
            format!("slurm.conf: PreemptType={preempts}: jobs of {name} preempt nobody, and nobody preempts them: they share"),
            format!("write PreemptMode=OFF for PartitionName={name}, so that users know"),
        );
    }
}

/// Whether jobs that ask for no memory get some of it, and not all.
fn memory(settings: &Settings, partition: &Record, name: &str, topic: &mut Topic) {
    if ["DefMemPerNode", "DefMemPerCPU"]
        .iter()
        .all(|key| is_unlimited(partition.get(key)) && is_unlimited(settings.get(key)))
    {
        topic.warning(
            format!("slurm.conf: PartitionName={name}: a job that asks for no memory gets all of its nodes', and shares them with nobody"),
            "set DefMemPerCPU or DefMemPerNode",
        );
    }
}

fn is_unlimited(value: &str) -> bool {
    value.is_empty() || value.eq_ignore_ascii_case("UNLIMITED")
}

/// Whether Slurm powers its nodes down when nothing runs there.
fn powers_down(settings: &Settings, partition: &Record, name: &str) -> bool {
    let idle = match partition.get("SuspendTime") {
        "" => settings.get("SuspendTime"),
        own => own,
    };
    !settings.get("SuspendProgram").is_empty()
        && !settings.get("ResumeProgram").is_empty()
        && idle.starts_with(|letter: char| letter.is_ascii_digit())
        && !settings.lists("SuspendExcParts", name)
}

/// Partitions that Slurm itself schedules on nodes of this one.
fn others(
    config: &Config,
    name: &str,
    (partitions, nodes): (&[Record], &[Record]),
    topic: &mut Topic,
) {
    let ours = nodes
        .iter()
        .filter(|node| node.items("Partitions").any(|partition| partition == name));
    let beside: BTreeSet<&str> = ours.flat_map(|node| node.items("Partitions")).collect();
    for other in beside {
        let schedules = partitions.iter().any(|partition| {
            let state = partition.get("State");
            partition.get("PartitionName") == other && (state == "UP" || state == "DRAIN")
        });
        let is_whole = |name: &str| config.moldable(name).is_some();
        let is_apart = is_whole(name) || is_whole(other);
        if schedules && other != name && (!config.schedules(other) || is_apart) {
            topic.error(
                format!("slurm.conf: PartitionName={other} shares nodes with {name}"),
                "give it other nodes or State=DOWN",
            );
        }
    }
}
