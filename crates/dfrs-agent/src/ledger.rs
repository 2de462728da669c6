//! What DFRS knows about its jobs that Slurm does not: virtual times, what is planned and under
//! way, and the memory that it took out of Slurm's accounting. Kept in one file across restarts
//! of slurmctld (`state_file`); losing it costs history, never a job.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time, Yield};
use serde::{Deserialize, Serialize};

use crate::life::journal::Shown;
use crate::life::{Effects, Event, Life, Look};
use crate::observation::{ObservedJob, ObservedState};

/// One job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// First submission, UNIX seconds: flow time counts from here.
    pub submit_time: i64,
    /// The submission time that Slurm shows now; it moves it some time after each requeue. With
    /// `restarts` it says whether a job is still the same one, as ids are used again.
    pub shown_submit_time: i64,
    /// Requeues so far.
    pub restarts: u32,
    /// Integral of the yield up to `counted_until`.
    pub virtual_time: Span,
    /// Wall-clock time that the job's time limit still has to be extended by.
    pub limit_debt: Span,
    /// When `virtual_time` was last brought up to date.
    pub counted_until: Time,
    /// The share of its need that it has now; 0 while it has no place.
    pub share: Yield,
    /// Where it is on its way.
    #[serde(flatten)]
    pub life: Life,
    /// The policy has had its say about its submission.
    pub admitted: bool,
    /// What the journal says of it.
    #[serde(default)]
    pub shown: Shown,
    /// The share that the journal says it has.
    #[serde(default)]
    pub shown_share: Option<Yield>,
}

impl Record {
    /// A job that has just been seen for the first time.
    #[must_use]
    pub fn new(submit_time: i64, now: Time, life: Life) -> Self {
        Self {
            submit_time,
            shown_submit_time: submit_time,
            restarts: 0,
            virtual_time: Span(0),
            limit_debt: Span(0),
            counted_until: now,
            share: Yield(0.0),
            life,
            admitted: false,
            shown: Shown::Unknown,
            shown_share: None,
        }
    }

    /// Whether the job that Slurm shows with this submission time and number of requeues is the one
    /// that this record is about.
    #[must_use]
    pub fn is_about(&self, submit_time: i64, restarts: u32) -> bool {
        let was_requeued =
            restarts > 0 && restarts >= self.restarts && submit_time >= self.shown_submit_time;
        submit_time == self.shown_submit_time || was_requeued
    }

    /// What follows from `event`: a turn in the job's life, and what that means for its counts.
    pub fn on(&mut self, event: &Event, look: &Look) -> Effects {
        let effects = self.life.on(event, look);
        if matches!(event, Event::Seen) {
            self.shown_submit_time = look.job.submit_time;
            self.restarts = look.job.restarts;
            if look.job.state != ObservedState::Running {
                self.share = Yield(0.0);
            }
        }
        if effects.begins_again {
            self.virtual_time = Span(0);
        }
        if effects.forgotten.is_some() && effects.is_left_behind {
            // It is decided about as it was at its submission.
            self.admitted = false;
        }
        effects
    }

    /// Brings the virtual time up to `now` with the share that was in force since the last call.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "elapsed microseconds and a factor of at most 1"
    )]
    pub fn count_until(&mut self, now: Time) {
        let elapsed = now.0.saturating_sub(self.counted_until.0).max(0);
        let gained = (elapsed as f64 * self.share.0).round() as i64;
        self.virtual_time = Span(self.virtual_time.0 + gained);
        if self.share.0 > 0.0 {
            self.limit_debt = Span(self.limit_debt.0 + elapsed - gained);
        }
        self.counted_until = now;
    }
}

/// All jobs, by Slurm's job id. Knows which were changed, so that who follows it need not look at all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    jobs: BTreeMap<u32, Record>,
    #[serde(skip)]
    changed: Changed,
}

/// Jobs whose records may have changed; no part of what a ledger says.
#[derive(Clone, Debug, Default)]
struct Changed(BTreeSet<u32>);

impl PartialEq for Changed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Ledger {
    /// The record of this job.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&Record> {
        self.jobs.get(&id)
    }

    /// The record of this job, to change.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Record> {
        let record = self.jobs.get_mut(&id)?;
        self.changed.0.insert(id);
        Some(record)
    }

    /// The record of the job that Slurm shows, to change, if the ledger knows this very job: ids are used
    /// again.
    pub fn record_of(&mut self, job: &ObservedJob) -> Option<&mut Record> {
        self.get_mut(job.id)
            .filter(|record| record.is_about(job.submit_time, job.restarts))
    }

    /// Takes a record in, in place of one of the same job.
    pub fn insert(&mut self, id: u32, record: Record) {
        self.changed.0.insert(id);
        self.jobs.insert(id, record);
    }

    /// Takes a record out.
    pub fn remove(&mut self, id: u32) -> Option<Record> {
        self.changed.0.insert(id);
        self.jobs.remove(&id)
    }

    /// Brings the virtual times of these jobs up to `now`. That is no change: what they are then follows
    /// from what they were.
    pub fn count_until<'a>(&mut self, jobs: impl IntoIterator<Item = &'a u32>, now: Time) {
        for id in jobs {
            if let Some(record) = self.jobs.get_mut(id) {
                record.count_until(now);
            }
        }
    }

    /// All records, ascending by job.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Record)> {
        self.jobs.iter().map(|(id, record)| (*id, record))
    }

    /// All jobs, ascending.
    #[must_use]
    pub fn ids(&self) -> Vec<u32> {
        self.jobs.keys().copied().collect()
    }

    /// How many jobs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether there is no job.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The jobs whose records were handed out to be changed, came or went since this was last asked.
    pub fn take_changed(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.changed.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;

    #[test]
    fn virtual_time_is_the_integral_of_the_yield() {
        // The example of the TPDS paper, section 4.1: 10 s at 1, 120 s at 0, 30 s at 0.5.
        let mut record = Record::new(0, Time(0), Life::default());
        record.share = Yield(1.0);
        record.count_until(Time(10 * SECOND));
        record.share = Yield(0.0);
        record.count_until(Time(130 * SECOND));
        record.share = Yield(0.5);
        record.count_until(Time(160 * SECOND));
        assert_eq!(record.virtual_time, Span(25 * SECOND));
        assert_eq!(record.limit_debt, Span(15 * SECOND));
    }

    #[test]
    fn a_clock_that_steps_back_takes_nothing_away() {
        let mut record = Record::new(0, Time(10 * SECOND), Life::default());
        record.share = Yield(1.0);
        record.count_until(Time(5 * SECOND));
        assert_eq!(record.virtual_time, Span(0));
    }
}
