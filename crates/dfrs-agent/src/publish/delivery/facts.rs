//! What is known of the nodes, by the answers to orders and queries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dfrs_core::Need;
use dfrs_proto::message::JobOrder;

use super::send_queue::Answers;
use super::swap::LearnedSwap;
use crate::daemons::{NodeFacts, OrderChanges};
use crate::plan::need_queries::{NeedQueries, QueryChanges};

/// The facts, and what has to be known to find them.
#[derive(Debug, Default)]
pub struct DeliveryFacts {
    /// A change copies them only if the ones before are still being read.
    facts: Arc<NodeFacts>,
    /// How often orders were changed.
    number: u64,
    orders: BTreeMap<String, OrderNumbers>,
    parking: BTreeMap<u32, ParkingJob>,
    /// What the orders of each node want of jobs beyond having them parked.
    wanted: BTreeMap<String, BTreeMap<u32, WantedFact>>,
    /// Where jobs are whose needs are polled.
    places: NeedQueries,
    /// There were such jobs before or after the last change.
    polls_needs: bool,
    /// Some node has, or had, a job to inspect.
    inspects: bool,
}

/// Numbers of changes.
#[derive(Clone, Copy, Debug, Default)]
struct OrderNumbers {
    /// The last one in which this node's orders changed.
    given: u64,
    /// The number of the last orders that the node has confirmed.
    confirmed: u64,
}

/// What nodes are to say of a job that is being parked, or that ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WantedFact {
    /// It is parked.
    #[default]
    Parked,
    /// Its image is complete.
    Imaged,
    /// Nothing of it is left.
    Ended,
    /// The same, and there is no image of it.
    Void,
}

impl WantedFact {
    /// The word of the socket's name that says so.
    pub(super) const fn link(self) -> &'static str {
        match self {
            Self::Parked | Self::Ended => "parked",
            Self::Imaged => "imaged",
            Self::Void => "void",
        }
    }

    fn of(order: &JobOrder) -> Self {
        match (order.ended, order.void, order.image) {
            (true, true, _) => Self::Void,
            (true, false, _) => Self::Ended,
            (false, _, true) => Self::Imaged,
            (false, _, false) => Self::Parked,
        }
    }
}

/// A job that is being parked.
#[derive(Clone, Debug)]
pub(super) struct ParkingJob {
    pub(super) nodes: Vec<String>,
    pub(super) wanted: WantedFact,
    /// The change with which it began. A job that was parked before is published as parked until
    /// its nodes get the order to thaw it: answers count when the nodes have the orders of this
    /// change.
    pub(super) since: u64,
    orders: Vec<u64>,
}

impl DeliveryFacts {
    /// The facts now; the same `Arc` as long as they do not change.
    #[must_use]
    pub fn facts(&self) -> Arc<NodeFacts> {
        Arc::clone(&self.facts)
    }

    /// Nodes whose daemon does not answer.
    pub(super) fn silent(&self) -> &BTreeSet<String> {
        &self.facts.silent
    }

    /// A message with orders has come to its end.
    pub fn record(&mut self, answers: &Answers) {
        self.confirm_orders(&answers.confirmed);
        self.record_answers(&answers.answered, &answers.silent);
    }

    /// These nodes answered, those did not.
    fn record_answers(&mut self, answered: &[String], silent: &[String]) {
        let known = &self.facts.silent;
        let news = answered.iter().any(|node| known.contains(node))
            || silent.iter().any(|node| !known.contains(node));
        if news {
            let facts = Arc::make_mut(&mut self.facts);
            facts.silent.retain(|node| !answered.contains(node));
            facts.silent.extend(silent.iter().cloned());
            self.forget_needs_on(silent);
        }
    }

