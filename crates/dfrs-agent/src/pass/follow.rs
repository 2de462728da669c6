//! Follows what changed: which jobs wait, which are on their way, and what else has to be looked at
//! because of it.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::Time;

use super::Agent;
use crate::changes::{ChangeEntry, ChangeLog};
use crate::daemons::Daemons;
use crate::due_times::DueTimes;
use crate::job::ledger::LedgerRecord;
use crate::job::life::{Life, LifeImage};
use crate::saturating_u32;
use crate::slurm::observation::Observation;
use crate::slurm::port::Slurm;
use crate::slurm::records::{ObservedJob, ObservedState};
use crate::slurm::request::together::switch_rule_ends;

/// Jobs by what is to be done about them; brought up to date for jobs that changed.
#[derive(Debug, Default)]
pub(super) struct JobLists {
    /// What changed, for those who follow.
    pub(super) changes: ChangeLog,
    /// In Slurm's queue.
    pending: BTreeSet<u32>,
    /// Jobs that may be planned, as far as DFRS knows: Slurm is queried before they are.
    candidates: BTreeSet<u32>,
    /// Candidates whose records in Slurm changed since the last query.
    fresh: BTreeSet<u32>,
    /// Wait, or are parked, and are kept from being planned, or insist on few switches, until then.
    later: DueTimes,
    /// Are on their way somewhere.
    under_way: BTreeSet<u32>,
    /// May have a next step: these, and those of which Slurm may show something unexpected.
    steps: BTreeSet<u32>,
    /// Pending records of arrays with more than one task.
    arrays: BTreeSet<u32>,
    /// Have places: Slurm's indexes of their nodes.
    placed: BTreeMap<u32, Vec<u32>>,
    /// Run, and have time limits.
    pub(super) limited: BTreeSet<u32>,
    /// Wait, with more time than they may have: some was added when they ran.
    pub(super) extended: BTreeSet<u32>,
    /// Jobs whose places are theirs only until a time, or that have deadlines, or a deadline boost.
    pub(super) bounded: BTreeSet<u32>,
    /// Have places from which Slurm preempts them.
    pub(super) preempted: BTreeSet<u32>,
    /// Jobs that went on without nodes that may still run them.
    pub(super) unconfirmed: BTreeSet<u32>,
    /// Wait, and have an image: they go on from it, or it is void.
    pub(super) with_image: BTreeSet<u32>,
    /// Slurm showed something else of them than before.
    seen: BTreeSet<u32>,
    /// A job that has a place, or had one, changed since shares and orders followed.
    pub(super) places_changed: bool,
    /// A node changed since it was last decided.
    pub(super) nodes_changed_since_decision: bool,
    /// A node changed since orders were last given.
    pub(super) nodes_changed_since_orders: bool,
    /// There may be room for jobs that found none.
    pub(super) capacity_freed: bool,
}

impl JobLists {
    /// How many jobs wait.
    pub(super) fn queue(&self) -> u32 {
        saturating_u32(self.pending.len())
    }

    /// Slurm shows something else of this job than before.
    pub(super) fn see(&mut self, id: u32) {
        self.seen.insert(id);
    }

    /// The jobs in Slurm's queue.
    pub(super) fn pending(&self) -> impl Iterator<Item = u32> {
        self.pending.iter().copied()
    }

    /// Whether any job is on its way somewhere.
    pub(super) fn any_under_way(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// The jobs that are on their way somewhere.
    pub(super) fn under_way(&self) -> impl Iterator<Item = u32> {
        self.under_way.iter().copied()
    }

    /// The jobs that may have a next step.
    pub(super) fn steps(&self) -> Vec<u32> {
        self.steps.iter().copied().collect()
    }

    /// The pending records of arrays with more than one task.
    pub(super) fn arrays(&self) -> Vec<u32> {
        self.arrays.iter().copied().collect()
    }

    /// When the next job may be planned again.
    pub(super) fn next(&self) -> Option<Time> {
        self.later.next()
    }

    /// The candidates about which Slurm has to be queried.
    pub(super) fn take_fresh(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.fresh)
    }

    fn is_candidate(&self, id: u32) -> bool {
        self.candidates.contains(&id)
    }

