//! Whether there is room by Slurm's accounting now: what every start and every return waits for.

use super::event::Look;
use crate::cluster::memory_on_node;
use crate::observation::ObservedState;
use crate::placement::Placement;

/// Whether every node of `placement` has the memory that the job needs there, processes that are
/// still ending included.
pub(super) fn has_room(placement: &Placement, look: &Look) -> bool {
    let nodes = look.observation;
    placement.0.iter().all(|spot| {
        nodes.position_of(&spot.node).is_some_and(|position| {
            let needed = memory_on_node(look.job, spot.tasks, nodes);
            nodes.nodes()[position].up && nodes.free_memory(position) >= needed
        })
    })
}

/// Whether the memory that was released, MiB per node in Slurm's order, fits the job's nodes again. A
/// node that is not known has no room that is known of, and neither has one that another job has for itself,
/// however much of its memory Slurm counts.
pub(super) fn fits_again(memory: &[u64], look: &Look) -> bool {
    let free = |node| {
        let position = look.observation.node_position(node);
        let position = position.filter(|position| !belongs_to_another(*position, look));
        position.map_or(0, |position| look.observation.free_memory(position))
    };
    let mut places = look.job.places.iter().zip(memory);
    places.all(|(place, needed)| free(place.node) >= *needed)
}

fn belongs_to_another(position: usize, look: &Look) -> bool {
    let mut here = look.observation.jobs_on(position);
    here.any(|other| {
        let runs = other.state == ObservedState::Running;
        other.exclusive && runs && other.id != look.job.id
    })
}
