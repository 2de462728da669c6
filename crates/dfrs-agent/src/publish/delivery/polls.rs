//! What the node daemons are polled for that they publish as socket names, and when: how much swap
//! nodes have (`swap`), which of the jobs that are being parked are parked, or cannot be, whether
//! those that are parked still are (`parked`), what jobs need (`needs`), and which can be carried
//! (`carry`). The query is a message
//! to that name; whether it can be delivered is the answer.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};

use super::Query;
use super::carry::{CarrySchedule, inspected};
use super::facts::{DeliveryFacts, ParkingJob, WantedFact};
use super::needs::{NeedQueryKind, NeedSchedule};
use super::parked::ParkedSchedule;
use super::swap::{SwapQueryKind, SwapSchedule};
use crate::daemons::OrderChanges;

/// How often nodes are polled about jobs that are being parked, which takes them seconds: each
/// query is a process that slurmd has to start.
const PARKED_INTERVAL: Span = Span(500_000);
/// The longest time between two such queries: it grows with the time that a job has been polled.
const MAX_PARKED_INTERVAL: Span = Span::from_seconds(5);
/// How often nodes are polled whether such a job cannot be parked, which no node knows before this
/// either.
const STUCK_INTERVAL: Span = Span::from_seconds(2);
/// Queries under way at the same time, those that are late aside.
const MAX_ON_TIME: usize = 8;

/// What a change of orders means for what nodes are polled for.
#[derive(Clone, Debug, Default)]
pub struct PolledChanges {
    /// The jobs that each node keeps frozen whose orders changed; the facts say which of these are
    /// being parked.
    frozen: BTreeMap<String, BTreeSet<u32>>,
    gone: BTreeSet<String>,
    /// The jobs that each node inspects whose orders changed, if that matters.
    inspected: Option<BTreeMap<String, BTreeSet<u32>>>,
    /// The change itself and its number, if it matters to the polling of needs.
    needs: Option<(OrderChanges, u64)>,
}

impl PolledChanges {
    /// Of the change of orders of this number, which these facts have followed. O(nodes that
    /// changed and their jobs).
    #[must_use]
    pub fn new(changes: &OrderChanges, number: u64, facts: &DeliveryFacts) -> Self {
        let nodes = changes.changed.iter().map(|(name, orders)| {
            let frozen = orders.jobs.iter().filter(|job| job.frozen);
            (name.clone(), frozen.map(|job| job.id).collect())
        });
        let of_nodes = || {
            let nodes = changes.changed.iter();
            nodes.map(|(name, orders)| (name.clone(), inspected(orders)))
        };
        Self {
            frozen: nodes.collect(),
            inspected: facts.inspects().then(|| of_nodes().collect()),
            gone: changes.gone.clone(),
            needs: facts.polls_needs().then(|| (changes.clone(), number)),
        }
    }
}

/// A query to be sent.
#[derive(Clone, Debug)]
pub struct DaemonQuery {
    /// To these nodes.
    pub nodes: Vec<String>,
    about: PollQuery,
}

#[derive(Clone, Copy, Debug)]
enum PollQuery {
    Swap(SwapQueryKind),
    /// Of a job that is being parked, or ends, since the change of orders of that number: whether
    /// this is so,
    Wanted(WantedFact, u32, u64),
    /// and whether it cannot be, on some of its nodes.
    Stuck(u32, u64),
    /// Of one that was parked: whether it still is.
    StillParked(u32),
    Need(NeedQueryKind),
    /// Of a job whether it can be carried.
    Carry(u32),
}

impl DaemonQuery {
    fn of<About>(query: Query<About>, kind: impl FnOnce(About) -> PollQuery) -> Self {
        Self {
            nodes: query.nodes,
            about: kind(query.about),
        }
    }

