//! What is measured on a run.

use dfrs_sim::metrics::SimSummary;

/// What is measured on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The largest stretch (10 s) over the offline bound.
    DegradationFromBound,
    /// The largest stretch (30 s) over that of the best of the IPDPS paper's algorithms with this
    /// penalty on the same trace.
    DegradationFromBest {
        penalty: u32,
    },
    /// Normalized.
    Underutilization,
    /// The part of it that is held by jobs that stall.
    Stalled,
    MaxStretch,
    MeanStretch,
    /// GB/s, pauses and migrations.
    Bandwidth,
    PauseBandwidth,
    MigrationBandwidth,
    PausesPerHour,
    MigrationsPerHour,
    PausesPerJob,
    MigrationsPerJob,
    /// Seconds.
    MeanDecision,
    LongestDecision,
}

impl Measure {
    /// Name in tables and on axes.
    pub const fn title(self) -> &'static str {
        self.names().0
    }

    /// Name in CSV files and among the published numbers.
    pub const fn name(self) -> &'static str {
        self.names().1
    }

    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::DegradationFromBound => ("degradation from bound", "degradation_from_bound"),
            Self::DegradationFromBest { .. } => ("degradation factor", "degradation_from_best"),
            Self::Underutilization => {
                ("normalized underutilization", "normalized_underutilization")
            }
            Self::Stalled => ("of which held by jobs that stall", "normalized_stalled"),
            Self::MaxStretch => ("largest stretch", "max_stretch"),
            Self::MeanStretch => ("mean stretch", "mean_stretch"),
            Self::Bandwidth => ("memory moved, GB/s", "gb_per_second"),
            Self::PauseBandwidth => ("pauses, GB/s", "pause_gb_per_second"),
            Self::MigrationBandwidth => ("migrations, GB/s", "migration_gb_per_second"),
            Self::PausesPerHour => ("pauses per hour", "pauses_per_hour"),
            Self::MigrationsPerHour => ("migrations per hour", "migrations_per_hour"),
            Self::PausesPerJob => ("pauses per job", "pauses_per_job"),
            Self::MigrationsPerJob => ("migrations per job", "migrations_per_job"),
            Self::MeanDecision => ("mean decision, s", "decide_seconds_mean"),
            Self::LongestDecision => ("longest decision, s", "decide_seconds_max"),
        }
    }

    /// The value of this measure; `bound` and `best` are the trace's. Rates of a trace that takes
    /// no time are 0.
    pub fn of(self, run: &SimSummary, bound: Option<f64>, best: Option<f64>) -> Option<f64> {
        let rate = |amount: f64| {
            if run.makespan > 0.0 {
                amount / run.makespan
            } else {
                0.0
            }
        };
        // Precise enough: counts of events.
        let (pauses, migrations) = (run.pauses as f64, run.migrations as f64);
        Some(match self {
            Self::DegradationFromBound => run.max_stretch / bound?,
            Self::DegradationFromBest { .. } => run.max_stretch_30s / best?,
            Self::Underutilization => run.normalized_underutilization,
            Self::Stalled => run.normalized_stalled,
            Self::MaxStretch => run.max_stretch,
            Self::MeanStretch => run.mean_stretch,
            Self::Bandwidth => rate(run.pause_gb + run.migration_gb),
            Self::PauseBandwidth => run.pause_gb_per_second,
            Self::MigrationBandwidth => run.migration_gb_per_second,
            Self::PausesPerHour => rate(pauses * 3600.0),
            Self::MigrationsPerHour => rate(migrations * 3600.0),
            Self::PausesPerJob => run.pauses_per_job,
            Self::MigrationsPerJob => run.migrations_per_job,
            Self::MeanDecision => run.decide_seconds_mean,
            Self::LongestDecision => run.decide_seconds_max,
        })
    }
}

/// What is said about a number of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleStatistics {
    pub count: usize,
    pub mean: f64,
    /// The standard deviation of the sample: over n − 1; 0 for one value.
    pub deviation: f64,
    pub maximum: f64,
}

impl SampleStatistics {
    /// None without values.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        // Precise enough: thousands.
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            count: values.len(),
            mean,
            deviation: (squares / (count - 1.0).max(1.0)).sqrt(),
            maximum: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_sim::SimOutcome;
    use dfrs_sim::metrics::STRETCH_BOUND;
    use dfrs_sim::trace::Trace;

    #[test]
    fn standard_deviation_is_that_of_a_sample() {
        assert_eq!(SampleStatistics::of(&[]), None);
        let one = SampleStatistics::of(&[3.0]).expect("a value");
        assert_eq!(
            (one.count, one.mean, one.deviation, one.maximum),
            (1, 3.0, 0.0, 3.0)
        );
        let some = SampleStatistics::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("values");
        assert!((some.mean - 5.0).abs() < 1e-12);
        assert!((some.deviation - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn measures_match_their_definitions() {
        let (trace, outcome) = (Trace::default(), SimOutcome::default());
        let run = SimSummary {
            jobs: 10,
            max_stretch: 8.0,
            mean_stretch: 2.0,
            max_stretch_30s: 6.0,
            normalized_underutilization: 0.5,
            normalized_stalled: 0.25,
            makespan: 7200.0,
            pauses: 20,
            migrations: 5,
            migrations_per_job: 0.5,
            pause_gb: 7200.0,
            migration_gb: 720.0,
            ..SimSummary::new(String::new(), &trace, 1, &outcome, STRETCH_BOUND)
        };
        let of = |measure: Measure| measure.of(&run, Some(4.0), Some(3.0)).expect("a value");
        assert_eq!(of(Measure::DegradationFromBound), 2.0);
        assert_eq!(of(Measure::DegradationFromBest { penalty: 0 }), 2.0);
        assert_eq!(of(Measure::PausesPerHour), 10.0);
        assert_eq!(of(Measure::MigrationsPerJob), 0.5);
        assert!((of(Measure::Bandwidth) - 1.1).abs() < 1e-12);
        assert_eq!(Measure::DegradationFromBound.of(&run, None, None), None);
    }
}
