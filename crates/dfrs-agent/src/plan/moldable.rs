//! What starts in partitions of moldable jobs (`Policy=DEMT`): their waiting jobs become tasks, the
//! nodes a machine, and what `dfrs-moldable` would start now becomes planned starts, as the core's
//! are. Pure.
//!
//! Jobs get whole nodes, as many of what they allow as is best for all, and keep them until they
//! end. A job's time limit is how long it takes on its smallest number of nodes; the job states how
//! much faster it is on more ([`speedup`]). An error in that moves what follows, as the decision is
//! repeated whenever something happens.

mod machine;
pub mod policy;
mod reason;
mod request;
pub mod speedup;

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Action, JobId, Mapping, NodeIndex, Run, Span, Time};
use dfrs_moldable::live::{WaitingTask, plan};
use dfrs_moldable::{Placement, Task};

use crate::plan::cluster::PassFacts;
use crate::plan::partition_policy::PlannedStart;
use crate::slurm::records::ObservedJob;
use machine::NodeAvailability;
pub use reason::reason;
pub use request::Unfit;
use request::{MoldableRequest, request};

/// A job is overdue when it has waited so many times as long as all that runs and waits was
/// expected to take: two batches of the on-line algorithm (Section 2.2 of the paper), in which all
/// that was submitted before the second begins has started.
const OVERDUE_FACTOR: i64 = 2;
/// So long a job waits before it starts on more nodes than it needs. Jobs are often submitted one
/// after the other: the first of them would get nodes, and keep them, that the next ones use
/// better.
const BURST: Span = Span::from_seconds(2);

/// What is expected of a job that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// It starts then, if what runs and what comes before takes as long as expected.
    Starts {
        /// When.
        at: Time,
        /// On so many nodes.
        nodes: u32,
    },
    /// It cannot start, as nodes are now.
    Unfit(Unfit),
}

/// What is remembered from one decision to the next.
#[derive(Debug, Default)]
pub struct WaitHistory {
    /// Since when each job waits for nothing but room.
    since: BTreeMap<u32, Time>,
    /// How long all that ran and waited in each partition was expected to take.
    lengths: BTreeMap<String, Span>,
}

/// What starts, and what is expected of the others.
#[derive(Debug, Default)]
pub struct MoldablePlan {
    /// The starts.
    pub starts: Vec<PlannedStart>,
    /// Of each job that waits.
    pub outlook: BTreeMap<u32, Outlook>,
    lengths: BTreeMap<String, Span>,
}

/// A job that waits, and its request.
struct MoldableCandidate<'a> {
    job: &'a ObservedJob,
    resumes: bool,
    request: MoldableRequest,
    task: Task,
}

/// Decides about all partitions of moldable jobs, one after the other. O(jobs × nodes) and what
/// [`dfrs_moldable::live::plan`] takes.
pub fn decide(facts: &PassFacts, history: &WaitHistory) -> MoldablePlan {
    let mut plan = MoldablePlan::default();
    let mut nodes = NodeAvailability::of(facts);
    for partition in facts.config.whole_node_partitions() {
        let mut candidates = Vec::new();
        for id in facts.ready {
            let Some(job) = facts.seen.job(*id).filter(|job| job.partition == partition) else {
                continue;
            };
            match candidate(job, facts) {
                Some(Ok(candidate)) => candidates.push(candidate),
                Some(Err(unfit)) => drop(plan.outlook.insert(*id, Outlook::Unfit(unfit))),
                None => {}
            }
        }
        plan.add(&partition, &candidates, &mut nodes, facts.now, history);
    }
    plan
}

/// The job as something to be placed, if it waits for that.
fn candidate<'a>(
    job: &'a ObservedJob,
    facts: &PassFacts,
) -> Option<Result<MoldableCandidate<'a>, Unfit>> {
    let record = facts.ledger.get(job.id)?;
    if !record.life.is_waiting() || record.life.is_held_off(facts.now) {
        return None;
    }
    let weight = f64::from(facts.weights.of(job).0) / 1000.0;
    let made = request(job, record, facts).and_then(|request| {
        let task = request.task(job, facts.config, weight)?;
        Ok(MoldableCandidate {
            job,
            resumes: record.life.is_paused(),
            request,
            task,
        })
    });
    Some(made)
}

