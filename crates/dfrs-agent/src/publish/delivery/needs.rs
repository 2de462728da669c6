//! What nodes are polled for about needs, and when. No threads and no clock here.
//!
//! A node that has such jobs is polled now and then whether one needs less than it counts with,
//! and, while one counts with less than it requested, often whether one needs more. Only where that
//! changed, its jobs are polled one by one: all nodes of the job at once whether so many eighths of
//! its request are enough, until that is known to the eighth. No answer means that they are not,
//! and so that it needs more.

use dfrs_core::{Need, Span, Time};
use std::collections::{BTreeMap, BTreeSet};

use super::Query;
use crate::daemons::OrderChanges;
use crate::plan::need_queries::NeedQueries;

/// How often nodes are polled whether a job needs less.
const LESS_INTERVAL: Span = Span::from_seconds(10);
/// How often they are polled whether one needs more: so long a job that wakes may be held back.
const MORE_INTERVAL: Span = Span::from_seconds(2);
/// A job that did not need less is not polled for so long: the change was another one's, or is so
/// on some of its nodes only.
const UNCHANGED_BACKOFF: Span = Span::from_seconds(30);
/// Nodes in one query about less.
const BATCH: usize = 64;
/// Nodes in one about more, which one that hangs keeps waiting: Slurm sends to so many at once.
const URGENT_BATCH: usize = 16;

/// What is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NeedQueryKind {
    /// Whether a job there needs less than it counts with.
    Less,
    /// Whether one needs more.
    More,
    /// Whether so much is enough for this job, which is where it is since the change of orders of that number.
    Enough(u32, u64, Need),
}

impl NeedQueryKind {
    /// Where to; slurmd replaces %n by the node's name.
    pub(super) fn address(self) -> String {
        match self {
            NeedQueryKind::Less => "/run/dfrs/%n/needs-less.sock".to_owned(),
            NeedQueryKind::More => "/run/dfrs/%n/needs-more.sock".to_owned(),
            NeedQueryKind::Enough(job, _, need) => {
                format!("/run/dfrs/%n/need.{job}.{}.sock", need.eighths())
            }
        }
    }
}

/// What was learned of a job: what it needs, where it is since the change of orders of that number.
pub(super) type LearnedNeed = (u32, u64, Need);

/// A node that is polled.
#[derive(Debug)]
struct NodePolls {
    less: NextPoll,
    more: NextPoll,
}

/// When it is polled next; none: a query is under way.
type NextPoll = Option<Time>;

/// How far it is known what a job needs.
#[derive(Debug)]
struct NeedSearch {
    since: u64,
    counted: u8,
    /// So many eighths are not enough, for all that is known, and so many are.
    bounds: (u8, u8),
    /// What is polled next, or now.
    asked_eighths: u8,
    is_open: bool,
}

impl NeedSearch {
    /// Of a job that may need less, or one that may need more.
    fn new(is_less: bool, since: u64, counted: Need) -> Self {
        let counted = counted.eighths();
        let (bounds, asked_eighths) = if is_less {
            ((0, counted), counted - 1)
        } else {
            ((counted - 1, Need::WHOLE.eighths()), counted)
        };
        Self {
            since,
            counted,
            bounds,
            asked_eighths,
            is_open: false,
        }
    }

    /// The polled eighths are enough, or are not. Returns what the job needs, once that is known.
    fn answer(&mut self, is_enough: bool) -> Option<Need> {
        if is_enough {
            self.bounds.1 = self.asked_eighths;
        } else {
            self.bounds.0 = self.asked_eighths;
        }
        let (not_enough, enough) = self.bounds;
        self.asked_eighths = not_enough.midpoint(enough);
        self.is_open = false;
        (enough - not_enough <= 1).then(|| Need::from_eighths(enough))
    }
}

/// All nodes and jobs that are polled.
#[derive(Debug, Default)]
pub(super) struct NeedSchedule {
    places: NeedQueries,
    nodes: BTreeMap<String, NodePolls>,
    searches: BTreeMap<u32, NeedSearch>,
    /// Jobs that are not polled about less before.
    backoff: BTreeMap<u32, Time>,
}

