//! What nodes are polled for about their swap, and when. No threads and no clock here.
//!
//! A node publishes in eighths of `SwapPerNode` how much of that parked jobs can have there now. A
//! node that has all of it gets two queries each time: whether it can park jobs at all, and whether
//! all eight eighths are there. Of others the eighths are searched for, in three queries more;
//! nodes whose search has come as far share these. No answer is no. A dfrsd that does not count
//! eighths publishes none: its node counts with all.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};

use super::Query;
use crate::daemons::EIGHTHS;

/// How often nodes are polled.
const INTERVAL: Span = Span::from_seconds(30);
/// A node on which a job came back is polled after this: what it leaves in swap is no longer for
/// parked jobs.
const AFTER_RETURN: Span = Span::from_seconds(2);
/// Nodes in one query.
const BATCH: usize = 64;

/// What is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SwapQueryKind {
    /// Whether the node can park jobs.
    Any,
    /// Whether so many eighths are there.
    Eighths(u8),
    /// Whether fewer than eight are.
    Less,
}

impl SwapQueryKind {
    /// Where to; slurmd replaces %n by the node's name.
    pub(super) fn address(self) -> String {
        match self {
            SwapQueryKind::Any => "/run/dfrs/%n/swap.sock".to_owned(),
            SwapQueryKind::Eighths(eighths) => format!("/run/dfrs/%n/swap.{eighths}.sock"),
            SwapQueryKind::Less => "/run/dfrs/%n/swap-less.sock".to_owned(),
        }
    }
}

/// Nodes, and how many eighths each of them has; `None`: it parks no job.
pub(super) type LearnedSwap = Vec<(String, Option<u8>)>;

/// A node, and how far it is known what it has.
#[derive(Debug)]
struct SwapSearch {
    /// What is polled next, or now.
    query: SwapQueryKind,
    /// When; `None`: a query is under way.
    due: Option<Time>,
    /// So many eighths are there, and so many are not.
    bounds: (u8, u8),
    /// The node is polled again at this time, once this search is over.
    recheck_at: Option<Time>,
}

impl SwapSearch {
    fn new(now: Time) -> Self {
        Self {
            query: SwapQueryKind::Any,
            due: Some(now),
            bounds: (0, EIGHTHS),
            recheck_at: None,
        }
    }

    /// What was polled is so, or is not. Returns what the node has, once that is known.
    fn answer(&mut self, is_so: bool) -> Option<Option<u8>> {
        self.query = match (self.query, is_so) {
            (SwapQueryKind::Any, true) => SwapQueryKind::Eighths(EIGHTHS),
            (SwapQueryKind::Any, false) => return Some(None),
            (SwapQueryKind::Eighths(EIGHTHS), true) | (SwapQueryKind::Less, false) => {
                return Some(Some(EIGHTHS));
            }
            (SwapQueryKind::Eighths(EIGHTHS), false) => SwapQueryKind::Less,
            (SwapQueryKind::Less, true) => {
                self.bounds = (0, EIGHTHS);
                SwapQueryKind::Eighths(EIGHTHS / 2)
            }
            (SwapQueryKind::Eighths(eighths), _) => {
                if is_so {
                    self.bounds.0 = eighths;
                } else {
                    self.bounds.1 = eighths;
                }
                let (there, not_there) = self.bounds;
                if not_there - there <= 1 {
                    return Some(Some(there));
                }
                SwapQueryKind::Eighths(there.midpoint(not_there))
            }
        };
        None
    }

    /// The search is over, and the next one begins later.
    fn finish_search(&mut self, now: Time) {
        let next = now + INTERVAL;
        let recheck_at = self.recheck_at.take();
        self.query = SwapQueryKind::Any;
        self.due = Some(recheck_at.map_or(next, |at| at.min(next)));
    }
}

/// All nodes that are polled.
#[derive(Debug, Default)]
pub(super) struct SwapSchedule {
    nodes: BTreeMap<String, SwapSearch>,
}

