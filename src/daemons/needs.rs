//! What nodes are asked about needs, and when. No threads and no clock here.
//!
//! A node that has such jobs is asked now and then whether one needs less than it counts with, and, while one
//! counts with less than it asked for, often whether one needs more. Only where there is news, its jobs are
//! asked about one by one: all nodes of the job at once whether so many eighths of its request are enough,
//! until that is known to the eighth. No answer means that they are not, and so that it needs more.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use dfrs_agent::daemons::OrderChanges;
use dfrs_agent::places::Places;
use dfrs_core::Need;

/// How often nodes are asked whether a job needs less.
const LESS_INTERVAL: Duration = Duration::from_secs(10);
/// How often they are asked whether one needs more: so long a job that wakes may be held back.
const MORE_INTERVAL: Duration = Duration::from_secs(2);
/// A job that did not need less is not asked about for so long: the news was another one's, or is so on some
/// of its nodes only.
const IN_VAIN: Duration = Duration::from_secs(30);
/// Nodes in one question about less.
const BATCH: usize = 64;
/// Nodes in one about more, which one that hangs keeps waiting: Slurm sends to so many at once.
const URGENT_BATCH: usize = 16;

/// A question to nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) about: About,
    pub(super) nodes: Vec<String>,
}

/// What it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// Whether a job there needs less than it counts with.
    Less,
    /// Whether one needs more.
    More,
    /// Whether so much is enough for this job, which is where it is since the change of orders of that number.
    Enough(u32, u64, Need),
}

impl Question {
    /// Where to; slurmd replaces %n by the node's name.
    pub(super) fn address(&self) -> String {
        match self.about {
            About::Less => "/run/dfrs/%n/needs-less.sock".to_owned(),
            About::More => "/run/dfrs/%n/needs-more.sock".to_owned(),
            About::Enough(job, _, need) => {
                format!("/run/dfrs/%n/need.{job}.{}.sock", need.eighths())
            }
        }
    }
}

/// What was learned of a job: what it needs, where it is since the change of orders of that number.
pub(super) type Learned = (u32, u64, Need);

/// A node that is asked.
#[derive(Debug)]
struct Asked {
    less: Turn,
    more: Turn,
}

/// When it is asked next; none: it is being asked.
type Turn = Option<Instant>;

/// How far it is known what a job needs.
#[derive(Debug)]
struct Search {
    since: u64,
    counted: u8,
    /// So many eighths are not enough, for all that is known, and so many are.
    bounds: (u8, u8),
    /// What is asked next, or now.
    asks: u8,
    is_open: bool,
}

impl Search {
    /// Of a job that may need less.
    fn for_less(since: u64, counted: Need) -> Self {
        let counted = counted.eighths();
        Self {
            since,
            counted,
            bounds: (0, counted),
            asks: counted - 1,
            is_open: false,
        }
    }

    /// Of one that may need more.
    fn for_more(since: u64, counted: Need) -> Self {
        let counted = counted.eighths();
        Self {
            since,
            counted,
            bounds: (counted - 1, Need::WHOLE.eighths()),
            asks: counted,
            is_open: false,
        }
    }

    /// What it asked is so, or is not. Returns what the job needs, once that is known.
    fn answer(&mut self, is_enough: bool) -> Option<Need> {
        if is_enough {
            self.bounds.1 = self.asks;
        } else {
            self.bounds.0 = self.asks;
        }
        let (not_enough, enough) = self.bounds;
        self.asks = not_enough.midpoint(enough);
        self.is_open = false;
        (enough - not_enough <= 1).then(|| Need::from_eighths(enough))
    }
}

/// All nodes and jobs that are asked about.
#[derive(Debug, Default)]
pub(super) struct Needs {
    places: Places,
    nodes: BTreeMap<String, Asked>,
    searches: BTreeMap<u32, Search>,
    /// Jobs that are not asked about less before.
    in_vain: BTreeMap<u32, Instant>,
}

impl Needs {
    /// Follows the change of orders of this number.
    pub(super) fn change(&mut self, changes: &OrderChanges, number: u64, now: Instant) {
        let elsewhere = self.places.change(changes, number).elsewhere;
        for job in elsewhere {
            self.searches.remove(&job);
            self.in_vain.remove(&job);
        }
        for node in changes.gone.iter().chain(changes.changed.keys()) {
            if self.places.jobs_on(node).next().is_none() {
                self.nodes.remove(node);
            } else if !self.nodes.contains_key(node) {
                let asked = Asked {
                    less: Some(now + LESS_INTERVAL),
                    more: Some(now + MORE_INTERVAL),
                };
                self.nodes.insert(node.clone(), asked);
            }
        }
    }

