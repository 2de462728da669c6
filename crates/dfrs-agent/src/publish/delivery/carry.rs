//! Which jobs can be carried, by their nodes' word. No threads and no clock here.
//!
//! Orders have the jobs that nodes are to inspect. Each is polled soon after its start, and then
//! ever more rarely while the answer stays the same: a program can open a socket at any time, and
//! its node looks again before it writes an image.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};
use dfrs_proto::message::NodeOrder;

use super::Query;

/// A job is polled so long after its node was to inspect it: by then it has inspected it.
const FIRST: Span = Span::from_seconds(5);
/// How soon it is polled again after another answer, and the shortest interval.
const MIN_INTERVAL: Span = Span::from_seconds(30);
/// The longest.
const MAX_INTERVAL: Span = Span::from_seconds(600);

#[derive(Debug)]
struct InspectedJob {
    node: String,
    /// `None`: a query is under way.
    due: Option<Time>,
    interval: Span,
    answer: Option<bool>,
}

/// All jobs that nodes inspect.
#[derive(Debug, Default)]
pub(super) struct CarrySchedule {
    nodes: BTreeMap<String, BTreeSet<u32>>,
    jobs: BTreeMap<u32, InspectedJob>,
}

/// The jobs that these orders have the node inspect.
pub(super) fn inspected(orders: &NodeOrder) -> BTreeSet<u32> {
    let jobs = orders.jobs.iter().filter(|job| job.carry);
    jobs.map(|job| job.id).collect()
}

impl CarrySchedule {
    /// Follows other orders: which jobs these nodes inspect now. Returns those that are no longer
    /// inspected where they were, or at all. O(jobs inspected there).
    pub(super) fn change(
        &mut self,
        inspected: &BTreeMap<String, BTreeSet<u32>>,
        gone: &BTreeSet<String>,
        now: Time,
    ) -> BTreeSet<u32> {
        let mut left = BTreeSet::new();
        let nothing = BTreeSet::new();
        let gone = gone.iter().map(|node| (node, &nothing));
        for (node, after) in inspected.iter().chain(gone) {
            let before = self.nodes.remove(node).unwrap_or_default();
            for id in before.difference(after) {
                left.insert(*id);
                if self.jobs.get(id).is_some_and(|job| job.node == *node) {
                    self.jobs.remove(id);
                }
            }
            for id in after.difference(&before) {
                let job = InspectedJob {
                    node: node.clone(),
                    due: Some(now + FIRST),
                    interval: MIN_INTERVAL,
                    answer: None,
                };
                self.jobs.insert(*id, job);
            }
            if !after.is_empty() {
                self.nodes.insert(node.clone(), after.clone());
            }
        }
        left
    }

    /// Of jobs on nodes that do not answer it is not known whether they can be carried. Returns
    /// those of which it was. O(jobs on such nodes).
    pub(super) fn skip_silent(&mut self, silent: &BTreeSet<String>, now: Time) -> BTreeSet<u32> {
        let mut unknown = BTreeSet::new();
        for id in silent
            .iter()
            .filter_map(|node| self.nodes.get(node))
            .flatten()
        {
            let job = self.jobs.get_mut(id);
            let job = job.filter(|job| silent.contains(&job.node));
            if let Some(job) = job
                && job.answer.take().is_some()
            {
                (job.due, job.interval) = (Some(now + MIN_INTERVAL), MIN_INTERVAL);
                unknown.insert(*id);
            }
        }
        unknown
    }

    /// The next job to poll: the one that is due for longest. One whose node may not be polled is
    /// looked at again later. O(jobs).
    pub(super) fn next(&mut self, now: Time, may_be: impl Fn(&str) -> bool) -> Option<Query<u32>> {
        loop {
            let due = self.jobs.iter_mut();
            let due = due.filter(|(_, job)| job.due.is_some_and(|due| due <= now));
            let (id, job) = due.min_by_key(|(id, job)| (job.due, **id))?;
            if may_be(&job.node) {
                job.due = None;
                return Some(Query {
                    nodes: vec![job.node.clone()],
                    about: *id,
                });
            }
            job.due = Some(now + MIN_INTERVAL);
        }
    }

    /// When a job is next due. O(jobs).
    #[cfg(any(test, feature = "fixtures"))]
    pub(super) fn next_due(&self) -> Option<Time> {
        self.jobs.values().filter_map(|job| job.due).min()
    }

    /// A query has completed; `can_be`: the node says that the job can be carried. Returns whether
    /// that is about where the job is.
    pub(super) fn answer(&mut self, query: &Query<u32>, can_be: bool, now: Time) -> bool {
        let Some(job) = self.asked(query) else {
            return false;
        };
        job.interval = match job.answer {
            Some(before) if before == can_be => {
                Span(job.interval.0.saturating_mul(2)).min(MAX_INTERVAL)
            }
            _ => MIN_INTERVAL,
        };
        job.answer = Some(can_be);
        job.due = Some(now + job.interval);
        true
    }

