//! Whether jobs that are parked still are, polled rarely. No threads and no clock here.
//!
//! Orders have the jobs that nodes keep frozen. For those that are not polled otherwise, all nodes
//! are polled now and then whether the job is parked there. A node that gets its orders, but
//! several times in a row not that query, no longer has the job parked. Once is not enough: a
//! message is lost, or dfrsd has just been restarted and looks first.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};

use super::Query;

/// How often nodes are polled about a job.
const INTERVAL: Span = Span::from_seconds(300);
/// How soon they are polled again after no answer, or where the job cannot be polled now.
const RETRY_INTERVAL: Span = Span::from_seconds(30);
/// So many times in a row without an answer, the job is not parked there any more.
const MAX_MISSING: u32 = 3;

#[derive(Debug)]
struct FrozenJobPoll {
    nodes: BTreeSet<String>,
    /// `None`: a query is under way.
    due: Option<Time>,
    missing: u32,
}

/// What other orders mean for jobs that nodes keep frozen.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FrozenChanges {
    /// Jobs that are frozen on other nodes than before, or on none.
    pub(super) jobs: BTreeSet<u32>,
    /// Jobs that were frozen there are so no longer.
    pub(super) thawing: BTreeSet<String>,
}

/// All jobs that nodes keep frozen.
#[derive(Debug, Default)]
pub(super) struct ParkedSchedule {
    frozen: BTreeMap<String, BTreeSet<u32>>,
    jobs: BTreeMap<u32, FrozenJobPoll>,
}

impl ParkedSchedule {
    /// Follows other orders: which jobs these nodes keep frozen now. O(jobs frozen there).
    pub(super) fn change(
        &mut self,
        frozen: &BTreeMap<String, BTreeSet<u32>>,
        gone: &BTreeSet<String>,
        now: Time,
    ) -> FrozenChanges {
        let mut changed = FrozenChanges::default();
        let nothing = BTreeSet::new();
        let gone = gone.iter().map(|node| (node, &nothing));
        for (node, after) in frozen.iter().chain(gone) {
            let before = self.frozen.remove(node).unwrap_or_default();
            if !before.is_subset(after) {
                changed.thawing.insert(node.clone());
            }
            for id in before.symmetric_difference(after) {
                self.set(*id, node, after.contains(id), now);
                changed.jobs.insert(*id);
            }
            if !after.is_empty() {
                self.frozen.insert(node.clone(), after.clone());
            }
        }
        changed
    }

    fn set(&mut self, id: u32, node: &str, is_frozen: bool, now: Time) {
        let job = self.jobs.entry(id).or_insert(FrozenJobPoll {
            nodes: BTreeSet::new(),
            due: None,
            missing: 0,
        });
        if is_frozen {
            job.nodes.insert(node.to_owned());
        } else {
            job.nodes.remove(node);
        }
        (job.due, job.missing) = (Some(now + INTERVAL), 0);
        if job.nodes.is_empty() {
            self.jobs.remove(&id);
        }
    }

    /// The next job to poll, at all of its nodes. A job that may not be polled is looked at again
    /// later. O(jobs).
    pub(super) fn next(
        &mut self,
        now: Time,
        may_be: impl Fn(u32, &BTreeSet<String>) -> bool,
    ) -> Option<Query<u32>> {
        for (id, job) in &mut self.jobs {
            if job.due.is_none_or(|due| due > now) {
                continue;
            }
            if may_be(*id, &job.nodes) {
                job.due = None;
                return Some(Query {
                    nodes: job.nodes.iter().cloned().collect(),
                    about: *id,
                });
            }
            (job.due, job.missing) = (Some(now + RETRY_INTERVAL), 0);
        }
        None
    }

    /// When a job is next due. O(jobs).
    #[cfg(any(test, feature = "fixtures"))]
    pub(super) fn next_due(&self) -> Option<Time> {
        self.jobs.values().filter_map(|job| job.due).min()
    }

    /// A query has completed: these nodes, which can be reached, do not have the job parked.
    /// Returns one on which it is not any more, if there is one.
    pub(super) fn answer(
        &mut self,
        question: &Query<u32>,
        missing: &[&String],
        now: Time,
    ) -> Option<String> {
        let job = self.jobs.get_mut(&question.about)?;
        let same = job.due.is_none() && job.nodes.iter().eq(&question.nodes);
        if !same {
            return None;
        }
        let Some(node) = missing.first() else {
            (job.due, job.missing) = (Some(now + INTERVAL), 0);
            return None;
        };
        job.missing += 1;
        job.due = Some(now + RETRY_INTERVAL);
        (job.missing >= MAX_MISSING).then(|| (*node).clone())
    }

