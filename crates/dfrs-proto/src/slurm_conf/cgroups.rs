//! How Slurm holds the processes of jobs, and their memory.

use super::examination::Examination;
use super::facts::lists;
use super::finding::About;

/// How lines that act in slurmd are changed.
pub(super) const IN_SLURMD: &str = "write it on all hosts, drain the nodes, and restart slurmctld and all slurmds when no job runs";

/// Whether Slurm puts jobs into cgroups, which dfrsd acts on.
pub(super) fn processes(examination: &mut Examination<'_>) {
    let facts = examination.facts;
    let (proctrack, gather) = (&facts.proctrack_type, &facts.gather_type);
    for (key, found, needed) in [
        ("ProctrackType", proctrack, "proctrack/cgroup"),
        ("JobAcctGatherType", gather, "jobacct_gather/cgroup"),
    ] {
        if !found.eq_ignore_ascii_case(needed) {
            let what = format!("slurm.conf: {key}={found}: dfrsd acts on the cgroups of jobs");
            let remedy = format!("write {key}={needed}; {IN_SLURMD}");
            examination.need(About::Processes, what, &remedy);
        }
    }
    let found = &facts.task_plugin;
    if !lists(found, "task/cgroup") && !lists(found, "cgroup") {
        let what = format!("slurm.conf: TaskPlugin={found}: jobs' memory is not limited");
        let remedy = format!("add task/cgroup; {IN_SLURMD}");
        examination.need(About::Processes, what, &remedy);
    }
}

/// Whether Slurm has cgroups at all: without a plugin for them `proctrack/cgroup` puts no job into
/// any.
pub(super) fn cgroups(examination: &mut Examination<'_>) {
    let plugin = &examination.facts.cgroups.plugin;
    if plugin.eq_ignore_ascii_case("disabled") || plugin.eq_ignore_ascii_case("cgroup/disabled") {
        examination.need(
            About::Processes,
            format!("cgroup.conf: CgroupPlugin={plugin}: no job is in a cgroup"),
            &format!("take CgroupPlugin out, and Slurm finds it; {IN_SLURMD}"),
        );
    }
}

/// Whether the memory that a job requested is what it can have: DFRS promises memory only once.
pub(super) fn wall(examination: &mut Examination<'_>) {
    if examination.facts.cgroups.constrains_ram {
        check_percentages(examination);
    } else {
        let what = "ConstrainRAMSpace is not yes: a job may take memory that others were promised";
        let parks = if examination.parks {
            ", and no job is parked"
        } else {
            ""
        };
        examination.warn(
            About::Cgroups,
            format!("{what}{parks}"),
            &format!("write ConstrainRAMSpace=yes in cgroup.conf; {IN_SLURMD}"),
        );
    }
}

fn check_percentages(examination: &mut Examination<'_>) {
    let cgroups = &examination.facts.cgroups;
    let allowed = cgroups.allowed_ram_percent;
    if allowed > 100.0 {
        examination.warn(
            About::Cgroups,
            format!("AllowedRAMSpace={allowed}: a job may take {allowed} % of the memory that it asked for, and with it what others were promised"),
            &format!("take AllowedRAMSpace out of cgroup.conf; {IN_SLURMD}"),
        );
    } else if allowed < 100.0 {
        examination.warn(
            About::Cgroups,
            format!("AllowedRAMSpace={allowed}: a job gets {allowed} % of the memory that it asked for, and DFRS counts all of it"),
            &format!("take AllowedRAMSpace out of cgroup.conf; {IN_SLURMD}"),
        );
    }
    let max = cgroups.max_ram_percent;
    if max < 100.0 {
        examination.warn(
            About::Cgroups,
            format!("MaxRAMPercent={max}: a job that asks for more than {max} % of a node's memory gets no more, and DFRS counts all of it"),
            "keep memory for the system by MemSpecLimit= or a smaller RealMemory= of the nodes",
        );
    }
}

/// Whether Slurm lets parked jobs have the swap that they need.
pub(super) fn swap_space(examination: &mut Examination<'_>) {
    if !examination.facts.cgroups.constrains_swap {
        return;
    }
    let what = "ConstrainSwapSpace=yes: Slurm forbids the swap that parked jobs need";
    let remedy = format!("write ConstrainSwapSpace=no in cgroup.conf; {IN_SLURMD}");
    if examination.parks {
        let remedy = format!("{remedy}; or SwapPerNode=0 in dfrs.conf");
        examination.need(About::Cgroups, what.to_owned(), &remedy);
    } else {
        examination.warn(About::Cgroups, what, &remedy);
    }
}
