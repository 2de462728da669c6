//! How long slurmstepd takes to pause a job. dfrsd freezes it at once; but a job that is brought
//! back within that time is stopped until it is over, which DFRS counts as progress.

use super::facts::{SlurmFacts, value};
use super::finding::{About, Findings};
use super::requirements::Requirements;

/// Seconds of which nothing is said: pauses are longer. Slurm's own default is 2.
const MAX_GRACE_SECONDS: u32 = 5;

pub(super) fn check(facts: &SlurmFacts, _: Requirements<'_>, findings: &mut Findings) {
    let grace = value(&facts.preempt_parameters, "suspend_grace_time");
    let is_long = |grace: &str| {
        grace
            .parse()
            .is_ok_and(|seconds: u32| seconds > MAX_GRACE_SECONDS)
    };
    if let Some(grace) = grace.filter(|grace| is_long(grace)) {
        findings.warn(
            About::Pauses,
            format!("slurm.conf: PreemptParameters=suspend_grace_time={grace}: a job that is paused and comes back within {grace} s is stopped until they are over"),
            &format!("write at most {MAX_GRACE_SECONDS}"),
        );
    }
}
