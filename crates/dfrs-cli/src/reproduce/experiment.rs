//! What is reproduced, as data: which traces under which policies with which settings give which
//! figure or table of the papers.

use super::measure::Measure;
use super::traces::TraceSet;

/// The penalty of most of the papers' experiments, in seconds.
pub const PENALTY: u32 = 300;
/// The paper's recommendation.
pub const BEST: &str = "GreedyPM*/per/OPT=MIN/MINVT=600";
/// The same without migration at submission.
pub const SECOND: &str = "GreedyP*/per/OPT=MIN/MINVT=600";
/// Backfilling as the papers' simulator has it.
pub const EASY_PUBLISHED: &str = "EASY/no-shadow";
/// Backfilling as it is defined.
pub const EASY: &str = "EASY";

/// The batch schedulers.
pub const BATCH: [&str; 3] = ["FCFS", EASY_PUBLISHED, EASY];

/// The TPDS paper's selection, as far as its text tells: one of each kind that Section 5.1 discusses.
pub const TPDS: &[&str] = &[
    "FCFS",
    EASY_PUBLISHED,
    EASY,
    "Greedy*/OPT=MIN",
    "GreedyP*/OPT=MIN",
    "GreedyPM*/OPT=MIN",
    "MCB8*/OPT=MIN/MINVT=600",
    "/per/OPT=MIN/MINVT=600",
    "/stretch-per/OPT=MAX/MINVT=600",
    "Greedy*/per/OPT=MIN/MINVT=600",
    SECOND,
    BEST,
];

/// The IPDPS paper's nine algorithms in its order, EASY as it was published.
pub const IPDPS: &[&str] = &[
    "FCFS",
    EASY_PUBLISHED,
    "GREEDY",
    "GREEDY-PMTN",
    "GREEDY-PMTN-MIGR",
    "DYNMCB8",
    "DYNMCB8-PER 600",
    "DYNMCB8-ASAP-PER 600",
    "DYNMCB8-STRETCH-PER 600",
];

/// The same with EASY as it is defined.
const IPDPS_AND_EASY: &[&str] = &[
    "FCFS",
    EASY_PUBLISHED,
    EASY,
    "GREEDY",
    "GREEDY-PMTN",
    "GREEDY-PMTN-MIGR",
    "DYNMCB8",
    "DYNMCB8-PER 600",
    "DYNMCB8-ASAP-PER 600",
    "DYNMCB8-STRETCH-PER 600",
];

/// Those that pause or migrate.
const IPDPS_MOVING: &[&str] = &[
    "GREEDY-PMTN",
    "GREEDY-PMTN-MIGR",
    "DYNMCB8",
    "DYNMCB8-PER 600",
    "DYNMCB8-ASAP-PER 600",
    "DYNMCB8-STRETCH-PER 600",
];

/// From 2 to 40 times the penalty, in seconds.
pub const PERIODS: &[u32] = &[600, 900, 1200, 1800, 2700, 3600, 6000, 9000, 12_000];

const THREE_SETS: &[TraceSet] = &[TraceSet::Unscaled, TraceSet::Scaled, TraceSet::Weeks];

const LOADS: &[TraceSet] = &[
    TraceSet::Load(1),
    TraceSet::Load(2),
    TraceSet::Load(3),
    TraceSet::Load(4),
    TraceSet::Load(5),
    TraceSet::Load(6),
    TraceSet::Load(7),
    TraceSet::Load(8),
    TraceSet::Load(9),
];

/// How results are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A chart of averages over the load, a line for each policy.
    ByLoad,
    /// For each set of traces, a chart of averages over the period.
    ByPeriod,
    /// One chart of averages over the period, a line for each set of traces.
    SetsByPeriod,
    /// For each set of traces, a table with average, standard deviation and maximum.
    Spread,
    /// For each set of traces, a table of averages and, where published, maxima of all measures.
    Measures,
}

/// One figure or table.
pub struct Experiment {
    /// Its name for `--only`, and that of its files.
    pub name: &'static str,
    /// Title in the report.
    pub title: &'static str,
    /// What was done and what the paper says about it.
    pub about: &'static str,
    /// Over which traces averages are taken.
    pub sets: &'static [TraceSet],
    /// Under which policies.
    pub policies: &'static [&'static str],
    /// With which penalty, in seconds.
    pub penalty: u32,
    /// With which periods, in seconds; none: the policies' own, 600 s.
    pub periods: &'static [u32],
    /// What is measured.
    pub measures: &'static [Measure],
    /// How it is shown.
    pub shape: Shape,
    /// Where it differs from what was published, and why.
    pub differences: &'static [&'static str],
}

