//! The rule that the reason of a node that drains says how many parked jobs live there.

use std::collections::BTreeMap;

use dfrs_core::Time;

use super::scenario::SECOND;
use crate::model::{ClusterModel, JobEntry};
use dfrs_agent::slurm::records::ObservedState;

/// What is wrong for longer than this is noticed.
const REASON_TIMEOUT: i64 = 60 * SECOND;

/// Since when reasons of nodes are wrong.
#[derive(Debug, Default)]
pub(super) struct DrainRule(BTreeMap<u32, Time>);

impl DrainRule {
    /// What is wrong by now, if anything is. `schedules`: an agent is there to report it.
    pub(super) fn look(&mut self, model: &ClusterModel, schedules: bool) -> Result<(), String> {
        let is_reporting = schedules && model.serves();
        let nodes = model.nodes().iter().filter(|_| is_reporting);
        let wrong = nodes.filter_map(|node| Some((node.seen.index, wrong_on(node, model)?)));
        let wrong: BTreeMap<u32, String> = wrong.collect();
        self.0.retain(|node, _| wrong.contains_key(node));
        for (node, what) in wrong {
            let since = *self.0.entry(node).or_insert(model.now());
            if model.now().0 - since.0 > REASON_TIMEOUT {
                return Err(what);
            }
        }
        Ok(())
    }
}

/// What is wrong with this node's reason.
fn wrong_on(node: &crate::model::NodeEntry, model: &ClusterModel) -> Option<String> {
    let suspended = |job: &&JobEntry| job.seen.state == ObservedState::Suspended;
    let stopped = model.jobs().values().filter(suspended);
    let stopped: Vec<&JobEntry> = stopped.filter(|job| job.is_on(node.seen.index)).collect();
    // Of the others it is DFRS's to know whether it or an operator has stopped them.
    let is_parked = |job: &&&JobEntry| !job.seen.is_counted();
    let least = stopped.iter().filter(is_parked).count();
    let waited_for = node.drained && !node.down;
    let right = if waited_for {
        least..=stopped.len()
    } else {
        0..=0
    };
    let reported = node.reported_parked as usize;
    (!right.contains(&reported)).then(|| {
        format!(
            "the reason of {} says that {reported} parked jobs live there, where {} do",
            node.seen.name, least
        )
    })
}
