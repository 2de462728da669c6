//! All named policies, with a description each.

use super::{Grace, Optimisation, Periodic, Policy, Retry, Submission, ipdps};

impl Policy {
    /// Every policy that the papers name: the TPDS paper's 116 (14 combinations, each with two
    /// optimisations, 11 of them also with MINFT or MINVT of 300 or 600 s; Section 5.1) and the
    /// IPDPS 2010 paper's 7 (Section III; its other two, FCFS and EASY, are batch schedulers).
    #[must_use]
    pub fn catalogue() -> Vec<Self> {
        let mut found = Vec::new();
        for submission in [
            "",
            "Greedy",
            "Greedy*",
            "GreedyP",
            "GreedyP*",
            "GreedyPM",
            "GreedyPM*",
            "MCB8",
            "MCB8*",
        ] {
            for periodic in ["", "/per", "/stretch-per"] {
                for optimisation in ["/OPT=AVG", "/OPT=MIN", "/OPT=MAX"] {
                    for grace in ["", "/MINFT=300", "/MINFT=600", "/MINVT=300", "/MINVT=600"] {
                        found
                            .extend(format!("{submission}{periodic}{optimisation}{grace}").parse());
                    }
                }
            }
        }
        found.extend(
            ipdps::NAMES
                .iter()
                .filter_map(|(name, ..)| name.parse().ok()),
        );
        found
    }

    /// Every policy: the papers', and those of this project.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let own = [
            "GreedyPM*/per/OPT=VT/MINVT=600",
            "GreedyPMC*/OPT=VT",
            "GreedyPMC*/move-per/OPT=VT/MINVT=600",
            "GreedyPMCR*/move-per/OPT=VT/MINVT=600",
        ];
        let mut found = Self::catalogue();
        found.extend(own.iter().filter_map(|name| name.parse().ok()));
        found
    }

    /// What the policy does, in one line.
    #[must_use]
    pub fn description(&self) -> String {
        let submission = match self.submission {
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
        let completion = match (self.opportunistic, self.submission) {
            (false, _) => "",
            (true, Submission::Mcb8) => "; and when one ends",
            (true, _) => "; waiting jobs are tried whenever something happens",
        };
        let retry = match self.retry {
            Retry::Nothing => "",
            Retry::Backoff => "; jobs that did not fit are tried again after growing delays",
        };
        let period = self.settings.period;
        let periodic = match self.periodic {
            Periodic::Nothing => String::new(),
            Periodic::Remap => {
                format!("; all jobs are remapped every {period} for the best minimum yield")
            }
            Periodic::Stretch => {
                format!("; all jobs are remapped every {period} for the best maximum stretch")
            }
            Periodic::Moves => {
                format!("; every {period} single jobs come back or move where that pays")
            }
        };
        let protected = if self.weighs_moves() {
            "are preempted last and do not move"
        } else {
            "stay in place"
        };
        let grace = match self.grace {
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
            self.sharing()
        )
    }

    /// How CPU is allocated.
    const fn sharing(&self) -> &'static str {
        match (self.optimisation, self.periodic) {
            (Optimisation::Uniform, Periodic::Stretch) => {
                "every job is expected to have the same stretch"
            }
            (Optimisation::Average, Periodic::Stretch) => {
                "then the average expected stretch is minimised"
            }
            (Optimisation::Uniform, _) => "all jobs have the same yield",
            (Optimisation::Average, _) => "the average yield is maximised",
            (Optimisation::Minimum, _) => "yields are max-min fair",
            (Optimisation::VirtualTime, _) => {
                "yields are max-min fair by weights that fall with virtual time"
            }
            (Optimisation::Maximum, _) => "expected stretches are min-max fair",
            (Optimisation::Heuristic, _) => "what CPU is left goes to the jobs of the lowest need",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_the_papers() {
        let all = Policy::catalogue();
        assert_eq!(all.len(), 116 + 7);
        for policy in &all {
            assert_eq!(policy.to_string().parse::<Policy>().as_ref(), Ok(policy));
            let description = policy.description();
            assert!(
                !description.contains('\n') && description.len() > 30,
                "{description}"
            );
        }
        assert!(all.contains(&Policy::recommended()));
        let mut names: Vec<String> = all.iter().map(ToString::to_string).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn descriptions_match_the_policies() {
        let text = Policy::recommended().description();
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
            assert_eq!(name.parse::<Policy>().expect(name).description(), described);
        }
    }
}
