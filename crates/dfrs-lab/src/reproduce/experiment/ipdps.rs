//! Figures and tables of the IPDPS 2010 paper.

use super::{
    COSTS, EASY, EASY_PUBLISHED, EASY_SHARED, Experiment, IPDPS, LOADS, PENALTY, ResultLayout,
};
use crate::reproduce::measure::Measure;
use crate::reproduce::traces::TraceSet;

/// The paper's nine algorithms, and EASY as it is defined, with whole and with shared nodes.
pub const WITH_EASY: &[&str] = &[
    "FCFS",
    EASY_PUBLISHED,
    EASY,
    EASY_SHARED,
    "GREEDY",
    "GREEDY-PMTN",
    "GREEDY-PMTN-MIGR",
    "DYNMCB8",
    "DYNMCB8-PER 600",
    "DYNMCB8-ASAP-PER 600",
    "DYNMCB8-STRETCH-PER 600",
];

/// The algorithms that pause or migrate: all after FCFS, EASY and GREEDY.
const MOVING: &[&str] = IPDPS.split_at(3).1;

/// What most of them have; below stands where one differs.
const USUAL: Experiment = Experiment {
    name: "",
    sets: LOADS,
    policies: WITH_EASY,
    penalty: PENALTY,
    periods: &[],
    measures: &[Measure::DegradationFromBest { penalty: PENALTY }],
    shape: ResultLayout::ByLoad,
};

/// All of them, in the paper's order.
pub const ALL: &[Experiment] = &[
    Experiment {
        name: "ipdps-figure-1a",
        penalty: 0,
        measures: &[Measure::DegradationFromBest { penalty: 0 }],
        ..USUAL
    },
    Experiment {
        name: "ipdps-figure-1b",
        ..USUAL
    },
    Experiment {
        name: "ipdps-table-1",
        sets: &[TraceSet::Scaled, TraceSet::Unscaled, TraceSet::Weeks],
        shape: ResultLayout::Spread,
        ..USUAL
    },
    Experiment {
        name: "ipdps-table-2",
        sets: &[TraceSet::Heavy],
        policies: MOVING,
        measures: COSTS.split_at(6).0,
        shape: ResultLayout::Measures,
        ..USUAL
    },
];
