//! What each node daemon shall enforce, from what is.

use std::collections::BTreeMap;

use dfrs_proto::conf::Config;
use dfrs_proto::message::{JobOrder, NodeOrder, Share};

use crate::daemons::OrderChanges;
use crate::job::ledger::{Ledger, LedgerRecord};
use crate::job::mobility::is_inspected;
use crate::plan::needs::{is_measured, need_of};
use crate::slurm::node_changes::NodeChanges;
use crate::slurm::observation::Observation;
use crate::slurm::records::{ObservedJob, ObservedNode, ObservedPlace};
use crate::slurm::request::memory::MIB;

/// What is to become of the image of a job that has ended on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftImage {
    /// There is none.
    None,
    /// The job goes on from it: what is left of the job on the node stays stopped.
    Kept,
    /// The node removes it.
    Void,
}

/// Pending jobs that nodes were ordered to end, and jobs that are over and have left an image, by
/// node: they are to report when nothing of them is left.
pub type TerminatingJobs = BTreeMap<String, BTreeMap<u32, LeftImage>>;

/// The desired state of every node that can be reached: the share of each running job there, which
/// jobs stay frozen, which is all about those of partitions that are given back, and which have
/// ended. O(nodes + places).
pub fn node_orders(
    observation: &Observation,
    ledger: &Ledger,
    former: &TerminatingJobs,
    config: &Config,
) -> BTreeMap<String, NodeOrder> {
    let nodes = observation.nodes().iter().enumerate();
    nodes
        .filter_map(|(position, node)| {
            let orders = orders_of(position, observation, ledger, former, config)?;
            Some((node.name.clone(), orders))
        })
        .collect()
}

/// How these orders differ from what they shall be, where only these nodes are different, or what
/// is there. O(jobs there, and their places); O(nodes + places) where nodes came or went.
pub fn order_changes(
    before: &BTreeMap<String, NodeOrder>,
    nodes: &NodeChanges,
    observation: &Observation,
    ledger: &Ledger,
    former: &TerminatingJobs,
    config: &Config,
) -> OrderChanges {
    if nodes.all {
        let orders = node_orders(observation, ledger, former, config);
        return OrderChanges::between(before, &orders);
    }
    let mut changes = OrderChanges::default();
    let positions = nodes.some.iter();
    for position in positions.filter_map(|index| observation.node_position(*index)) {
        let name = &observation.nodes()[position].name;
        match orders_of(position, observation, ledger, former, config) {
            Some(orders) if before.get(name) != Some(&orders) => {
                changes.changed.insert(name.clone(), orders);
            }
            None if before.contains_key(name) => {
                changes.gone.insert(name.clone());
            }
            _ => {}
        }
    }
    changes
}

/// The orders of the node at this position; `None`: it is down.
fn orders_of(
    position: usize,
    observation: &Observation,
    ledger: &Ledger,
    former: &TerminatingJobs,
    config: &Config,
) -> Option<NodeOrder> {
    let node = &observation.nodes()[position];
    if node.down {
        return None;
    }
    let mut jobs = Vec::new();
    for (job, _, place) in observation.places_on(position) {
        let Some(record) = ledger.get(job.id) else {
            continue;
        };
        if record.life.leaves_image() {
            // What Slurm shows is of before its requeue.
            jobs.push(end_of(job.id, LeftImage::Kept));
            continue;
        }
        let order = order_for(job, record, place, node);
        jobs.extend(if !config.schedules(&job.partition) {
            order.filter(|order| order.frozen)
        } else if config.gives_whole_nodes(&job.partition) {
            order.map(uncapped)
        } else {
            let order = order.map(|order| asking(order, job, record, place, node, config));
            order.map(|order| JobOrder {
                carry: !order.frozen && is_inspected(job, config),
                ..order
            })
        });
    }
    for (id, image) in former.get(&node.name).into_iter().flatten() {
        // A job with this id that has just been started there is the newer one.
        if jobs.iter().all(|job| job.id != *id) {
            jobs.push(end_of(*id, *image));
        }
    }
    Some(NodeOrder {
        swap: Some(config.swap_per_node.0).filter(|swap| *swap > 0),
        ..state_of(node, jobs)
    })
}

/// The orders of a node with these jobs.
pub fn state_of(node: &ObservedNode, jobs: Vec<JobOrder>) -> NodeOrder {
    NodeOrder {
        cpus: node.all_cpus,
        jobs,
        memory: Some(node.memory * MIB),
        ..NodeOrder::default()
    }
}

/// The order by which this node keeps the job frozen, if it does: all that is left of its orders
/// when DFRS gives back.
pub fn frozen_on(
    node: &ObservedNode,
    job: &ObservedJob,
    record: &LedgerRecord,
) -> Option<JobOrder> {
    let mut here = job.places.iter().filter(|place| place.node == node.index);
    here.find_map(|place| order_for(job, record, place, node))
        .filter(|order| order.frozen)
}

/// The node leaves the job alone, or keeps it stopped, and says when it is gone.
pub fn end_of(id: u32, image: LeftImage) -> JobOrder {
    JobOrder {
        ended: true,
        image: image == LeftImage::Kept,
        void: image == LeftImage::Void,
        ..JobOrder::new(id, Share::ONE)
    }
}

/// Of a job that is to have all of its nodes.
fn uncapped(order: JobOrder) -> JobOrder {
    JobOrder {
        share: Share::ONE,
        spans_nodes: false,
        ..order
    }
}

/// What one node shall do with one job; `None`: nothing of DFRS's.
fn order_for(
    job: &ObservedJob,
    record: &LedgerRecord,
    place: &ObservedPlace,
    node: &ObservedNode,
) -> Option<JobOrder> {
    let share = Share::clamped(record.share().0 * request_on(job, place, node));
    let frozen = record.life.is_frozen(job, place)?;
    let share = if frozen { Share::ONE } else { share };
    Some(JobOrder {
        frozen,
        image: record.life.is_dumping(),
        spans_nodes: !frozen && job.places.iter().any(|other| other.node != place.node),
        ..JobOrder::new(job.id, share)
    })
}

/// The part of a node that the tasks of the job there requested.
fn request_on(job: &ObservedJob, place: &ObservedPlace, node: &ObservedNode) -> f64 {
    let cpus = f64::from(place.tasks) * f64::from(job.request.cpus_per_task.max(1));
    cpus / f64::from(node.all_cpus.max(1))
}

/// The order, with a query what the job needs of its request, if it may be counted with less and
/// runs.
fn asking(
    order: JobOrder,
    job: &ObservedJob,
    record: &LedgerRecord,
    place: &ObservedPlace,
    node: &ObservedNode,
    config: &Config,
) -> JobOrder {
    if order.frozen || !is_measured(job, record, config) {
        return order;
    }
    JobOrder {
        request: Some(Share::clamped(request_on(job, place, node))),
        need: need_of(job, record, config),
        ..order
    }
}