    /// A job needs this, polled after it came to its place with this change.
    pub(super) fn needs(&mut self, job: u32, since: u64, need: Need) {
        let facts = &self.facts;
        let is_there = self.places.place(job).is_some_and(|place| {
            let mut nodes = place.nodes.iter();
            place.since == since && nodes.all(|node| !facts.silent.contains(node))
        });
        let known = facts.needs.get(&job).copied().unwrap_or(Need::WHOLE);
        if !is_there || known == need {
            return;
        }
        let needs = &mut Arc::make_mut(&mut self.facts).needs;
        if need.is_less() {
            needs.insert(job, need);
        } else {
            needs.remove(&job);
        }
    }

    /// The node of this job says whether it can be carried.
    pub(super) fn carriable(&mut self, job: u32, can_be: bool) {
        if self.facts.carriable.get(&job) != Some(&can_be) {
            let facts = Arc::make_mut(&mut self.facts);
            facts.carriable.insert(job, can_be);
        }
    }

    /// Whether some node has, or had, a job to inspect.
    pub(super) fn inspects(&self) -> bool {
        self.inspects
    }

    /// These jobs are no longer inspected where they were.
    pub(super) fn forget_carriable(&mut self, jobs: &BTreeSet<u32>) {
        let known = &self.facts.carriable;
        if jobs.iter().any(|job| known.contains_key(job)) {
            let facts = Arc::make_mut(&mut self.facts);
            facts.carriable.retain(|job, _| !jobs.contains(job));
        }
    }

    /// Whether the last change matters to the polling of needs.
    #[must_use]
    pub(super) fn polls_needs(&self) -> bool {
        self.polls_needs
    }

    /// Whether all nodes of a job have the orders to publish what it needs.
    pub(super) fn is_measured_on_all_nodes(&self, job: u32) -> bool {
        let confirmed = |node: &str| self.orders.get(node).map_or(0, |orders| orders.confirmed);
        self.places.is_acknowledged(job, confirmed)
    }

    /// How much of their swap these nodes have for parked jobs.
    pub(super) fn set_swap(&mut self, learned: &LearnedSwap) {
        for (node, has) in learned {
            if self.facts.swap_eighths(node) != *has {
                let facts = Arc::make_mut(&mut self.facts);
                facts.set_swap_eighths(node, *has);
            }
        }
    }

    /// These nodes have the orders of these changes.
    fn confirm_orders(&mut self, nodes: &[(String, u64)]) {
        for (node, number) in nodes {
            if let Some(orders) = self.orders.get_mut(node) {
                orders.confirmed = orders.confirmed.max(*number);
            }
        }
    }

    /// Whether the node has its newest orders, or gets none.
    #[must_use]
    pub fn has_newest_orders(&self, node: &str) -> bool {
        let orders = self.orders.get(node);
        orders.is_none_or(|orders| orders.confirmed >= orders.given)
    }

    /// Jobs that are being parked, on nodes that know it, and of which it is not known yet that they are
    /// parked. O(those that are being parked, and their nodes).
    pub(super) fn parkings_to_poll(&self) -> BTreeMap<u32, &ParkingJob> {
        let parking = self.parking.iter();
        let polled = parking.filter(|(job, _)| self.is_parking_polled(**job));
        polled.map(|(job, parking)| (*job, parking)).collect()
    }

    /// Whether nodes are to be polled about this job, which is being parked.
    pub(super) fn is_parking_polled(&self, job: u32) -> bool {
        let parking = self.parking.get(&job);
        let parking = parking.filter(|_| !self.facts.parked.contains(&job));
        parking.is_some_and(|parking| self.all_nodes_have_orders(parking))
    }

    /// All nodes of this job publish that it is parked, polled after it began with this change.
    pub(super) fn parked(&mut self, job: u32, since: u64) {
        let parking = self.parking.get(&job);
        if parking.is_some_and(|parking| parking.since == since) {
            Arc::make_mut(&mut self.facts).parked.insert(job);
        }
    }

