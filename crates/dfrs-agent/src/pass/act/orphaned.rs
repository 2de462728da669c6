//! Jobs that nodes were ordered to end, and that may still run there: a node that does not answer
//! has not received the order, and a busy one takes its time. Slurm takes a late report that a step
//! has ended for the job that has its id by then. That job starts when all nodes of the former one
//! report that nothing of it is left.

use std::collections::BTreeMap;

use dfrs_core::{Span, Time};

use crate::changes::ChangeEntry;
use crate::daemons::Daemons;
use crate::job::life::{LifeImage, UNTIL_ENDED};
use crate::pass::Agent;
use crate::publish::node_orders::{LeftImage, TerminatingJobs};
use crate::slurm::observation::Observation;
use crate::slurm::port::Slurm;

/// A node that does not answer for longer is down for Slurm (`SlurmdTimeout`, 300 s unless a site
/// sets another), or lacks only dfrsd.
const MAX_WAIT: Span = Span::from_seconds(330);
/// What nodes have not said is looked for again after this.
const RETRY_INTERVAL: Span = Span::from_seconds(3);

/// Since when a job is orphaned, and whether one of its nodes did not answer, or could not be
/// reached.
#[derive(Clone, Copy, Debug)]
struct AbortState {
    since: Time,
    undelivered: bool,
}

/// Orphaned jobs.
#[derive(Debug, Default)]
pub(in crate::pass) struct OrphanedJobs {
    waiting: BTreeMap<u32, AbortState>,
    /// Since when nodes are back without which jobs went on.
    back: BTreeMap<(u32, String), Time>,
}

impl OrphanedJobs {
    /// Notes that the order to end was sent to the nodes of this job now: to `all` of them, or it
    /// has to be repeated for some.
    pub(in crate::pass) fn add(&mut self, job: u32, all: bool, now: Time) {
        let abort = AbortState {
            since: now,
            undelivered: !all,
        };
        self.waiting.entry(job).or_insert(abort).undelivered = !all;
    }

