//! What nodes are asked about their swap, and when. No threads and no clock here.
//!
//! A node says in eighths of `SwapPerNode` how much of that parked jobs can have there now. One that has all of it is
//! asked two questions each time: whether it can park jobs at all, and whether all eight eighths are there. Of others
//! the eighths are searched for, in three questions more; nodes whose search has come as far share these. No answer is
//! no. A dfrsd that does not count eighths says nothing of them: its node counts with all.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use dfrs_agent::daemons::EIGHTHS;

/// How often nodes are asked.
const INTERVAL: Duration = Duration::from_secs(30);
/// One on which a job came back is asked after this: what it leaves in swap is no longer for parked jobs.
const AFTER_RETURN: Duration = Duration::from_secs(2);
/// Nodes in one question.
const BATCH: usize = 64;

/// A question to nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) about: About,
    pub(super) nodes: Vec<String>,
}

/// What it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// Whether the node can park jobs.
    Any,
    /// Whether so many eighths are there.
    Eighths(u8),
    /// Whether fewer than eight are.
    Less,
}

impl Question {
    /// Where to; slurmd replaces %n by the node's name.
    pub(super) fn address(&self) -> String {
        match self.about {
            About::Any => "/run/dfrs/%n/swap.sock".to_owned(),
            About::Eighths(eighths) => format!("/run/dfrs/%n/swap.{eighths}.sock"),
            About::Less => "/run/dfrs/%n/swap-less.sock".to_owned(),
        }
    }
}

/// Nodes, and how many eighths each of them has; `None`: it parks no job.
pub(super) type Learned = Vec<(String, Option<u8>)>;

/// A node, and how far it is known what it has.
#[derive(Debug)]
struct Node {
    /// What it is asked next, or now.
    asks: About,
    /// When; `None`: it is being asked.
    due: Option<Instant>,
    /// So many eighths are there, and so many are not.
    bounds: (u8, u8),
    /// It is asked again at this time, once this search is over.
    hurries: Option<Instant>,
}

impl Node {
    fn new(now: Instant) -> Self {
        Self {
            asks: About::Any,
            due: Some(now),
            bounds: (0, EIGHTHS),
            hurries: None,
        }
    }

    /// What it asked is so, or is not. Returns what it has, once that is known.
    fn answer(&mut self, is_so: bool) -> Option<Option<u8>> {
        self.asks = match (self.asks, is_so) {
            (About::Any, true) => About::Eighths(EIGHTHS),
            (About::Any, false) => return Some(None),
            (About::Eighths(EIGHTHS), true) | (About::Less, false) => return Some(Some(EIGHTHS)),
            (About::Eighths(EIGHTHS), false) => About::Less,
            (About::Less, true) => {
                self.bounds = (0, EIGHTHS);
                About::Eighths(EIGHTHS / 2)
            }
            (About::Eighths(eighths), _) => {
                if is_so {
                    self.bounds.0 = eighths;
                } else {
                    self.bounds.1 = eighths;
                }
                let (there, not_there) = self.bounds;
                if not_there - there <= 1 {
                    return Some(Some(there));
                }
                About::Eighths(there.midpoint(not_there))
            }
        };
        None
    }

    /// The search is over, and the next one begins later.
    fn rest(&mut self, now: Instant) {
        let next = now + INTERVAL;
        let hurries = self.hurries.take();
        self.asks = About::Any;
        self.due = Some(hurries.map_or(next, |at| at.min(next)));
    }
}

/// All nodes that are asked.
#[derive(Debug, Default)]
pub(super) struct Swap {
    nodes: BTreeMap<String, Node>,
}

