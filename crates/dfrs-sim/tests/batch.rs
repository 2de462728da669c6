//! Batch schedulers against their definitions, worked out plainly: at every instant all is computed
//! anew from which job has started when.

mod common;

use common::settings;
use dfrs_core::{Span, Time};
use dfrs_sim::trace::{Trace, TraceJob};
use dfrs_sim::{Estimates, Settings};
use proptest::prelude::*;

/// Number of nodes of the random worlds.
const NODES: u32 = 4;

fn with(estimates: Estimates) -> Settings {
    Settings {
        estimates,
        ..settings(NODES)
    }
}

/// What a scheduler knows: which jobs have started when, and what they are expected to take.
struct Known<'a> {
    jobs: &'a [TraceJob],
    estimates: Estimates,
    starts: Vec<Option<Time>>,
    now: Time,
}

impl<'a> Known<'a> {
    fn new(trace: &'a Trace, estimates: Estimates) -> Self {
        Self {
            jobs: &trace.jobs,
            estimates,
            starts: vec![None; trace.jobs.len()],
            now: trace.jobs[0].submit,
        }
    }

    fn duration(&self, job: usize) -> Span {
        match (self.estimates, self.jobs[job].estimate) {
            (Estimates::User, Some(estimate)) => estimate,
            _ => self.jobs[job].runtime,
        }
    }

    fn end(&self, job: usize) -> Option<Time> {
        self.starts[job].map(|start| start + self.jobs[job].runtime)
    }

    fn runs(&self, job: usize) -> bool {
        self.end(job).is_some_and(|end| end > self.now)
    }

    fn waits(&self, job: usize) -> bool {
        self.starts[job].is_none() && self.jobs[job].submit <= self.now
    }

    /// Jobs that run longer than expected are taken to need twice, four times, ... as long.
    fn expected_end(&self, job: usize) -> Time {
        let start = self.starts[job].expect("it runs");
        let mut duration = self.duration(job);
        while start + duration <= self.now {
            duration = Span(duration.0 * 2);
        }
        start + duration
    }

    /// Running jobs: the end that is expected, and nodes.
    fn running(&self) -> Vec<(Time, u32)> {
        let running = (0..self.jobs.len()).filter(|job| self.runs(*job));
        running
            .map(|job| (self.expected_end(job), self.jobs[job].tasks))
            .collect()
    }

    fn free(&self) -> u32 {
        NODES - self.running().iter().map(|(_, tasks)| tasks).sum::<u32>()
    }

    /// Whether something ends, is submitted, or runs over at this instant or later; the first.
    fn next(&self) -> Option<Time> {
        let later = |time: &Time| *time > self.now;
        let running = || (0..self.jobs.len()).filter(|job| self.runs(*job));
        let ends = running().filter_map(|job| self.end(job));
        let over = running().map(|job| self.expected_end(job));
        let submissions = self.jobs.iter().map(|job| job.submit);
        ends.chain(over).chain(submissions).filter(later).min()
    }

    fn all_starts(self) -> Vec<Time> {
        let starts = self.starts.into_iter();
        starts.map(|start| start.expect("all start")).collect()
    }
}

/// EASY by its definition: the starts.
fn easy(trace: &Trace, by_end: bool, estimates: Estimates) -> Vec<Time> {
    let mut known = Known::new(trace, estimates);
    loop {
        let mut reserved: Option<(Time, u32)> = None;
        for job in 0..trace.jobs.len() {
            if !known.waits(job) {
                continue;
            }
            let (free, tasks) = (known.free(), trace.jobs[job].tasks);
            let Some((shadow, left)) = &mut reserved else {
                if tasks <= free {
                    known.starts[job] = Some(known.now);
                } else {
                    let running = known.running();
                    let at = |time: Time| {
                        let gone = running.iter().filter(|(end, _)| *end <= time);
                        free + gone.map(|(_, tasks)| tasks).sum::<u32>()
                    };
                    let ends = running.iter().map(|(end, _)| *end);
                    let shadow = ends.filter(|end| at(*end) >= tasks).min();
                    let shadow = shadow.expect("it fits");
                    reserved = Some((shadow, at(shadow) - tasks));
                }
                continue;
            };
            if tasks > free {
                continue;
            }
            if by_end && known.now + known.duration(job) <= *shadow {
                known.starts[job] = Some(known.now);
            } else if tasks <= *left {
                known.starts[job] = Some(known.now);
                *left -= tasks;
            }
        }
        match known.next() {
            Some(next) => known.now = next,
            None => return known.all_starts(),
        }
    }
}

