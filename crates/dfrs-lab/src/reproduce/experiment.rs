//! What is reproduced, as data: which traces under which policies with which settings give which
//! figure or table of the papers.

mod ipdps;
mod tpds;

use super::measure::Measure;
use super::texts::{ExperimentText, TEXTS};
use super::traces::TraceSet;

/// The penalty of most of the papers' experiments, in seconds.
pub const PENALTY: u32 = 300;
/// The paper's recommendation.
pub const BEST: &str = "GreedyPM*/per/OPT=MIN/MINVT=600";
/// The second algorithm: as the first, without migration at submission.
pub const SECOND: &str = "GreedyP*/per/OPT=MIN/MINVT=600";
/// Backfilling as the papers' simulator has it.
pub const EASY_PUBLISHED: &str = "EASY/no-shadow";
/// Backfilling as it is defined.
pub const EASY: &str = "EASY";

/// Backfilling as most sites run it: jobs share nodes.
pub const EASY_SHARED: &str = "EASY/shared";

/// The batch schedulers.
pub const BATCH: [&str; 4] = ["FCFS", EASY_PUBLISHED, EASY, EASY_SHARED];

/// The TPDS paper's selection: the lines of its Figure 1 and, from the table of its long version, one
/// of each kind that Section 5.1 discusses.
pub const TPDS: &[&str] = &[
    "FCFS",
    EASY_PUBLISHED,
    EASY,
    EASY_SHARED,
    "Greedy*/OPT=MIN",
    "GreedyP*/OPT=MIN",
    "GreedyPM*/OPT=MIN",
    "Greedy*/per/OPT=MIN",
    "GreedyPM*/per/OPT=MIN",
    SECOND,
    BEST,
    "MCB8*/OPT=MIN/MINVT=600",
    "MCB8*/per/OPT=MIN/MINVT=600",
    "/per/OPT=MIN/MINVT=600",
    "/stretch-per/OPT=MAX/MINVT=600",
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

/// What pauses and migrations cost; last what both do together.
pub(super) const COSTS: &[Measure] = &[
    Measure::PauseBandwidth,
    Measure::MigrationBandwidth,
    Measure::PausesPerHour,
    Measure::MigrationsPerHour,
    Measure::PausesPerJob,
    Measure::MigrationsPerJob,
    Measure::Bandwidth,
];

/// From 2 to 40 times the penalty, in seconds.
pub const PERIODS: &[u32] = &[600, 900, 1200, 1800, 2700, 3600, 6000, 9000, 12_000];

/// The synthetic traces by their loads.
pub(super) const LOADS: &[TraceSet] = &[
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
pub enum ResultLayout {
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
    /// Its name for `--only`, and the name of its files.
    pub name: &'static str,
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
    pub shape: ResultLayout,
}

impl Experiment {
    /// What the report says of it.
    pub fn text(&self) -> &'static ExperimentText {
        TEXTS.experiment(self.name)
    }
}

/// All of them, in the order of the report.
pub fn all() -> impl Iterator<Item = &'static Experiment> {
    tpds::ALL.iter().chain(ipdps::ALL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_sim::Scheduler;

    #[test]
    fn experiment_and_policy_names_are_valid() {
        let mut names: Vec<&str> = all().map(|experiment| experiment.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().count());
        for experiment in all() {
            for policy in experiment.policies {
                let scheduler: Result<Scheduler, _> = policy.parse();
                assert_eq!(scheduler.expect(policy).to_string(), *policy);
            }
            assert!(!experiment.measures.is_empty() && !experiment.sets.is_empty());
        }
        for name in IPDPS {
            assert!(ipdps::WITH_EASY.contains(name));
        }
    }
}