impl NeedSchedule {
    /// Follows the change of orders of this number.
    pub(super) fn change(&mut self, changes: &OrderChanges, number: u64, now: Time) {
        let elsewhere = self.places.change(changes, number).elsewhere;
        for job in elsewhere {
            self.searches.remove(&job);
            self.backoff.remove(&job);
        }
        for node in changes.gone.iter().chain(changes.changed.keys()) {
            if self.places.jobs_on(node).next().is_none() {
                self.nodes.remove(node);
            } else if !self.nodes.contains_key(node) {
                let asked = NodePolls {
                    less: Some(now + LESS_INTERVAL),
                    more: Some(now + MORE_INTERVAL),
                };
                self.nodes.insert(node.clone(), asked);
            }
        }
    }

    /// The next query that is due. Nodes that are `silent` are not polled, and neither is a job
    /// whose nodes do not all have its orders (`knows`). O(nodes and jobs that are polled).
    pub(super) fn next(
        &mut self,
        now: Time,
        silent: &BTreeSet<String>,
        knows: impl Fn(u32) -> bool,
    ) -> Option<Query<NeedQueryKind>> {
        self.next_for_job(silent, knows)
            .or_else(|| self.next_for_nodes(NeedQueryKind::More, URGENT_BATCH, now, silent))
            .or_else(|| self.next_for_nodes(NeedQueryKind::Less, BATCH, now, silent))
    }

    /// When a node is next due that is not `silent`. Jobs that are searched for wait for answers
    /// or for their nodes' orders, and not for a time. O(nodes and jobs that are polled).
    #[cfg(any(test, feature = "fixtures"))]
    pub(super) fn next_due(&self, silent: &BTreeSet<String>) -> Option<Time> {
        let nodes = self
            .nodes
            .iter()
            .filter(|(node, _)| !silent.contains(*node));
        let due = nodes.flat_map(|(node, polls)| {
            let is_asked = |about| {
                let mut jobs = self.places.jobs_on(node);
                jobs.any(|(_, counted)| concerns(about, counted))
            };
            let less = polls.less.filter(|_| is_asked(NeedQueryKind::Less));
            let more = polls.more.filter(|_| is_asked(NeedQueryKind::More));
            less.into_iter().chain(more)
        });
        due.min()
    }

    fn next_for_job(
        &mut self,
        silent: &BTreeSet<String>,
        knows: impl Fn(u32) -> bool,
    ) -> Option<Query<NeedQueryKind>> {
        for (job, search) in &mut self.searches {
            let Some(place) = self.places.place(*job).filter(|_| !search.is_open) else {
                continue;
            };
            if !knows(*job) || place.nodes.iter().any(|node| silent.contains(node)) {
                continue;
            }
            search.is_open = true;
            return Some(Query {
                about: NeedQueryKind::Enough(
                    *job,
                    search.since,
                    Need::from_eighths(search.asked_eighths),
                ),
                nodes: place.nodes.iter().cloned().collect(),
            });
        }
        None
    }

    fn next_for_nodes(
        &mut self,
        about: NeedQueryKind,
        max: usize,
        now: Time,
        silent: &BTreeSet<String>,
    ) -> Option<Query<NeedQueryKind>> {
        let mut due = Vec::new();
        for (node, asked) in &mut self.nodes {
            let turn = next_poll(asked, about);
            let is_due = turn.is_some_and(|at| at <= now) && !silent.contains(node);
            let mut jobs = self.places.jobs_on(node);
            if is_due && jobs.any(|(_, counted)| concerns(about, counted)) {
                *turn = None;
                due.push(node.clone());
            }
            if due.len() == max {
                break;
            }
        }
        (!due.is_empty()).then_some(Query { about, nodes: due })
    }

    /// A query has completed: no on `failed`, and yes on all other nodes.
    pub(super) fn answer(
        &mut self,
        question: &Query<NeedQueryKind>,
        failed: &[String],
        now: Time,
    ) -> Option<LearnedNeed> {
        if let NeedQueryKind::Enough(job, since, need) = question.about {
            return self.answer_for_job(job, since, need, failed.is_empty(), now);
        }
        self.schedule_next_poll(question, now);
        let yes = question.nodes.iter().filter(|node| !failed.contains(node));
        for node in yes {
            self.search_on(node, question.about, now);
        }
        None
    }

