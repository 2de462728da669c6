//! What dfrs.conf asks of this Slurm.

use super::examination::Examination;
use super::finding::About;
use crate::conf::JobField;

/// Whether jobs have the field that is to show their yields.
pub(super) fn extra(examination: &mut Examination<'_>) {
    let field = examination.config.and_then(|config| config.show_yield_in);
    if field == Some(JobField::Extra) && !examination.facts.has_extra {
        examination.refuse(
            About::DfrsConf,
            "dfrs.conf: ShowYieldIn=Extra needs Slurm 23.02 or later",
            "use AdminComment",
        );
    }
}

/// Why nothing that depends on acknowledgements of nodes is done with this version of Slurm.
#[must_use]
pub fn no_delivery_report(version: &str) -> String {
    format!("Slurm {version} does not report which nodes a message failed to reach")
}

/// Whether what nodes acknowledge is worth something.
pub(super) fn delivery(examination: &mut Examination<'_>) {
    if examination.parks && !examination.facts.is_delivery_known {
        // The only series of which this is so.
        let why = no_delivery_report("23.11");
        examination.warn(
            About::DfrsConf,
            format!("dfrs.conf: SwapPerNode counts as 0 and no job is parked: {why}"),
            "use another Slurm, or write SwapPerNode=0",
        );
    }
}

/// Whether dfrs.conf names partitions that there are.
pub(super) fn named(examination: &mut Examination<'_>) {
    for line in examination.lines() {
        let name = &line.name;
        if examination.facts.partition(name).is_none() {
            examination.refuse(
                About::Partition(name.clone()),
                format!("dfrs.conf: Partition={name}: slurm.conf has no such partition"),
                "write its name as slurm.conf does, or take the line out",
            );
        }
    }
    if examination.config.is_some() && examination.lines().is_empty() {
        examination.refuse(
            About::DfrsConf,
            "dfrs.conf: no Partition= line: DFRS has nothing to manage",
            "name a partition",
        );
    }
}
