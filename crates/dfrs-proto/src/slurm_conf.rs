//! What slurm.conf and cgroup.conf have to say for DFRS: one list of checks for the plugin, which
//! takes the [`SlurmFacts`] from slurmctld's memory, and for `dfrs doctor`, which takes them from
//! what `scontrol` shows. Both go by the same verdicts, so they agree on what is refused (ADR 38).

mod binding;
mod carrying;
mod cgroups;
mod dfrs_conf;
mod examination;
mod facts;
mod finding;
mod host_list;
mod partitions;
mod power_saving;
mod scheduler;
#[cfg(test)]
mod tests;

pub use dfrs_conf::no_delivery_report;
pub use facts::{CgroupConf, Idle, PowerSaving, SlurmFacts, SlurmNode, SlurmPartition};
pub use finding::{About, Finding, Verdict};
pub use host_list::entries as host_list_entries;

use dfrs_core::Bytes;

use crate::conf::Config;
use Check::{All, OfPartition};
use examination::Examination;

/// One check. It says what is wrong, and nothing if all is well.
enum Check {
    /// Of all that Slurm is.
    All(fn(&mut Examination<'_>)),
    /// Of each partition that DFRS schedules.
    OfPartition(fn(&mut Examination<'_>, &SlurmPartition)),
}

/// All checks. What the plugin logs is the first that refuses.
const CHECKS: [(&str, Check); 25] = [
    ("started", All(scheduler::started)),
    ("select", All(scheduler::select)),
    ("slurm_starts", All(scheduler::slurm_starts)),
    ("gang", All(scheduler::gang)),
    ("stepmgr", All(scheduler::stepmgr)),
    ("processes", All(cgroups::processes)),
    ("cgroups", All(cgroups::cgroups)),
    ("wall", All(cgroups::wall)),
    ("swap_space", All(cgroups::swap_space)),
    ("extra", All(dfrs_conf::extra)),
    ("delivery", All(dfrs_conf::delivery)),
    ("suspend_grace", All(scheduler::suspend_grace)),
    ("requeue", All(scheduler::requeue)),
    ("carrying", All(carrying::carrying)),
    ("topology", All(scheduler::topology)),
    ("named", All(dfrs_conf::named)),
    ("oversubscribe", OfPartition(partitions::oversubscribe)),
    (
        "exclusive_topology",
        OfPartition(partitions::exclusive_topology),
    ),
    ("power_saving", OfPartition(power_saving::power_saving)),
    ("shared_nodes", OfPartition(partitions::shared_nodes)),
    ("whole_nodes", OfPartition(partitions::whole_nodes)),
    ("binding", OfPartition(binding::binding)),
    ("tiers", OfPartition(partitions::tiers)),
    ("preemption", OfPartition(partitions::preemption)),
    ("default_memory", OfPartition(partitions::default_memory)),
];

/// The checks that look at cgroup.conf, which each node reads for itself.
const OF_CGROUPS: [&str; 3] = ["cgroups", "wall", "swap_space"];

/// All that is wrong, in the order of the checks. `config`: dfrs.conf, if there is one that is
/// right; without it the lines about partitions are not looked at. O(nodes of all partitions, for
/// each of DFRS's partitions).
#[must_use]
pub fn examine(facts: &SlurmFacts, config: Option<&Config>) -> Vec<Finding> {
    let parks = config.is_some_and(|config| config.swap_per_node > Bytes(0));
    run(CHECKS.iter(), facts, config, parks)
}

/// What is wrong with cgroup.conf alone, as a node has it. `parks`: jobs are to be parked there.
#[must_use]
pub fn examine_cgroups(cgroups: &CgroupConf, parks: bool) -> Vec<Finding> {
    let facts = SlurmFacts {
        cgroups: cgroups.clone(),
        ..SlurmFacts::default()
    };
    let checks = CHECKS.iter();
    let checks = checks.filter(|(name, _)| OF_CGROUPS.contains(name));
    run(checks, &facts, None, parks)
}

fn run<'a>(
    checks: impl Iterator<Item = &'a (&'static str, Check)>,
    facts: &SlurmFacts,
    config: Option<&Config>,
    parks: bool,
) -> Vec<Finding> {
    let mut examination = Examination {
        facts,
        config,
        parks,
        check: "",
        found: Vec::new(),
    };
    for (name, check) in checks {
        examination.check = name;
        match check {
            All(check) => check(&mut examination),
            OfPartition(check) => {
                let managed = examination.managed();
                managed.for_each(|partition| check(&mut examination, partition));
            }
        }
    }
    examination.found
}

/// Why DFRS cannot work like this, in one line with what to do, if it cannot.
#[must_use]
pub fn refusal(facts: &SlurmFacts, config: &Config) -> Option<String> {
    let mut findings = examine(facts, Some(config)).into_iter();
    let refused = findings.find(|finding| finding.verdict == Verdict::Refused)?;
    Some(format!("{}; {}", refused.what, refused.remedy))
}