impl SwapSchedule {
    /// The first nodes are to be polled, too, the others no longer.
    pub(super) fn change<'a>(
        &mut self,
        more: impl Iterator<Item = &'a String>,
        fewer: &BTreeSet<String>,
        now: Time,
    ) {
        self.nodes.retain(|name, _| !fewer.contains(name));
        for name in more {
            if !self.nodes.contains_key(name) {
                self.nodes.insert(name.clone(), SwapSearch::new(now));
            }
        }
    }

    /// A parked job comes back on this node, or has ended there.
    pub(super) fn returned(&mut self, node: &str, now: Time) {
        let Some(node) = self.nodes.get_mut(node) else {
            return;
        };
        let soon = now + AFTER_RETURN;
        match &mut node.due {
            Some(due) if node.query == SwapQueryKind::Any => *due = soon.min(*due),
            _ => node.recheck_at = Some(soon),
        }
    }

    /// Nodes that are due and `silent`: nothing is known of these, and they are not polled.
    pub(super) fn skip_silent(&mut self, silent: &BTreeSet<String>, now: Time) -> LearnedSwap {
        let mut passed = Vec::new();
        for (name, node) in &mut self.nodes {
            if node.due.is_some_and(|due| due <= now) && silent.contains(name) {
                node.finish_search(now);
                passed.push((name.clone(), None));
            }
        }
        passed
    }

    /// The next query that is due: searches that have begun are ended first. O(nodes).
    pub(super) fn next(&mut self, now: Time) -> Option<Query<SwapQueryKind>> {
        let is_due = |node: &&SwapSearch| node.due.is_some_and(|due| due <= now);
        let due = self.nodes.values().filter(is_due);
        let first = due.min_by_key(|node| (node.query == SwapQueryKind::Any, node.due))?;
        let about = first.query;
        let mut nodes = Vec::new();
        for (name, node) in &mut self.nodes {
            if nodes.len() < BATCH && node.query == about && is_due(&&*node) {
                node.due = None;
                nodes.push(name.clone());
            }
        }
        Some(Query { about, nodes })
    }

    /// When a node is next due. O(nodes).
    #[cfg(any(test, feature = "fixtures"))]
    pub(super) fn next_due(&self) -> Option<Time> {
        self.nodes.values().filter_map(|node| node.due).min()
    }

    /// A query has completed: no on `failed`, and yes on all other nodes.
    pub(super) fn answer(
        &mut self,
        question: &Query<SwapQueryKind>,
        failed: &[String],
        now: Time,
    ) -> LearnedSwap {
        let mut learned = Vec::new();
        for name in &question.nodes {
            let node = self.nodes.get_mut(name);
            let open = node.filter(|node| node.due.is_none() && node.query == question.about);
            let Some(node) = open else { continue };
            if let Some(has) = node.answer(!failed.contains(name)) {
                node.finish_search(now);
                learned.push((name.clone(), has));
            } else {
                node.due = Some(now);
            }
        }
        learned
    }

    /// A query that could not be sent is sent again when it is due again.
    pub(super) fn not_sent(&mut self, question: &Query<SwapQueryKind>, now: Time) {
        for name in &question.nodes {
            if let Some(node) = self.nodes.get_mut(name) {
                node.finish_search(now);
            }
        }
    }

    /// What is under way is forgotten.
    pub(super) fn reset_in_flight(&mut self, now: Time) {
        for node in self.nodes.values_mut() {
            *node = SwapSearch::new(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes, and what their dfrsd publish.
    struct SwapFixture {
        swap: SwapSchedule,
        now: Time,
        /// By node: eighths; `None`: it parks no job.
        truth: BTreeMap<String, Option<u8>>,
        /// Nodes whose dfrsd counts no eighths.
        old: BTreeSet<String>,
        asked: Vec<SwapQueryKind>,
        learned: BTreeMap<String, Option<u8>>,
    }

    impl SwapFixture {
        fn new(truth: &[(&str, Option<u8>)]) -> Self {
            let named = truth.iter().map(|(name, has)| ((*name).to_owned(), *has));
            let truth: BTreeMap<String, Option<u8>> = named.collect();
            let now = Time::ZERO;
            let mut swap = SwapSchedule::default();
            swap.change(truth.keys(), &BTreeSet::new(), now);
            Self {
                swap,
                now,
                truth,
                old: BTreeSet::new(),
                asked: Vec::new(),
                learned: BTreeMap::new(),
            }
        }

        fn answers_yes(&self, node: &str, about: SwapQueryKind) -> bool {
            let has = self.truth[node];
            match about {
                SwapQueryKind::Any => has.is_some(),
                _ if self.old.contains(node) => false,
                SwapQueryKind::Eighths(eighths) => has.is_some_and(|has| has >= eighths),
                SwapQueryKind::Less => has.is_some_and(|has| has < EIGHTHS),
            }
        }

        /// Polls and answers all that is due.
        fn ask(&mut self) {
            loop {
                let due = self.swap.next_due();
                let question = self.swap.next(self.now);
                assert_eq!(question.is_some(), due.is_some_and(|due| due <= self.now));
                let Some(question) = question else { return };
                self.asked.push(question.about);
                let no = |node: &&String| !self.answers_yes(node, question.about);
                let failed: Vec<String> = question.nodes.iter().filter(no).cloned().collect();
                let learned = self.swap.answer(&question, &failed, self.now);
                self.learned.extend(learned);
            }
        }

        fn wait(&mut self, seconds: i64) {
            for _ in 0..seconds {
                self.now = self.now + Span::from_seconds(1);
                self.ask();
            }
        }

        fn take_asked(&mut self) -> Vec<SwapQueryKind> {
            std::mem::take(&mut self.asked)
        }
    }

    #[test]
    fn nodes_with_all_of_their_swap_share_two_queries() {
        let mut nodes = SwapFixture::new(&[("a", Some(8)), ("b", Some(8)), ("c", None)]);
        nodes.ask();
        assert_eq!(
            nodes.take_asked(),
            [SwapQueryKind::Any, SwapQueryKind::Eighths(8)]
        );
        assert_eq!(nodes.learned, nodes.truth);
        nodes.wait(29);
        assert_eq!(nodes.take_asked(), []);
        nodes.wait(1);
        assert_eq!(nodes.take_asked().len(), 2);
    }

    #[test]
    fn every_number_of_eighths_is_found_in_six_questions() {
        for eighths in 0..8 {
            let mut nodes = SwapFixture::new(&[("a", Some(eighths)), ("b", Some(eighths))]);
            nodes.ask();
            assert_eq!(nodes.learned, nodes.truth, "{eighths}");
            assert_eq!(nodes.take_asked().len(), 6, "{eighths}");
        }
    }

    #[test]
    fn node_counts_with_all_swap_when_its_dfrsd_reports_no_eighths() {
        let mut nodes = SwapFixture::new(&[("a", Some(8)), ("b", None)]);
        nodes.old = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
        nodes.ask();
        assert_eq!(nodes.learned, nodes.truth);
        assert_eq!(nodes.take_asked().len(), 3);
    }

    #[test]
    fn node_is_polled_soon_after_a_parked_job_resumed() {
        let mut nodes = SwapFixture::new(&[("a", Some(8)), ("b", Some(8))]);
        nodes.ask();
        nodes.take_asked();
        nodes.truth.insert("a".to_owned(), Some(3));
        nodes.swap.returned("a", nodes.now);
        nodes.wait(1);
        assert_eq!(nodes.take_asked(), []);
        nodes.wait(1);
        assert_eq!(nodes.learned, nodes.truth);
        assert_eq!(nodes.take_asked().len(), 6);
        nodes.wait(27);
        assert_eq!(nodes.take_asked(), [], "b is asked when it would have been");
        nodes.wait(1);
        assert_eq!(nodes.take_asked().len(), 2);
    }

    #[test]
    fn resume_during_a_search_is_followed_by_another_search() {
        let mut nodes = SwapFixture::new(&[("a", Some(5))]);
        let any = nodes.swap.next(nodes.now).expect("is due");
        nodes.swap.returned("a", nodes.now);
        nodes.swap.answer(&any, &[], nodes.now);
        nodes.ask();
        assert_eq!(nodes.learned, nodes.truth);
        nodes.truth.insert("a".to_owned(), Some(2));
        nodes.wait(2);
        assert_eq!(nodes.learned, nodes.truth);
    }

    #[test]
    fn silent_nodes_have_unknown_swap() {
        let mut nodes = SwapFixture::new(&[("a", Some(8)), ("b", Some(8))]);
        let silent = BTreeSet::from(["a".to_owned()]);
        let passed = nodes.swap.skip_silent(&silent, nodes.now);
        assert_eq!(passed, [("a".to_owned(), None)]);
        nodes.ask();
        assert_eq!(nodes.learned, BTreeMap::from([("b".to_owned(), Some(8))]));
    }

    #[test]
    fn answers_of_removed_nodes_are_ignored() {
        let mut nodes = SwapFixture::new(&[("a", Some(8))]);
        let any = nodes.swap.next(nodes.now).expect("is due");
        let gone = BTreeSet::from(["a".to_owned()]);
        nodes.swap.change([].iter(), &gone, nodes.now);
        nodes.swap.answer(&any, &["a".to_owned()], nodes.now);
        nodes
            .swap
            .change(["a".to_owned()].iter(), &BTreeSet::new(), nodes.now);
        assert_eq!(nodes.swap.answer(&any, &["a".to_owned()], nodes.now), []);
        nodes.ask();
        assert_eq!(nodes.learned, nodes.truth);
    }

    #[test]
    fn unsent_query_is_retried() {
        let mut nodes = SwapFixture::new(&[("a", Some(8))]);
        let lost = nodes.swap.next(nodes.now).expect("is due");
        nodes.swap.not_sent(&lost, nodes.now);
        nodes.wait(30);
        assert_eq!(nodes.learned, nodes.truth);
        nodes.now = nodes.now + INTERVAL;
        assert!(nodes.swap.next(nodes.now).is_some());
        nodes.learned.clear();
        nodes.swap.reset_in_flight(nodes.now);
        nodes.ask();
        assert_eq!(nodes.learned, nodes.truth);
    }

    #[test]
    fn many_nodes_are_asked_in_batches() {
        let names: Vec<String> = (0..200).map(|node| format!("n{node:03}")).collect();
        let truth: Vec<(&str, Option<u8>)> =
            names.iter().map(|name| (name.as_str(), Some(8))).collect();
        let mut nodes = SwapFixture::new(&truth);
        nodes.ask();
        assert_eq!(nodes.take_asked().len(), 8);
        assert_eq!(nodes.learned, nodes.truth);
    }
}
