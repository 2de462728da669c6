//! Going on with a journal: what it says of the jobs in the system.

use std::collections::BTreeMap;

use dfrs_core::NodeIndex;
use dfrs_proto::journal::JobStanding;

use super::nodes::Nodes;
use crate::ledger::Ledger;
use crate::life::journal::Shown;
use crate::placement::{Placement, Spot};

/// What a journal says of jobs of which there is no record.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    /// All of them.
    pub(super) names: Vec<String>,
    /// Where those were that it left running.
    pub(super) running: BTreeMap<u32, Placement>,
}

/// Has the records know what the journal says of their jobs. Returns the others.
pub(super) fn take_over(
    jobs: BTreeMap<String, JobStanding>,
    nodes: &Nodes,
    ledger: &mut Ledger,
) -> Strangers {
    let mut said: BTreeMap<u32, Shown> = BTreeMap::new();
    let mut strangers = Strangers::default();
    for (job, standing) in jobs {
        let id = job.parse::<u32>().ok();
        match id.zip(shown(&standing, nodes)) {
            Some((id, shown)) if ledger.get(id).is_some() => drop(said.insert(id, shown)),
            Some((id, Shown::Placed(place))) => {
                strangers.running.insert(id, place);
                strangers.names.push(job);
            }
            _ => strangers.names.push(job),
        }
    }
    for id in ledger.ids() {
        let shown = said.remove(&id).unwrap_or_default();
        let is_placed = matches!(shown, Shown::Placed(_));
        let record = ledger.get(id);
        let is_known = record.is_some_and(|record| record.shown == shown && !is_placed);
        if !is_known && let Some(record) = ledger.get_mut(id) {
            if let Shown::Placed(place) = &shown
                && record.life.is_waiting()
            {
                // Its start was written, and could not be kept: nodes run it, if Slurm has forgotten it, too.
                record.life.follow_one_at(place.clone());
                record.life.leave_behind(true);
            }
            record.shown = shown;
            // It is written again: no more is known of the last one than that there was one.
            record.shown_share = None;
        }
    }
    strangers
}

/// What the journal says of a job, if it makes sense.
fn shown(standing: &JobStanding, nodes: &Nodes) -> Option<Shown> {
    Some(match standing {
        JobStanding::Waiting => Shown::Waiting,
        JobStanding::Paused => Shown::Paused,
        JobStanding::Running(places) => Shown::Placed(placement(places, nodes)?),
    })
}

fn placement(places: &[NodeIndex], nodes: &Nodes) -> Option<Placement> {
    let spot = |part: &[NodeIndex]| {
        let node = nodes.name(*part.first()?)?.to_owned();
        let tasks = u32::try_from(part.len()).ok()?;
        Some(Spot { node, tasks })
    };
    let spots = places.chunk_by(|one, next| one == next).map(spot);
    spots.collect::<Option<Vec<Spot>>>().map(Placement)
}
