//! What jobs that are carried need of Slurm.

use dfrs_core::Mobility;

use super::cgroups::IN_SLURMD;
use super::examination::Examination;
use super::finding::About;

/// The exit code of a batch script in whose place its image could not be put (`carrier/exit.h`).
const NOT_RESTORED: u16 = 125;

/// Whether a job that is carried keeps its output, its image when that is not restored, and its
/// signals.
pub(super) fn carrying(examination: &mut Examination<'_>) {
    let mut lines = examination.lines().iter();
    let Some(line) = lines.find(|line| line.mobility == Mobility::Carry) else {
        return;
    };
    let (name, facts) = (&line.name, examination.facts);
    if !facts.appends_output {
        examination.warn(
            About::Carrying,
            format!(
                "slurm.conf: JobFileAppend=0: a job of partition {name} that is carried loses the output that it has written"
            ),
            "write JobFileAppend=1; scontrol reconfigure",
        );
    }
    if !has_number(&facts.requeue_exit_hold, NOT_RESTORED) {
        examination.warn(
            About::Carrying,
            format!(
                "slurm.conf: RequeueExitHold={}: a job of partition {name} whose image cannot be restored ends with exit code {NOT_RESTORED}",
                facts.requeue_exit_hold
            ),
            "add 125 to RequeueExitHold, and such a job is held with its image; scontrol reconfigure",
        );
    }
    if facts.cgroups.signals_children {
        examination.warn(
            About::Carrying,
            format!(
                "cgroup.conf: SignalChildrenProcesses=yes: jobs of partition {name} that can be carried get signals twice"
            ),
            &format!("take SignalChildrenProcesses out; {IN_SLURMD}"),
        );
    }
}

/// Whether a list as `1-3,125` has this number.
fn has_number(list: &str, number: u16) -> bool {
    list.split(',').any(|item| {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let number_of = |text: &str| text.trim().parse::<u16>().ok();
        let range = number_of(first).zip(number_of(last));
        range.is_some_and(|(first, last)| (first..=last).contains(&number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_code_is_the_carriers() {
        let header = include_str!("../../../../carrier/exit.h");
        assert!(header.contains(&format!("#define EXIT_HELD {NOT_RESTORED}\n")));
    }

    #[test]
    fn exit_codes_are_listed_by_number_and_range() {
        let has = |list| has_number(list, NOT_RESTORED);
        assert!(has("125") && has("1, 125") && has("100-130") && has("3,120-125"));
        assert!(!has("") && !has("(null)") && !has("25") && !has("1-124,126"));
    }
}
