//! Figures and tables of the IPDPS 2010 paper.

use super::{EASY, EASY_PUBLISHED, EASY_SHARED, Experiment, IPDPS, LOADS, PENALTY, ResultLayout};
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

/// All of them, in the paper's order.
pub const ALL: &[Experiment] = &[
    Experiment {
        name: "ipdps-figure-1a",
        sets: LOADS,
        policies: WITH_EASY,
        penalty: 0,
        periods: &[],
        measures: &[Measure::DegradationFromBest { penalty: 0 }],
        shape: ResultLayout::ByLoad,
    },
    Experiment {
        name: "ipdps-figure-1b",
        sets: LOADS,
        policies: WITH_EASY,
        penalty: PENALTY,
        periods: &[],
        measures: &[Measure::DegradationFromBest { penalty: PENALTY }],
        shape: ResultLayout::ByLoad,
    },
    Experiment {
        name: "ipdps-table-1",
        sets: &[TraceSet::Scaled, TraceSet::Unscaled, TraceSet::Weeks],
        policies: WITH_EASY,
        penalty: PENALTY,
        periods: &[],
        measures: &[Measure::DegradationFromBest { penalty: PENALTY }],
        shape: ResultLayout::Spread,
    },
    Experiment {
        name: "ipdps-table-2",
        sets: &[TraceSet::Heavy],
        policies: MOVING,
        penalty: PENALTY,
        periods: &[],
        measures: &[
            Measure::PauseBandwidth,
            Measure::MigrationBandwidth,
            Measure::PausesPerHour,
            Measure::MigrationsPerHour,
            Measure::PausesPerJob,
            Measure::MigrationsPerJob,
        ],
        shape: ResultLayout::Measures,
    },
];
