//! Whether the memory that a job asked for is what it can have: DFRS promises memory only once.

use super::facts::{Cgroups, Facts};
use super::finding::{About, Findings};
use super::processes::IN_SLURMD;
use super::wanted::Wanted;

pub(super) fn check(facts: &Facts, wanted: Wanted<'_>, findings: &mut Findings) {
    if facts.cgroups.constrains_ram {
        height(&facts.cgroups, findings);
    } else {
        let what = "ConstrainRAMSpace is not yes: a job may take memory that others were promised";
        let parks = if wanted.parks {
            ", and no job is parked"
        } else {
            ""
        };
        findings.warn(
            About::Cgroups,
            format!("{what}{parks}"),
            &format!("write ConstrainRAMSpace=yes in cgroup.conf; {IN_SLURMD}"),
        );
    }
}

fn height(cgroups: &Cgroups, findings: &mut Findings) {
    let allowed = cgroups.allowed_ram_percent;
    if allowed > 100.0 {
        findings.warn(
            About::Cgroups,
            format!("AllowedRAMSpace={allowed}: a job may take {allowed} % of the memory that it asked for, and with it what others were promised"),
            &format!("take AllowedRAMSpace out of cgroup.conf; {IN_SLURMD}"),
        );
    } else if allowed < 100.0 {
        findings.warn(
            About::Cgroups,
            format!("AllowedRAMSpace={allowed}: a job gets {allowed} % of the memory that it asked for, and DFRS counts all of it"),
            &format!("take AllowedRAMSpace out of cgroup.conf; {IN_SLURMD}"),
        );
    }
    let most = cgroups.most_ram_percent;
    if most < 100.0 {
        findings.warn(
            About::Cgroups,
            format!("MaxRAMPercent={most}: a job that asks for more than {most} % of a node's memory gets no more, and DFRS counts all of it"),
            "keep memory for the system by MemSpecLimit= or a smaller RealMemory= of the nodes",
        );
    }
}