    /// Where to; slurmd replaces %n by the node's name.
    #[must_use]
    pub fn address(&self) -> String {
        match self.about {
            PollQuery::Swap(about) => about.address(),
            PollQuery::Need(about) => about.address(),
            PollQuery::Carry(job) => format!("/run/dfrs/%n/carry.{job}.sock"),
            PollQuery::Wanted(wanted, job, _) => {
                format!("/run/dfrs/%n/{}.{job}.sock", wanted.link())
            }
            PollQuery::Stuck(job, _) => format!("/run/dfrs/%n/stuck.{job}.sock"),
            PollQuery::StillParked(job) => format!("/run/dfrs/%n/parked.{job}.sock"),
        }
    }
}

/// When a job that is being parked was polled.
#[derive(Clone, Copy, Debug)]
struct ParkingPolls {
    first: Time,
    last: Time,
    /// Whether it cannot be.
    stuck: Time,
}

impl ParkingPolls {
    /// For the first time.
    fn first(now: Time) -> Self {
        Self {
            first: now,
            last: now,
            stuck: now,
        }
    }

    /// When it is due to poll whether the job is parked.
    fn due(&self, now: Time) -> Time {
        let interval = Span((now - self.first).0 / 32);
        self.last + interval.clamp(PARKED_INTERVAL, MAX_PARKED_INTERVAL)
    }

    /// When it is due to poll whether it cannot be.
    fn stuck_due(&self) -> Time {
        self.stuck + STUCK_INTERVAL
    }
}

/// What nodes are polled for, and the queries under way.
#[derive(Debug)]
pub struct PollSchedule {
    late: Span,
    swap: SwapSchedule,
    /// Of each job that is being parked.
    parking_polls: BTreeMap<u32, ParkingPolls>,
    parked: ParkedSchedule,
    needs: NeedSchedule,
    carry: CarrySchedule,
    open: BTreeMap<u64, (DaemonQuery, Time)>,
}

impl PollSchedule {
    /// Queries under way at most, with those that are late.
    pub const MAX_IN_FLIGHT: usize = 48;

    /// Without nodes. A query that is under way for longer than `late` is not waited for.
    #[must_use]
    pub fn new(late: Span) -> Self {
        Self {
            late,
            swap: SwapSchedule::default(),
            parking_polls: BTreeMap::new(),
            parked: ParkedSchedule::default(),
            needs: NeedSchedule::default(),
            carry: CarrySchedule::default(),
            open: BTreeMap::new(),
        }
    }

    /// Follows a change of orders.
    pub fn change(&mut self, changes: &PolledChanges, facts: &mut DeliveryFacts, now: Time) {
        let (frozen, gone) = (&changes.frozen, &changes.gone);
        self.swap.change(frozen.keys(), gone, now);
        let changed = self.parked.change(frozen, gone, now);
        facts.forget_not_parked(&changed.jobs);
        for node in changed.thawing {
            self.swap.returned(&node, now);
        }
        if let Some(inspected) = &changes.inspected {
            let left = self.carry.change(inspected, gone, now);
            facts.forget_carriable(&left);
        }
        if let Some((changes, number)) = &changes.needs {
            self.needs.change(changes, *number, now);
        }
    }

    /// The next query that is due and may start. It is either `sent` or `not_sent` then. O(nodes
    /// and jobs that are polled).
    pub fn next(&mut self, facts: &mut DeliveryFacts, now: Time) -> Option<DaemonQuery> {
        if !self.has_room(now) {
            return None;
        }
        let passed = self.swap.skip_silent(facts.silent(), now);
        facts.set_swap(&passed);
        facts.forget_carriable(&self.carry.skip_silent(facts.silent(), now));
        self.next_about_parking(facts, now)
            .or_else(|| self.next_about_needs(facts, now))
            .or_else(|| self.next_about_swap(now))
            .or_else(|| self.next_about_parked(facts, now))
            .or_else(|| self.next_about_carry(facts, now))
    }

