//! Whether the memory that a job requested is what it can have: DFRS promises memory only once.

use super::facts::{CgroupConf, SlurmFacts};
use super::finding::{About, Findings};
use super::processes::IN_SLURMD;
use super::requirements::Requirements;

pub(super) fn check(facts: &SlurmFacts, requirements: Requirements<'_>, findings: &mut Findings) {
    if facts.cgroups.constrains_ram {
        check_percentages(&facts.cgroups, findings);
    } else {
        let what = "ConstrainRAMSpace is not yes: a job may take memory that others were promised";
        let parks = if requirements.parks {
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

fn check_percentages(cgroups: &CgroupConf, findings: &mut Findings) {
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
    let max = cgroups.max_ram_percent;
    if max < 100.0 {
        findings.warn(
            About::Cgroups,
            format!("MaxRAMPercent={max}: a job that asks for more than {max} % of a node's memory gets no more, and DFRS counts all of it"),
            "keep memory for the system by MemSpecLimit= or a smaller RealMemory= of the nodes",
        );
    }
}
