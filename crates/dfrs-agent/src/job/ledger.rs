//! What DFRS knows about its jobs that Slurm does not: virtual times, what is planned and under
//! way, and the memory that it took out of Slurm's accounting. Kept in one file across restarts
//! of slurmctld (`state_file`); losing it costs history, never a job.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{GrantedYield, Need, Progress, Rate, Span, Time, Yield};
use serde::{Deserialize, Serialize};

use crate::ignored_in_eq::IgnoredInEq;
use crate::is_default;
use crate::job::launches::Launches;
use crate::job::life::journal::JournalState;
use crate::job::life::{Effects, JobContext, Life, LifeEvent, LifeStep, StepResult};
use crate::slurm::port::LimitExtension;
use crate::slurm::records::{ObservedJob, ObservedState};

/// Slurm finds out at a job's submission, or a moment later, that it may start: less is no wait for
/// other jobs.
const MIN_WAIT_SECONDS: i64 = 2;

/// One job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerRecord {
    /// First submission, UNIX seconds.
    pub submit_time: i64,
    /// The submission time that Slurm shows now; it moves it some time after each requeue. With
    /// `restarts` it says whether a job is still the same one, as ids are used again.
    pub shown_submit_time: i64,
    /// Since when it waits for nothing but room, UNIX seconds, if it waited for another job, a time
    /// or its release before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eligible_time: Option<i64>,
    /// Requeues so far.
    pub restarts: u32,
    /// How far it is. Its rate is 0 while it has no place.
    #[serde(flatten, with = "kept_progress")]
    pub progress: Progress,
    /// The virtual time that decisions count beside `progress`: where the job was taken to need
    /// less than its request, it had more of its need than of its request. `None` as long as that
    /// never was so.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        rename = "more_virtual_time",
        with = "kept_more"
    )]
    pub more: Option<Progress>,
    /// The virtual time of its user's other jobs when it began to wait ([`dfrs_core::Histories`]):
    /// decisions count it as its own.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inherited: Span,
    /// The user whose job it is, as Slurm showed it last.
    #[serde(skip)]
    pub user: u32,
    /// Its need as a part of its request, where it is, as its nodes saw it. Learned again after a
    /// restart.
    #[serde(skip, default = "whole")]
    pub need: Need,
    /// Wall-clock time that the job's time limit still has to be extended by.
    pub limit_debt: Span,
    /// What its time limit was extended by since it was last queued: it is taken off when it is
    /// queued again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended: Option<LimitExtension>,
    /// The time limit that its user gave, or the partition's default, before anything was added to
    /// it: how long it may run, as far as that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Span>,
    /// Where it is on its way.
    #[serde(flatten)]
    pub life: Life,
    /// The policy has had its say about its submission.
    pub admitted: bool,
    /// What the journal says of it.
    #[serde(default)]
    pub shown: JournalState,
    /// The job has to be over by a time and would not be with its share: it weighs more. Found
    /// again after a restart.
    #[serde(skip)]
    pub deadline_boost: bool,
    /// When it began steps, in this run. Found again after a restart.
    #[serde(skip)]
    pub launches: Launches,
    /// The node on which it runs says that it can be carried. Found again after a restart.
    #[serde(skip)]
    pub is_carriable: bool,
    /// The share that the journal says it has.
    #[serde(default)]
    pub shown_share: Option<Yield>,
    /// The fewest and the most tasks that the journal says it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_tasks: Option<(u32, u32)>,
}

impl LedgerRecord {
    /// A job that has just been seen for the first time.
    pub fn new(submit_time: i64, now: Time, life: Life) -> Self {
        Self {
            submit_time,
            shown_submit_time: submit_time,
            eligible_time: None,
            restarts: 0,
            progress: progress(Span::ZERO, now, Yield::ZERO),
            more: None,
            inherited: Span::ZERO,
            user: 0,
            need: Need::WHOLE,
            limit_debt: Span(0),
            extended: None,
            limit: None,
            life,
            admitted: false,
            shown: JournalState::Unknown,
            deadline_boost: false,
            launches: Launches::default(),
            is_carriable: false,
            shown_share: None,
            shown_tasks: None,
        }
    }

    /// Whether the job that Slurm shows is the job of this record, by its submission time and its
    /// number of requeues.
    pub fn is_about(&self, context: &JobContext) -> bool {
        let (submit_time, restarts) = (context.job.submit_seconds, context.job.restarts);
        // The clock may have been set back before it was requeued.
        let is_later = context.observation.submitted(submit_time) >= self.shown_submit_time;
        let was_requeued = restarts > 0 && restarts >= self.restarts && is_later;
        // slurmctld was killed before it had kept that DFRS requeued it.
        let is_forgotten = self.life.image().is_complete()
            && restarts + 1 == self.restarts
            && (self.submit_time..self.shown_submit_time).contains(&submit_time);
        submit_time == self.shown_submit_time || (was_requeued && !context.job.cron) || is_forgotten
    }

