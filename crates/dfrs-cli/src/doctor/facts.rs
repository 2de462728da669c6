//! The facts that the plugin judges by, taken from what `scontrol` shows.

use std::collections::BTreeMap;

use dfrs_proto::slurm_conf::{
    CgroupConf, Idle, PowerSaving, SlurmFacts, SlurmNode, SlurmPartition,
};

use super::slurm::{ScontrolRecord, SlurmSettings};

/// The release from which on jobs have an `Extra`.
const FIRST_WITH_EXTRA: (u32, u32) = (23, 2);
/// The release whose slurmctld does not learn which nodes a message has not reached.
const WITHOUT_DELIVERY: (u32, u32) = (23, 11);

/// Of `scontrol show config`, `partitions` and `nodes`.
pub fn of(
    settings: &SlurmSettings,
    partitions: &[ScontrolRecord],
    nodes: &[ScontrolRecord],
) -> SlurmFacts {
    let counts = |option| settings.lists("SelectTypeParameters", option);
    let release = release(settings);
    let is_started = settings.is("SchedulerType", "sched/dfrs");
    let text = |key| settings.get(key).to_owned();
    SlurmFacts {
        other_scheduler: (!is_started).then(|| text("SchedulerType")),
        is_withheld: is_withheld(settings),
        scheduler_parameters: text("SchedulerParameters"),
        slurmctld_parameters: text("SlurmctldParameters"),
        select_type: text("SelectType"),
        counts_memory: counts("CR_CORE_MEMORY") || counts("CR_CPU_MEMORY"),
        counts_cores: counts("CR_CORE_MEMORY") || counts("CR_CPU_MEMORY"),
        slices_time: settings.lists("PreemptMode", "GANG"),
        preempt_type: text("PreemptType"),
        preempt_parameters: text("PreemptParameters"),
        proctrack_type: text("ProctrackType"),
        task_plugin: text("TaskPlugin"),
        gather_type: text("JobAcctGatherType"),
        topology_plugin: text("TopologyPlugin"),
        requeues: settings.get("JobRequeue") != "0",
        appends_output: settings.is("JobFileAppend", "1"),
        requeue_exit_hold: text("RequeueExitHold"),
        has_default_memory: has_default_memory(|key| settings.get(key)),
        has_extra: release.is_none_or(|it| it >= FIRST_WITH_EXTRA),
        is_delivery_known: release != Some(WITHOUT_DELIVERY),
        power: PowerSaving {
            has_programs: ["SuspendProgram", "ResumeProgram"]
                .iter()
                .all(|key| !settings.get(key).is_empty()),
            idle: idle(settings.get("SuspendTime")),
            excepted_nodes: text("SuspendExcNodes"),
            excepted_partitions: text("SuspendExcParts"),
        },
        cgroups: cgroups(settings),
        partitions: partitions_of(partitions, nodes),
        nodes: nodes.iter().map(node).collect(),
    }
}

/// Whether a plugin of DFRS keeps its jobs from Slurm's own loops. Slurm takes its name with and without
/// what all names of such plugins begin with, but only as its file is written: it would not start with
/// another case.
pub fn is_withheld(settings: &SlurmSettings) -> bool {
    let names = ["burst_buffer/dfrs", "dfrs"];
    let mut plugins = settings.get("BurstBufferType").split(',');
    plugins.any(|plugin| names.contains(&plugin.trim()))
}

/// Of cgroup.conf, or of what slurmctld shows of it; what is not there is as Slurm takes it.
pub fn cgroups(settings: &SlurmSettings) -> CgroupConf {
    let percent = |key| {
        let text = settings.get(key).trim_end_matches('%');
        text.parse().unwrap_or(100.0)
    };
    CgroupConf {
        plugin: settings.get("CgroupPlugin").to_owned(),
        constrains_ram: is_yes(settings.get("ConstrainRAMSpace")),
        allowed_ram_percent: percent("AllowedRAMSpace"),
        max_ram_percent: percent("MaxRAMPercent"),
        constrains_swap: is_yes(settings.get("ConstrainSwapSpace")),
        signals_children: is_yes(settings.get("SignalChildrenProcesses")),
    }
}

/// As Slurm reads it in a file, or writes it.
fn is_yes(word: &str) -> bool {
    ["yes", "up", "true", "1"]
        .iter()
        .any(|yes| word.eq_ignore_ascii_case(yes))
}

fn release(settings: &SlurmSettings) -> Option<(u32, u32)> {
    let mut numbers = settings.get("SLURM_VERSION").split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// A time in seconds, with or without its unit; without it nothing goes down.
fn idle(time: &str) -> Idle {
    if time.starts_with(|letter: char| letter.is_ascii_digit()) {
        Idle::GoesDown
    } else if time.is_empty() || time.eq_ignore_ascii_case("GLOBAL") {
        Idle::AsAll
    } else {
        Idle::StaysUp
    }
}

fn has_default_memory<'a>(get: impl Fn(&'static str) -> &'a str) -> bool {
    let is_limited = |value: &str| !value.is_empty() && !value.eq_ignore_ascii_case("UNLIMITED");
    is_limited(get("DefMemPerNode")) || is_limited(get("DefMemPerCPU"))
}

fn node(record: &ScontrolRecord) -> SlurmNode {
    SlurmNode {
        name: record.get("NodeName").to_owned(),
        cpu_bind: record.get("CpuBind").to_owned(),
        threads_per_core: record.get("ThreadsPerCore").parse().unwrap_or(0),
    }
}

fn partitions_of(partitions: &[ScontrolRecord], nodes: &[ScontrolRecord]) -> Vec<SlurmPartition> {
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        for name in node.items("Partitions") {
            members.entry(name).or_default().push(index);
        }
    }
    let of = |record: &ScontrolRecord| {
        let members = members.get(record.get("PartitionName"));
        partition(record, members.cloned().unwrap_or_default())
    };
    partitions.iter().map(of).collect()
}

fn partition(record: &ScontrolRecord, nodes: Vec<usize>) -> SlurmPartition {
    let is = |key, value: &str| record.get(key).eq_ignore_ascii_case(value);
    SlurmPartition {
        name: record.get("PartitionName").to_owned(),
        is_forced_to_one: is("OverSubscribe", "FORCE:1"),
        shares_no_cores: ["NO", "YES:1", "FORCE:1"]
            .iter()
            .any(|it| is("OverSubscribe", it)),
        has_exclusive_topology: is("ExclusiveTopo", "YES"),
        powers_down_on_idle: is("PowerDownOnIdle", "YES"),
        idle: idle(record.get("SuspendTime")),
        takes_jobs: is("State", "UP") || is("State", "DRAIN"),
        nodes,
        cpu_bind: record.get("CpuBind").to_owned(),
        tier: record.get("PriorityTier").parse().unwrap_or(1),
        has_preemption: !is("PreemptMode", "OFF"),
        grace_seconds: record.get("GraceTime").parse().unwrap_or(0),
        has_default_memory: has_default_memory(|key| record.get(key)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burst_buffer_plugin_counts_only_as_its_file_is_written() {
        let is = |plugins: &str| {
            is_withheld(&SlurmSettings::of([(
                "burstbuffertype",
                plugins.to_owned(),
            )]))
        };
        assert!(is("burst_buffer/dfrs") && is("dfrs") && is("burst_buffer/lua, dfrs"));
        assert!(!is("burst_buffer/DFRS") && !is("Dfrs") && !is("burst_buffer/dfrs2") && !is(""));
    }
}
