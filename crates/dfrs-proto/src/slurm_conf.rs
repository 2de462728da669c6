//! What slurm.conf and cgroup.conf have to say for DFRS: one list of checks for the plugin, which
//! takes the [`SlurmFacts`] from slurmctld's memory, and for `dfrs doctor`, which takes them from
//! what `scontrol` shows. Both go by the same verdicts, so they agree on what is refused (ADR 38).

mod binding;
mod cgroups;
mod default_memory;
mod delivery;
mod exclusive_topology;
mod extra;
mod facts;
mod finding;
mod gang;
mod host_list;
mod named;
mod oversubscribe;
mod power_saving;
mod preemption;
mod processes;
mod requeue;
mod requirements;
mod select;
mod shared_nodes;
mod slurm_starts;
mod started;
mod stepmgr;
mod suspend_grace;
mod swap_space;
#[cfg(test)]
mod tests;
mod tiers;
mod topology;
mod wall;
mod whole_nodes;

pub use facts::{CgroupConf, Idle, PowerSaving, SlurmFacts, SlurmNode, SlurmPartition};
pub use finding::{About, Finding, Verdict};

use crate::conf::Config;
use finding::Findings;
use requirements::Requirements;

/// One check. It returns what is wrong, and nothing if all is well.
type Check = fn(&SlurmFacts, Requirements<'_>, &mut Findings);

/// All checks, each in the file of its name. What the plugin logs is the first that refuses.
const CHECKS: [(&str, Check); 24] = [
    ("started", started::check),
    ("select", select::check),
    ("slurm_starts", slurm_starts::check),
    ("gang", gang::check),
    ("stepmgr", stepmgr::check),
    ("processes", processes::check),
    ("cgroups", cgroups::check),
    ("wall", wall::check),
    ("swap_space", swap_space::check),
    ("extra", extra::check),
    ("delivery", delivery::check),
    ("suspend_grace", suspend_grace::check),
    ("requeue", requeue::check),
    ("topology", topology::check),
    ("named", named::check),
    ("oversubscribe", oversubscribe::check),
    ("exclusive_topology", exclusive_topology::check),
    ("power_saving", power_saving::check),
    ("shared_nodes", shared_nodes::check),
    ("whole_nodes", whole_nodes::check),
    ("binding", binding::check),
    ("tiers", tiers::check),
    ("preemption", preemption::check),
    ("default_memory", default_memory::check),
];

/// The checks that look at cgroup.conf, which each node reads for itself.
const OF_CGROUPS: [(&str, Check); 3] = [
    ("cgroups", cgroups::check),
    ("wall", wall::check),
    ("swap_space", swap_space::check),
];

/// All that is wrong, in the order of the checks. `config`: dfrs.conf, if there is one that is
/// right; without it the lines about partitions are not looked at. O(nodes of all partitions, for
/// each of DFRS's partitions).
#[must_use]
pub fn examine(facts: &SlurmFacts, config: Option<&Config>) -> Vec<Finding> {
    run(&CHECKS, facts, Requirements::by(config))
}

/// What is wrong with cgroup.conf alone, as a node has it. `parks`: jobs are to be parked there.
#[must_use]
pub fn examine_cgroups(cgroups: &CgroupConf, parks: bool) -> Vec<Finding> {
    let facts = SlurmFacts {
        cgroups: cgroups.clone(),
        ..SlurmFacts::default()
    };
    let config = None;
    run(&OF_CGROUPS, &facts, Requirements { config, parks })
}

fn run(
    checks: &[(&'static str, Check)],
    facts: &SlurmFacts,
    requirements: Requirements<'_>,
) -> Vec<Finding> {
    let mut findings = Findings::default();
    for (name, check) in checks {
        findings.begin(name);
        check(facts, requirements, &mut findings);
    }
    findings.into_vec()
}

/// Why DFRS cannot work like this, in one line with what to do, if it cannot.
#[must_use]
pub fn refusal(facts: &SlurmFacts, config: &Config) -> Option<String> {
    let mut findings = examine(facts, Some(config)).into_iter();
    let refused = findings.find(|finding| finding.verdict == Verdict::Refused)?;
    Some(format!("{}; {}", refused.what, refused.remedy))
}