    /// Since when it waits for room, or could have been at work, UNIX seconds: its flow time counts
    /// from here.
    pub fn waits_since(&self) -> i64 {
        self.eligible_time.unwrap_or(self.submit_time)
    }

    /// Since when it does, by what Slurm shows now. The wait of one that has had a place counts on.
    pub fn eligible_by(&self, job: &ObservedJob) -> Option<i64> {
        if !(self.life.is_pristine() && self.has_done_nothing()) {
            return self.eligible_time;
        }
        Some(job.eligible_seconds)
            .filter(|time| *time > self.submit_time.saturating_add(MIN_WAIT_SECONDS))
    }

    /// Applies `event` to the job's life, and what follows from that to its counts.
    pub fn on(&mut self, event: &LifeEvent, context: &JobContext) -> Effects {
        let context = &JobContext {
            is_carriable: self.is_carriable,
            ..*context
        };
        let was_dumping = self.life.is_dumping();
        let effects = self.life.on(event, context);
        if self.ends_carriable(event, was_dumping, context) {
            self.is_carriable = false;
        }
        if matches!(event, LifeEvent::Seen) {
            let is_elsewhere = context.job.restarts != self.restarts
                || context.job.state != ObservedState::Running;
            if is_elsewhere {
                self.need = Need::WHOLE;
            }
            if context.job.restarts != self.restarts {
                self.launches = Launches::default();
            }
            self.user = context.job.user;
            self.launches.see(context.job, context.config.settle_time);
            self.shown_submit_time = context.job.submit_seconds;
            self.restarts = context.job.restarts;
            self.limit = self.limit_before_extensions(context.job);
            self.eligible_time = self.eligible_by(context.job);
            if context.job.state != ObservedState::Running && self.progress.rate() != Rate::ZERO {
                self.set_share(context.now, Yield::ZERO);
            }
            if context.job.state == ObservedState::Pending {
                // Its next run has all of its limit from the start.
                self.limit_debt = Span::ZERO;
            }
        }
        if effects.begins_again {
            self.progress.lose();
            self.more = None;
        }
        if effects.forgotten.is_some() && effects.is_orphaned {
            // It is decided about as it was at its submission.
            self.admitted = false;
        }
        effects
    }

    /// Whether what its node said of carrying it no longer holds: it runs elsewhere, or again, or its
    /// image has failed.
    fn ends_carriable(&self, event: &LifeEvent, was_dumping: bool, context: &JobContext) -> bool {
        match event {
            LifeEvent::Seen => context.job.restarts != self.restarts,
            LifeEvent::Did(LifeStep::Start(_), StepResult::Done) => true,
            LifeEvent::Did(LifeStep::Abandon(_), _) => was_dumping,
            _ => false,
        }
    }

    /// Its limit, as Slurm shows it until the job has had a place: from then on it may be extended.
    /// An operator's changes after that count for Slurm, and not as knowledge of the job.
    fn limit_before_extensions(&self, job: &ObservedJob) -> Option<Span> {
        let has_started = job.state != ObservedState::Pending || job.restarts > 0;
        let known = self.limit.filter(|_| has_started);
        known.or_else(|| job.limit())
    }

    /// Whether nothing follows from what Slurm shows now.
    fn is_unchanged_by(&self, context: &JobContext) -> bool {
        let job = context.job;
        let has_share = self.progress.rate() != Rate::ZERO || self.need.is_less();
        let has_idle_share = job.state != ObservedState::Running && has_share;
        let has_old_debt = job.state == ObservedState::Pending && self.limit_debt != Span::ZERO;
        (self.shown_submit_time, self.restarts) == (job.submit_seconds, job.restarts)
            && self.user == job.user
            && self.launches.are_known(job)
            && self.limit == self.limit_before_extensions(job)
            && self.eligible_time == self.eligible_by(job)
            && !has_idle_share
            && !has_old_debt
            && self.life.is_unchanged_by(context)
    }

    /// What it has done so far (TPDS, Section 4.1), by when it was last counted.
    pub fn virtual_time(&self) -> Span {
        self.progress.counted()
    }

    /// The virtual time as decisions count it: by the job's need.
    pub fn virtual_time_by_need(&self) -> Span {
        let more = self.more.as_ref().map_or(Span::ZERO, Progress::counted);
        Span(self.virtual_time().0.saturating_add(more.0))
    }

    /// The virtual time that decisions use: with what the job has inherited.
    pub fn virtual_time_for_decisions(&self) -> Span {
        let own = self.virtual_time_by_need();
        Span(own.0.saturating_add(self.inherited.0))
    }

