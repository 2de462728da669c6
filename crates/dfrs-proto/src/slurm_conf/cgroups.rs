//! Whether Slurm has cgroups at all: without a plugin for them `proctrack/cgroup` puts no job into
//! any.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::processes::IN_SLURMD;
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    let plugin = &facts.cgroups.plugin;
    if plugin.eq_ignore_ascii_case("disabled") || plugin.eq_ignore_ascii_case("cgroup/disabled") {
        requirements.need(
            findings,
            About::Processes,
            format!("cgroup.conf: CgroupPlugin={plugin}: no job is in a cgroup"),
            &format!("take CgroupPlugin out, and Slurm finds it; {IN_SLURMD}"),
        );
    }
}
