//! Starts that Slurm refused: a job is not tried again at once where it was refused. Slurm checks
//! more than DFRS does (exclusive nodes, labels, disks, sockets), and answers only that it will
//! not.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};

use crate::due_times::DueTimes;
use crate::job::placement::NamedPlacement;

/// A node is left out after a refusal for so long, and for twice as long after each further one.
const FIRST_BACKOFF: Span = Span::from_seconds(5);
const MAX_BACKOFF: Span = Span::from_seconds(320);
/// So long a job that was refused on as many nodes is tried on fewer.
const FEWER_NODES_TIME: Span = Span::from_seconds(60);
/// Nodes of all jobs together that are remembered.
const MAX_REFUSED_NODES: usize = 10_000;

/// What is remembered of a node for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NodeRefusal {
    /// Refusals in a row.
    times: u32,
    /// After how many of them it was left out.
    outs: u32,
    /// The job is not tried there before.
    until: Time,
    /// Then nothing is remembered.
    forgotten_at: Time,
}

/// What is remembered for a job.
#[derive(Clone, Debug, Default)]
struct JobRefusals {
    why: String,
    nodes: BTreeMap<String, NodeRefusal>,
}

/// Nodes on which Slurm refused to start jobs.
#[derive(Clone, Debug, Default)]
pub struct Refusals {
    jobs: BTreeMap<u32, JobRefusals>,
    /// When something of a job is to be looked at again.
    due: DueTimes,
    /// Nodes of all jobs.
    size: usize,
    /// Jobs whose size a limit forbids: on how many nodes they are tried at most, and until when.
    sizes: BTreeMap<u32, (u32, Time)>,
}

impl Refusals {
    /// Slurm refused to start the job here, for this reason. Which of several nodes is the cause is
    /// not known: half of them are left out, first those that were in most refusals after which
    /// they were not, so that the cause is found in a few tries. O(nodes of the job × log).
    pub fn add(&mut self, job: u32, placement: &NamedPlacement, why: &str, now: Time) {
        let known = self.jobs.entry(job).or_default();
        let before = known.nodes.len();
        why.clone_into(&mut known.why);
        let mut nodes: Vec<(&str, u32, u32)> = placement
            .0
            .iter()
            .map(|spot| {
                let refused = known.nodes.get(&spot.node);
                let (times, outs) = refused.map_or((0, 0), |node| (node.times, node.outs));
                (spot.node.as_str(), times + 1, outs)
            })
            .collect();
        nodes.sort_by_key(|(name, times, outs)| (Reverse(times - outs), *name));
        let left_out = nodes.len().div_ceil(2);
        for (number, (node, times, outs)) in nodes.into_iter().enumerate() {
            let is_out = number < left_out;
            let outs = outs + u32::from(is_out);
            let wait = backoff_after(outs);
            let until = if is_out { Time(now.0 + wait.0) } else { now };
            let forgotten_at = Time(until.0 + wait.0);
            self.due.add(job, until);
            self.due.add(job, forgotten_at);
            let refused = NodeRefusal {
                times,
                outs,
                until,
                forgotten_at,
            };
            known.nodes.insert(node.to_owned(), refused);
        }
        self.size += known.nodes.len() - before;
        self.bound(job);
    }

    /// A limit forbids to start the job on so many nodes, and may allow fewer: half as many are
    /// tried for a while.
    pub fn refuse_size(&mut self, job: u32, nodes: u32, now: Time) {
        self.sizes.retain(|_, (_, until)| *until > now);
        let until = Time(now.0 + FEWER_NODES_TIME.0);
        self.sizes.insert(job, ((nodes / 2).max(1), until));
    }

    /// On how many nodes the job is to be tried at most.
    pub fn max_nodes(&self, job: u32, now: Time) -> u32 {
        let known = self.sizes.get(&job).filter(|(_, until)| *until > now);
        known.map_or(u32::MAX, |(nodes, _)| *nodes)
    }

    /// Forgets others than `job`, if too much is remembered.
    fn bound(&mut self, job: u32) {
        while self.size > MAX_REFUSED_NODES {
            let Some(other) = self.jobs.keys().copied().find(|other| *other != job) else {
                return;
            };
            self.forget(other);
        }
    }

    /// A job has left these nodes: the cause of refusals there may be gone with it. Returns the
    /// jobs for which less is left out. O(jobs that were refused × nodes × log).
    pub fn vacated(&mut self, placement: &NamedPlacement) -> BTreeSet<u32> {
        let mut jobs = BTreeSet::new();
        for (job, known) in &mut self.jobs {
            for spot in &placement.0 {
                if known.nodes.remove(&spot.node).is_some() {
                    self.size -= 1;
                    jobs.insert(*job);
                }
            }
        }
        self.jobs.retain(|_, known| !known.nodes.is_empty());
        jobs
    }

    /// The job started, or is gone.
    pub fn forget(&mut self, job: u32) {
        self.sizes.remove(&job);
        if let Some(known) = self.jobs.remove(&job) {
            self.size -= known.nodes.len();
        }
    }