impl MoldablePlan {
    fn add(
        &mut self,
        partition: &str,
        candidates: &[MoldableCandidate],
        nodes: &mut NodeAvailability,
        now: Time,
        history: &WaitHistory,
    ) {
        if candidates.is_empty() {
            return;
        }
        let allowed = candidates.iter();
        let allowed = allowed.map(|candidate| candidate.request.allowed.as_slice());
        let (machine, allowed) = nodes.machine(allowed.collect());
        let waiting = candidates.iter().zip(&allowed);
        let waiting = waiting.map(|(candidate, allowed)| WaitingTask {
            task: &candidate.task,
            allowed: allowed.as_ref(),
            is_overdue: history.is_overdue(candidate.job, now),
        });
        let schedule = plan(&machine, &waiting.collect::<Vec<_>>(), 0.0);
        let ends = schedule.placements.iter().map(|placement| placement.end);
        let length = Span(microseconds(ends.fold(0.0, f64::max)));
        self.lengths.insert(partition.to_owned(), length);
        let mut placed = BTreeSet::new();
        for placement in &schedule.placements {
            let candidate = &candidates[placement.task];
            placed.insert(candidate.job.id);
            self.place(candidate, placement, nodes, now, history);
        }
        for candidate in candidates {
            if !placed.contains(&candidate.job.id) {
                let needed = *candidate.request.sizes.start();
                let up = nodes.number_up(&candidate.request.allowed);
                let unfit = Outlook::Unfit(Unfit::Unavailable { needed, up });
                self.outlook.insert(candidate.job.id, unfit);
            }
        }
    }

    fn place(
        &mut self,
        candidate: &MoldableCandidate,
        placement: &Placement,
        nodes: &mut NodeAvailability,
        now: Time,
        history: &WaitHistory,
    ) {
        let count = placement.processors.count();
        let mut at = now + Span(microseconds(placement.start));
        if count > *candidate.request.sizes.start() {
            at = at.max(history.since(candidate.job, now) + BURST);
        }
        let outlook = Outlook::Starts { at, nodes: count };
        self.outlook.insert(candidate.job.id, outlook);
        if placement.start > 0.0 {
            return;
        }
        nodes.take(&placement.processors, placement.end);
        if at > now {
            return;
        }
        let tasks = candidate.request.tasks_on(count);
        let runs = placement.processors.iter().zip(tasks);
        let runs = runs.map(|(node, tasks)| Run {
            node: NodeIndex(node),
            tasks,
        });
        let (id, mapping) = (
            JobId(u64::from(candidate.job.id)),
            Mapping::new(runs.collect()),
        );
        let action = if candidate.resumes {
            Action::Resume(id, mapping)
        } else {
            Action::Start(id, mapping)
        };
        let sizes = &candidate.request.sizes;
        let why = if sizes.start() == sizes.end() {
            "DEMT: its nodes are free".to_owned()
        } else {
            let (min, max) = (sizes.start(), sizes.end());
            format!("DEMT: {count} of {min} to {max} nodes are best now")
        };
        self.starts.push(PlannedStart { action, why });
    }

    /// The jobs that start.
    pub fn jobs(&self) -> Vec<u32> {
        let jobs = self.starts.iter().map(|start| start.action.job().0);
        jobs.filter_map(|id| u32::try_from(id).ok()).collect()
    }

    /// When something other than expected has happened, if nothing else happens before: when the
    /// next job was to start.
    pub fn next(&self, now: Time) -> Option<Time> {
        let times = self.outlook.values().filter_map(|outlook| match outlook {
            Outlook::Starts { at, .. } => Some(*at),
            Outlook::Unfit(_) => None,
        });
        times.filter(|at| *at > now).min()
    }
}

impl WaitHistory {
    /// Since when the job waits for nothing but room.
    fn since(&self, job: &ObservedJob, now: Time) -> Time {
        self.since.get(&job.id).copied().unwrap_or(now)
    }

    fn is_overdue(&self, job: &ObservedJob, now: Time) -> bool {
        self.lengths.get(&job.partition).is_some_and(|length| {
            let overdue_after = Span(length.0.saturating_mul(OVERDUE_FACTOR));
            *length > Span::ZERO && now.since(self.since(job, now)) >= overdue_after
        })
    }

    /// Keeps what has to be known the next time.
    pub fn update(&mut self, plan: &MoldablePlan, now: Time) {
        self.since.retain(|id, _| plan.outlook.contains_key(id));
        for id in plan.outlook.keys() {
            self.since.entry(*id).or_insert(now);
        }
        self.lengths.clone_from(&plan.lengths);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast of what is too large gives the largest there is"
)]
fn microseconds(seconds: f64) -> i64 {
    // A million years are enough, and leave room to add.
    ((seconds * 1e6) as i64).min(i64::MAX / 4)
}

#[cfg(test)]
mod tests;
