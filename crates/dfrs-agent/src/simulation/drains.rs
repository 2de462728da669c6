//! The rule that the reason of a node that drains says how many parked jobs live there.

use std::collections::BTreeMap;

use dfrs_core::Time;

use super::scenario::SECOND;
use crate::model::{JobEntry, Model};
use crate::observation::ObservedState;

/// What is wrong for longer than this is noticed.
const PATIENCE: i64 = 60 * SECOND;

/// Since when reasons of nodes are wrong.
#[derive(Debug, Default)]
pub(super) struct Drains(BTreeMap<u32, Time>);

impl Drains {
    /// What is wrong by now, if anything is. `schedules`: somebody is there to say it.
    pub(super) fn look(&mut self, model: &Model, schedules: bool) -> Result<(), String> {
        let is_said = schedules && model.serves();
        let nodes = model.nodes().iter().filter(|_| is_said);
        let wrong = nodes.filter_map(|node| Some((node.seen.index, wrong_on(node, model)?)));
        let wrong: BTreeMap<u32, String> = wrong.collect();
        self.0.retain(|node, _| wrong.contains_key(node));
        for (node, what) in wrong {
            let since = *self.0.entry(node).or_insert(model.now());
            if model.now().0 - since.0 > PATIENCE {
                return Err(what);
            }
        }
        Ok(())
    }
}

/// What is wrong with this node's reason.
fn wrong_on(node: &crate::model::NodeEntry, model: &Model) -> Option<String> {
    let here = |job: &&JobEntry| {
        let mut places = job.seen.places.iter();
        places.any(|place| place.node == node.seen.index)
    };
    let suspended = |job: &&JobEntry| job.seen.state == ObservedState::Suspended;
    let stopped: Vec<&JobEntry> = model
        .jobs()
        .values()
        .filter(suspended)
        .filter(here)
        .collect();
    // Of the others it is DFRS's to know whether it or an operator has stopped them.
    let is_parked = |job: &&&JobEntry| !job.seen.is_counted();
    let least = stopped.iter().filter(is_parked).count();
    let waited_for = node.drained && !node.down;
    let right = if waited_for {
        least..=stopped.len()
    } else {
        0..=0
    };
    let said = node.said_parked as usize;
    (!right.contains(&said)).then(|| {
        format!(
            "the reason of {} says that {said} parked jobs live there, where {} do",
            node.seen.name, least
        )
    })
}