    /// A node publishes that this job cannot be parked there, polled after it began with this
    /// change.
    pub(super) fn stuck(&mut self, job: u32, since: u64) {
        let parking = self.parking.get(&job);
        let is_known = self.facts.stuck.contains(&job);
        if parking.is_some_and(|parking| parking.since == since) && !is_known {
            Arc::make_mut(&mut self.facts).stuck.insert(job);
        }
    }

    /// Whether nodes that keep the job frozen may be polled whether it is still parked: it is not
    /// polled otherwise, and all of them have the orders to keep it so.
    pub(super) fn can_poll_parked(&self, job: u32, nodes: &BTreeSet<String>) -> bool {
        let is_current = |node: &String| {
            !self.facts.silent.contains(node)
                && self.orders.contains_key(node)
                && self.has_newest_orders(node)
        };
        !self.parking.contains_key(&job) && nodes.iter().all(is_current)
    }

    /// This node, which keeps the job frozen, does not have it parked any more.
    pub(super) fn not_parked(&mut self, job: u32, node: String) {
        let is_known = self.facts.not_parked.contains_key(&job);
        if !self.parking.contains_key(&job) && !is_known {
            let facts = Arc::make_mut(&mut self.facts);
            facts.not_parked.insert(job, node);
        }
    }

    /// Whether these jobs are parked has to be found again.
    pub(super) fn forget_not_parked(&mut self, jobs: &BTreeSet<u32>) {
        let known = &self.facts.not_parked;
        if jobs.iter().any(|job| known.contains_key(job)) {
            let facts = Arc::make_mut(&mut self.facts);
            facts.not_parked.retain(|job, _| !jobs.contains(job));
        }
    }

    /// Orders change, and these jobs are being parked. Forgets nodes that are gone, which are
    /// rightly silent, and jobs that are no longer polled. Returns the number of the change.
    pub fn change(&mut self, changes: &OrderChanges, parking: BTreeMap<u32, Vec<String>>) -> u64 {
        self.number += 1;
        let number = self.number;
        for node in &changes.gone {
            self.orders.remove(node);
            self.wanted.remove(node);
        }
        for (node, orders) in &changes.changed {
            self.orders.entry(node.clone()).or_default().given = number;
            self.set_wanted(node, &orders.jobs);
        }
        let mut orders = changes.changed.values().flat_map(|orders| &orders.jobs);
        self.inspects |= orders.any(|job| job.carry);
        let asked = !self.places.is_empty();
        let moved = self.places.change(changes, number);
        self.polls_needs = asked || !self.places.is_empty();
        self.forget_needs_of(&moved);
        self.set_parking(parking);
        self.remove_gone(&changes.gone);
        number
    }

    /// What a job needed elsewhere does not hold here. A job that counts with its whole request
    /// again, although it was known to need less, was restarted without having been seen elsewhere.
    fn forget_needs_of(&mut self, moved: &QueryChanges) {
        let both = moved.elsewhere.iter().chain(&moved.whole);
        self.forget_needs(both.copied().collect());
    }

    /// The needs on a node that does not answer are unknown.
    fn forget_needs_on(&mut self, nodes: &[String]) {
        let jobs = nodes.iter().flat_map(|node| self.places.jobs_on(node));
        self.forget_needs(jobs.map(|(job, _)| job).collect());
    }

    fn forget_needs(&mut self, jobs: Vec<u32>) {
        if jobs.iter().any(|job| self.facts.needs.contains_key(job)) {
            let needs = &mut Arc::make_mut(&mut self.facts).needs;
            needs.retain(|job, _| !jobs.contains(job));
        }
    }

    fn set_wanted(&mut self, node: &str, orders: &[JobOrder]) {
        let wanted = orders.iter().map(|job| (job.id, WantedFact::of(job)));
        let wanted: BTreeMap<u32, WantedFact> = wanted
            .filter(|(_, wanted)| *wanted != WantedFact::Parked)
            .collect();
        if wanted.is_empty() {
            self.wanted.remove(node);
        } else {
            self.wanted.insert(node.to_owned(), wanted);
        }
    }