/// A place that is taken: from, to before, nodes.
type Taken = (Time, Time, u32);

/// The first time from `now` on at which so many nodes are free for so long: tries all times at which
/// something ends, and looks at all times at which something begins.
fn earliest(now: Time, taken: &[Taken], tasks: u32, duration: Span) -> Time {
    let used = |time: Time| -> u32 {
        let there = taken
            .iter()
            .filter(|(from, to, _)| (*from..*to).contains(&time));
        there.map(|(.., tasks)| tasks).sum()
    };
    let fits = |start: &Time| {
        let begins = taken.iter().map(|(from, ..)| *from);
        let within = begins.filter(|from| *from > *start && *from < *start + duration);
        within
            .chain([*start])
            .all(|time| used(time) + tasks <= NODES)
    };
    let ends = taken.iter().map(|(_, to, _)| *to).filter(|to| *to > now);
    ends.chain([now])
        .filter(fits)
        .min()
        .expect("the end is free")
}

/// Conservative backfilling by its definition: the starts.
fn conservative(trace: &Trace, estimates: Estimates) -> Vec<Time> {
    let mut known = Known::new(trace, estimates);
    let jobs = &trace.jobs;
    let mut reserved: Vec<Option<Time>> = vec![None; jobs.len()];
    // When each running job was last expected to end.
    let mut expected: Vec<Option<Time>> = vec![None; jobs.len()];
    loop {
        let now = known.now;
        let (mut early, mut over) = (false, false);
        for (job, expected) in expected.iter_mut().enumerate() {
            let Some(end) = *expected else { continue };
            if !known.runs(job) {
                early |= end > now;
                *expected = None;
            } else if known.expected_end(job) != end {
                over = true;
                *expected = Some(known.expected_end(job));
            }
        }
        let place = |reserved: &[Option<Time>], known: &Known<'_>, job: usize| {
            let running = known.running().into_iter();
            let mut taken: Vec<Taken> = running.map(|(end, tasks)| (now, end, tasks)).collect();
            for (other, start) in reserved.iter().enumerate() {
                if let Some(start) = start.filter(|_| other != job) {
                    taken.push((start, start + known.duration(other), jobs[other].tasks));
                }
            }
            earliest(now, &taken, jobs[job].tasks, known.duration(job))
        };
        let waiting: Vec<usize> = (0..jobs.len()).filter(|job| known.waits(*job)).collect();
        if over {
            reserved.fill(None);
        }
        for &job in &waiting {
            if early || reserved[job].is_none() {
                reserved[job] = Some(place(&reserved, &known, job));
            }
        }
        for job in waiting {
            if reserved[job] == Some(now) {
                reserved[job] = None;
                known.starts[job] = Some(now);
                expected[job] = Some(now + known.duration(job));
            }
        }
        let due = reserved.iter().flatten().copied().min();
        match known.next().into_iter().chain(due).min() {
            Some(next) => known.now = next,
            None => return known.all_starts(),
        }
    }
}

/// Traces of jobs that all have some work, with estimates above, equal to and below it, and unknown.
fn traces() -> impl Strategy<Value = Trace> {
    let estimate = prop_oneof![
        Just(None),
        Just(Some(1.0)),
        (1.0..4.0).prop_map(Some),
        (0.05..1.0).prop_map(Some)
    ];
    let estimates = proptest::collection::vec(estimate, 14);
    (common::traces(NODES), estimates).prop_map(|(mut trace, estimates)| {
        for (job, estimate) in trace.jobs.iter_mut().zip(estimates) {
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // small
            let of_runtime = |share: f64| Span((job.runtime.0 as f64 * share).ceil() as i64);
            job.estimate = estimate.map(of_runtime);
        }
        trace
    })
}

fn starts(trace: &Trace, scheduler: &str, estimates: Estimates) -> Vec<Time> {
    let run = common::run(trace, scheduler, with(estimates));
    assert!(run.violations.is_empty(), "{:?}", run.violations);
    run.outcome.jobs.iter().map(|record| record.start).collect()
}

const BOTH: [Estimates; 2] = [Estimates::Perfect, Estimates::User];