    /// Nodes on which the job is not to be tried now, by name, ascending.
    pub fn left_out(&self, job: u32, now: Time) -> impl Iterator<Item = &str> {
        let nodes = self.jobs.get(&job).into_iter().flat_map(|job| &job.nodes);
        nodes
            .filter(move |(_, refused)| refused.until > now)
            .map(|(name, _)| name.as_str())
    }

    /// What Slurm said when it last refused to start the job.
    pub fn reason(&self, job: u32) -> Option<&str> {
        self.jobs.get(&job).map(|job| job.why.as_str())
    }

    /// When a node is next no longer left out for the job.
    pub fn next_of(&self, job: u32, now: Time) -> Option<Time> {
        let nodes = self.jobs.get(&job).into_iter().flat_map(|job| &job.nodes);
        let ends = nodes.map(|(_, refused)| refused.until);
        ends.filter(|until| *until > now).min()
    }

    /// When there is next something to look at again.
    pub fn next(&self) -> Option<Time> {
        self.due.next()
    }

    /// The jobs for which less is left out since the last call.
    pub fn take_due(&mut self, now: Time) -> BTreeSet<u32> {
        let mut jobs = BTreeSet::new();
        for job in self.due.take_due(now) {
            let Some(known) = self.jobs.get_mut(&job) else {
                continue;
            };
            jobs.insert(job);
            let before = known.nodes.len();
            known.nodes.retain(|_, refused| refused.forgotten_at > now);
            self.size -= before - known.nodes.len();
            if known.nodes.is_empty() {
                self.jobs.remove(&job);
            }
        }
        jobs
    }
}

fn backoff_after(outs: u32) -> Span {
    let doublings = outs.saturating_sub(1).min(10);
    Span((FIRST_BACKOFF.0 << doublings).min(MAX_BACKOFF.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::placement::NodeTasks;

    fn on(nodes: &[&str]) -> NamedPlacement {
        let spot = |node: &&str| NodeTasks {
            node: (*node).to_owned(),
            tasks: 1,
        };
        NamedPlacement(nodes.iter().map(spot).collect())
    }

    fn left_out(refusals: &Refusals, second: i64) -> Vec<&str> {
        refusals.left_out(7, Time::from_seconds(second)).collect()
    }

    #[test]
    fn backoff_doubles_with_each_refusal_in_a_row() {
        let mut refusals = Refusals::default();
        let mut now = 0;
        for wait in [5, 10, 20, 40, 80, 160, 320, 320] {
            refusals.add(7, &on(&["a"]), "busy", Time::from_seconds(now));
            assert_eq!(left_out(&refusals, now + wait - 1), ["a"]);
            assert!(left_out(&refusals, now + wait).is_empty());
            now += wait;
            assert!(refusals.take_due(Time::from_seconds(now)).contains(&7));
        }
        assert_eq!(refusals.reason(7), Some("busy"));
        refusals.take_due(Time::from_seconds(now + 320));
        assert_eq!((refusals.reason(7), refusals.size), (None, 0));
        assert_eq!(refusals.next(), None);
    }

    #[test]
    fn refused_node_is_found_among_others_in_few_tries() {
        for bad in ["a", "b", "c", "d"] {
            let mut refusals = Refusals::default();
            let mut tries = 0;
            loop {
                let now = Time::from_seconds(tries * 6);
                let out: Vec<&str> = refusals.left_out(7, now).collect();
                let all = ["a", "b", "c", "d"];
                let some: Vec<&str> = all.into_iter().filter(|node| !out.contains(node)).collect();
                if !some.is_empty() && !some.contains(&bad) {
                    break;
                }
                tries += 1;
                assert!(tries < 6, "{bad} is not found");
                if !some.is_empty() {
                    refusals.add(7, &on(&some), "busy", now);
                }
            }
        }
    }

    #[test]
    fn refused_nodes_are_left_out_in_turn() {
        // What is left may not be enough for the job: then it is tried on both again.
        let mut refusals = Refusals::default();
        refusals.add(7, &on(&["a", "b"]), "busy", Time(0));
        assert_eq!(left_out(&refusals, 1), ["a"]);
        refusals.add(7, &on(&["a", "b"]), "busy", Time::from_seconds(5));
        assert_eq!(left_out(&refusals, 6), ["b"]);
    }

    #[test]
    fn node_is_tried_again_when_a_job_has_left_it() {
        let mut refusals = Refusals::default();
        refusals.add(7, &on(&["a", "b"]), "busy", Time(0));
        assert_eq!(left_out(&refusals, 1), ["a"]);
        assert!(refusals.vacated(&on(&["c"])).is_empty());
        assert_eq!(refusals.vacated(&on(&["a"])), BTreeSet::from([7]));
        assert!(left_out(&refusals, 1).is_empty());
        refusals.vacated(&on(&["b"]));
        assert_eq!((refusals.reason(7), refusals.size), (None, 0));
    }

    #[test]
    fn remembered_nodes_are_bounded() {
        let names: Vec<String> = (0..2000).map(|node| format!("n{node}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut refusals = Refusals::default();
        for job in 0..100 {
            refusals.add(job, &on(&names), "busy", Time(0));
        }
        assert!(refusals.size <= MAX_REFUSED_NODES && refusals.jobs.len() == 5);
    }
}