    /// What the nodes of a job are to say of it, by the orders of the first.
    fn wanted_of(&self, job: u32, nodes: &[String]) -> WantedFact {
        let wanted = nodes.first().and_then(|node| self.wanted.get(node));
        let wanted = wanted.and_then(|jobs| jobs.get(&job));
        wanted.copied().unwrap_or_default()
    }

    fn set_parking(&mut self, parking: BTreeMap<u32, Vec<String>>) {
        let mut before = std::mem::take(&mut self.parking);
        for (job, nodes) in parking {
            let same = before.remove(&job);
            let wanted = self.wanted_of(job, &nodes);
            let parking = same.filter(|before| before.nodes == nodes && before.wanted == wanted);
            let parking = parking.unwrap_or_else(|| self.begin_parking(nodes, wanted));
            self.parking.insert(job, parking);
        }
    }

    fn begin_parking(&self, nodes: Vec<String>, wanted: WantedFact) -> ParkingJob {
        let given = |node| {
            self.orders
                .get(node)
                .map_or(self.number, |orders| orders.given)
        };
        ParkingJob {
            orders: nodes.iter().map(given).collect(),
            nodes,
            wanted,
            since: self.number,
        }
    }

    /// Whether all nodes of a job have the orders by which it is frozen. False where there is no
    /// node.
    fn all_nodes_have_orders(&self, parking: &ParkingJob) -> bool {
        let mut nodes = parking.nodes.iter().zip(&parking.orders);
        let has = |node, number| {
            let orders: Option<&OrderNumbers> = self.orders.get(node);
            orders.is_some_and(|orders| orders.confirmed >= number)
        };
        !parking.nodes.is_empty() && nodes.all(|(node, number)| has(node, *number))
    }