/// Times of jobs on 4 nodes, from lines with a column more: the estimate.
fn times_of(scheduler: &str, lines: &str) -> Vec<(f64, f64)> {
    let (jobs, estimates): (Vec<&str>, Vec<&str>) = lines
        .lines()
        .filter_map(|line| line.rsplit_once(','))
        .unzip();
    let mut trace = common::trace(&jobs.join("\n"));
    for (job, estimate) in trace.jobs.iter_mut().zip(estimates) {
        job.estimate = estimate.parse().ok().map(Span::from_seconds);
    }
    common::times(&common::run(&trace, scheduler, with(Estimates::User)).outcome)
}

#[test]
fn everybody_has_a_reservation() {
    // b is to start at 100 and c at 150. d fits beside a and b from 3 on, but would delay c.
    let lines = "a,0,3,1,0,100,\nb,1,2,1,0,50,\nc,2,4,1,0,10,\nd,3,1,1,0,150,\n";
    let easy = [(0.0, 100.0), (100.0, 150.0), (153.0, 163.0), (3.0, 153.0)];
    assert_eq!(times_of("EASY", lines), easy);
    let conservative = [(0.0, 100.0), (100.0, 150.0), (150.0, 160.0), (160.0, 310.0)];
    assert_eq!(times_of("Conservative", lines), conservative);
    let shorter = times_of("Conservative", &lines.replace("0,150,", "0,147,"));
    assert_eq!(shorter[2..], [(150.0, 160.0), (3.0, 150.0)]);
}

#[test]
fn a_job_that_does_not_end_is_taken_to_need_twice_the_time() {
    // b is to start at 100, then at 200, then at 400; only then does c fit before it.
    let lines = "a,0,3,1,0,300,100\nb,1,4,1,0,10,10\nc,2,1,1,0,150,150\n";
    for scheduler in ["EASY", "Conservative"] {
        let times = times_of(scheduler, lines);
        assert_eq!(
            times,
            [(0.0, 300.0), (350.0, 360.0), (200.0, 350.0)],
            "{scheduler}"
        );
    }
    let no_shadow = times_of("EASY/no-shadow", lines);
    assert_eq!(no_shadow[1..], [(300.0, 310.0), (310.0, 460.0)]);
}

#[test]
fn early_ends_move_reservations_forward() {
    // a is expected to end at 100 and ends at 10: b moves there.
    let lines = "a,0,3,1,0,10,100\nb,1,4,1,0,10,10\nc,2,1,1,0,98,98\n";
    assert_eq!(
        times_of("Conservative", lines),
        [(0.0, 10.0), (100.0, 110.0), (2.0, 100.0)]
    );
    let lines = lines.replace("b,1,4", "b,1,3");
    assert_eq!(
        times_of("Conservative", &lines),
        [(0.0, 10.0), (10.0, 20.0), (2.0, 100.0)]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The simulator looks only at what can have changed; this looks at everything each time.
    #[test]
    fn easy_is_easy(trace in traces()) {
        for estimates in BOTH {
            for (scheduler, by_end) in [("EASY", true), ("EASY/no-shadow", false)] {
                let expected = easy(&trace, by_end, estimates);
                prop_assert_eq!(starts(&trace, scheduler, estimates), expected, "{} {:?}", scheduler, estimates);
            }
        }
    }

    #[test]
    fn conservative_is_conservative(trace in traces()) {
        for estimates in BOTH {
            let expected = conservative(&trace, estimates);
            prop_assert_eq!(starts(&trace, "Conservative", estimates), expected, "{:?}", estimates);
        }
    }

    /// What a reservation is for: with perfect estimates no job starts later than if those submitted
    /// after it had never come.
    #[test]
    fn later_jobs_delay_nobody(trace in traces()) {
        let all = starts(&trace, "Conservative", Estimates::Perfect);
        for count in 1..trace.jobs.len() {
            let first = Trace { jobs: trace.jobs[..count].to_vec(), ..trace.clone() };
            let without = starts(&first, "Conservative", Estimates::Perfect);
            prop_assert_eq!(&without[..], &all[..count]);
        }
    }

    #[test]
    fn fcfs_does_not_ask_for_estimates(trace in traces()) {
        let perfect = starts(&trace, "FCFS", Estimates::Perfect);
        prop_assert_eq!(starts(&trace, "FCFS", Estimates::User), perfect);
    }
}