/// Why EASY stands twice.
const EASY_NOTE: &str = "EASY: the published values are those of `EASY/no-shadow`; `EASY` is the real one, which has no published value.";

/// What differs on traces that are the papers' own.
const HPC2N_NOTE: &str = "HPC2N: the trace is the paper's own, so that with all 182 weeks chance has no part in it. What differs comes from what the \
     papers leave open: where a week begins, memory in whole percents of a node (the authors' simulator) or exact (here), ties \
     of priorities, and jobs of more tasks than nodes, which are left out here. Averages over the weeks hang on few of them.";

/// All of them, in the order of the report.
pub const ALL: &[Experiment] = &[
    Experiment {
        name: "tpds-figure-1",
        title: "TPDS 2012, Figure 1: degradation from bound by load",
        about: "Average over the scaled synthetic traces of the largest stretch over the offline bound, with a penalty of \
                300 s. The values of the published curves and their legend are in the picture only, not in the paper's \
                text, so no published curve is drawn; what the text says about them is checked in the last section. The \
                policies shown are one of each kind that the text discusses.",
        sets: LOADS,
        policies: TPDS,
        penalty: PENALTY,
        periods: &[],
        measures: &[Measure::DegradationFromBound],
        shape: Shape::ByLoad,
        differences: &[EASY_NOTE],
    },
    Experiment {
        name: "tpds-degradation",
        title: "TPDS 2012, Section 5.1: degradation from bound on all three sets",
        about: "The same as numbers, over all three sets of traces. The paper's own tables are in its web supplement, which \
                is not at hand; its text gives one number, that the best algorithms are on average at most a factor 7 away \
                from the bound.",
        sets: THREE_SETS,
        policies: TPDS,
        penalty: PENALTY,
        periods: &[],
        measures: &[Measure::DegradationFromBound],
        shape: Shape::Spread,
        differences: &[EASY_NOTE],
    },
    Experiment {
        name: "tpds-costs",
        title: "TPDS 2012, Section 5.2: what preemption and migration cost",
        about: "Memory moved and numbers of moves under the recommended policy over the heavy traces. The paper gives upper \
                limits (“under 0.80 GB/sec”): a reproduced value below one agrees with it.",
        sets: &[TraceSet::Heavy],
        policies: &[SECOND, BEST],
        penalty: PENALTY,
        periods: &[600, 3600],
        measures: &[
            Measure::Bandwidth,
            Measure::PausesPerHour,
            Measure::MigrationsPerHour,
            Measure::PausesPerJob,
            Measure::MigrationsPerJob,
        ],
        shape: Shape::Measures,
        differences: &[
            "The paper's limits are close to its values (“fewer than 38 preemptions”), and ours are well below them: see Table II of the IPDPS paper \
                 for the likely reason, that the published loads are heavier than the same numbers here.",
        ],
    },
    Experiment {
        name: "tpds-underutilization",
        title: "TPDS 2012, Section 5.3: normalized underutilization",
        about: "What jobs demanded and did not get, over the work, with the default period of 600 s. Lower is better.",
        sets: &[
            TraceSet::Unscaled,
            TraceSet::Scaled,
            TraceSet::Weeks,
            TraceSet::Whole,
        ],
        policies: &["FCFS", EASY_PUBLISHED, EASY, SECOND, BEST],
        penalty: PENALTY,
        periods: &[],
        measures: &[Measure::Underutilization],
        shape: Shape::Spread,
        differences: &[
            "EASY: the published values are those of `EASY/no-shadow`. The real one, which has no published value, leaves less \
                 idle; what that does to the comparison with DFRS is in the last section.",
            "Synthetic traces: ours leave more idle than the paper's on average, under the batch schedulers too, so the traces \
             are the likelier reason than the policies; it is not found yet. Deviations are as large as the averages.",
            "Scaled traces: the paper finds them harder than the unscaled ones, ours are about as hard. The published loads seem to be \
                 heavier than the same numbers here (see Table II).",
            HPC2N_NOTE,
        ],
    },
    Experiment {
        name: "tpds-figure-2",
        title: "TPDS 2012, Figure 2: underutilization by period",
        about: "Average normalized underutilization under the recommended policy for periods of 600 to 12,000 s, with both \
                kinds of EASY as levels. The values that the text gives are drawn as levels too; the other values of the \
                published curves are in the picture only.",
        sets: THREE_SETS,
        policies: &[EASY_PUBLISHED, EASY, BEST],
        penalty: PENALTY,
        periods: PERIODS,
        measures: &[Measure::Underutilization],
        shape: Shape::ByPeriod,
        differences: &[
            "The level of EASY that the paper draws is that of `EASY/no-shadow`. Against it the published crossing, at a period of \
                 about 900 s on synthetic traces, can be checked; the real EASY lies lower.",
            HPC2N_NOTE,
        ],
    },
    Experiment {
        name: "tpds-figure-3",
        title: "TPDS 2012, Figure 3: degradation from bound by period",
        about: "The price of longer periods: average degradation from bound under the recommended policy. The values of the \
                published curves are in the picture only; how much they rise is in the text, and checked in the last section.",
        sets: THREE_SETS,
        policies: &[EASY_PUBLISHED, EASY, BEST],
        penalty: PENALTY,
        periods: PERIODS,
        measures: &[Measure::DegradationFromBound],
        shape: Shape::SetsByPeriod,
        differences: &[HPC2N_NOTE],
    },
    Experiment {
        name: "ipdps-figure-1a",
        title: "IPDPS 2010, Figure 1(a): degradation factor by load, no penalty",
        about: "Average over the scaled synthetic traces of the largest stretch (bounded at 30 s) over that of the best of \
                the nine algorithms on the same trace, without a penalty. The values of the published curves are in the \
                picture only, except for an average of 1.16 of DYNMCB8.",
        sets: LOADS,
        policies: IPDPS_AND_EASY,
        penalty: 0,
        periods: &[],
        measures: &[Measure::DegradationFromBest { penalty: 0 }],
        shape: Shape::ByLoad,
        differences: &[
            EASY_NOTE,
            "Averages of degradation factors hang on few traces with very bad values; the paper prints no deviations for \
                 this figure.",
        ],
    },
    Experiment {
        name: "ipdps-figure-1b",
        title: "IPDPS 2010, Figure 1(b): degradation factor by load, penalty of 300 s",
        about: "The same with a penalty of 300 s. The values of the published curves are in the picture only; their averages \
                over all loads are in Table I.",
        sets: LOADS,
        policies: IPDPS_AND_EASY,
        penalty: PENALTY,
        periods: &[],
        measures: &[Measure::DegradationFromBest { penalty: PENALTY }],
        shape: Shape::ByLoad,
        differences: &[EASY_NOTE],
    },
    Experiment {
        name: "ipdps-table-1",
        title: "IPDPS 2010, Table I: degradation factors",
        about: "Average, standard deviation and maximum of the degradation factor, with a penalty of 300 s.",
        sets: &[TraceSet::Scaled, TraceSet::Unscaled, TraceSet::Weeks],
        policies: IPDPS_AND_EASY,
        penalty: PENALTY,
        periods: &[],
        measures: &[Measure::DegradationFromBest { penalty: PENALTY }],
        shape: Shape::Spread,
        differences: &[
            EASY_NOTE,
            "GREEDY, GREEDY-PMTN, GREEDY-PMTN-MIGR and DYNMCB8 have deviations of up to four times their averages: few traces decide them.",
            "GREEDY: the paper says that a job that does not fit is tried again after min(2^12, 2^count) s, not whether anything else \
                 tries it too. Here nothing does, which leaves short jobs waiting for up to 68 minutes beside free memory.",
            HPC2N_NOTE,
        ],
    },
    Experiment {
        name: "ipdps-table-2",
        title: "IPDPS 2010, Table II: preemption and migration costs",
        about: "Averages, and maxima, over the scaled synthetic traces with loads of 0.7 and above, with a penalty of 300 s. \
                A node has 8 GB.",
        sets: &[TraceSet::Heavy],
        policies: IPDPS_MOVING,
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
        shape: Shape::Measures,
        differences: &[
            "The published costs are higher than ours for every algorithm, about twofold for the periodic ones and more for the others, \
                 while the degradation factors of Table I on unscaled traces agree. On four of our traces costs near the published ones appear \
                 at offered loads of 1.2 to 1.6. The paper multiplies gaps by “computed constants” and does not say what its load divides \
                 by; here it is the work over nodes times the time from the first to the last submission. A measure that also counts \
                 the time until the last job has ended would make the same numbers mean heavier traces, and explain the difference.",
            "Times of pauses: a pause is counted once, with the memory that is saved and restored counted once, as in the authors' simulator. \
                 A job that is paused and brought back elsewhere at the same instant has migrated.",
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_sim::Scheduler;

    #[test]
    fn names_are_names() {
        let mut names: Vec<&str> = ALL.iter().map(|experiment| experiment.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        for experiment in ALL {
            for policy in experiment.policies {
                let scheduler: Result<Scheduler, _> = policy.parse();
                assert_eq!(scheduler.expect(policy).to_string(), *policy);
            }
            assert!(!experiment.measures.is_empty() && !experiment.sets.is_empty());
        }
        for name in IPDPS {
            assert!(IPDPS_AND_EASY.contains(name));
        }
    }
}
