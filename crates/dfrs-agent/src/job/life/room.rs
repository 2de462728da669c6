//! Whether there is room by Slurm's accounting now: what every start and every return waits for.

use super::event::JobContext;
use crate::job::placement::NamedPlacement;
use crate::slurm::records::ObservedPlace;
use crate::slurm::request::memory::{memory_held, memory_on_node};

/// Whether every node of `placement` has the memory that the job needs there, processes that are
/// still ending included, and the devices.
pub(super) fn has_room(placement: &NamedPlacement, context: &JobContext) -> bool {
    let nodes = context.observation;
    placement.0.iter().all(|spot| {
        nodes.position_of(&spot.node).is_some_and(|position| {
            let needed = memory_on_node(context.job, spot.tasks, nodes);
            nodes.nodes()[position].up
                && nodes.free_memory(position) >= needed
                && nodes.has_free_devices(position, context.job)
        })
    })
}

/// Whether the memory that was released, MiB per node in Slurm's order, fits the job's nodes again;
/// for a job that had its nodes for itself all of theirs, however little Slurm counted. An unknown
/// node has no room.
pub(super) fn fits_again(memory: &[u64], context: &JobContext) -> bool {
    let free = |place: &ObservedPlace| {
        let position = context.observation.node_position(place.node);
        position.map_or(0, |position| context.observation.free_memory(position))
    };
    let mut places = context.job.places.iter().zip(memory);
    places.all(|(place, released)| {
        free(place) >= memory_held(context.job, place, *released, context.observation)
    })
}
