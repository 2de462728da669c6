//! What happened when: sums over equal stretches of time.

mod builder;

use dfrs_core::{Span, Time};
use dfrs_sim::JobRecord;
use dfrs_sim::trace::{NODE_CPU, NODE_MEMORY, Trace, TraceJob};

pub use builder::TimelineBuilder;

/// The most stretches that a period is cut into.
const MAX_BINS: i64 = 240;

/// Lengths of a stretch, in seconds.
const BIN_SECONDS: [i64; 10] = [
    60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 604_800,
];

/// How a period is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeBinning {
    /// Where it begins.
    pub from: Time,
    /// Length of each stretch, above 0.
    pub length: Span,
}

impl TimeBinning {
    /// Cuts the time in which jobs of the trace are submitted, and may run.
    pub fn of(trace: &Trace) -> Self {
        let from = trace.jobs.first().map_or(Time::default(), |job| job.submit);
        let last = trace.jobs.iter().map(|job| job.submit + job.runtime).max();
        let whole = last.unwrap_or(from).since(from).0 / 1_000_000;
        let fitting = BIN_SECONDS
            .into_iter()
            .find(|length| length * MAX_BINS >= whole);
        let length = Span::from_seconds(fitting.unwrap_or(whole / MAX_BINS + 1));
        Self { from, length }
    }

    fn place(&self, time: Time) -> usize {
        usize::try_from(time.since(self.from).0.max(0) / self.length.0).unwrap_or(0)
    }
}

/// Sums of one quantity, a stretch after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums(pub Vec<f64>);

impl Sums {
    fn at(&mut self, place: usize) -> &mut f64 {
        if self.0.len() <= place {
            self.0.resize(place + 1, 0.0);
        }
        &mut self.0[place]
    }

    /// Adds a rate per second that held from one time to another. O(stretches between).
    fn add_rate(&mut self, cut: &TimeBinning, (from, to): (Time, Time), rate: f64) {
        let mut from = from.max(cut.from);
        while from < to && rate != 0.0 {
            let place = cut.place(from);
            let next = i64::try_from(place + 1).unwrap_or(i64::MAX);
            let end = Time(cut.from.0.saturating_add(cut.length.0.saturating_mul(next))).min(to);
            *self.at(place) += rate * end.since(from).seconds();
            from = end;
        }
    }
}

/// What happened on a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    pub cut: TimeBinning,
    /// Seconds of a whole node's CPU that jobs used.
    pub used: Sums,
    /// Seconds of a whole node's CPU that jobs had to themselves, used or not.
    pub held: Sums,
    /// Seconds of jobs that were in the system without running.
    pub waiting: Sums,
    /// How often jobs were paused.
    pub pauses: Sums,
    /// How often they moved.
    pub migrations: Sums,
    /// Memory of whole nodes that was written or read for that.
    pub moved: Sums,
}

impl Timeline {
    fn new(cut: TimeBinning) -> Self {
        Self {
            cut,
            used: Sums::default(),
            held: Sums::default(),
            waiting: Sums::default(),
            pauses: Sums::default(),
            migrations: Sums::default(),
            moved: Sums::default(),
        }
    }

    /// The timeline of jobs that wait, and then run with so many nodes' CPUs to themselves.
    pub fn of_batch(cut: TimeBinning, trace: &Trace, records: &[JobRecord], nodes: &[f64]) -> Self {
        let mut timeline = Self::new(cut);
        for ((job, record), nodes) in trace.jobs.iter().zip(records).zip(nodes) {
            let Time(end) = record.start + job.runtime;
            let ran = (record.start, Time(end.min(record.finish.0)));
            timeline.used.add_rate(&cut, ran, cpu(job));
            timeline.held.add_rate(&cut, ran, *nodes);
            let waited = (job.submit, record.start);
            timeline.waiting.add_rate(&cut, waited, 1.0);
        }
        timeline
    }

    /// How many stretches there are until the last job is done.
    pub fn bins(&self) -> usize {
        self.used.0.len().max(self.waiting.0.len())
    }

