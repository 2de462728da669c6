//! Figures and numbers of the TPDS 2012 paper.

use super::{
    BEST, COSTS, EASY, EASY_PUBLISHED, EASY_SHARED, Experiment, LOADS, PENALTY, PERIODS,
    ResultLayout, SECOND, TPDS,
};
use crate::reproduce::measure::Measure;
use crate::reproduce::traces::TraceSet;

const THREE_SETS: &[TraceSet] = &[TraceSet::Unscaled, TraceSet::Scaled, TraceSet::Weeks];

/// The measures that show that jobs take turns.
const TURNS: &[Measure] = &[
    Measure::Underutilization,
    Measure::Stalled,
    Measure::MeanStretch,
    Measure::PausesPerJob,
];

/// What most of them have; below stands where one differs.
const USUAL: Experiment = Experiment {
    name: "",
    sets: THREE_SETS,
    policies: TPDS,
    penalty: PENALTY,
    periods: &[],
    measures: &[Measure::DegradationFromBound],
    shape: ResultLayout::Spread,
};

/// All of them, in the paper's order.
pub const ALL: &[Experiment] = &[
    Experiment {
        name: "tpds-figure-1",
        sets: LOADS,
        shape: ResultLayout::ByLoad,
        ..USUAL
    },
    Experiment {
        name: "tpds-degradation",
        ..USUAL
    },
    Experiment {
        name: "tpds-costs",
        sets: &[TraceSet::Heavy],
        policies: &[SECOND, BEST],
        periods: &[600, 3600],
        measures: COSTS,
        shape: ResultLayout::Measures,
        ..USUAL
    },
    Experiment {
        name: "tpds-underutilization",
        policies: &["FCFS", EASY_PUBLISHED, EASY, EASY_SHARED, SECOND, BEST],
        measures: &[Measure::Underutilization],
        ..USUAL
    },
    Experiment {
        name: "tpds-whole",
        sets: &[TraceSet::Whole],
        policies: &["FCFS", EASY_PUBLISHED, EASY, EASY_SHARED, SECOND, BEST],
        periods: &[600, 1200, 3000, 12_000],
        measures: TURNS,
        shape: ResultLayout::Measures,
        ..USUAL
    },
    Experiment {
        name: "tpds-whole-no-penalty",
        sets: &[TraceSet::Whole],
        policies: &[EASY_PUBLISHED, EASY, EASY_SHARED, SECOND, BEST],
        penalty: 0,
        measures: TURNS,
        shape: ResultLayout::Measures,
        ..USUAL
    },
    Experiment {
        name: "tpds-figure-2",
        policies: &[EASY_PUBLISHED, EASY, EASY_SHARED, BEST],
        periods: PERIODS,
        measures: &[Measure::Underutilization],
        shape: ResultLayout::ByPeriod,
        ..USUAL
    },
    Experiment {
        name: "tpds-figure-3",
        policies: &[EASY_PUBLISHED, EASY, EASY_SHARED, BEST],
        periods: PERIODS,
        shape: ResultLayout::SetsByPeriod,
        ..USUAL
    },
];
