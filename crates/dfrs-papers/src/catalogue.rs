//! All named policies, with a description each.

use dfrs_core::policy::{TPDS_GRACES, TPDS_SUBMISSIONS};
use dfrs_core::{Grace, Optimisation, Periodic, Policy, Retry, Submission};

use crate::goal::PaperGoal;
use crate::stretch::StretchGoal;
use crate::{ipdps, policy};

/// Every policy that the papers name: the TPDS paper's 116 (14 combinations, each with two
/// optimisations, 11 of them also with MINFT or MINVT of 300 or 600 s; Section 5.1) and the IPDPS
/// 2010 paper's 7 (Section III; its other two, FCFS and EASY, are batch schedulers).
pub fn catalogue() -> Vec<Policy> {
    let mut found = Vec::new();
    for submission in TPDS_SUBMISSIONS {
        for periodic in ["", "/per", "/stretch-per"] {
            for optimisation in ["/OPT=AVG", "/OPT=MIN", "/OPT=MAX"] {
                for grace in TPDS_GRACES {
                    found.extend(policy(&format!(
                        "{submission}{periodic}{optimisation}{grace}"
                    )));
                }
            }
        }
    }
    let names = ipdps::NAMES.iter();
    found.extend(names.filter_map(|(name, ..)| policy(name).ok()));
    found
}

/// Every policy: the papers', and those of this project.
pub fn all() -> Vec<Policy> {
    let mut found = catalogue();
    let papers = found.len();
    for own in Policy::all() {
        if !found[..papers].contains(&own) {
            found.push(own);
        }
    }
    found
}

/// What the policy does, in one line.
pub fn description(policy: &Policy) -> String {
    let submission = match policy.submission {
        Submission::Nothing => "new jobs wait",
        Submission::Greedy => "new jobs start where their memory fits",
        Submission::GreedyP => "new jobs start, pausing others where needed",
        Submission::GreedyPM => "new jobs start, moving or pausing others where needed",
        Submission::LeastCostPreemption => {
            "new jobs start, moving or pausing those whose leaving costs least"
        }
        Submission::Reserving => {
            "new jobs start, moving or pausing those whose leaving costs least, and what the job that has waited longest needs is reserved for it"
        }
        Submission::Mcb8 => "all jobs are remapped when one is submitted",
    };
    let completion = match (policy.opportunistic, policy.submission) {
        (false, _) => "",
        (true, Submission::Mcb8) => "; and when one ends",
        (true, _) => "; waiting jobs are tried whenever something happens",
    };
    let retry = match policy.retry {
        Retry::Nothing => "",
        Retry::Backoff => "; jobs that did not fit are tried again after growing delays",
    };
    let period = policy.settings.period;
    let periodic = match policy.periodic {
        Periodic::Nothing => String::new(),
        Periodic::Remap => {
            let goal = match PaperGoal::of(policy) {
                Some(PaperGoal::Stretch(_)) => "maximum stretch",
                _ => "minimum yield",
            };
            format!("; all jobs are remapped every {period} for the best {goal}")
        }
        Periodic::Moves => {
            format!("; every {period} single jobs come back or move where that pays")
        }
    };
    let protected = if policy.weighs_moves() {
        "are preempted last and do not move"
    } else {
        "stay in place"
    };
    let grace = match policy.grace {
        Grace::Nothing => String::new(),
        Grace::FlowTime(bound) => {
            format!(", those submitted less than {bound} ago {protected}")
        }
        Grace::VirtualTime(bound) => {
            format!(", those with less than {bound} of virtual time {protected}")
        }
    };
    format!(
        "{submission}{completion}{retry}{periodic}{grace}; {}",
        sharing(policy)
    )
}

/// How CPU is allocated.
fn sharing(policy: &Policy) -> &'static str {
    match policy.optimisation {
        Optimisation::Uniform => "all jobs have the same yield",
        Optimisation::Minimum => "yields are max-min fair",
        Optimisation::VirtualTime => {
            "yields are max-min fair by weights that fall with virtual time"
        }
        Optimisation::Further(_) => PaperGoal::of(policy).map_or("", of_goal),
    }
}

const fn of_goal(goal: PaperGoal) -> &'static str {
    match goal {
        PaperGoal::Average => "the average yield is maximised",
        PaperGoal::Stretch(StretchGoal::Equal) => "every job is expected to have the same stretch",
        PaperGoal::Stretch(StretchGoal::Average) => {
            "then the average expected stretch is minimised"
        }
        PaperGoal::Stretch(StretchGoal::Maximum) => "expected stretches are min-max fair",
        PaperGoal::Heuristic | PaperGoal::Stretch(StretchGoal::Heuristic) => {
            "what CPU is left goes to the jobs of the lowest need"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_the_papers() {
        let all = catalogue();
        assert_eq!(all.len(), 116 + 7);
        for found in &all {
            assert_eq!(policy(&found.to_string()).as_ref(), Ok(found));
            let text = description(found);
            assert!(!text.contains('\n') && text.len() > 30, "{text}");
        }
        assert!(all.contains(&Policy::recommended()));
        let mut names: Vec<String> = all.iter().map(ToString::to_string).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
        // Beside the papers' there are four.
        assert_eq!(super::all().len(), all.len() + 4);
    }

    #[test]
    fn descriptions_match_the_policies() {
        let text = description(&Policy::recommended());
        assert_eq!(
            text,
            "new jobs start, moving or pausing others where needed; waiting jobs are tried whenever something happens; all jobs are \
             remapped every 600 s for the best minimum yield, those with less than 600 s of virtual time stay in place; \
             yields are max-min fair"
        );
        for (name, described) in [
            (
                "MCB8*/OPT=AVG/MINFT=300",
                "all jobs are remapped when one is submitted; and when one ends, those submitted less than 300 s ago stay in place; \
                 the average yield is maximised",
            ),
            (
                "GreedyP/per",
                "new jobs start, pausing others where needed; all jobs are remapped every 600 s for the best minimum yield; \
                 all jobs have the same yield",
            ),
            (
                "/stretch-per",
                "new jobs wait; all jobs are remapped every 600 s for the best maximum stretch; every job is expected to have the \
                 same stretch",
            ),
            (
                "/stretch-per/OPT=AVG",
                "new jobs wait; all jobs are remapped every 600 s for the best maximum stretch; then the average expected stretch \
                 is minimised",
            ),
            (
                "/stretch-per/OPT=MAX",
                "new jobs wait; all jobs are remapped every 600 s for the best maximum stretch; expected stretches are min-max fair",
            ),
            (
                "GREEDY",
                "new jobs start where their memory fits; jobs that did not fit are tried again after growing delays; what CPU is \
                 left goes to the jobs of the lowest need",
            ),
        ] {
            assert_eq!(description(&policy(name).expect(name)), described);
        }
    }
}
