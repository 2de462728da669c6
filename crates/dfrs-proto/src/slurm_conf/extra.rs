//! Whether jobs have the field that is to show their yields.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::requirements::Requirements;
use crate::conf::JobField;

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    let field = requirements.config.and_then(|config| config.show_yield_in);
    if field == Some(JobField::Extra) && !facts.has_extra {
        findings.refuse(
            About::DfrsConf,
            "dfrs.conf: ShowYieldIn=Extra needs Slurm 23.02 or later",
            "use AdminComment",
        );
    }
}