    /// A query that could not be sent is sent again when it is due again.
    pub(super) fn not_sent(&mut self, question: &Query<NeedQueryKind>, now: Time) {
        if let NeedQueryKind::Enough(job, ..) = question.about {
            self.searches.remove(&job);
        }
        self.schedule_next_poll(question, now);
    }

    /// What is under way is forgotten.
    pub(super) fn reset_in_flight(&mut self, now: Time) {
        self.searches.clear();
        for asked in self.nodes.values_mut() {
            asked.less.get_or_insert(now);
            asked.more.get_or_insert(now);
        }
    }

    fn schedule_next_poll(&mut self, question: &Query<NeedQueryKind>, now: Time) {
        let interval = match question.about {
            NeedQueryKind::Less => LESS_INTERVAL,
            NeedQueryKind::More => MORE_INTERVAL,
            NeedQueryKind::Enough(..) => return,
        };
        for node in &question.nodes {
            if let Some(asked) = self.nodes.get_mut(node) {
                *next_poll(asked, question.about) = Some(now + interval);
            }
        }
    }

    /// Polls those jobs on this node that the change may be of.
    fn search_on(&mut self, node: &str, about: NeedQueryKind, now: Time) {
        let is_less = about == NeedQueryKind::Less;
        for (job, counted) in self.places.jobs_on(node) {
            let in_backoff = self.backoff.get(&job).is_some_and(|until| *until > now);
            let Some(place) = self.places.place(job).filter(|_| concerns(about, counted)) else {
                continue;
            };
            if self.searches.contains_key(&job) || (is_less && in_backoff) {
                continue;
            }
            let search = NeedSearch::new(is_less, place.since, counted);
            self.searches.insert(job, search);
        }
    }

    fn answer_for_job(
        &mut self,
        job: u32,
        since: u64,
        need: Need,
        is_enough: bool,
        now: Time,
    ) -> Option<LearnedNeed> {
        let search = self.searches.get_mut(&job);
        let search = search.filter(|search| {
            search.is_open && search.since == since && search.asked_eighths == need.eighths()
        })?;
        let need = search.answer(is_enough)?;
        let is_news = need.eighths() != search.counted;
        self.searches.remove(&job);
        if is_news {
            self.backoff.remove(&job);
            return Some((job, since, need));
        }
        self.backoff.insert(job, now + UNCHANGED_BACKOFF);
        None
    }
}

fn next_poll(asked: &mut NodePolls, about: NeedQueryKind) -> &mut NextPoll {
    if about == NeedQueryKind::Less {
        &mut asked.less
    } else {
        &mut asked.more
    }
}