    /// When a node has next had the time to end a job.
    pub(in crate::pass) fn next(&self) -> Option<Time> {
        let back = self.back.values();
        back.map(|since| Time(since.0 + UNTIL_ENDED.0)).min()
    }
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Has jobs wait whose last nodes do not answer, and repeats the order when they do. O(jobs
    /// that are orphaned, and their nodes).
    pub(in crate::pass) fn follow_orphaned(&mut self, seen: &Observation, now: Time) {
        let waiting = self.nodes.orphaned.waiting.iter();
        let jobs: Vec<(u32, AbortState)> = waiting.map(|(id, abort)| (*id, *abort)).collect();
        for (id, abort) in jobs {
            let waits = seen.is_pending(id);
            let elapsed = now.since(abort.since);
            let Some(record) = self.ledger.get(id).filter(|_| waits) else {
                self.no_longer_orphaned(id);
                continue;
            };
            let spots = &record.life.last_place().0;
            let is_silent = spots
                .iter()
                .any(|spot| self.nodes.silent.contains(&spot.node));
            let all_nodes_up = !spots.iter().any(|spot| seen.is_down(&spot.node));
            if is_silent && elapsed < MAX_WAIT {
                let abort = AbortState {
                    undelivered: true,
                    ..abort
                };
                self.nodes.orphaned.waiting.insert(id, abort);
                self.hold_off(id, UNTIL_ENDED, now);
            } else if abort.undelivered {
                self.end_orphaned(id, seen, now);
                if elapsed >= MAX_WAIT {
                    self.nodes.orphaned.add(id, true, now);
                }
            } else if elapsed >= UNTIL_ENDED && all_nodes_up {
                if self.is_reported_ended(id, seen) || elapsed >= MAX_WAIT {
                    self.no_longer_orphaned(id);
                } else {
                    self.hold_off(id, RETRY_INTERVAL, now);
                }
            }
        }
        self.follow_unconfirmed(seen, now);
    }

    /// Whether all its last nodes that can be queried report that nothing of it is left.
    fn is_reported_ended(&self, id: u32, seen: &Observation) -> bool {
        let facts = self.nodes.facts.as_ref();
        facts.is_some_and(|facts| facts.parked.contains(&id))
            || self.nodes_to_query(id, seen).next().is_none()
    }

    /// The last nodes of a job that are there and not down.
    fn nodes_to_query<'a>(
        &'a self,
        id: u32,
        seen: &'a Observation,
    ) -> impl Iterator<Item = &'a str> {
        let record = self.ledger.get(id).into_iter();
        let spots = record.flat_map(|record| &record.life.last_place().0);
        let names = spots.map(|spot| spot.node.as_str());
        names.filter(|name| seen.node(name).is_some_and(|node| !node.down))
    }

    /// Follows which nodes are to be queried whether anything is left of which job. Returns whether
    /// that changed. O(orphaned jobs and those with images, and their nodes).
    pub(in crate::pass) fn follow_former(&mut self, seen: &Observation) -> bool {
        let mut former = TerminatingJobs::default();
        let orphaned = self.nodes.orphaned.waiting.keys();
        for id in orphaned.chain(&self.lists.with_image) {
            let image = self.image_left(*id);
            for node in self.nodes_to_query(*id, seen) {
                former
                    .entry(node.to_owned())
                    .or_default()
                    .insert(*id, image);
            }
        }
        for (id, node) in &self.nodes.void_images {
            if seen.node(node).is_some_and(|node| !node.down) {
                let jobs = former.entry(node.clone()).or_default();
                jobs.insert(*id, LeftImage::Void);
            }
        }
        if former == self.nodes.former {
            return false;
        }
        let before = std::mem::replace(&mut self.nodes.former, former);
        let names = before.keys().chain(self.nodes.former.keys());
        let differ = names.filter(|name| before.get(*name) != self.nodes.former.get(*name));
        let nodes = differ.filter_map(|name| seen.node(name));
        let nodes = nodes.map(|node| ChangeEntry::NodeUse(node.index));
        self.lists.changes.extend(nodes);
        true
    }

    /// What is to become of the image of a pending job.
    fn image_left(&self, id: u32) -> LeftImage {
        let image = self.ledger.get(id).map(|record| record.life.image());
        match image.unwrap_or_default() {
            LifeImage::None => LeftImage::None,
            LifeImage::Begun => LeftImage::Void,
            LifeImage::Complete | LifeImage::Used(_) | LifeImage::NotRestored => LeftImage::Kept,
        }
    }

    /// Pending jobs that go on from their images, and the nodes that keep what is left of them
    /// there stopped. O(jobs that wait with images).
    pub(in crate::pass) fn kept_by_images(&self, seen: &Observation) -> Vec<(String, u32)> {
        let waiting = self.lists.with_image.iter().copied();
        let kept = waiting.filter(|id| self.image_left(*id) == LeftImage::Kept);
        let on_nodes = kept.flat_map(|id| {
            let nodes = self.nodes_to_query(id, seen);
            nodes.map(move |node| (node.to_owned(), id))
        });
        on_nodes.collect()
    }

    /// Keeps jobs off nodes without which they went on, until these are back and have had the time
    /// to end them. O(such jobs and nodes).
    fn follow_unconfirmed(&mut self, seen: &Observation, now: Time) {
        let mut before = std::mem::take(&mut self.nodes.orphaned.back);
        let jobs: Vec<u32> = self.lists.unconfirmed.iter().copied().collect();
        for id in jobs {
            let unconfirmed = self
                .ledger
                .get(id)
                .map(|record| record.life.unconfirmed_nodes());
            for node in unconfirmed.cloned().unwrap_or_default() {
                if seen.is_down(&node) || self.nodes.silent.contains(&node) {
                    continue;
                }
                let key = (id, node);
                let since = before.remove(&key);
                let needs_abort = since.is_none() && seen.is_pending(id);
                if needs_abort && !self.request_abort(id, &key.1, seen) {
                    continue;
                }
                let since = since.unwrap_or(now);
                if now.since(since) < UNTIL_ENDED {
                    self.nodes.orphaned.back.insert(key, since);
                } else if let Some(record) = self.ledger.get_mut(id) {
                    record.life.confirm_ended(&key.1);
                    self.lists.capacity_freed = true;
                }
            }
        }
    }

    /// Pending jobs that were orphaned when slurmctld ended: meanwhile the order to their nodes
    /// was not repeated. O(jobs).
    pub(in crate::pass) fn known_orphaned(&mut self, seen: &Observation) -> Vec<u32> {
        let records = self.ledger.iter();
        // The order was just sent for jobs that the end itself orphaned.
        let known = records.filter(|(id, record)| {
            record.life.is_orphaned() && !self.nodes.orphaned.waiting.contains_key(id)
        });
        let known: Vec<u32> = known.map(|(id, _)| id).collect();
        let (wait, others): (Vec<u32>, Vec<u32>) =
            known.into_iter().partition(|id| seen.is_pending(*id));
        others
            .into_iter()
            .for_each(|id| self.no_longer_orphaned(id));
        wait
    }

    fn no_longer_orphaned(&mut self, id: u32) {
        self.nodes.orphaned.waiting.remove(&id);
        if let Some(record) = self.ledger.get_mut(id) {
            record.life.set_orphaned(false);
        }
    }

    /// The job starts no earlier than this long from now, give or take a second.
    fn hold_off(&mut self, id: u32, wait: Span, now: Time) {
        let until = Time(now.0 + wait.0);
        let known = self.ledger.get(id).map(|record| record.life.not_before());
        if known.is_some_and(|known| known + Span::SECOND < until)
            && let Some(record) = self.ledger.get_mut(id)
        {
            record.life.hold_off(until);
        }
    }
}