    /// The next question that is due. Nodes that are `silent` are asked nothing, nor is of a job of which not
    /// all nodes `know`. O(nodes and jobs that are asked about).
    pub(super) fn next(
        &mut self,
        now: Instant,
        silent: &BTreeSet<String>,
        knows: impl Fn(u32) -> bool,
    ) -> Option<Question> {
        self.next_about_a_job(silent, knows)
            .or_else(|| self.next_about(About::More, URGENT_BATCH, now, silent))
            .or_else(|| self.next_about(About::Less, BATCH, now, silent))
    }

    fn next_about_a_job(
        &mut self,
        silent: &BTreeSet<String>,
        knows: impl Fn(u32) -> bool,
    ) -> Option<Question> {
        for (job, search) in &mut self.searches {
            let Some(place) = self.places.place(*job).filter(|_| !search.is_open) else {
                continue;
            };
            if !knows(*job) || place.nodes.iter().any(|node| silent.contains(node)) {
                continue;
            }
            search.is_open = true;
            return Some(Question {
                about: About::Enough(*job, search.since, Need::from_eighths(search.asks)),
                nodes: place.nodes.iter().cloned().collect(),
            });
        }
        None
    }

    fn next_about(
        &mut self,
        about: About,
        most: usize,
        now: Instant,
        silent: &BTreeSet<String>,
    ) -> Option<Question> {
        let mut due = Vec::new();
        for (node, asked) in &mut self.nodes {
            let turn = turn(asked, about);
            let is_due = turn.is_some_and(|at| at <= now) && !silent.contains(node);
            let mut jobs = self.places.jobs_on(node);
            if is_due && jobs.any(|(_, counted)| concerns(about, counted)) {
                *turn = None;
                due.push(node.clone());
            }
            if due.len() == most {
                break;
            }
        }
        (!due.is_empty()).then_some(Question { about, nodes: due })
    }

    /// A question has come to its end: no on `failed`, and yes on all other nodes.
    pub(super) fn answer(
        &mut self,
        question: &Question,
        failed: &[String],
        now: Instant,
    ) -> Option<Learned> {
        if let About::Enough(job, since, need) = question.about {
            return self.answer_about_a_job(job, since, need, failed.is_empty(), now);
        }
        self.take_turns(question, now);
        let yes = question.nodes.iter().filter(|node| !failed.contains(node));
        for node in yes {
            self.search_on(node, question.about, now);
        }
        None
    }

    /// A question that could not be asked is asked again when it is due again.
    pub(super) fn not_asked(&mut self, question: &Question, now: Instant) {
        if let About::Enough(job, ..) = question.about {
            self.searches.remove(&job);
        }
        self.take_turns(question, now);
    }

    /// What is under way is forgotten.
    pub(super) fn begin_again(&mut self, now: Instant) {
        self.searches.clear();
        for asked in self.nodes.values_mut() {
            asked.less.get_or_insert(now);
            asked.more.get_or_insert(now);
        }
    }

    fn take_turns(&mut self, question: &Question, now: Instant) {
        let interval = match question.about {
            About::Less => LESS_INTERVAL,
            About::More => MORE_INTERVAL,
            About::Enough(..) => return,
        };
        for node in &question.nodes {
            if let Some(asked) = self.nodes.get_mut(node) {
                *turn(asked, question.about) = Some(now + interval);
            }
        }
    }

    /// Asks about those jobs on this node that the news may be of.
    fn search_on(&mut self, node: &str, about: About, now: Instant) {
        let is_less = about == About::Less;
        for (job, counted) in self.places.jobs_on(node) {
            let was_in_vain = self.in_vain.get(&job).is_some_and(|until| *until > now);
            let Some(place) = self.places.place(job).filter(|_| concerns(about, counted)) else {
                continue;
            };
            if self.searches.contains_key(&job) || (is_less && was_in_vain) {
                continue;
            }
            let search = if is_less {
                Search::for_less(place.since, counted)
            } else {
                Search::for_more(place.since, counted)
            };
            self.searches.insert(job, search);
        }
    }