impl Swap {
    /// These nodes are to be asked, too, those no longer.
    pub(super) fn change<'a>(
        &mut self,
        more: impl Iterator<Item = &'a String>,
        fewer: &BTreeSet<String>,
        now: Instant,
    ) {
        self.nodes.retain(|name, _| !fewer.contains(name));
        for name in more {
            if !self.nodes.contains_key(name) {
                self.nodes.insert(name.clone(), Node::new(now));
            }
        }
    }

    /// A parked job comes back on this node, or has ended there.
    pub(super) fn returned(&mut self, node: &str, now: Instant) {
        let Some(node) = self.nodes.get_mut(node) else {
            return;
        };
        let soon = now + AFTER_RETURN;
        match &mut node.due {
            Some(due) if node.asks == About::Any => *due = soon.min(*due),
            _ => node.hurries = Some(soon),
        }
    }

    /// Nodes that are due and `silent`: nothing is known of these, and they are asked nothing.
    pub(super) fn pass_over(&mut self, silent: &BTreeSet<String>, now: Instant) -> Learned {
        let mut passed = Vec::new();
        for (name, node) in &mut self.nodes {
            if node.due.is_some_and(|due| due <= now) && silent.contains(name) {
                node.rest(now);
                passed.push((name.clone(), None));
            }
        }
        passed
    }

    /// The next question that is due: searches that have begun are ended first. O(nodes).
    pub(super) fn next(&mut self, now: Instant) -> Option<Question> {
        let is_due = |node: &&Node| node.due.is_some_and(|due| due <= now);
        let due = self.nodes.values().filter(is_due);
        let first = due.min_by_key(|node| (node.asks == About::Any, node.due))?;
        let about = first.asks;
        let mut nodes = Vec::new();
        for (name, node) in &mut self.nodes {
            if nodes.len() < BATCH && node.asks == about && is_due(&&*node) {
                node.due = None;
                nodes.push(name.clone());
            }
        }
        Some(Question { about, nodes })
    }

    /// A question has come to its end: no on `failed`, and yes on all other nodes.
    pub(super) fn answer(
        &mut self,
        question: &Question,
        failed: &[String],
        now: Instant,
    ) -> Learned {
        let mut learned = Vec::new();
        for name in &question.nodes {
            let node = self.nodes.get_mut(name);
            let open = node.filter(|node| node.due.is_none() && node.asks == question.about);
            let Some(node) = open else { continue };
            if let Some(has) = node.answer(!failed.contains(name)) {
                node.rest(now);
                learned.push((name.clone(), has));
            } else {
                node.due = Some(now);
            }
        }
        learned
    }

    /// A question that could not be asked is asked again when it is due again.
    pub(super) fn not_asked(&mut self, question: &Question, now: Instant) {
        for name in &question.nodes {
            if let Some(node) = self.nodes.get_mut(name) {
                node.rest(now);
            }
        }
    }

    /// What is under way is forgotten.
    pub(super) fn begin_again(&mut self, now: Instant) {
        for node in self.nodes.values_mut() {
            *node = Node::new(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes, and what their dfrsd say.
    struct Nodes {
        swap: Swap,
        now: Instant,
        /// By node: eighths; `None`: it parks no job.
        truth: BTreeMap<String, Option<u8>>,
        /// Nodes whose dfrsd counts no eighths.
        old: BTreeSet<String>,
        asked: Vec<About>,
        learned: BTreeMap<String, Option<u8>>,
    }

    impl Nodes {
        fn new(truth: &[(&str, Option<u8>)]) -> Self {
            let named = truth.iter().map(|(name, has)| ((*name).to_owned(), *has));
            let truth: BTreeMap<String, Option<u8>> = named.collect();
            let now = Instant::now();
            let mut swap = Swap::default();
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

        fn says_yes(&self, node: &str, about: About) -> bool {
            let has = self.truth[node];
            match about {
                About::Any => has.is_some(),
                _ if self.old.contains(node) => false,
                About::Eighths(eighths) => has.is_some_and(|has| has >= eighths),
                About::Less => has.is_some_and(|has| has < EIGHTHS),
            }
        }

        /// Asks and answers all that is due.
        fn ask(&mut self) {
            while let Some(question) = self.swap.next(self.now) {
                self.asked.push(question.about);
                let no = |node: &&String| !self.says_yes(node, question.about);
                let failed: Vec<String> = question.nodes.iter().filter(no).cloned().collect();
                let learned = self.swap.answer(&question, &failed, self.now);
                self.learned.extend(learned);
            }
        }

        fn wait(&mut self, seconds: u64) {
            for _ in 0..seconds {
                self.now += Duration::from_secs(1);
                self.ask();
            }
        }

        fn take_asked(&mut self) -> Vec<About> {
            std::mem::take(&mut self.asked)
        }
    }

    #[test]
    fn nodes_with_all_of_their_swap_share_two_questions() {
        let mut nodes = Nodes::new(&[("a", Some(8)), ("b", Some(8)), ("c", None)]);
        nodes.ask();
        assert_eq!(nodes.take_asked(), [About::Any, About::Eighths(8)]);
        assert_eq!(nodes.learned, nodes.truth);
        nodes.wait(29);
        assert_eq!(nodes.take_asked(), []);
        nodes.wait(1);
        assert_eq!(nodes.take_asked().len(), 2);
    }

    #[test]
    fn every_number_of_eighths_is_found_in_six_questions() {
        for eighths in 0..8 {
            let mut nodes = Nodes::new(&[("a", Some(eighths)), ("b", Some(eighths))]);
            nodes.ask();
            assert_eq!(nodes.learned, nodes.truth, "{eighths}");
            assert_eq!(nodes.take_asked().len(), 6, "{eighths}");
        }
    }

    #[test]
    fn a_node_whose_dfrsd_counts_no_eighths_has_all() {
        let mut nodes = Nodes::new(&[("a", Some(8)), ("b", None)]);
        nodes.old = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
        nodes.ask();
        assert_eq!(nodes.learned, nodes.truth);
        assert_eq!(nodes.take_asked().len(), 3);
    }

    #[test]
    fn a_node_is_asked_again_soon_after_a_parked_job_came_back() {
        let mut nodes = Nodes::new(&[("a", Some(8)), ("b", Some(8))]);
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
    fn a_return_during_a_search_is_asked_about_after_it() {
        let mut nodes = Nodes::new(&[("a", Some(5))]);
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
    fn of_silent_nodes_nothing_is_known() {
        let mut nodes = Nodes::new(&[("a", Some(8)), ("b", Some(8))]);
        let silent = BTreeSet::from(["a".to_owned()]);
        let passed = nodes.swap.pass_over(&silent, nodes.now);
        assert_eq!(passed, [("a".to_owned(), None)]);
        nodes.ask();
        assert_eq!(nodes.learned, BTreeMap::from([("b".to_owned(), Some(8))]));
    }

    #[test]
    fn answers_that_come_after_a_node_has_gone_count_for_nothing() {
        let mut nodes = Nodes::new(&[("a", Some(8))]);
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
    fn what_could_not_be_asked_is_asked_again() {
        let mut nodes = Nodes::new(&[("a", Some(8))]);
        let lost = nodes.swap.next(nodes.now).expect("is due");
        nodes.swap.not_asked(&lost, nodes.now);
        nodes.wait(30);
        assert_eq!(nodes.learned, nodes.truth);
        nodes.now += INTERVAL;
        assert!(nodes.swap.next(nodes.now).is_some());
        nodes.learned.clear();
        nodes.swap.begin_again(nodes.now);
        nodes.ask();
        assert_eq!(nodes.learned, nodes.truth);
    }

    #[test]
    fn many_nodes_are_asked_in_batches() {
        let names: Vec<String> = (0..200).map(|node| format!("n{node:03}")).collect();
        let truth: Vec<(&str, Option<u8>)> =
            names.iter().map(|name| (name.as_str(), Some(8))).collect();
        let mut nodes = Nodes::new(&truth);
        nodes.ask();
        assert_eq!(nodes.take_asked().len(), 8);
        assert_eq!(nodes.learned, nodes.truth);
    }
}
