//! Whether slurmctld sees the steps of jobs.

use super::facts::{SlurmFacts, lists};
use super::finding::{About, Findings};
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, _: Requirements<'_>, findings: &mut Findings) {
    if lists(&facts.slurmctld_parameters, "enable_stepmgr") {
        findings.warn(
            About::Scheduler,
            "slurm.conf: SlurmctldParameters=enable_stepmgr: DFRS does not see when steps of such jobs begin, and may pause them too early",
            "leave it out, or make SettleTime in dfrs.conf long",
        );
    }
}