    /// A query that could not be sent, or was not answered, is sent again later.
    pub(super) fn not_sent(&mut self, query: &Query<u32>, now: Time) {
        if let Some(job) = self.asked(query) {
            job.due = Some(now + MIN_INTERVAL);
        }
    }

    /// The job about which the query is under way, where it is.
    fn asked(&mut self, query: &Query<u32>) -> Option<&mut InspectedJob> {
        let job = self.jobs.get_mut(&query.about);
        job.filter(|job| job.due.is_none() && query.nodes == [job.node.as_str()])
    }

    /// What is under way is forgotten.
    pub(super) fn reset_in_flight(&mut self, now: Time) {
        for job in self.jobs.values_mut() {
            job.due.get_or_insert(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(node: &str, jobs: &[u32]) -> BTreeMap<String, BTreeSet<u32>> {
        BTreeMap::from([(node.to_owned(), jobs.iter().copied().collect())])
    }

    fn at(seconds: i64) -> Time {
        Time::from_seconds(seconds)
    }

    fn polled(schedule: &mut CarrySchedule, now: Time) -> Option<Query<u32>> {
        schedule.next(now, |_| true)
    }

    #[test]
    fn job_is_polled_ever_more_rarely_while_its_answer_is_the_same() {
        let mut schedule = CarrySchedule::default();
        schedule.change(&on("a", &[7]), &BTreeSet::new(), at(0));
        assert_eq!(polled(&mut schedule, at(4)), None);
        let mut now = at(5);
        for (answer, seconds) in [
            (true, 30),
            (true, 60),
            (true, 120),
            (false, 30),
            (false, 60),
        ] {
            let query = polled(&mut schedule, now).expect("due");
            assert_eq!(
                (query.about, query.nodes.as_slice()),
                (7, &["a".to_owned()][..])
            );
            assert_eq!(polled(&mut schedule, now), None, "it is under way");
            assert!(schedule.answer(&query, answer, now));
            assert_eq!(schedule.next_due(), Some(now + Span::from_seconds(seconds)));
            now = now + Span::from_seconds(seconds);
        }
    }

    #[test]
    fn answer_of_a_node_that_the_job_has_left_does_not_count() {
        let mut schedule = CarrySchedule::default();
        let none = BTreeSet::new();
        schedule.change(&on("a", &[7]), &none, at(0));
        let query = polled(&mut schedule, at(5)).expect("due");
        schedule.change(&on("b", &[7]), &none, at(6));
        let left = schedule.change(&on("a", &[]), &none, at(6));
        assert_eq!(left, BTreeSet::from([7]), "what was said there is of there");
        assert!(schedule.next_due().is_some(), "it is inspected elsewhere");
        assert!(!schedule.answer(&query, true, at(7)));
        let gone = BTreeSet::from(["b".to_owned()]);
        let left = schedule.change(&BTreeMap::new(), &gone, at(8));
        assert_eq!(left, BTreeSet::from([7]));
        assert_eq!(schedule.next_due(), None);
    }

    #[test]
    fn answer_of_a_node_that_is_silent_since_does_not_count() {
        let mut schedule = CarrySchedule::default();
        let both: BTreeMap<_, _> = on("a", &[7]).into_iter().chain(on("b", &[8])).collect();
        schedule.change(&both, &BTreeSet::new(), at(0));
        for _ in 0..2 {
            let query = polled(&mut schedule, at(5)).expect("due");
            assert!(schedule.answer(&query, true, at(5)));
        }
        let silent = BTreeSet::from(["a".to_owned(), "c".to_owned()]);
        let unknown = schedule.skip_silent(&silent, at(20));
        assert_eq!(unknown, BTreeSet::from([7]));
        assert_eq!(schedule.skip_silent(&silent, at(21)), BTreeSet::new());
        let queries: Vec<u32> = (0..2)
            .filter_map(|_| Some(polled(&mut schedule, at(50))?.about))
            .collect();
        assert_eq!(queries, [8, 7], "both are polled again");
    }

    #[test]
    fn query_is_sent_again_when_it_could_not_be_sent() {
        let mut schedule = CarrySchedule::default();
        schedule.change(&on("a", &[7]), &BTreeSet::new(), at(0));
        assert_eq!(schedule.next(at(5), |_| false), None, "its node is silent");
        assert_eq!(schedule.next_due(), Some(at(35)));
        let query = polled(&mut schedule, at(35)).expect("due");
        schedule.not_sent(&query, at(36));
        assert_eq!(schedule.next_due(), Some(at(66)));
        polled(&mut schedule, at(66)).expect("due");
        schedule.reset_in_flight(at(70));
        assert_eq!(schedule.next_due(), Some(at(70)));
    }
}
