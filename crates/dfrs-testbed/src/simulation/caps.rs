//! The rule that caps are in force: every job that runs may use as much of its nodes as its yield
//! says.

use std::collections::BTreeMap;

use dfrs_core::Time;
use dfrs_proto::conf::Config;
use dfrs_proto::journal::EventKind;

use super::scenario::SECOND;
use crate::model::ClusterModel;

/// So long after a yield changed, or after a job began, its nodes enforce it.
const CAP_TIMEOUT: i64 = 10 * SECOND;
/// Shares are rounded on their way.
const ROUNDING: f64 = 0.01;

/// What the journal says of yields, and since when which node does not do what it says.
#[derive(Debug, Default)]
pub(super) struct Caps {
    yields: BTreeMap<u32, f64>,
    wrong: BTreeMap<(u32, u32), (Time, f64)>,
}

impl Caps {
    /// One event of the journal.
    pub(super) fn follow(&mut self, event: &EventKind) {
        match event {
            EventKind::Yield { job, value } => {
                let id = job.parse().ok();
                id.and_then(|id: u32| self.yields.insert(id, *value));
            }
            EventKind::Pause { job, .. } | EventKind::Finish { job, .. } => {
                let id = job.parse().ok();
                id.and_then(|id: u32| self.yields.remove(&id));
            }
            _ => {}
        }
    }

    /// Nothing is known of how things were: orders get lost, or DFRS does not schedule.
    pub(super) fn forget(&mut self) {
        self.wrong.clear();
    }

    /// What is wrong by now, if anything is. Jobs of partitions that are given back are not capped.
    pub(super) fn look(&mut self, model: &ClusterModel, config: &Config) -> Result<(), String> {
        let now = model.now();
        let mut wrong = BTreeMap::new();
        for (job, node, need, cap) in model.caps() {
            let partition = model.jobs().get(&job).map(|job| &job.seen.partition);
            let is_managed = partition.is_some_and(|name| config.schedules(name));
            let Some(share) = self.yields.get(&job).filter(|_| is_managed) else {
                continue;
            };
            // A job that has a node for itself is not capped there.
            let is_whole = partition.is_some_and(|name| config.gives_whole_nodes(name));
            let wanted = if is_whole { 1.0 } else { share * need };
            if cap.is_some_and(|cap| (cap - wanted).abs() <= ROUNDING) {
                continue;
            }
            // A yield that changes meanwhile is a new one.
            let before = self.wrong.get(&(job, node));
            let same = before.filter(|(_, before)| (before - wanted).abs() <= ROUNDING);
            let since = same.map_or(now, |(since, _)| *since);
            if now.0 - since.0 > CAP_TIMEOUT {
                return Err(format!(
                    "job {job} shall have {wanted:.3} of node {node}, and {}",
                    cap.map_or("is not capped".into(), |cap| format!("has {cap:.3}"))
                ));
            }
            wrong.insert((job, node), (since, wanted));
        }
        self.wrong = wrong;
        Ok(())
    }
}