    fn remove_gone(&mut self, gone: &BTreeSet<String>) {
        let (number, parking) = (self.number, &self.parking);
        // What was parked before it was begun again is not known to be parked.
        let goes_on = |job: &u32| {
            parking
                .get(job)
                .is_some_and(|parking| parking.since < number)
        };
        let facts = &self.facts;
        let forgets = gone
            .iter()
            .any(|node| facts.silent.contains(node) || facts.can_park.contains(node));
        let mut reported = facts.parked.iter().chain(&facts.stuck);
        let is_asked = |job: &u32| parking.contains_key(job);
        if forgets || !reported.all(goes_on) || facts.not_parked.keys().any(is_asked) {
            let facts = Arc::make_mut(&mut self.facts);
            facts.silent.retain(|node| !gone.contains(node));
            for node in gone {
                facts.set_swap_eighths(node, None);
            }
            facts.parked.retain(goes_on);
            facts.stuck.retain(goes_on);
            facts.not_parked.retain(|job, _| !is_asked(job));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixtures::measuring_orders;
    use dfrs_proto::message::NodeOrder;

    use super::*;

    fn changes(nodes: &[&str]) -> OrderChanges {
        let orders = NodeOrder {
            cpus: 4,
            ..NodeOrder::default()
        };
        let changed = nodes
            .iter()
            .map(|node| ((*node).to_owned(), orders.clone()));
        OrderChanges {
            changed: changed.collect(),
            gone: BTreeSet::new(),
        }
    }

    fn parking(nodes: &[&str]) -> BTreeMap<u32, Vec<String>> {
        BTreeMap::from([(9, nodes.iter().map(|node| (*node).to_owned()).collect())])
    }

    fn confirm(store: &mut DeliveryFacts, node: &str, number: u64) {
        store.confirm_orders(&[(node.to_owned(), number)]);
    }

    fn is_polled(store: &DeliveryFacts) -> bool {
        store.parkings_to_poll().contains_key(&9)
    }

    #[test]
    fn parking_job_is_polled_when_its_nodes_have_their_orders() {
        let mut store = DeliveryFacts::default();
        store.change(&changes(&["a", "b", "c"]), parking(&["a", "b"]));
        confirm(&mut store, "a", 1);
        assert!(!is_polled(&store), "b does not know yet that it is frozen");
        // Others' orders are no matter of this job.
        store.change(&changes(&["a", "c"]), parking(&["a", "b"]));
        confirm(&mut store, "b", 1);
        assert!(is_polled(&store));
        store.parked(9, 1);
        assert!(!is_polled(&store));
        assert_eq!(store.facts().parked, BTreeSet::from([9]));
    }

    #[test]
    fn answers_from_before_a_thaw_are_ignored() {
        let mut store = DeliveryFacts::default();
        store.change(&changes(&["a"]), parking(&["a"]));
        confirm(&mut store, "a", 1);
        store.parked(9, 1);
        store.change(&changes(&["a"]), BTreeMap::new());
        store.change(&changes(&["a"]), parking(&["a"]));
        assert!(
            !is_polled(&store),
            "a still has the orders of the first time"
        );
        confirm(&mut store, "a", 2);
        assert!(!is_polled(&store), "those by which it was thawed");
        store.parked(9, 1);
        assert!(store.facts().parked.is_empty(), "a late answer");
        confirm(&mut store, "a", 3);
        assert!(is_polled(&store));
    }

    #[test]
    fn what_was_said_of_an_image_says_nothing_of_the_end_or_of_its_removal() {
        let mut store = DeliveryFacts::default();
        let order = |store: &mut DeliveryFacts, flags: [bool; 4]| {
            let mut changes = changes(&["a"]);
            let [frozen, ended, image, void] = flags;
            let order = JobOrder {
                frozen,
                ended,
                image,
                void,
                ..JobOrder::new(9, dfrs_proto::message::Share::ONE)
            };
            let orders = changes.changed.get_mut("a").expect("is there");
            orders.jobs.push(order);
            store.change(&changes, parking(&["a"]))
        };
        for flags in [
            [true, false, false, false],
            [true, false, true, false],
            [false, true, true, false],
            [false, true, false, true],
        ] {
            let number = order(&mut store, flags);
            assert!(store.facts().parked.is_empty(), "{flags:?}");
            confirm(&mut store, "a", number);
            store.parked(9, number);
            assert!(!store.facts().parked.is_empty(), "{flags:?}");
        }
    }

    #[test]
    fn job_is_stuck_only_while_it_is_being_parked() {
        let mut store = DeliveryFacts::default();
        store.change(&changes(&["a"]), parking(&["a"]));
        confirm(&mut store, "a", 1);
        store.stuck(9, 0);
        assert!(store.facts().stuck.is_empty(), "of an earlier time");
        store.stuck(9, 1);
        assert_eq!(store.facts().stuck, BTreeSet::from([9]));
        assert!(is_polled(&store), "it may be parked after all");
        store.change(&changes(&["a"]), BTreeMap::new());
        assert!(store.facts().stuck.is_empty());
    }

    #[test]
    fn lost_parking_is_known_until_the_job_is_polled_or_thawed() {
        let mut store = DeliveryFacts::default();
        let lose = |store: &mut DeliveryFacts| store.not_parked(9, "a".to_owned());
        let known = |store: &DeliveryFacts| {
            store
                .facts()
                .not_parked
                .keys()
                .copied()
                .collect::<Vec<u32>>()
        };
        store.change(&changes(&["a"]), parking(&["a"]));
        lose(&mut store);
        assert_eq!(known(&store), [0; 0], "it is only being parked");
        store.change(&changes(&["a"]), BTreeMap::new());
        lose(&mut store);
        assert_eq!(known(&store), [9]);
        store.change(&OrderChanges::default(), parking(&["a"]));
        assert_eq!(known(&store), [0; 0], "it is asked about again");
        store.change(&OrderChanges::default(), BTreeMap::new());
        lose(&mut store);
        store.forget_not_parked(&BTreeSet::from([9]));
        assert_eq!(known(&store), [0; 0]);
    }

    #[test]
    fn parked_job_is_polled_when_its_nodes_have_the_newest_orders() {
        let mut store = DeliveryFacts::default();
        let nodes = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
        let may_be = |store: &DeliveryFacts| store.can_poll_parked(9, &nodes);
        store.change(&changes(&["a", "b"]), parking(&["a", "b"]));
        confirm(&mut store, "a", 1);
        confirm(&mut store, "b", 1);
        assert!(!may_be(&store), "it is asked about otherwise");
        store.change(&changes(&["a"]), BTreeMap::new());
        assert!(!may_be(&store), "a has not heard its newest orders");
        confirm(&mut store, "a", 2);
        assert!(may_be(&store));
        store.record_answers(&[], &["b".to_owned()]);
        assert!(!may_be(&store));
    }

    #[test]
    fn need_is_known_while_its_job_stays_where_it_was_measured() {
        let mut store = DeliveryFacts::default();
        let known = |store: &DeliveryFacts| store.facts().needs.get(&9).map(|need| need.eighths());
        let learn = |store: &mut DeliveryFacts, since, eighths| {
            store.needs(9, since, Need::from_eighths(eighths))
        };
        let order = |store: &mut DeliveryFacts, jobs| {
            store.change(&measuring_orders(&[("a", jobs)]), BTreeMap::new())
        };
        order(&mut store, &[(9, 8)]);
        assert!(!store.is_measured_on_all_nodes(9));
        confirm(&mut store, "a", 1);
        assert!(store.is_measured_on_all_nodes(9));
        learn(&mut store, 1, 3);
        assert_eq!(known(&store), Some(3));
        order(&mut store, &[(9, 3), (8, 8)]);
        assert_eq!(known(&store), Some(3));
        learn(&mut store, 1, 5);
        learn(&mut store, 0, 2);
        assert_eq!(known(&store), Some(5));
        order(&mut store, &[(9, 8), (8, 8)]);
        assert_eq!(known(&store), None, "the scheduler has forgotten it");
        learn(&mut store, 1, 5);
        order(&mut store, &[(8, 8)]);
        assert_eq!(known(&store), None, "it has left");
        order(&mut store, &[(9, 8), (8, 8)]);
        learn(&mut store, 1, 5);
        assert_eq!(known(&store), None, "a late answer");
        learn(&mut store, 5, 5);
        store.record_answers(&[], &["a".to_owned()]);
        assert_eq!(known(&store), None, "its node is silent");
        learn(&mut store, 5, 5);
        assert_eq!(known(&store), None);
        store.record_answers(&["a".to_owned()], &[]);
        learn(&mut store, 5, 8);
        assert_eq!(known(&store), None, "all is nothing to know");
    }

    #[test]
    fn node_is_current_when_it_confirmed_its_newest_orders() {
        let mut store = DeliveryFacts::default();
        assert!(store.has_newest_orders("a"), "there is nothing to hear");
        store.change(&changes(&["a", "b"]), BTreeMap::new());
        assert!(!store.has_newest_orders("a"));
        confirm(&mut store, "a", 1);
        assert!(store.has_newest_orders("a"));
        store.change(&changes(&["b"]), BTreeMap::new());
        assert!(store.has_newest_orders("a"), "the news is others'");
        store.change(&changes(&["a"]), BTreeMap::new());
        confirm(&mut store, "a", 1);
        assert!(!store.has_newest_orders("a"));
    }

    #[test]
    fn parking_job_is_polled_again_when_its_nodes_change() {
        let mut store = DeliveryFacts::default();
        store.change(&changes(&["a", "b"]), parking(&["a"]));
        confirm(&mut store, "a", 1);
        store.parked(9, 1);
        store.change(&OrderChanges::default(), parking(&["b"]));
        assert!(store.facts().parked.is_empty());
    }
}
