//! Jobs that came back: their nodes are told so again, a few times.
//!
//! slurmctld tells the nodes of a job once that it goes on, tries for ten seconds to reach each, and takes the
//! job as running from then on (`_suspend_job()`, `retry = 0`, Slurm 22.05 to 26.05). Where slurmd was away for
//! longer, nobody would ever wake the job's steps there: some stay frozen, and none that goes on, because dfrsd
//! thawed it, ends in the eyes of its `slurmstepd`.

use std::collections::BTreeMap;

use dfrs_core::{Span, Time};

use super::{Agent, SECOND};
use crate::daemons::Daemons;
use crate::observation::{Observation, ObservedState};
use crate::slurm::{LogLevel, Slurm};

/// The first time is when slurmctld no longer tries itself.
const FIRST_RETRY: Span = Span(15 * SECOND);
/// Each wait is so many times the one before.
const BACKOFF_FACTOR: i64 = 4;
/// A node that has not answered for so long is down (`SlurmdTimeout`, 300 s unless a site says otherwise), and the
/// job requeued.
const MAX_BACKOFF: Span = Span(960 * SECOND);
/// After all of them, and some delay, nobody is told any more.
const RETRY_WINDOW: Span = Span(1400 * SECOND);

/// Jobs whose nodes are to be told again, when, and how long that is after the time before.
#[derive(Debug, Default)]
pub(super) struct Resumptions(BTreeMap<u32, (Time, Span)>);

impl Resumptions {
    /// The job's nodes were told now.
    pub(super) fn note_sent(&mut self, job: u32, now: Time) {
        self.0
            .insert(job, (Time(now.0 + FIRST_RETRY.0), FIRST_RETRY));
    }

    /// When the next one is due.
    pub(super) fn next(&self) -> Option<Time> {
        self.0.values().map(|(at, _)| *at).min()
    }

    /// The jobs whose nodes are to be told now; those that are due later, or no longer, are noted.
    fn take_due(&mut self, now: Time) -> Vec<u32> {
        let due = self.0.iter().filter(|(_, (at, _))| *at <= now);
        let due: Vec<(u32, Span)> = due.map(|(job, (_, wait))| (*job, *wait)).collect();
        for (job, wait) in &due {
            let wait = Span(wait.0 * BACKOFF_FACTOR);
            if wait <= MAX_BACKOFF {
                self.0.insert(*job, (Time(now.0 + wait.0), wait));
            } else {
                self.0.remove(job);
            }
        }
        due.into_iter().map(|(job, _)| job).collect()
    }
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// At the first look after a start: slurmctld may have ended before the nodes of those that came back lately
    /// were told for the last time. O(jobs).
    pub(super) fn recall_resumptions(&mut self, seen: &Observation, now: Time) {
        for job in seen.jobs() {
            let resumed = Time(job.resumed_seconds.saturating_mul(SECOND));
            if job.state == ObservedState::Running && now.since(resumed) < RETRY_WINDOW {
                self.resumptions.note_sent(job.id, now);
            }
        }
    }

    /// Has nodes told again which jobs came back there, as far as these still run. slurmd takes no notice where a
    /// step runs already. O(jobs that came back lately).
    pub(super) fn repeat_resumptions(&mut self, seen: &Observation, now: Time) {
        for id in self.resumptions.take_due(now) {
            self.guarded(id, |agent| agent.repeat_resumption(id, seen));
        }
    }

    fn repeat_resumption(&mut self, id: u32, seen: &Observation) {
        let record = self.ledger.get(id);
        let runs = record.is_some_and(|record| record.life.is_running())
            && seen
                .job(id)
                .is_some_and(|job| job.state == ObservedState::Running);
        if !runs {
            self.resumptions.0.remove(&id);
        } else if let Err(problem) = self.slurm.repeat_resumption(id) {
            let text = format!("job {id}: resume message to its nodes not repeated: {problem}");
            self.slurm.log(LogLevel::Verbose, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resumption_is_repeated_four_times_with_growing_backoff() {
        let mut resumptions = Resumptions::default();
        resumptions.note_sent(7, Time(0));
        let mut repeated = Vec::new();
        for second in 0..5000 {
            if !resumptions.take_due(Time(second * SECOND)).is_empty() {
                repeated.push(second);
            }
        }
        assert_eq!(repeated, [15, 75, 315, 1275]);
        assert_eq!(resumptions.next(), None);
    }
}
