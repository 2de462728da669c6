//! Claims of the TPDS 2012 paper.

mod load;
mod period;

use super::PaperClaim;
use crate::reproduce::experiment::{EASY, EASY_PUBLISHED};
use crate::reproduce::measure::Measure;
use crate::reproduce::results::Results;
use crate::reproduce::traces::TraceSet;

const BOUND: Measure = Measure::DegradationFromBound;
const IDLE: Measure = Measure::Underutilization;
const SETS: [TraceSet; 3] = [TraceSet::Unscaled, TraceSet::Scaled, TraceSet::Weeks];

pub const CLAIMS: &[PaperClaim<Results>] = &[
    PaperClaim {
        place: "TPDS 5.1",
        statement: "EASY and FCFS are almost always outperformed by several orders of magnitude (taken as a factor of 100 in \
               the averages at every load)",
        check: |results| load::orders_of_magnitude(results, EASY_PUBLISHED),
    },
    PaperClaim {
        place: "TPDS 5.1",
        statement: "The same for EASY as it is defined",
        check: |results| load::orders_of_magnitude(results, EASY),
    },
    PaperClaim {
        place: "TPDS 5.1",
        statement: "GreedyPM*/OPT=MIN performs well at low load, and worse than most other algorithms above 0.3",
        check: load::greedy_pm,
    },
    PaperClaim {
        place: "TPDS 5.1",
        statement: "The best algorithm whatever the load is GreedyPM*/per/OPT=MIN/MINVT=600 (taken as within 5% of the best at \
               each load)",
        check: load::best_everywhere,
    },
    PaperClaim {
        place: "TPDS 5.1",
        statement: "The best algorithms are on average at most a factor 7 away from the bound",
        check: load::factor_7,
    },
    PaperClaim {
        place: "TPDS 5.3.2",
        statement: "Above a period of 900 s, underutilization on both synthetic sets is lower than EASY's",
        check: |results| period::better_than_easy(results, EASY_PUBLISHED),
    },
    PaperClaim {
        place: "TPDS 5.3.2",
        statement: "The same against EASY as it is defined",
        check: |results| period::better_than_easy(results, EASY),
    },
    PaperClaim {
        place: "TPDS 5.3.2",
        statement: "On the HPC2N weeks underutilization is above EASY's (6.4%) at every period and reaches a plateau of 11.8%",
        check: period::plateau,
    },
    PaperClaim {
        place: "TPDS 5.3.2",
        statement: "Underutilization falls steadily with the period from 600 to 12,000 s (taken as: on each set, the longest \
               period has less than the shortest)",
        check: period::falls,
    },
    PaperClaim {
        place: "TPDS 5.3.2",
        statement: "From 600 to 12,000 s the average degradation rises by a factor below 3 (scaled), 1.5 (unscaled) and 2 (HPC2N)",
        check: period::rises,
    },
    PaperClaim {
        place: "TPDS 5.3.2",
        statement: "Even with a period of 20 penalties EASY is outperformed by two orders of magnitude on average",
        check: |results| period::at_long_periods(results, EASY_PUBLISHED),
    },
    PaperClaim {
        place: "TPDS 5.3.2",
        statement: "The same against EASY as it is defined",
        check: |results| period::at_long_periods(results, EASY),
    },
];