    /// When a query is next due or late, perhaps long ago: then it waits for others to come to
    /// their end, or is not to be sent as things are. O(nodes and jobs that are polled).
    #[cfg(any(test, feature = "fixtures"))]
    #[must_use]
    pub fn next_due(&self, facts: &DeliveryFacts) -> Option<Time> {
        let parking = self.parking_polls.iter();
        let parking = parking.filter(|(job, _)| facts.is_parking_polled(**job));
        let parking = parking.map(|(_, polls)| polls.due(polls.last).min(polls.stuck_due()));
        let is_full = self.open.len() >= MAX_ON_TIME;
        let open = self.open.values().filter(|_| is_full);
        let late = open.map(|(_, asked)| *asked + self.late);
        let others = [
            self.needs.next_due(facts.silent()),
            self.swap.next_due(),
            self.parked.next_due(),
            self.carry.next_due(),
        ];
        parking
            .chain(late)
            .chain(others.into_iter().flatten())
            .min()
    }

    /// Whether another query may start: those that are late are not waited for.
    fn has_room(&self, now: Time) -> bool {
        let in_time = |(_, asked): &&(DaemonQuery, Time)| now - *asked < self.late;
        self.open.len() < Self::MAX_IN_FLIGHT
            && self.open.values().filter(in_time).count() < MAX_ON_TIME
    }

    /// Of the nodes of each job that is being parked whether they cannot do it, and more often
    /// whether they have done it; one query of each kind at a time for each job.
    fn next_about_parking(&mut self, facts: &DeliveryFacts, now: Time) -> Option<DaemonQuery> {
        let parking = facts.parkings_to_poll();
        self.parking_polls
            .retain(|job, _| parking.contains_key(job));
        let mut jobs: Vec<(Option<Time>, u32, &ParkingJob)> = parking
            .into_iter()
            .map(|(job, parking)| (self.parking_polls.get(&job).map(|at| at.last), job, parking))
            .collect();
        jobs.sort_by_key(|(last, ..)| *last);
        for (last, job, parking) in jobs {
            let mut open = self.open.values().map(|(query, _)| query.about);
            let stuck_is_open = open
                .clone()
                .any(|about| matches!(about, PollQuery::Stuck(open, _) if open == job));
            let parked_is_open =
                open.any(|about| matches!(about, PollQuery::Wanted(_, open, _) if open == job));
            let polls = self.parking_polls.entry(job);
            let polls = polls.or_insert_with(|| ParkingPolls::first(now));
            let about = if polls.stuck_due() <= now && !stuck_is_open {
                polls.stuck = now;
                PollQuery::Stuck(job, parking.since)
            } else if (last.is_none() || polls.due(now) <= now) && !parked_is_open {
                polls.last = now;
                PollQuery::Wanted(parking.wanted, job, parking.since)
            } else {
                continue;
            };
            let nodes = parking.nodes.clone();
            return Some(DaemonQuery { nodes, about });
        }
        None
    }

    /// Of nodes that have such jobs what these need.
    fn next_about_needs(&mut self, facts: &DeliveryFacts, now: Time) -> Option<DaemonQuery> {
        let knows = |job| facts.is_measured_on_all_nodes(job);
        let question = self.needs.next(now, facts.silent(), knows)?;
        Some(DaemonQuery::of(question, PollQuery::Need))
    }

    /// Of nodes that answer how much swap they have.
    fn next_about_swap(&mut self, now: Time) -> Option<DaemonQuery> {
        let question = self.swap.next(now)?;
        Some(DaemonQuery::of(question, PollQuery::Swap))
    }

    /// Of nodes whether jobs that are not polled otherwise are still parked there.
    fn next_about_parked(&mut self, facts: &DeliveryFacts, now: Time) -> Option<DaemonQuery> {
        let may_be = |job, nodes: &BTreeSet<String>| facts.can_poll_parked(job, nodes);
        let question = self.parked.next(now, may_be)?;
        Some(DaemonQuery::of(question, PollQuery::StillParked))
    }

