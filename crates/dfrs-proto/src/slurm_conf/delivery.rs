//! Whether what nodes acknowledge is worth something.

use super::facts::Facts;
use super::finding::{About, Findings};
use super::wanted::Wanted;

pub(super) fn check(facts: &Facts, wanted: Wanted<'_>, findings: &mut Findings) {
    if wanted.parks && !facts.is_delivery_known {
        findings.warn(
            About::DfrsConf,
            "dfrs.conf: SwapPerNode counts as 0 and no job is parked: slurmctld of Slurm 23.11 does not learn which nodes a message has not reached",
            "use another Slurm, or write SwapPerNode=0",
        );
    }
}