/// Whether there may be such a change of a job that counts with this.
fn concerns(about: NeedQueryKind, counted: Need) -> bool {
    if about == NeedQueryKind::Less {
        counted > Need::LEAST
    } else {
        counted.is_less()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixtures::measuring_orders;
    use proptest::prelude::*;

    use super::*;

    /// Nodes that answer by what their jobs need.
    struct NeedsFixture {
        needs: NeedSchedule,
        now: Time,
        number: u64,
        truth: BTreeMap<(String, u32), u8>,
        counted: BTreeMap<(String, u32), u8>,
        silent: BTreeSet<String>,
        asked: Vec<NeedQueryKind>,
        learned: Vec<(u32, u8)>,
    }

    impl NeedsFixture {
        fn new() -> Self {
            Self {
                needs: NeedSchedule::default(),
                now: Time::ZERO,
                number: 0,
                truth: BTreeMap::new(),
                counted: BTreeMap::new(),
                silent: BTreeSet::new(),
                asked: Vec::new(),
                learned: Vec::new(),
            }
        }

        fn order(&mut self, nodes: &[(&str, &[(u32, u8)])]) {
            self.number += 1;
            for (node, jobs) in nodes {
                self.counted.retain(|(name, _), _| name != node);
                for (job, eighths) in *jobs {
                    let key = ((*node).to_owned(), *job);
                    self.truth.entry(key.clone()).or_insert(8);
                    self.counted.insert(key, *eighths);
                }
            }
            self.needs
                .change(&measuring_orders(nodes), self.number, self.now);
        }

        fn needs(&mut self, node: &str, job: u32, eighths: u8) {
            self.truth.insert((node.to_owned(), job), eighths);
        }

        fn answers_yes(&self, node: &str, about: NeedQueryKind) -> bool {
            let truth = |key: &(String, u32)| self.truth[key];
            let mut here = self.counted.iter().filter(|((name, _), _)| name == node);
            match about {
                NeedQueryKind::Less => here.any(|(key, counted)| truth(key) < *counted),
                NeedQueryKind::More => here.any(|(key, counted)| truth(key) > *counted),
                NeedQueryKind::Enough(job, _, need) => {
                    need.eighths() < 8 && truth(&(node.to_owned(), job)) <= need.eighths()
                }
            }
        }

        /// Polls and answers all that is due.
        fn ask(&mut self) {
            loop {
                let due = self.needs.next_due(&self.silent);
                let is_due = due.is_some_and(|due| due <= self.now);
                let Some(question) = self.needs.next(self.now, &self.silent, |_| true) else {
                    assert!(!is_due);
                    return;
                };
                assert!(is_due || matches!(question.about, NeedQueryKind::Enough(..)));
                self.asked.push(question.about);
                let no = |node: &&String| !self.answers_yes(node, question.about);
                let failed: Vec<String> = question.nodes.iter().filter(no).cloned().collect();
                let learned = self.needs.answer(&question, &failed, self.now);
                let learned = learned.map(|(job, _, need)| (job, need.eighths()));
                self.learned.extend(learned);
            }
        }

        fn wait(&mut self, seconds: u32) {
            for _ in 0..seconds * 5 {
                self.now = self.now + Span(200_000);
                self.ask();
            }
        }

        fn take_asked(&mut self) -> Vec<NeedQueryKind> {
            std::mem::take(&mut self.asked)
        }
    }

    #[test]
    fn nodes_without_measured_jobs_are_not_polled() {
        let mut fixture = NeedsFixture::new();
        fixture.order(&[("a", &[]), ("b", &[])]);
        fixture.wait(60);
        assert_eq!(fixture.take_asked(), []);
        assert!(fixture.needs.nodes.is_empty());
    }

    #[test]
    fn unchanged_nodes_are_polled_once_every_ten_seconds() {
        let mut fixture = NeedsFixture::new();
        fixture.order(&[("a", &[(1, 8)]), ("b", &[(2, 8)])]);
        fixture.wait(9);
        assert_eq!(fixture.take_asked(), []);
        fixture.wait(51);
        assert_eq!(fixture.take_asked(), [NeedQueryKind::Less; 6]);
    }

    #[test]
    fn every_need_is_found_in_four_questions() {
        for counted in 1..=8 {
            for needed in 1..=8 {
                let mut fixture = NeedsFixture::new();
                fixture.order(&[("a", &[(1, counted)])]);
                fixture.needs("a", 1, needed);
                fixture.wait(11);
                let single = |about: &&NeedQueryKind| matches!(about, NeedQueryKind::Enough(..));
                let asked = fixture.take_asked();
                let asked = asked.iter().filter(single).count();
                if counted == needed {
                    assert_eq!((asked, fixture.learned), (0, vec![]));
                } else {
                    assert_eq!(fixture.learned.first(), Some(&(1, needed)));
                    // Orders follow at once, and not only in the next round.
                    let rounds = fixture.learned.len();
                    assert!(asked <= 4 * rounds, "{counted} to {needed}: {asked}");
                }
            }
        }
    }

    proptest! {
        /// However the truth changes while it is looked for, what is found was enough at some
        /// moment, and no more than four queries are sent.
        #[test]
        fn found_need_was_sufficient_at_some_time_of_the_search(
            counted in 1u8..=8,
            more: bool,
            truths in proptest::array::uniform4(1u8..=8),
        ) {
            let counted = Need::from_eighths(counted);
            let concerned = concerns(if more { NeedQueryKind::More } else { NeedQueryKind::Less }, counted);
            prop_assume!(concerned);
            let mut search = NeedSearch::new(!more, 1, counted);
            let found = truths.iter().enumerate().find_map(|(asked, truth)| {
                let is_enough = *truth <= search.asked_eighths;
                Some((asked, search.answer(is_enough)?))
            });
            let (asked, need) = found.expect("it comes to an end");
            let known = need == counted || need == Need::WHOLE;
            let mut seen = truths[..=asked].iter();
            prop_assert!(known || seen.any(|truth| *truth <= need.eighths()));
        }
    }

    #[test]
    fn waking_job_is_detected_within_two_seconds() {
        let mut fixture = NeedsFixture::new();
        fixture.order(&[("a", &[(1, 2), (2, 8)])]);
        fixture.needs("a", 1, 2);
        fixture.wait(5);
        fixture.needs("a", 1, 8);
        fixture.wait(2);
        assert_eq!(fixture.learned, [(1, 8)]);
        fixture.order(&[("a", &[(1, 8), (2, 8)])]);
        fixture.take_asked();
        fixture.wait(4);
        assert!(!fixture.take_asked().contains(&NeedQueryKind::More));
    }

    #[test]
    fn need_of_a_job_is_that_on_its_neediest_node() {
        let mut fixture = NeedsFixture::new();
        fixture.order(&[("a", &[(1, 8)]), ("b", &[(1, 8)])]);
        fixture.needs("a", 1, 2);
        fixture.wait(60);
        assert_eq!(fixture.learned, []);
        let asked = fixture.take_asked().into_iter();
        let single = asked.filter(|about| matches!(about, NeedQueryKind::Enough(..)));
        assert!(single.count() <= 2, "no retry at once");
        fixture.needs("b", 1, 5);
        fixture.wait(40);
        assert_eq!(fixture.learned.first(), Some(&(1, 5)));
    }

    #[test]
    fn departed_job_is_not_polled_and_late_answers_are_ignored() {
        let mut fixture = NeedsFixture::new();
        fixture.order(&[("a", &[(1, 8)])]);
        fixture.needs("a", 1, 1);
        fixture.now = fixture.now + LESS_INTERVAL;
        let less = fixture.needs.next(fixture.now, &fixture.silent, |_| true);
        let less = less.expect("is due");
        assert_eq!(fixture.needs.answer(&less, &[], fixture.now), None);
        let none = fixture.needs.next(fixture.now, &fixture.silent, |_| false);
        assert_eq!(none, None, "its node has not heard of it yet");
        let single = fixture.needs.next(fixture.now, &fixture.silent, |_| true);
        let single = single.expect("there is news");
        assert_eq!(single.about.address(), "/run/dfrs/%n/need.1.7.sock");
        fixture.order(&[("a", &[])]);
        fixture.order(&[("a", &[(1, 8)])]);
        for _ in 0..4 {
            assert_eq!(fixture.needs.answer(&single, &[], fixture.now), None);
        }
    }

    #[test]
    fn silent_nodes_are_not_polled() {
        let mut fixture = NeedsFixture::new();
        fixture.order(&[("a", &[(1, 4)]), ("b", &[(1, 4)]), ("c", &[(2, 4)])]);
        fixture.silent.insert("b".to_owned());
        fixture.needs("a", 1, 8);
        fixture.needs("c", 2, 8);
        fixture.wait(5);
        assert!(fixture.learned.iter().all(|learned| *learned == (2, 8)));
        assert!(!fixture.learned.is_empty());
    }

    #[test]
    fn unsent_query_is_retried() {
        let mut fixture = NeedsFixture::new();
        fixture.order(&[("a", &[(1, 4)])]);
        fixture.needs("a", 1, 8);
        fixture.now = fixture.now + MORE_INTERVAL;
        let lost = fixture.needs.next(fixture.now, &fixture.silent, |_| true);
        fixture.needs.not_sent(&lost.expect("is due"), fixture.now);
        fixture.wait(3);
        assert_eq!(fixture.learned.first(), Some(&(1, 8)));
        fixture.now = fixture.now + MORE_INTERVAL;
        let lost = fixture.needs.next(fixture.now, &fixture.silent, |_| true);
        assert!(lost.is_some());
        fixture.needs.reset_in_flight(fixture.now);
        fixture.learned.clear();
        fixture.wait(1);
        assert_eq!(fixture.learned.first(), Some(&(1, 8)));
    }
}
