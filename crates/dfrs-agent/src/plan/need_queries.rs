//! The jobs about whose needs nodes are queried, by the orders of the nodes. Costs nothing for
//! nodes whose orders do not query.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::Need;
use dfrs_proto::message::NodeOrder;

use crate::daemons::OrderChanges;

/// Jobs and the nodes on which they are queried.
#[derive(Debug, Default)]
pub struct NeedQueries {
    nodes: BTreeMap<String, BTreeMap<u32, NodeQuery>>,
    jobs: BTreeMap<u32, QueriedJob>,
}

/// A job on one node.
#[derive(Clone, Copy, Debug)]
struct NodeQuery {
    /// What it counts with in decisions.
    counted: Need,
    /// The change of orders with which it came there.
    since: u64,
}

/// Where a job is.
#[derive(Debug, Default)]
pub struct QueriedJob {
    /// Its nodes, by name.
    pub nodes: BTreeSet<String>,
    /// The change of orders with which it came there: what was said before is of another place.
    pub since: u64,
}

/// What a change of orders is for jobs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct QueryChanges {
    /// They are in another place, or no longer queried.
    pub elsewhere: BTreeSet<u32>,
    /// They are counted with all of their request again.
    pub whole: BTreeSet<u32>,
}

impl NeedQueries {
    /// Follows the change of orders of this number. O(jobs on nodes whose orders changed and query,
    /// or queried before).
    pub fn change(&mut self, changes: &OrderChanges, number: u64) -> QueryChanges {
        let mut changed = QueryChanges::default();
        for node in &changes.gone {
            self.set(node, &BTreeMap::new(), number, &mut changed);
        }
        for (node, orders) in &changes.changed {
            self.set(node, &queried_jobs(orders), number, &mut changed);
        }
        changed
    }

    fn set(
        &mut self,
        node: &str,
        asked: &BTreeMap<u32, Need>,
        number: u64,
        changed: &mut QueryChanges,
    ) {
        let before = self.nodes.remove(node).unwrap_or_default();
        let mut now = BTreeMap::new();
        for (job, need) in asked {
            let known = before.get(job);
            if known.is_none() {
                let place = self.jobs.entry(*job).or_default();
                place.nodes.insert(node.to_owned());
                place.since = number;
                changed.elsewhere.insert(*job);
            } else if known.is_some_and(|spot| spot.counted.is_less()) && !need.is_less() {
                changed.whole.insert(*job);
            }
            let spot = NodeQuery {
                counted: *need,
                since: known.map_or(number, |spot| spot.since),
            };
            now.insert(*job, spot);
        }
        for job in before.keys().filter(|job| !asked.contains_key(job)) {
            self.leave(*job, node, number);
            changed.elsewhere.insert(*job);
        }
        if !now.is_empty() {
            self.nodes.insert(node.to_owned(), now);
        }
    }

    fn leave(&mut self, job: u32, node: &str, number: u64) {
        let Some(place) = self.jobs.get_mut(&job) else {
            return;
        };
        place.nodes.remove(node);
        place.since = number;
        if place.nodes.is_empty() {
            self.jobs.remove(&job);
        }
    }

    /// Whether there is no job to query.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Where the job is queried, if it is.
    pub fn place(&self, job: u32) -> Option<&QueriedJob> {
        self.jobs.get(&job)
    }

    /// Jobs about which this node is queried, and what each is counted with.
    pub fn jobs_on(&self, node: &str) -> impl Iterator<Item = (u32, Need)> {
        let jobs = self.nodes.get(node).into_iter().flatten();
        jobs.map(|(job, spot)| (*job, spot.counted))
    }

    /// Whether all nodes of the job have received its query: `acknowledged` is the last change
    /// whose orders a node has acknowledged.
    pub fn is_acknowledged(&self, job: u32, acknowledged: impl Fn(&str) -> u64) -> bool {
        self.place(job).is_some_and(|place| {
            place.nodes.iter().all(|node| {
                let jobs = self.nodes.get(node);
                let spot = jobs.and_then(|jobs| jobs.get(&job));
                spot.is_some_and(|spot| acknowledged(node) >= spot.since)
            })
        })
    }
}

/// The jobs that these orders query.
fn queried_jobs(orders: &NodeOrder) -> BTreeMap<u32, Need> {
    let jobs = orders.jobs.iter();
    let jobs = jobs.filter(|job| job.request.is_some() && !job.frozen);
    jobs.map(|job| (job.id, job.need)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::measuring_orders;

    fn since(places: &NeedQueries, job: u32) -> Option<u64> {
        places.place(job).map(|place| place.since)
    }

    #[test]
    fn job_is_elsewhere_when_one_of_its_nodes_comes_or_goes() {
        let mut places = NeedQueries::default();
        let changed = places.change(
            &measuring_orders(&[("a", &[(1, 8)]), ("b", &[(1, 8), (2, 8)])]),
            1,
        );
        assert_eq!(changed.elsewhere, BTreeSet::from([1, 2]));
        let changed = places.change(&measuring_orders(&[("b", &[(1, 4), (2, 8)])]), 2);
        assert_eq!(
            changed,
            QueryChanges::default(),
            "it counts with less, no more"
        );
        assert_eq!(since(&places, 1), Some(1));
        let changed = places.change(&measuring_orders(&[("a", &[])]), 3);
        assert_eq!(changed.elsewhere, BTreeSet::from([1]));
        assert_eq!((since(&places, 1), since(&places, 2)), (Some(3), Some(1)));
        let gone = OrderChanges {
            gone: BTreeSet::from(["b".to_owned()]),
            ..OrderChanges::default()
        };
        assert_eq!(places.change(&gone, 4).elsewhere, BTreeSet::from([1, 2]));
        assert!(places.nodes.is_empty() && places.is_empty());
    }

    #[test]
    fn job_that_counts_in_full_again_is_reported() {
        let mut places = NeedQueries::default();
        places.change(&measuring_orders(&[("a", &[(1, 3), (2, 8)])]), 1);
        let changed = places.change(&measuring_orders(&[("a", &[(1, 8), (2, 8)])]), 2);
        assert_eq!(changed.whole, BTreeSet::from([1]));
    }

    #[test]
    fn nodes_without_need_queries_have_no_entries() {
        let mut places = NeedQueries::default();
        let mut orders = measuring_orders(&[("a", &[(1, 8)]), ("b", &[(2, 8)])]);
        for state in orders.changed.values_mut() {
            state.jobs[0].request = None;
        }
        assert_eq!(places.change(&orders, 1), QueryChanges::default());
        assert!(places.nodes.is_empty() && places.jobs.is_empty());
    }

    #[test]
    fn job_is_acknowledged_when_all_its_nodes_have_its_orders() {
        let mut places = NeedQueries::default();
        places.change(&measuring_orders(&[("a", &[(1, 8)])]), 1);
        places.change(&measuring_orders(&[("b", &[(1, 8)])]), 2);
        let acknowledged = |b: u64| move |node: &str| if node == "a" { 1 } else { b };
        assert!(!places.is_acknowledged(1, acknowledged(1)));
        assert!(places.is_acknowledged(1, acknowledged(2)));
        assert!(
            !places.is_acknowledged(2, acknowledged(9)),
            "no node is asked about it"
        );
    }
}