    /// Of nodes that have their newest orders whether jobs can be carried.
    fn next_about_carry(&mut self, facts: &DeliveryFacts, now: Time) -> Option<DaemonQuery> {
        let is_current =
            |node: &str| !facts.silent().contains(node) && facts.has_newest_orders(node);
        let question = self.carry.next(now, is_current)?;
        Some(DaemonQuery::of(question, PollQuery::Carry))
    }

    /// This query is under way; no other has had this number.
    pub fn sent(&mut self, id: u64, query: DaemonQuery, now: Time) {
        self.open.insert(id, (query, now));
    }

    /// This query could not be sent: it is sent again when it is due again.
    pub fn not_sent(&mut self, query: &DaemonQuery, now: Time) {
        let nodes = query.nodes.clone();
        match query.about {
            PollQuery::Swap(about) => self.swap.not_sent(&Query { nodes, about }, now),
            PollQuery::StillParked(job) => self.parked.not_sent(job, now),
            PollQuery::Carry(about) => self.carry.not_sent(&Query { nodes, about }, now),
            PollQuery::Need(about) => self.needs.not_sent(&Query { nodes, about }, now),
            PollQuery::Wanted(..) | PollQuery::Stuck(..) => {}
        }
    }

    /// This query has come to its end; `failed` did not get it.
    pub fn answered(&mut self, id: u64, failed: &[String], facts: &mut DeliveryFacts, now: Time) {
        let Some((DaemonQuery { nodes, about }, _)) = self.open.remove(&id) else {
            return;
        };
        match about {
            PollQuery::Swap(about) => {
                let learned = self.swap.answer(&Query { nodes, about }, failed, now);
                facts.set_swap(&learned);
            }
            PollQuery::Wanted(_, job, since) => {
                if failed.is_empty() {
                    facts.parked(job, since);
                }
            }
            PollQuery::Stuck(job, since) => {
                // Only nodes where it is so have the name: here an answer is what counts.
                if nodes.iter().any(|node| !failed.contains(node)) {
                    facts.stuck(job, since);
                }
            }
            PollQuery::StillParked(about) => {
                self.still_parked(&Query { nodes, about }, failed, facts, now);
            }
            PollQuery::Carry(about) => {
                let can_be = failed.is_empty();
                let is_current =
                    |node: &String| !facts.silent().contains(node) && facts.has_newest_orders(node);
                let is_said = can_be || nodes.iter().all(is_current);
                let query = Query { nodes, about };
                if !is_said {
                    // A node that does not answer, or is being sent orders, says nothing.
                    self.carry.not_sent(&query, now);
                } else if self.carry.answer(&query, can_be, now) {
                    facts.carriable(about, can_be);
                }
            }
            PollQuery::Need(about) => {
                let learned = self.needs.answer(&Query { nodes, about }, failed, now);
                if let Some((job, since, need)) = learned {
                    facts.needs(job, since, need);
                }
            }
        }
    }

    fn still_parked(
        &mut self,
        question: &Query<u32>,
        failed: &[String],
        facts: &mut DeliveryFacts,
        now: Time,
    ) {
        let is_current =
            |node: &&String| !facts.silent().contains(*node) && facts.has_newest_orders(node);
        let missing: Vec<&String> = failed.iter().filter(is_current).collect();
        if missing.is_empty() && !failed.is_empty() {
            // Nodes that do not answer do not count.
            self.parked.not_sent(question.about, now);
        } else if let Some(node) = self.parked.answer(question, &missing, now) {
            facts.not_parked(question.about, node);
        }
    }

    /// What is under way is forgotten.
    pub fn reset_in_flight(&mut self, now: Time) {
        self.open.clear();
        self.needs.reset_in_flight(now);
        self.swap.reset_in_flight(now);
        self.parked.reset_in_flight(now);
        self.carry.reset_in_flight(now);
    }

    /// How many queries are under way.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.open.len()
    }
}
