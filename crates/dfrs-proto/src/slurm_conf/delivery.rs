//! Whether what nodes acknowledge is worth something.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    if requirements.parks && !facts.is_delivery_known {
        findings.warn(
            About::DfrsConf,
            "dfrs.conf: SwapPerNode counts as 0 and no job is parked: slurmctld of Slurm 23.11 does not learn which nodes a message has not reached",
            "use another Slurm, or write SwapPerNode=0",
        );
    }
}
