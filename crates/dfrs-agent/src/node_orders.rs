//! What each node daemon shall enforce, from what is.

use std::collections::BTreeMap;

use dfrs_proto::message::{JobState, NodeState, Share};

use crate::ledger::{Ledger, Record};
use crate::observation::{Observation, ObservedJob, Place};

/// The desired state of every node that can be reached: the share of each running job there, and
/// which jobs stay frozen.
#[must_use]
pub fn node_orders(observation: &Observation, ledger: &Ledger) -> BTreeMap<String, NodeState> {
    let mut orders: BTreeMap<String, NodeState> = observation
        .nodes()
        .iter()
        .filter(|node| !node.down)
        .map(|node| {
            (
                node.name.clone(),
                NodeState {
                    cpus: node.cpus,
                    jobs: Vec::new(),
                },
            )
        })
        .collect();
    for job in observation.placed() {
        let Some(record) = ledger.get(job.id) else {
            continue;
        };
        for place in &job.places {
            let Some(position) = observation.node_position(place.node) else {
                continue;
            };
            let node = &observation.nodes()[position];
            let order = order_for(job, record, place, node.cpus);
            if let (Some(order), Some(state)) = (order, orders.get_mut(&node.name)) {
                state.jobs.push(order);
            }
        }
    }
    orders
}

/// What one node shall do with one job; `None`: nothing of DFRS's.
fn order_for(job: &ObservedJob, record: &Record, place: &Place, cpus: u32) -> Option<JobState> {
    let needs = f64::from(place.tasks) * f64::from(job.cpus_per_task.max(1));
    let share = Share::clamped(record.share().0 * needs / f64::from(cpus.max(1)));
    let frozen = record.life.is_frozen(job, place)?;
    Some(JobState {
        id: job.id,
        share: if frozen { Share::ONE } else { share },
        frozen,
    })
}