    /// Follows one job. `is_managed`: DFRS schedules its partition.
    fn follow(
        &mut self,
        id: u32,
        job: Option<&ObservedJob>,
        record: Option<&LedgerRecord>,
        is_managed: bool,
        now: Time,
    ) {
        let pending = job.is_some_and(|job| job.state == ObservedState::Pending);
        put(&mut self.pending, id, pending);
        put(
            &mut self.arrays,
            id,
            pending && is_managed && job.is_some_and(|job| job.array_master),
        );
        let life = record.map(|record| &record.life);
        put(
            &mut self.under_way,
            id,
            life.is_some_and(Life::is_under_way),
        );
        put(&mut self.steps, id, life.is_some_and(Life::may_have_step));
        let waits = match (job, record) {
            (Some(job), Some(record)) => is_managed && waits(job, record),
            _ => false,
        };
        let until = record.map_or(Time(0), |record| record.life.not_before());
        let is_parked = life.is_some_and(Life::is_parked);
        if (waits || is_parked) && until > now {
            self.later.add(id, until);
        }
        let may_spread = job.filter(|_| waits).and_then(switch_rule_ends);
        if let Some(at) = may_spread.filter(|at| *at > now) {
            self.later.add(id, at);
        }
        let is_candidate = waits && until <= now;
        put(&mut self.candidates, id, is_candidate);
        put(&mut self.fresh, id, is_candidate);
        let runs =
            job.is_some_and(|job| job.state == ObservedState::Running && job.end_seconds > 0);
        put(&mut self.limited, id, runs);
        let is_extended = pending && record.is_some_and(|record| record.extended.is_some());
        put(&mut self.extended, id, is_extended);
        let ends = |job: &ObservedJob| {
            job.free_until_seconds > 0
                || job.deadline_seconds > 0
                || job.reservation_end_seconds > 0
        };
        let boosted = record.is_some_and(|record| record.deadline_boost);
        let placed = job.filter(|job| !job.places.is_empty());
        let bounded = placed.is_some_and(|job| ends(job) || boosted);
        put(&mut self.bounded, id, bounded);
        let preempted = placed.is_some_and(|job| job.grace_end_seconds > 0);
        put(&mut self.preempted, id, preempted);
        let is_unconfirmed = life.is_some_and(|life| !life.unconfirmed_nodes().is_empty());
        put(&mut self.unconfirmed, id, is_unconfirmed);
        let has_image = life.is_some_and(|life| life.image() != LifeImage::None);
        put(&mut self.with_image, id, pending && has_image);
        self.follow_places(id, placed);
    }

    /// Follows where a job is, and where it was.
    fn follow_places(&mut self, id: u32, placed: Option<&ObservedJob>) {
        let before = self.placed.remove(&id);
        if placed.is_none() && before.is_none() {
            return;
        }
        self.places_changed = true;
        self.changes.note(ChangeEntry::JobPlaces(id));
        let here = placed.map(|job| job.places.iter().map(|place| place.node).collect());
        let there = before.iter().chain(&here).flatten();
        for node in there {
            self.changes.note(ChangeEntry::NodeUse(*node));
        }
        if let Some(here) = here {
            self.placed.insert(id, here);
        }
    }

    /// Whether jobs can be parked on these nodes is different.
    pub(super) fn see_parking(&mut self, nodes: impl Iterator<Item = u32>) {
        self.changes.extend(nodes.map(ChangeEntry::NodeUse));
    }
}

/// Whether nothing is planned for this job, and it is not held.
fn waits(job: &ObservedJob, record: &LedgerRecord) -> bool {
    job.state == ObservedState::Pending && !job.held && !job.completing && record.life.is_waiting()
}

fn put(set: &mut BTreeSet<u32>, id: u32, belongs: bool) {
    if belongs {
        set.insert(id);
    } else {
        set.remove(&id);
    }
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Follows all jobs whose records, here or in Slurm, changed, and all nodes. O(log jobs +
    /// places) for each job.
    pub(super) fn follow(&mut self, seen: &mut Observation, now: Time) {
        self.lists.changes.note_nodes(&seen.take_changed_nodes());
        self.lists.capacity_freed |= seen.take_regrouped();
        // There may be room now for a pending job that requests less, or may use other nodes.
        let requests = seen.take_changed_requests();
        self.lists.capacity_freed |= requests.iter().any(|id| self.is_admitted(*id));
        let others = seen.take_jobs_with_changed_exclusivity();
        let others = others.into_iter().map(ChangeEntry::JobPlanning);
        self.lists.changes.extend(others);
        let resized = seen.take_whole_node_jobs_to_replan();
        self.lists.capacity_freed |= resized.iter().any(|id| self.is_admitted(*id));
        let resized = resized.into_iter().map(ChangeEntry::JobPlanning);
        self.lists.changes.extend(resized);
        let due = self.lists.later.take_due(now);
        // For a pending job, Slurm is queried first.
        self.lists.capacity_freed |= due.iter().any(|id| self.is_parked(*id));
        // It may have more switches from now on.
        let insists = |id: u32| seen.job(id).is_some_and(|job| job.request.switches > 0);
        let mut due_jobs = due.iter().copied();
        self.lists.capacity_freed |= due_jobs.any(|id| insists(id) && self.is_admitted(id));
        let mut changed = self.ledger.take_changed();
        changed.extend(due);
        changed.append(&mut self.lists.seen);
        for id in changed {
            let job = seen.job(id);
            let is_managed = job.is_none_or(|job| self.is_managed(job));
            self.lists
                .follow(id, job, self.ledger.get(id), is_managed, now);
            if !self.lists.is_candidate(id) {
                self.queue.admission.forget(id);
            }
            // A task that ends may be what the others wait for.
            let array = job.map_or(0, |job| job.array);
            self.queue
                .array_admission
                .forget(if array > 0 { array } else { id });
            self.lists.changes.note(ChangeEntry::Job(id));
        }
    }

    /// Whether it is parked, and nothing is planned for it.
    pub(super) fn is_parked(&self, id: u32) -> bool {
        let record = self.ledger.get(id);
        record.is_some_and(|record| record.life.is_parked())
    }
}