    /// A query that could not be sent is sent again later.
    pub(super) fn not_sent(&mut self, job: u32, now: Time) {
        if let Some(job) = self.jobs.get_mut(&job) {
            job.due = Some(now + RETRY_INTERVAL);
        }
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

    fn frozen(nodes: &[(&str, &[u32])]) -> BTreeMap<String, BTreeSet<u32>> {
        let node = |(name, jobs): &(&str, &[u32])| {
            let jobs = jobs.iter().copied();
            ((*name).to_owned(), jobs.collect())
        };
        nodes.iter().map(node).collect()
    }

    /// Job 7, parked on two nodes.
    fn parked() -> (ParkedSchedule, Time) {
        let mut parked = ParkedSchedule::default();
        let now = Time::ZERO;
        let orders = frozen(&[("a", &[7]), ("b", &[7]), ("c", &[])]);
        let changed = parked.change(&orders, &BTreeSet::new(), now);
        assert_eq!(changed.jobs, BTreeSet::from([7]));
        assert!(changed.thawing.is_empty());
        (parked, now)
    }

    /// When job 7 was polled within so many seconds, and when it was found not to be parked, if the
    /// nodes that `missing` names for each second did not have it parked.
    fn polls(
        parked: &mut ParkedSchedule,
        began: Time,
        seconds: i64,
        missing: impl Fn(i64) -> Option<&'static str>,
    ) -> (Vec<i64>, Vec<i64>) {
        let (mut asked, mut lost) = (Vec::new(), Vec::new());
        for second in 1..=seconds {
            let now = began + Span::from_seconds(second);
            while let Some(question) = parked.next(now, |_, _| true) {
                assert_eq!(question.about, 7);
                assert_eq!(question.nodes, ["a", "b"]);
                asked.push(second);
                let missing = missing(second).map(str::to_owned);
                let missing: Vec<&String> = missing.iter().collect();
                let node = parked.answer(&question, &missing, now);
                assert!(node.as_deref().is_none_or(|node| node == "b"));
                lost.extend(node.map(|_| second));
            }
        }
        (asked, lost)
    }

    #[test]
    fn parked_job_is_polled_every_five_minutes() {
        let (mut parked, now) = parked();
        let (asked, lost) = polls(&mut parked, now, 1000, |_| None);
        assert_eq!((asked, lost), (vec![300, 600, 900], vec![]));
    }

    #[test]
    fn job_is_not_parked_when_a_node_denies_it_three_times_in_a_row() {
        let (mut parked, now) = parked();
        let missing = |second| (second != 330).then_some("b");
        let (asked, lost) = polls(&mut parked, now, 700, missing);
        assert_eq!(asked, [300, 330, 630, 660, 690]);
        assert_eq!(lost, [690]);
    }

    #[test]
    fn job_that_cannot_be_polled_is_retried_later() {
        let (mut parked, now) = parked();
        let later = now + INTERVAL;
        assert_eq!(parked.next(later, |_, _| false), None);
        assert_eq!(parked.next(later, |_, _| true), None);
        assert!(parked.next(later + RETRY_INTERVAL, |_, _| true).is_some());
    }

    #[test]
    fn thawed_job_is_not_polled() {
        let (mut parked, now) = parked();
        let question = parked.next(now + INTERVAL, |_, _| true).expect("is due");
        let thawed = frozen(&[("a", &[])]);
        let changed = parked.change(&thawed, &BTreeSet::from(["b".to_owned()]), now);
        assert_eq!(changed.jobs, BTreeSet::from([7]));
        let both = ["a", "b"].map(str::to_owned);
        assert_eq!(changed.thawing, BTreeSet::from(both));
        let missing = "a".to_owned();
        assert_eq!(parked.answer(&question, &[&missing], now), None);
        assert!(parked.jobs.is_empty() && parked.frozen.is_empty());
    }

    #[test]
    fn unsent_query_is_retried() {
        let (mut parked, now) = parked();
        let later = now + INTERVAL;
        let question = parked.next(later, |_, _| true).expect("is due");
        parked.not_sent(question.about, later);
        assert!(parked.next(later + RETRY_INTERVAL, |_, _| true).is_some());
        parked.reset_in_flight(later);
        assert!(parked.next(later, |_, _| true).is_some());
    }
}