    fn answer_about_a_job(
        &mut self,
        job: u32,
        since: u64,
        need: Need,
        is_enough: bool,
        now: Instant,
    ) -> Option<Learned> {
        let search = self.searches.get_mut(&job);
        let search = search.filter(|search| {
            search.is_open && search.since == since && search.asks == need.eighths()
        })?;
        let need = search.answer(is_enough)?;
        let is_news = need.eighths() != search.counted;
        self.searches.remove(&job);
        if is_news {
            self.in_vain.remove(&job);
            return Some((job, since, need));
        }
        self.in_vain.insert(job, now + IN_VAIN);
        None
    }
}

fn turn(asked: &mut Asked, about: About) -> &mut Turn {
    if about == About::Less {
        &mut asked.less
    } else {
        &mut asked.more
    }
}

/// Whether there may be such news of a job that counts with this.
fn concerns(about: About, counted: Need) -> bool {
    if about == About::Less {
        counted > Need::LEAST
    } else {
        counted.is_less()
    }
}

#[cfg(test)]
mod tests {
    use dfrs_agent::model::asking;
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Nodes that answer by what their jobs need.
    struct Story {
        needs: Needs,
        now: Instant,
        number: u64,
        truth: BTreeMap<(String, u32), u8>,
        counted: BTreeMap<(String, u32), u8>,
        silent: BTreeSet<String>,
        asked: Vec<About>,
        learned: Vec<(u32, u8)>,
    }

    impl Story {
        fn new() -> Self {
            Self {
                needs: Needs::default(),
                now: Instant::now(),
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
            self.needs.change(&asking(nodes), self.number, self.now);
        }

        fn needs(&mut self, node: &str, job: u32, eighths: u8) {
            self.truth.insert((node.to_owned(), job), eighths);
        }

        fn says_yes(&self, node: &str, about: About) -> bool {
            let truth = |key: &(String, u32)| self.truth[key];
            let mut here = self.counted.iter().filter(|((name, _), _)| name == node);
            match about {
                About::Less => here.any(|(key, counted)| truth(key) < *counted),
                About::More => here.any(|(key, counted)| truth(key) > *counted),
                About::Enough(job, _, need) => {
                    need.eighths() < 8 && truth(&(node.to_owned(), job)) <= need.eighths()
                }
            }
        }

        /// Asks and answers all that is due.
        fn ask(&mut self) {
            while let Some(question) = self.needs.next(self.now, &self.silent, |_| true) {
                self.asked.push(question.about);
                let no = |node: &&String| !self.says_yes(node, question.about);
                let failed: Vec<String> = question.nodes.iter().filter(no).cloned().collect();
                let learned = self.needs.answer(&question, &failed, self.now);
                let learned = learned.map(|(job, _, need)| (job, need.eighths()));
                self.learned.extend(learned);
            }
        }

        fn wait(&mut self, seconds: u32) {
            for _ in 0..seconds * 5 {
                self.now += SECOND / 5;
                self.ask();
            }
        }

        fn take_asked(&mut self) -> Vec<About> {
            std::mem::take(&mut self.asked)
        }
    }

    #[test]
    fn nothing_is_asked_where_nothing_is_measured() {
        let mut story = Story::new();
        story.order(&[("a", &[]), ("b", &[])]);
        story.wait(60);
        assert_eq!(story.take_asked(), []);
        assert!(story.needs.nodes.is_empty());
    }

    #[test]
    fn nodes_without_news_are_asked_one_question_every_ten_seconds() {
        let mut story = Story::new();
        story.order(&[("a", &[(1, 8)]), ("b", &[(2, 8)])]);
        story.wait(9);
        assert_eq!(story.take_asked(), []);
        story.wait(51);
        assert_eq!(story.take_asked(), [About::Less; 6]);
    }

    #[test]
    fn every_need_is_found_in_four_questions() {
        for counted in 1..=8 {
            for needed in 1..=8 {
                let mut story = Story::new();
                story.order(&[("a", &[(1, counted)])]);
                story.needs("a", 1, needed);
                story.wait(11);
                let single = |about: &&About| matches!(about, About::Enough(..));
                let asked = story.take_asked();
                let asked = asked.iter().filter(single).count();
                if counted == needed {
                    assert_eq!((asked, story.learned), (0, vec![]));
                } else {
                    assert_eq!(story.learned.first(), Some(&(1, needed)));
                    // Orders follow at once, and not only in the next round.
                    let rounds = story.learned.len();
                    assert!(asked <= 4 * rounds, "{counted} to {needed}: {asked}");
                }
            }
        }
    }