    /// How much longer it has been at work since it was last queued than its virtual time explains:
    /// by how much its time limit lags behind, with what was added to that.
    pub fn delay(&self) -> Span {
        let added = self.extended.map_or(0, |extended| extended.minutes);
        (self.limit_debt + Span::from_seconds(60 * i64::from(added))).max(Span::ZERO)
    }

    /// The share of its request that it has; 0 while it has no place.
    pub fn share(&self) -> Yield {
        self.progress.rate().share()
    }

    /// Whether it has neither done anything nor a share.
    pub fn has_done_nothing(&self) -> bool {
        self.virtual_time() == Span::ZERO && self.progress.rate() == Rate::ZERO
    }

    /// Sets the share of its request, and of its need, that it has from `now` on.
    pub fn set_share(&mut self, now: Time, share: Yield) {
        self.set_shares(now, share, share);
    }

    /// It has these shares from `now` on.
    pub fn set_shares(&mut self, now: Time, of_request: Yield, of_need: Yield) {
        self.count_until(now);
        self.progress.set_rate(now, Rate::of(of_request));
        let more = more(of_request, of_need);
        if more != Rate::ZERO || self.more.is_some() {
            let counted = self
                .more
                .get_or_insert_with(|| progress(Span::ZERO, now, Yield::ZERO));
            counted.set_rate(now, more);
        }
    }

    /// Whether these are the shares that it has.
    pub fn has_shares(&self, met: &GrantedYield) -> bool {
        let known = self.more.as_ref().map_or(Rate::ZERO, Progress::rate);
        self.progress.rate() == Rate::of(met.of_request)
            && known == more(met.of_request, met.of_need)
    }

    /// Brings the virtual time up to `now`, and what the job's time limit lags behind.
    pub fn count_until(&mut self, now: Time) {
        let (since, before) = (self.progress.since(), self.virtual_time());
        self.progress.advance(now);
        if let Some(more) = &mut self.more {
            more.advance(now);
        }
        if self.progress.rate() != Rate::ZERO {
            let elapsed = now.since(since).max(Span::ZERO);
            self.limit_debt += elapsed - (self.virtual_time() - before);
        }
    }
}

/// Of a job that has done so much by `now` and has this share.
fn progress(virtual_time: Span, now: Time, share: Yield) -> Progress {
    let mut progress = Progress::new(now, None).with_virtual_time(virtual_time);
    progress.place(now, Span::ZERO);
    progress.set_rate(now, Rate::of(share));
    progress
}

const fn whole() -> Need {
    Need::WHOLE
}

/// What a job has of its need beyond what it has of its request.
fn more(of_request: Yield, of_need: Yield) -> Rate {
    Rate::of(Yield(of_need.0 - of_request.0))
}

/// Serialises what decisions count beside a job's progress. After a restart nothing is added to it
/// until the need is learned again.
mod kept_more {
    use dfrs_core::{Progress, Span, Time, Yield};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        more: &Option<Progress>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        more.as_ref().map(Progress::counted).serialize(serializer)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(
        deserializer: D,
    ) -> Result<Option<Progress>, D::Error> {
        let counted = Option::<Span>::deserialize(deserializer)?;
        Ok(counted.map(|counted| super::progress(counted, Time(0), Yield::ZERO)))
    }
}

/// A job's progress as it is kept: less than a microsecond is lost.
mod kept_progress {
    use dfrs_core::{Progress, Span, Time, Yield};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct PersistedProgress {
        virtual_time: Span,
        counted_until: Time,
        share: Yield,
    }

    pub(super) fn serialize<S: Serializer>(
        progress: &Progress,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let kept = PersistedProgress {
            virtual_time: progress.counted(),
            counted_until: progress.since(),
            share: progress.rate().share(),
        };
        kept.serialize(serializer)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(
        deserializer: D,
    ) -> Result<Progress, D::Error> {
        let kept = PersistedProgress::deserialize(deserializer)?;
        Ok(super::progress(
            kept.virtual_time,
            kept.counted_until,
            kept.share,
        ))
    }
}

/// All jobs, by Slurm's job id. Notes which were changed, so that a follower need not look at all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    jobs: BTreeMap<u32, LedgerRecord>,
    #[serde(skip)]
    changed: IgnoredInEq<BTreeSet<u32>>,
    /// Until when virtual times were last counted.
    #[serde(skip)]
    counted: IgnoredInEq<Option<Time>>,
}

impl Ledger {
    /// The record of this job.
    pub fn get(&self, id: u32) -> Option<&LedgerRecord> {
        self.jobs.get(&id)
    }

