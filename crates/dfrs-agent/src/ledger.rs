//! What DFRS knows about its jobs that Slurm does not: virtual times, what is planned and under
//! way, and the memory that it took out of Slurm's accounting. Kept in one file across restarts
//! of slurmctld (`state_file`); losing it costs history, never a job.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time, Yield};
use serde::{Deserialize, Serialize};

use crate::live_journal::Shown;
use crate::placement::Placement;

const HOUR: Span = Span(3_600_000_000);

/// What a job does after it has given up its place by checkpoint and requeue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Next {
    /// It waits, and will go on from its checkpoint.
    Pause,
    /// It waits, and will begin again: it was requeued by others and keeps no checkpoint.
    Restart,
    /// It starts again here: a migration.
    Move(Placement),
}

/// Where a job is on its way. Every phase but `Waiting`, `Running`, `Parked`, `Paused` and
/// `Foreign` is something under way: the core plans around such a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// In Slurm's queue; nothing is planned.
    Waiting,
    /// Is to start here as soon as its memory is free by Slurm's accounting.
    Starting {
        /// Where.
        placement: Placement,
        /// Since when.
        since: Time,
        /// It was paused before, so this brings it back.
        resumes: bool,
    },
    /// Has its place and its share.
    Running,
    /// Is being parked: suspended, then frozen and reclaimed by the nodes.
    Parking {
        /// Since when.
        since: Time,
    },
    /// Parked.
    Parked {
        /// Where it was and will be again.
        placement: Placement,
        /// MiB per node, in Slurm's order, taken out of Slurm's accounting.
        memory: Vec<u64>,
    },
    /// Parked, and to come back as soon as its memory is free again.
    Unparking {
        /// Where.
        placement: Placement,
        /// As in `Parked`.
        memory: Vec<u64>,
        /// Since when.
        since: Time,
    },
    /// Is to give up its place by checkpoint and requeue; not warned yet.
    Leaving {
        /// What follows.
        next: Next,
    },
    /// Got its warning signal and has until its time is up to write its checkpoint.
    Warned {
        /// What follows.
        next: Next,
        /// Since when.
        since: Time,
    },
    /// Requeued; its last processes are ending.
    Requeued {
        /// What follows.
        next: Next,
        /// The last process is gone and its memory is free.
        gone: bool,
    },
    /// Gave up its place by checkpoint; in Slurm's queue.
    Paused,
    /// Suspended by somebody else: not ours to touch until it runs again.
    Foreign,
}

impl Phase {
    /// Whether something is under way.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        !matches!(
            self,
            Self::Waiting | Self::Running | Self::Parked { .. } | Self::Paused | Self::Foreign
        )
    }

    /// Whether a job may have a next step in it, which nothing but what Slurm or the nodes show keeps it
    /// from.
    #[must_use]
    pub fn may_have_step(&self) -> bool {
        self.is_under_way() || matches!(self, Self::Parked { .. })
    }

    /// Whether it is giving up its place.
    #[must_use]
    pub fn is_leaving(&self) -> bool {
        matches!(
            self,
            Self::Parking { .. }
                | Self::Leaving { .. }
                | Self::Warned { .. }
                | Self::Requeued { .. }
        )
    }
}

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
    pub phase: Phase,
    /// Times that DFRS failed to pause it; after `MOST_FAILED_PAUSES` it is left alone.
    pub failed_pauses: u32,
    /// When it was paused or moved within the last hour.
    pub moves: Vec<Time>,
    /// What failed is not tried again before this.
    pub not_before: Time,
    /// The policy has had its say about its submission.
    pub admitted: bool,
    /// Where it was when it was last seen running or suspended.
    #[serde(default)]
    pub last_place: Placement,
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
    pub fn new(submit_time: i64, now: Time, phase: Phase) -> Self {
        Self {
            submit_time,
            shown_submit_time: submit_time,
            restarts: 0,
            virtual_time: Span(0),
            limit_debt: Span(0),
            counted_until: now,
            share: Yield(0.0),
            phase,
            failed_pauses: 0,
            moves: Vec::new(),
            not_before: Time(0),
            admitted: false,
            last_place: Placement::default(),
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

    /// Counts a pause or a migration.
    pub fn count_move(&mut self, now: Time) {
        self.moves.retain(|at| now.0 - at.0 < HOUR.0);
        self.moves.push(now);
    }

    /// Pauses and migrations within the last hour.
    #[must_use]
    pub fn recent_moves(&self, now: Time) -> u32 {
        let recent = self.moves.iter().filter(|at| now.0 - at.0 < HOUR.0).count();
        u32::try_from(recent).unwrap_or(u32::MAX)
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
        let mut record = Record::new(0, Time(0), Phase::Running);
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
        let mut record = Record::new(0, Time(10 * SECOND), Phase::Running);
        record.share = Yield(1.0);
        record.count_until(Time(5 * SECOND));
        assert_eq!(record.virtual_time, Span(0));
    }
}
