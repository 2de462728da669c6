//! All policies that this crate names.

use super::Policy;

/// What the TPDS paper does when a job is submitted, by its names (Section 4.5).
pub const TPDS_SUBMISSIONS: [&str; 9] = [
    "",
    "Greedy",
    "Greedy*",
    "GreedyP",
    "GreedyP*",
    "GreedyPM",
    "GreedyPM*",
    "MCB8",
    "MCB8*",
];

/// The grace periods of the TPDS paper, by its names (Section 5.1).
pub const TPDS_GRACES: [&str; 5] = ["", "/MINFT=300", "/MINFT=600", "/MINVT=300", "/MINVT=600"];

impl Policy {
    /// Every policy that slurmctld can follow: those of the TPDS paper's (Section 5.1) with the
    /// optimisation that it recommends, and those of this project.
    pub fn all() -> Vec<Self> {
        let mut names: Vec<String> = Vec::new();
        for submission in TPDS_SUBMISSIONS {
            for periodic in ["", "/per"] {
                for grace in TPDS_GRACES {
                    names.push(format!("{submission}{periodic}/OPT=MIN{grace}"));
                }
            }
        }
        let own = [
            "GreedyPM*/per/OPT=VT/MINVT=600",
            "GreedyPMC*/OPT=VT",
            "GreedyPMC*/move-per/OPT=VT/MINVT=600",
            "GreedyPMCR*/move-per/OPT=VT/MINVT=600",
        ];
        names.extend(own.map(String::from));
        // Not all parts go together.
        names.iter().filter_map(|name| name.parse().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_policies_have_names_of_their_own() {
        let all = Policy::all();
        // 13 algorithms, of which 10 also take a grace period, and 4 of this project.
        assert_eq!(all.len(), 13 + 10 * 4 + 4);
        assert!(all.contains(&Policy::recommended()) && all.contains(&Policy::own()));
        let mut names: Vec<String> = all.iter().map(ToString::to_string).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }
}
