//! Jobs that came back: the resumption is sent to their nodes again, a few times.
//!
//! slurmctld sends the resumption of a job to its nodes once, tries for ten seconds to reach each,
//! and takes the job as running from then on (`_suspend_job()`, `retry = 0`, Slurm 22.05 to 26.05).
//! Where slurmd was away for longer, the job's steps there would never be resumed. Some stay
//! frozen; those that go on, because dfrsd thawed them, do not end for their `slurmstepd`.

use std::collections::BTreeMap;

use dfrs_core::{Span, Time};

use crate::daemons::Daemons;
use crate::pass::Agent;
use crate::slurm::job_name::job_name;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm};
use crate::slurm::records::ObservedState;

/// The first time is when slurmctld no longer tries itself.
const FIRST_RETRY: Span = Span::from_seconds(15);
/// Each wait is so many times the one before.
const BACKOFF_FACTOR: i64 = 4;
/// A node that has not answered for so long is down (`SlurmdTimeout`, 300 s unless a site sets
/// another), and the job is requeued.
const MAX_BACKOFF: Span = Span::from_seconds(960);
/// After all retries, and some delay, no resumption is repeated any more.
const RETRY_WINDOW: Span = Span::from_seconds(1400);

/// Jobs whose resumption is to be sent again, when, and the delay since the time before.
#[derive(Debug, Default)]
pub(in crate::pass) struct Resumptions(BTreeMap<u32, (Time, Span)>);

impl Resumptions {
    /// Notes that the job's resumption was sent now.
    pub(in crate::pass) fn note_sent(&mut self, job: u32, now: Time) {
        self.0
            .insert(job, (Time(now.0 + FIRST_RETRY.0), FIRST_RETRY));
    }

    /// When the next one is due.
    pub(in crate::pass) fn next(&self) -> Option<Time> {
        self.0.values().map(|(at, _)| *at).min()
    }

    /// The jobs whose resumption is to be sent now. Notes when the next retry of each is due, if
    /// any.
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
    /// At the first look after a start: slurmctld may have ended before the last repetition for the
    /// jobs that came back recently. O(jobs).
    pub(in crate::pass) fn recall_resumptions(&mut self, seen: &Observation, now: Time) {
        for job in seen.jobs() {
            let resumed = Time::from_seconds(job.resumed_seconds);
            if job.state == ObservedState::Running && now.since(resumed) < RETRY_WINDOW {
                self.nodes.resumptions.note_sent(job.id, now);
            }
        }
    }

    /// Repeats the resumptions of jobs that came back, as far as they still run. slurmd ignores a
    /// resumption where a step runs already. O(jobs that came back recently).
    pub(in crate::pass) fn repeat_resumptions(&mut self, seen: &Observation, now: Time) {
        for id in self.nodes.resumptions.take_due(now) {
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
            self.nodes.resumptions.0.remove(&id);
        } else if let Err(problem) = self.slurm.repeat_resumption(id) {
            let name = job_name(id, seen.job(id));
            let text = format!("{name}: resume message to its nodes not repeated: {problem}");
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
            if !resumptions.take_due(Time::from_seconds(second)).is_empty() {
                repeated.push(second);
            }
        }
        assert_eq!(repeated, [15, 75, 315, 1275]);
        assert_eq!(resumptions.next(), None);
    }
}
