//! What a batch scheduler knows at an instant, worked out from which job has started when and where: for
//! schedulers that are written down once more from their definitions.

use dfrs_core::{Span, Time};
use dfrs_sim::trace::{Trace, TraceJob};
use dfrs_sim::{Estimates, SimSettings};
use proptest::prelude::*;

/// Number of nodes of the random worlds.
pub const NODES: u32 = 4;

pub const BOTH: [Estimates; 2] = [Estimates::Perfect, Estimates::User];

pub fn with(estimates: Estimates) -> SimSettings {
    SimSettings {
        estimates,
        ..super::settings(NODES)
    }
}

/// Which jobs have started, when and where (`P`), and what they are expected to take.
pub struct Known<'a, P> {
    pub jobs: &'a [TraceJob],
    pub estimates: Estimates,
    pub starts: Vec<Option<(Time, P)>>,
    pub now: Time,
}

impl<'a, P: Copy> Known<'a, P> {
    pub fn new(trace: &'a Trace, estimates: Estimates) -> Self {
        Self {
            jobs: &trace.jobs,
            estimates,
            starts: vec![None; trace.jobs.len()],
            now: trace.jobs[0].submit,
        }
    }

    pub fn duration(&self, job: usize) -> Span {
        match (self.estimates, self.jobs[job].estimate) {
            (Estimates::User, Some(estimate)) => estimate,
            _ => self.jobs[job].runtime,
        }
    }

    pub fn end(&self, job: usize) -> Option<Time> {
        self.starts[job].map(|(start, _)| start + self.jobs[job].runtime)
    }

    pub fn runs(&self, job: usize) -> bool {
        self.end(job).is_some_and(|end| end > self.now)
    }

    pub fn waits(&self, job: usize) -> bool {
        self.starts[job].is_none() && self.jobs[job].submit <= self.now
    }

    /// Jobs that run longer than expected are taken to need twice, four times, ... as long.
    pub fn expected_end(&self, job: usize) -> Time {
        let (start, _) = self.starts[job].expect("it runs");
        let mut duration = self.duration(job);
        while start + duration <= self.now {
            duration = Span(duration.0 * 2);
        }
        start + duration
    }

    /// Running jobs: which, the end that is expected, and where.
    pub fn running(&self) -> Vec<(usize, Time, P)> {
        let all = self.starts.iter().enumerate();
        all.filter(|(job, _)| self.runs(*job))
            .filter_map(|(job, start)| Some((job, self.expected_end(job), start.as_ref()?.1)))
            .collect()
    }

    /// When next something ends, is submitted, or runs over.
    pub fn next(&self) -> Option<Time> {
        let running = self.running();
        let ends = running.iter().filter_map(|(job, ..)| self.end(*job));
        let over = running.iter().map(|(_, end, _)| *end);
        let submissions = self.jobs.iter().map(|job| job.submit);
        ends.chain(over)
            .chain(submissions)
            .filter(|time| *time > self.now)
            .min()
    }

    /// When each job started.
    pub fn all_starts(self) -> Vec<Time> {
        let starts = self.starts.into_iter();
        starts.map(|start| start.expect("all start").0).collect()
    }
}

/// What reservations are made for, and unmade by, as time goes on: what runs ends early, or runs over.
pub struct Expected(Vec<Option<Time>>);

impl Expected {
    pub fn new(jobs: usize) -> Self {
        Self(vec![None; jobs])
    }

    /// This job has started now.
    pub fn start<P: Copy>(&mut self, job: usize, known: &Known<'_, P>) {
        self.0[job] = Some(known.now + known.duration(job));
    }

    /// Whether some job has ended before it was expected to, and whether one now is expected to end later.
    pub fn follow<P: Copy>(&mut self, known: &Known<'_, P>) -> (bool, bool) {
        let (mut early, mut over) = (false, false);
        for (job, expected) in self.0.iter_mut().enumerate() {
            let Some(end) = *expected else { continue };
            if !known.runs(job) {
                early |= end > known.now;
                *expected = None;
            } else if known.expected_end(job) != end {
                over = true;
                *expected = Some(known.expected_end(job));
            }
        }
        (early, over)
    }
}

/// A place that is taken: from, to before, by which job, where.
pub type Taken<P> = (Time, Time, usize, P);