    /// Makes it as long as others are, and shows its end: so many stretches, and one more, in which nothing
    /// happens.
    pub fn pad_to(&mut self, bins: usize) {
        let all = [
            &mut self.used,
            &mut self.held,
            &mut self.waiting,
            &mut self.pauses,
            &mut self.migrations,
            &mut self.moved,
        ];
        for sums in all {
            sums.0.resize(bins + 1, 0.0);
        }
    }

    /// The beginning of each stretch in days since the beginning, and a value made of its sum.
    pub fn points(&self, sums: &Sums, value: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let days = self.cut.length.seconds() / 86_400.0;
        let point = |(place, sum): (usize, &f64)| {
            // Precise enough: a few thousand.
            let place = place as f64;
            (place * days, value(*sum))
        };
        sums.0.iter().enumerate().map(point).collect()
    }
}

/// CPU need of all tasks, in nodes.
// Precise enough: both are below 2^53.
pub fn cpu(job: &TraceJob) -> f64 {
    job.cpu.0 as f64 / NODE_CPU.0 as f64 * f64::from(job.tasks)
}

/// Memory of so many of its tasks, in nodes.
// Precise enough: both are below 2^53.
pub fn memory(job: &TraceJob, tasks: u64) -> f64 {
    job.memory.0 as f64 / NODE_MEMORY.0 as f64 * tasks as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_core::{Bytes, Cores};

    pub const CUT: TimeBinning = TimeBinning {
        from: Time(0),
        length: Span::from_seconds(100),
    };

    /// Two tasks that need a quarter of a node's CPU each and require half of its memory, for 100 s.
    pub fn trace() -> Trace {
        let half = Bytes(NODE_MEMORY.0 / 2);
        let job = TraceJob::new(
            "7",
            Time(0),
            2,
            Cores(NODE_CPU.0 / 4),
            half,
            Span::from_seconds(100),
        );
        Trace {
            jobs: vec![job],
            ..Trace::default()
        }
    }

    pub fn at(seconds: i64) -> Time {
        Time::from_seconds(seconds)
    }

    #[test]
    fn rates_are_split_over_bins_exactly() {
        let mut sums = Sums::default();
        sums.add_rate(&CUT, (at(50), at(320)), 2.0);
        assert_eq!(sums.0, [100.0, 200.0, 200.0, 40.0]);
        sums.add_rate(&CUT, (at(10), at(10)), 2.0);
        assert_eq!(sums.0[0], 100.0);
    }

    #[test]
    fn a_batch_job_waits_and_runs() {
        let records = [JobRecord {
            start: at(150),
            finish: at(250),
            ..JobRecord::default()
        }];
        let timeline = Timeline::of_batch(CUT, &trace(), &records, &[0.75]);
        assert_eq!(timeline.used.0, [0.0, 25.0, 25.0]);
        assert_eq!(timeline.held.0, [0.0, 37.5, 37.5]);
        assert_eq!(timeline.waiting.0, [100.0, 50.0]);
    }

    #[test]
    fn padded_timelines_end_with_an_empty_bin() {
        let mut timeline = Timeline::new(CUT);
        timeline.used.add_rate(&CUT, (at(0), at(150)), 1.0);
        timeline.waiting.add_rate(&CUT, (at(0), at(50)), 1.0);
        assert_eq!(timeline.bins(), 2);
        timeline.pad_to(3);
        assert_eq!(timeline.used.0, [100.0, 50.0, 0.0, 0.0]);
        assert_eq!(timeline.waiting.0, [50.0, 0.0, 0.0, 0.0]);
        assert_eq!(timeline.held.0, [0.0; 4]);
    }

    #[test]
    fn month_is_cut_into_a_few_hundred_bins() {
        let mut long = trace();
        long.jobs[0].runtime = Span::from_seconds(30 * 86_400);
        assert_eq!(TimeBinning::of(&long).length, Span::from_seconds(10_800));
        long.jobs[0].runtime = Span::from_seconds(1 << 32);
        assert_eq!(
            TimeBinning::of(&long).length.0,
            ((1 << 32) / MAX_BINS + 1) * 1_000_000
        );
        assert_eq!(TimeBinning::of(&trace()).length, Span::from_seconds(60));
    }
}
