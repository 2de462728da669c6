//! Measures passes: how long each took, by the wall clock and of its thread's CPU, and each part.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use dfrs_agent::probe::{Incident, PassDurations, PassPart, Probe};
use rustix::time::{ClockId, clock_gettime};

use crate::histogram::Histogram;
use crate::measures::PassTimes;

/// A stopwatch that the breaker starts and stops, in which the agent notes its stage, and which the
/// status file reads.
#[derive(Clone, Default)]
pub struct Stopwatch(Rc<RefCell<StopwatchState>>);

#[derive(Default)]
struct StopwatchState {
    times: PassTimes,
    passes: u64,
    /// How long the requested passes took.
    taken: Histogram,
    /// When the pass began, by both clocks.
    began: Option<(Instant, Duration)>,
    /// The part that it is at, and since when.
    part: Option<(PassPart, Instant)>,
    /// How long this pass has been at each part.
    parts: [Duration; PassPart::ALL.len()],
}

/// How long a pass took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Took {
    /// By the wall clock.
    pub wall: Duration,
    /// Of its thread's CPU.
    pub cpu: Duration,
}

impl Stopwatch {
    /// A pass begins.
    pub fn start(&self) {
        let mut watch = self.0.borrow_mut();
        watch.began = Some((Instant::now(), cpu_time()));
        watch.part = None;
        watch.parts = Default::default();
    }

    /// The pass has ended, in whatever way. `skipped`: it could not even look.
    pub fn stop(&self, skipped: bool) -> Took {
        let mut watch = self.0.borrow_mut();
        let now = Instant::now();
        watch.leave_part(now);
        let Some((began, computed)) = watch.began.take() else {
            return Took::default();
        };
        let took = Took {
            wall: now - began,
            cpu: cpu_time().saturating_sub(computed),
        };
        watch.passes += 1;
        let parts = watch.parts;
        let times = &mut watch.times;
        times.wall.add(took.wall);
        times.cpu.add(took.cpu);
        for (histogram, length) in times.parts.iter_mut().zip(parts) {
            histogram.add(length);
        }
        times.skipped += u64::from(skipped);
        took
    }

    /// What this pass has computed so far; nothing between passes.
    pub fn computed(&self) -> Duration {
        let began = self.0.borrow().began;
        began.map_or(Duration::ZERO, |(_, computed)| {
            cpu_time().saturating_sub(computed)
        })
    }

    /// How many passes have ended.
    pub fn passes(&self) -> u64 {
        self.0.borrow().passes
    }

    /// What was measured since the start.
    pub fn times(&self) -> PassTimes {
        self.0.borrow().times.clone()
    }
}

impl StopwatchState {
    fn leave_part(&mut self, now: Instant) {
        if let Some((part, since)) = self.part.take() {
            self.parts[part as usize] += now - since;
        }
    }
}

impl Probe for Stopwatch {
    fn begin(&mut self, part: PassPart) {
        let mut watch = self.0.borrow_mut();
        let now = Instant::now();
        watch.leave_part(now);
        watch.part = Some((part, now));
    }

    fn happened(&mut self, incident: Incident) {
        match incident {
            Incident::PlanDropped => self.0.borrow_mut().times.plans_dropped += 1,
            Incident::DecisionEnded => self.0.borrow_mut().times.decisions_ended += 1,
        }
    }

    fn take_passes(&mut self) -> PassDurations {
        let mut watch = self.0.borrow_mut();
        let wall = watch.times.wall.clone();
        let before = std::mem::replace(&mut watch.taken, wall);
        let new = watch.taken.spread(&before).lately;
        PassDurations {
            count: new.count,
            median_us: new.p50,
            p99_us: new.p99,
        }
    }
}

/// What this thread has computed so far.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // Neither part is ever negative, and nanoseconds are less than 10^9.
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_take_no_longer_than_the_pass_and_count_once_each() {
        let mut stopwatch = Stopwatch::default();
        stopwatch.start();
        for part in [
            PassPart::Look,
            PassPart::Decide,
            PassPart::Query,
            PassPart::Decide,
        ] {
            stopwatch.begin(part);
        }
        stopwatch.happened(Incident::PlanDropped);
        let took = stopwatch.stop(false);
        let times = stopwatch.times();
        let parts: u64 = times.parts.iter().map(|part| part.longest_us()).sum();
        assert!(u128::from(parts) <= took.wall.as_micros());
        assert!(times.parts.iter().all(|part| part.count() == 1));
        assert_eq!((times.wall.count(), times.cpu.count()), (1, 1));
        assert_eq!((times.skipped, times.plans_dropped), (0, 1));
    }

    #[test]
    fn passes_are_taken_once() {
        let mut stopwatch = Stopwatch::default();
        for _ in 0..3 {
            stopwatch.start();
            stopwatch.stop(false);
        }
        assert_eq!(stopwatch.take_passes().count, 3);
        assert_eq!(stopwatch.take_passes(), PassDurations::default());
        assert_eq!(stopwatch.times().wall.count(), 3);
    }

    #[test]
    fn stop_without_start_measures_nothing() {
        let stopwatch = Stopwatch::default();
        assert_eq!(stopwatch.stop(true), Took::default());
        assert_eq!(stopwatch.times(), PassTimes::default());
    }
}
