//! Whether Slurm puts jobs into cgroups, which dfrsd acts on.

use super::facts::{SlurmFacts, lists};
use super::finding::{About, Findings};
use super::requirements::Requirements;

/// How lines that act in slurmd are changed.
pub(super) const IN_SLURMD: &str = "write it on all hosts, drain the nodes, and restart slurmctld and all slurmds when no job runs";

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    for (key, found, needed) in [
        ("ProctrackType", &facts.proctrack_type, "proctrack/cgroup"),
        (
            "JobAcctGatherType",
            &facts.gather_type,
            "jobacct_gather/cgroup",
        ),
    ] {
        if !found.eq_ignore_ascii_case(needed) {
            let what = format!("slurm.conf: {key}={found}: dfrsd acts on the cgroups of jobs");
            let remedy = format!("write {key}={needed}; {IN_SLURMD}");
            requirements.need(findings, About::Processes, what, &remedy);
        }
    }
    if !lists(&facts.task_plugin, "task/cgroup") && !lists(&facts.task_plugin, "cgroup") {
        let found = &facts.task_plugin;
        let what = format!("slurm.conf: TaskPlugin={found}: jobs have no wall around their memory");
        let remedy = format!("add task/cgroup; {IN_SLURMD}");
        requirements.need(findings, About::Processes, what, &remedy);
    }
}
