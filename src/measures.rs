//! What is measured of passes and locks: since the start, and lately.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use dfrs_agent::probe::PassPart;
use dfrs_proto::status::{Locks, Passes};

use crate::histogram::Histogram;

/// "Lately" is between the first and the second of these.
const RECENT: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(70)];
/// So often what was measured by then is remembered.
const SNAPSHOT_INTERVAL: Duration = Duration::from_secs(10);

/// Of passes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassTimes {
    /// Wall-clock time.
    pub wall: Histogram,
    /// CPU time of the thread.
    pub cpu: Histogram,
    /// Wall-clock time of each part.
    pub parts: [Histogram; PassPart::ALL.len()],
    /// Passes in which Slurm could not be looked at.
    pub skipped: u64,
    /// Plans that broke a rule and were dropped.
    pub plans_dropped: u64,
    /// Decisions that were ended by their timeout.
    pub decisions_ended: u64,
}

/// Of slurmctld's locks, as the shim takes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockTimes {
    /// For how long those for reading were held.
    pub read_holds: Histogram,
    /// For how long they were waited for.
    pub read_waits: Histogram,
    /// For how long those for writing were held.
    pub write_holds: Histogram,
    /// For how long they were waited for.
    pub write_waits: Histogram,
}

impl LockTimes {
    /// Counts one more, of the locks for writing or for reading.
    pub fn add(&mut self, writes: bool, waited: Duration, held: Duration) {
        let (holds, waits) = if writes {
            (&mut self.write_holds, &mut self.write_waits)
        } else {
            (&mut self.read_holds, &mut self.read_waits)
        };
        holds.add(held);
        waits.add(waited);
    }

    /// A line for each of the two sets.
    pub fn lines(&self) -> [String; 2] {
        let line = |what, holds: &Histogram, waits: &Histogram| {
            format!(
                "locks for {what}: taken {} times; held {} us at p99, {} us at most; waited for {} us at p99, {} us at most",
                holds.count(),
                holds.percentile(99),
                holds.longest_us(),
                waits.percentile(99),
                waits.longest_us(),
            )
        };
        [
            line("reading", &self.read_holds, &self.read_waits),
            line("writing", &self.write_holds, &self.write_waits),
        ]
    }
}

/// All of it at one instant.
#[derive(Clone, Debug, Default)]
struct Measures {
    passes: PassTimes,
    locks: LockTimes,
}

/// What was measured at some instants before, to know what is new. Its memory is bounded.
#[derive(Default)]
pub struct MeasureHistory(VecDeque<(Instant, Box<Measures>)>);

impl MeasureHistory {
    /// Both, since the start and lately, for the status file.
    pub fn report(
        &mut self,
        passes: &PassTimes,
        locks: &LockTimes,
        now: Instant,
    ) -> (Passes, Locks) {
        while self.0.get(1).is_some_and(|(at, _)| now - *at >= RECENT[0]) {
            self.0.pop_front();
        }
        let none = Measures::default();
        let before = self.0.front().map_or(&none, |(_, measures)| measures);
        let report = (
            passes_since(passes, &before.passes),
            locks_since(locks, &before.locks),
        );
        self.remember(passes, locks, now);
        report
    }

    fn remember(&mut self, passes: &PassTimes, locks: &LockTimes, now: Instant) {
        if self
            .0
            .back()
            .is_none_or(|(at, _)| now - *at >= SNAPSHOT_INTERVAL)
        {
            let measures = Measures {
                passes: passes.clone(),
                locks: locks.clone(),
            };
            self.0.push_back((now, Box::new(measures)));
        }
    }
}

fn passes_since(now: &PassTimes, before: &PassTimes) -> Passes {
    let parts = PassPart::ALL
        .into_iter()
        .zip(now.parts.iter().zip(&before.parts));
    Passes {
        wall: now.wall.spread(&before.wall),
        cpu: now.cpu.spread(&before.cpu),
        parts: parts
            .map(|(part, (now, before))| (part.name().to_owned(), now.spread(before)))
            .collect(),
        skipped: now.skipped,
        plans_dropped: now.plans_dropped,
        decisions_ended: now.decisions_ended,
    }
}

fn locks_since(now: &LockTimes, before: &LockTimes) -> Locks {
    Locks {
        read_holds: now.read_holds.spread(&before.read_holds),
        read_waits: now.read_waits.spread(&before.read_waits),
        write_holds: now.write_holds.spread(&before.write_holds),
        write_waits: now.write_waits.spread(&before.write_waits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_counted_by_what_they_are_for() {
        let mut times = LockTimes::default();
        for _ in 0..3 {
            times.add(true, Duration::ZERO, Duration::from_micros(9));
        }
        for _ in 0..2 {
            times.add(false, Duration::from_micros(7), Duration::ZERO);
        }
        let holds = &times.write_holds;
        assert_eq!((holds.count(), holds.percentile(99)), (3, 9));
        let waits = &times.read_waits;
        assert_eq!((waits.count(), waits.longest_us()), (2, 7));
        assert_eq!(times.read_holds.longest_us(), 0);
        assert_eq!(times.write_waits.longest_us(), 0);
    }

    #[test]
    fn recent_is_about_the_last_minute_and_memory_is_bounded() {
        let (mut memory, mut times) = (MeasureHistory::default(), PassTimes::default());
        let start = Instant::now();
        for second in 0..600 {
            times.wall.add(Duration::from_millis(1));
            let now = start + Duration::from_secs(second);
            let (passes, _) = memory.report(&times, &LockTimes::default(), now);
            assert_eq!(passes.wall.count, second + 1);
            let lately = passes.wall.lately.count;
            if second > RECENT[1].as_secs() {
                assert!(
                    (60..=RECENT[1].as_secs()).contains(&lately),
                    "{second}: {lately}"
                );
            }
        }
        assert!(memory.0.len() <= 8, "{}", memory.0.len());
    }

    #[test]
    fn recent_is_empty_after_a_long_silence() {
        let (mut memory, mut times) = (MeasureHistory::default(), PassTimes::default());
        let start = Instant::now();
        times.wall.add(Duration::from_millis(1));
        memory.report(&times, &LockTimes::default(), start);
        let later = start + Duration::from_secs(3600);
        let (passes, _) = memory.report(&times, &LockTimes::default(), later);
        assert_eq!((passes.wall.count, passes.wall.lately.count), (1, 0));
    }
}
