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
    ("tpds-magnitude-published", |results| {
        load::orders_of_magnitude(results, EASY_PUBLISHED)
    }),
    ("tpds-magnitude", |results| {
        load::orders_of_magnitude(results, EASY)
    }),
    ("tpds-greedy-pm", load::greedy_pm),
    ("tpds-best-everywhere", load::best_everywhere),
    ("tpds-factor-7", load::factor_7),
    ("tpds-idle-published", |results| {
        period::better_than_easy(results, EASY_PUBLISHED)
    }),
    ("tpds-idle", |results| {
        period::better_than_easy(results, EASY)
    }),
    ("tpds-plateau", period::plateau),
    ("tpds-idle-falls", period::falls),
    ("tpds-degradation-rises", period::rises),
    ("tpds-long-periods-published", |results| {
        period::at_long_periods(results, EASY_PUBLISHED)
    }),
    ("tpds-long-periods", |results| {
        period::at_long_periods(results, EASY)
    }),
];