    proptest! {
        /// However the truth changes while it is looked for, what is found was enough at some moment, and no
        /// more than four questions are asked.
        #[test]
        fn what_is_found_was_once_enough(
            counted in 1u8..=8,
            more: bool,
            truths in proptest::array::uniform4(1u8..=8),
        ) {
            let counted = Need::from_eighths(counted);
            let concerned = concerns(if more { About::More } else { About::Less }, counted);
            prop_assume!(concerned);
            let mut search = if more {
                Search::for_more(1, counted)
            } else {
                Search::for_less(1, counted)
            };
            let found = truths.iter().enumerate().find_map(|(asked, truth)| {
                let is_enough = *truth <= search.asks;
                Some((asked, search.answer(is_enough)?))
            });
            let (asked, need) = found.expect("it comes to an end");
            let known = need == counted || need == Need::WHOLE;
            let mut seen = truths[..=asked].iter();
            prop_assert!(known || seen.any(|truth| *truth <= need.eighths()));
        }
    }

    #[test]
    fn a_job_that_wakes_is_known_within_two_seconds() {
        let mut story = Story::new();
        story.order(&[("a", &[(1, 2), (2, 8)])]);
        story.needs("a", 1, 2);
        story.wait(5);
        story.needs("a", 1, 8);
        story.wait(2);
        assert_eq!(story.learned, [(1, 8)]);
        story.order(&[("a", &[(1, 8), (2, 8)])]);
        story.take_asked();
        story.wait(4);
        assert!(!story.take_asked().contains(&About::More));
    }

    #[test]
    fn a_job_needs_what_it_needs_on_the_worst_of_its_nodes() {
        let mut story = Story::new();
        story.order(&[("a", &[(1, 8)]), ("b", &[(1, 8)])]);
        story.needs("a", 1, 2);
        story.wait(60);
        assert_eq!(story.learned, []);
        let asked = story.take_asked().into_iter();
        let single = asked.filter(|about| matches!(about, About::Enough(..)));
        assert!(single.count() <= 2, "in vain is not tried at once again");
        story.needs("b", 1, 5);
        story.wait(40);
        assert_eq!(story.learned.first(), Some(&(1, 5)));
    }

    #[test]
    fn who_leaves_is_no_longer_asked_about_and_late_answers_count_for_nothing() {
        let mut story = Story::new();
        story.order(&[("a", &[(1, 8)])]);
        story.needs("a", 1, 1);
        story.now += LESS_INTERVAL;
        let less = story.needs.next(story.now, &story.silent, |_| true);
        let less = less.expect("is due");
        assert_eq!(story.needs.answer(&less, &[], story.now), None);
        let none = story.needs.next(story.now, &story.silent, |_| false);
        assert_eq!(none, None, "its node has not heard of it yet");
        let single = story.needs.next(story.now, &story.silent, |_| true);
        let single = single.expect("there is news");
        assert_eq!(single.address(), "/run/dfrs/%n/need.1.7.sock");
        story.order(&[("a", &[])]);
        story.order(&[("a", &[(1, 8)])]);
        for _ in 0..4 {
            assert_eq!(story.needs.answer(&single, &[], story.now), None);
        }
    }

    #[test]
    fn silent_nodes_are_asked_nothing() {
        let mut story = Story::new();
        story.order(&[("a", &[(1, 4)]), ("b", &[(1, 4)]), ("c", &[(2, 4)])]);
        story.silent.insert("b".to_owned());
        story.needs("a", 1, 8);
        story.needs("c", 2, 8);
        story.wait(5);
        assert!(story.learned.iter().all(|learned| *learned == (2, 8)));
        assert!(!story.learned.is_empty());
    }

    #[test]
    fn what_could_not_be_asked_is_asked_again() {
        let mut story = Story::new();
        story.order(&[("a", &[(1, 4)])]);
        story.needs("a", 1, 8);
        story.now += MORE_INTERVAL;
        let lost = story.needs.next(story.now, &story.silent, |_| true);
        story.needs.not_asked(&lost.expect("is due"), story.now);
        story.wait(3);
        assert_eq!(story.learned.first(), Some(&(1, 8)));
        story.now += MORE_INTERVAL;
        let lost = story.needs.next(story.now, &story.silent, |_| true);
        assert!(lost.is_some());
        story.needs.begin_again(story.now);
        story.learned.clear();
        story.wait(1);
        assert_eq!(story.learned.first(), Some(&(1, 8)));
    }
}