    /// The record of this job, to change.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut LedgerRecord> {
        let record = self.jobs.get_mut(&id)?;
        self.changed.0.insert(id);
        Some(record)
    }

    /// What follows from what Slurm shows of a job, if the ledger knows this very job. The job
    /// counts as changed only if its record is different from before.
    pub fn see(&mut self, context: &JobContext) -> Option<Effects> {
        let id = context.job.id;
        let record = self.jobs.get_mut(&id)?;
        if !record.is_about(context) {
            return None;
        }
        if record.is_unchanged_by(context) {
            return Some(Effects::default());
        }
        let before = record.clone();
        let effects = record.on(&LifeEvent::Seen, context);
        if *record != before {
            self.changed.0.insert(id);
        }
        Some(effects)
    }

    /// The record of the job that Slurm shows, to change, if the ledger knows this very job: ids
    /// are used again.
    pub fn record_of(&mut self, context: &JobContext) -> Option<&mut LedgerRecord> {
        self.get_mut(context.job.id)
            .filter(|record| record.is_about(context))
    }

    /// Takes a record in, in place of one of the same job.
    pub fn insert(&mut self, id: u32, record: LedgerRecord) {
        self.changed.0.insert(id);
        self.jobs.insert(id, record);
    }

    /// Takes a record out.
    pub fn remove(&mut self, id: u32) -> Option<LedgerRecord> {
        self.changed.0.insert(id);
        self.jobs.remove(&id)
    }

    /// Brings the virtual times of these jobs up to `now`. That is no change: their values then
    /// follow from those before. A second call at one moment costs nothing: a job that has got a
    /// share since was counted then.
    pub fn count_until<'a>(&mut self, jobs: impl IntoIterator<Item = &'a u32>, now: Time) {
        if self.counted.0.replace(now) == Some(now) {
            return;
        }
        for id in jobs {
            if let Some(record) = self.jobs.get_mut(id) {
                record.count_until(now);
            }
        }
    }

    /// All records, ascending by job.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &LedgerRecord)> {
        self.jobs.iter().map(|(id, record)| (*id, record))
    }

    /// All jobs, ascending.
    pub fn ids(&self) -> Vec<u32> {
        self.jobs.keys().copied().collect()
    }

    /// How many jobs there are.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether there is no job.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The jobs whose records were handed out to be changed, came or went since the last call.
    pub fn take_changed(&mut self) -> BTreeSet<u32> {
        self.changed.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;

    #[test]
    fn virtual_time_is_the_integral_of_the_yield() {
        // The example of the TPDS paper, section 4.1: 10 s at 1, 120 s at 0, 30 s at 0.5.
        let mut record = LedgerRecord::new(0, Time(0), Life::default());
        record.set_share(Time(0), Yield(1.0));
        record.set_share(Time(10 * SECOND), Yield(0.0));
        record.set_share(Time(130 * SECOND), Yield(0.5));
        record.count_until(Time(160 * SECOND));
        assert_eq!(record.virtual_time(), Span(25 * SECOND));
        assert_eq!(record.limit_debt, Span(15 * SECOND));
    }

    #[test]
    fn virtual_time_by_need_counts_the_yield_of_the_need() {
        let mut record = LedgerRecord::new(0, Time(0), Life::default());
        record.set_shares(Time(0), Yield(0.25), Yield(1.0));
        record.set_share(Time(100 * SECOND), Yield(0.5));
        record.count_until(Time(120 * SECOND));
        assert_eq!(record.virtual_time(), Span(35 * SECOND));
        assert_eq!(record.virtual_time_by_need(), Span(110 * SECOND));
        assert_eq!(
            record.limit_debt,
            Span(85 * SECOND),
            "limits go by requests"
        );
        let text = serde_json::to_string(&record).expect("is written");
        let read: LedgerRecord = serde_json::from_str(&text).expect("is read");
        assert_eq!(read.virtual_time_by_need(), Span(110 * SECOND));
    }

    #[test]
    fn clock_set_back_takes_no_virtual_time_away() {
        let mut record = LedgerRecord::new(0, Time(10 * SECOND), Life::default());
        record.set_share(Time(10 * SECOND), Yield(1.0));
        record.count_until(Time(5 * SECOND));
        assert_eq!(
            (record.virtual_time(), record.limit_debt),
            (Span(0), Span(0))
        );
    }

    #[test]
    fn virtual_time_does_not_drift_when_it_is_updated_often() {
        let mut looked_at = LedgerRecord::new(0, Time(0), Life::default());
        looked_at.set_share(Time(0), Yield(1.0 / 3.0));
        let mut left_alone = looked_at.clone();
        for now in (0..=100_000).map(|step| Time(step * 7)) {
            looked_at.count_until(now);
        }
        left_alone.count_until(Time(700_000));
        assert_eq!(looked_at, left_alone);
    }
}