/// Conservative backfilling by its definition: the starts. `earliest` finds the first time from the first
/// one on at which the job has room among what is taken.
pub fn conservative<P: Copy>(
    trace: &Trace,
    estimates: Estimates,
    earliest: impl Fn(Time, &[Taken<P>], &TraceJob, Span) -> (Time, P),
) -> Vec<Time> {
    let mut known = Known::new(trace, estimates);
    let jobs = &trace.jobs;
    let mut reserved: Vec<Option<(Time, P)>> = vec![None; jobs.len()];
    let mut expected = Expected::new(jobs.len());
    loop {
        let now = known.now;
        let (early, over) = expected.follow(&known);
        let find = |reserved: &[Option<(Time, P)>], known: &Known<'_, P>, job: usize| {
            let running = known.running().into_iter();
            let mut taken: Vec<Taken<P>> = running
                .map(|(job, end, place)| (now, end, job, place))
                .collect();
            for (other, start) in reserved.iter().enumerate() {
                if let Some((start, place)) = start.filter(|_| other != job) {
                    taken.push((start, start + known.duration(other), other, place));
                }
            }
            earliest(now, &taken, &jobs[job], known.duration(job))
        };
        let waiting: Vec<usize> = (0..jobs.len()).filter(|job| known.waits(*job)).collect();
        if over {
            reserved.fill(None);
        }
        for &job in &waiting {
            if early || reserved[job].is_none() {
                reserved[job] = Some(find(&reserved, &known, job));
            }
        }
        for job in waiting {
            if let Some((start, place)) = reserved[job].filter(|(start, _)| *start == now) {
                reserved[job] = None;
                known.starts[job] = Some((start, place));
                expected.start(job, &known);
            }
        }
        let due = reserved.iter().flatten().map(|(start, _)| *start).min();
        match known.next().into_iter().chain(due).min() {
            Some(next) => known.now = next,
            None => return known.all_starts(),
        }
    }
}

/// The first time from `now` on at which `find` finds a place: tries all times at which something
/// ends, and gives it all times at which something begins while the job would run.
pub fn first_place<P: Copy>(
    now: Time,
    taken: &[Taken<P>],
    duration: Span,
    find: impl Fn(&[Time]) -> Option<P>,
) -> (Time, P) {
    let ends = taken.iter().map(|(_, to, ..)| *to).filter(|to| *to > now);
    let mut starts: Vec<Time> = ends.chain([now]).collect();
    starts.sort_unstable();
    let place_at = |start: Time| {
        let begins = taken.iter().map(|(from, ..)| *from);
        let within = begins.filter(|from| *from > start && *from < start + duration);
        let times: Vec<Time> = within.chain([start]).collect();
        find(&times).map(|place| (start, place))
    };
    starts
        .into_iter()
        .find_map(place_at)
        .expect("the end is free")
}

/// Which of the places are taken at this time, and by which jobs.
pub fn taken_at<P: Copy>(taken: &[Taken<P>], time: Time) -> impl Iterator<Item = (usize, P)> {
    let there = taken
        .iter()
        .filter(move |(from, to, ..)| (*from..*to).contains(&time));
    there.map(|(.., job, place)| (*job, *place))
}

/// Traces of jobs that all have some work, with estimates above, equal to and below it, and unknown.
pub fn traces() -> impl Strategy<Value = Trace> {
    let estimate = prop_oneof![
        Just(None),
        Just(Some(1.0)),
        (1.0..4.0).prop_map(Some),
        (0.05..1.0).prop_map(Some)
    ];
    let estimates = proptest::collection::vec(estimate, 14);
    (super::traces(NODES), estimates).prop_map(|(mut trace, estimates)| {
        for (job, estimate) in trace.jobs.iter_mut().zip(estimates) {
            #[allow(clippy::cast_possible_truncation)] // small
            let of_runtime = |share: f64| Span((job.runtime.0 as f64 * share).ceil() as i64);
            job.estimate = estimate.map(of_runtime);
        }
        trace
    })
}

/// When the simulator starts each job.
pub fn starts(trace: &Trace, scheduler: &str, estimates: Estimates) -> Vec<Time> {
    let run = super::run(trace, scheduler, with(estimates));
    assert!(run.violations.is_empty(), "{:?}", run.violations);
    run.outcome.jobs.iter().map(|record| record.start).collect()
}
