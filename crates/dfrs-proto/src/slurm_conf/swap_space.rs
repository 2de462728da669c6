//! Whether Slurm lets parked jobs have the swap that they need.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::processes::IN_SLURMD;
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    if !facts.cgroups.constrains_swap {
        return;
    }
    let what = "ConstrainSwapSpace=yes: Slurm forbids the swap that parked jobs need";
    let remedy = format!("write ConstrainSwapSpace=no in cgroup.conf; {IN_SLURMD}");
    if requirements.parks {
        let remedy = format!("{remedy}; or SwapPerNode=0 in dfrs.conf");
        requirements.need(findings, About::Cgroups, what.to_owned(), &remedy);
    } else {
        findings.warn(About::Cgroups, what, &remedy);
    }
}
