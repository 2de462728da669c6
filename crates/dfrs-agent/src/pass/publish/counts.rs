//! Counts of jobs by kind, their metrics and the actions so far, for monitoring.

use std::collections::BTreeMap;

use dfrs_core::{Blocked, Span, Time};
use dfrs_proto::status::{ActionCounts, DeviceCounts, JobCounts, JobMetrics, WaitsFor};

use crate::daemons::Daemons;
use crate::job::ledger::LedgerRecord;
use crate::job::life::{LifeStep, StepResult};
use crate::pass::Agent;
use crate::saturating_u32;
use crate::slurm::port::Slurm;
use crate::slurm::records::{ObservedJob, ObservedNode};

/// Jobs with less virtual time than this count as if they had this much, as in the papers' bounded
/// stretch.
const MIN_VIRTUAL_TIME: Span = Span::from_seconds(10);

/// One more step, if it was done.
pub(in crate::pass) fn count(done: &mut ActionCounts, step: &LifeStep, answer: &StepResult) {
    let count = match (answer, step) {
        (StepResult::Done, LifeStep::Start(_)) => &mut done.starts,
        (StepResult::Done, LifeStep::Suspend) => &mut done.suspends,
        (StepResult::Done, LifeStep::Resume) => &mut done.resumes,
        (StepResult::Done, LifeStep::Warn) => &mut done.warnings,
        (StepResult::Done, LifeStep::Requeue) => &mut done.requeues,
        _ => return,
    };
    *count += 1;
}

/// Jobs by what becomes of them, and nodes. The waiting rest of an array is one job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Jobs.
    pub jobs: JobCounts,
    /// Nodes of the partitions.
    pub nodes: u32,
    /// Nodes that take work.
    pub nodes_up: u32,
    /// Nodes that can park jobs.
    pub nodes_can_park: u32,
    /// Devices of nodes, by kind.
    pub devices: BTreeMap<String, DeviceCounts>,
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Counts them, as they were at the last pass. O(jobs + nodes).
    pub fn counts(&self) -> Counts {
        let nodes = self.seen.nodes();
        let mut counts = Counts {
            nodes: saturating_u32(nodes.len()),
            nodes_up: saturating_u32(nodes.iter().filter(|node| node.up).count()),
            nodes_can_park: saturating_u32(
                self.nodes
                    .swap
                    .values()
                    .filter(|eighths| **eighths > 0)
                    .count(),
            ),
            devices: device_counts(nodes),
            ..Counts::default()
        };
        for (id, record) in self.ledger.iter() {
            let life = &record.life;
            let (kind, waits) = if life.is_under_way() {
                (&mut counts.jobs.under_way, false)
            } else if life.is_parked() {
                (&mut counts.jobs.parked, true)
            } else if life.is_paused() {
                (&mut counts.jobs.paused, true)
            } else if life.is_suspended_by_operator() {
                (&mut counts.jobs.suspended, false)
            } else if life.is_running() {
                (&mut counts.jobs.running, false)
            } else {
                (&mut counts.jobs.waiting, true)
            };
            *kind += 1;
            let why = self.planner.blocked.get(&id).copied();
            if waits {
                *cause(&mut counts.jobs.waits_for, why) += 1;
            }
            if self.seen.job(id).is_some_and(ObservedJob::holds_devices) {
                let with_devices = &mut counts.jobs.with_devices;
                with_devices.all += 1;
                if waits {
                    *cause(&mut with_devices.waits_for, why) += 1;
                }
            }
        }
        counts
    }

    /// What was done since this agent began.
    pub fn done(&self) -> ActionCounts {
        self.publisher.done.clone()
    }

    /// How the jobs fare at this time. O(jobs).
    pub fn job_metrics(&self, now: Time) -> JobMetrics {
        let yields = self.planner.shares.values().map(|share| share.0);
        let lowest_yield = yields.clone().fold(1.0, f64::min);
        let stretches: Vec<f64> = self
            .ledger
            .iter()
            .filter_map(|(_, record)| stretch(record, now))
            .collect();
        let largest_stretch = stretches.iter().copied().fold(1.0, f64::max);
        JobMetrics {
            sharing: saturating_u32(self.planner.shares.len()),
            lowered: self.planner.actual.lowered(),
            lowest_yield,
            mean_yield: mean(yields),
            mean_stretch: mean(stretches.into_iter()),
            largest_stretch,
        }
    }

    /// The nodes whose daemon does not answer, as of the last pass, ascending.
    pub fn silent_nodes(&self) -> impl ExactSizeIterator<Item = &str> {
        self.nodes.silent.iter().map(String::as_str)
    }
}

/// The number of those that wait for this; `None`: the last decision said nothing.
fn cause(waits_for: &mut WaitsFor, why: Option<Blocked>) -> &mut u32 {
    match why {
        Some(Blocked::Memory | Blocked::OwnNodesFull | Blocked::Reserved) => &mut waits_for.memory,
        Some(Blocked::Devices { .. }) => &mut waits_for.devices,
        Some(Blocked::Cpu) => &mut waits_for.cpu,
        Some(Blocked::NodesUnavailable) => &mut waits_for.nodes,
        Some(Blocked::NotNow) => &mut waits_for.decision,
        Some(Blocked::NeverFits) => &mut waits_for.nothing,
        None => &mut waits_for.slurm,
    }
}

/// The devices of these nodes, by kind. O(nodes x their kinds).
fn device_counts(nodes: &[ObservedNode]) -> BTreeMap<String, DeviceCounts> {
    let mut counts: BTreeMap<String, DeviceCounts> = BTreeMap::new();
    for (node, devices) in nodes
        .iter()
        .flat_map(|node| node.devices.iter().map(move |devices| (node, devices)))
    {
        let count = counts.entry(devices.kind.to_string()).or_default();
        count.all += devices.count;
        count.held += devices.allocated;
        count.free += if node.up { devices.free() } else { 0 };
    }
    counts
}

/// Of a job so far, if it has done something.
fn stretch(record: &LedgerRecord, now: Time) -> Option<f64> {
    let done = record.progress.clone().virtual_time(now);
    let since = Time::from_seconds(record.waits_since());
    let flow = now.since(since).max(Span::ZERO);
    (done > Span::ZERO).then(|| (flow.seconds() / done.max(MIN_VIRTUAL_TIME).seconds()).max(1.0))
}

/// 1 of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    if count > 0.0 { sum / count } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_completed_steps_are_counted() {
        let mut done = ActionCounts::default();
        for (step, answer) in [
            (LifeStep::Suspend, StepResult::Done),
            (LifeStep::Suspend, StepResult::Refused),
            (LifeStep::Resume, StepResult::Done),
            (LifeStep::ReleaseMemory, StepResult::Released(Vec::new())),
        ] {
            count(&mut done, &step, &answer);
        }
        assert_eq!((done.suspends, done.resumes, done.starts), (1, 1, 0));
    }

    #[test]
    fn mean_is_one_when_there_are_no_jobs() {
        assert!((mean([].into_iter()) - 1.0).abs() < 1e-12);
        assert!((mean([0.5, 1.0].into_iter()) - 0.75).abs() < 1e-12);
    }
}
