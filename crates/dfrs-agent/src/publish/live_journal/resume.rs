//! Going on with a journal: what it says of the jobs in the system.

use std::collections::BTreeMap;

use dfrs_core::NodeIndex;
use dfrs_proto::journal::JournalJobState;

use super::nodes::JournalNodes;
use crate::job::ledger::Ledger;
use crate::job::life::journal::JournalState;
use crate::job::placement::{NamedPlacement, NodeTasks};

/// What a journal says of jobs of which there is no record.
#[derive(Debug, Default)]
pub(super) struct UnknownJobs {
    /// All of them.
    pub(super) names: Vec<String>,
    /// Where those were that it left running.
    pub(super) running: BTreeMap<u32, NamedPlacement>,
}

/// Has the records know what the journal says of their jobs. Returns the others.
pub(super) fn take_over(
    jobs: BTreeMap<String, JournalJobState>,
    nodes: &JournalNodes,
    ledger: &mut Ledger,
) -> UnknownJobs {
    let mut journal_states: BTreeMap<u32, JournalState> = BTreeMap::new();
    let mut unknown_jobs = UnknownJobs::default();
    for (job, standing) in jobs {
        let id = job.parse::<u32>().ok();
        match id.zip(shown(&standing, nodes)) {
            Some((id, shown)) if ledger.get(id).is_some() => drop(journal_states.insert(id, shown)),
            Some((id, JournalState::Placed(place))) => {
                unknown_jobs.running.insert(id, place);
                unknown_jobs.names.push(job);
            }
            _ => unknown_jobs.names.push(job),
        }
    }
    for id in ledger.ids() {
        let shown = journal_states.remove(&id).unwrap_or_default();
        let is_placed = matches!(shown, JournalState::Placed(_));
        let record = ledger.get(id);
        let is_known = record.is_some_and(|record| record.shown == shown && !is_placed);
        if !is_known && let Some(record) = ledger.get_mut(id) {
            if let JournalState::Placed(place) = &shown
                && record.life.is_waiting()
            {
                // Its start was written, and could not be kept: nodes run it, if Slurm has
                // forgotten it, too.
                record.life.set_last_place(place.clone());
                record.life.set_orphaned(true);
            }
            record.shown = shown;
            // It is written again: no more is known of the last one than that there was one.
            record.shown_share = None;
        }
    }
    unknown_jobs
}

/// What the journal says of a job, if it makes sense.
fn shown(standing: &JournalJobState, nodes: &JournalNodes) -> Option<JournalState> {
    Some(match standing {
        JournalJobState::Waiting => JournalState::Waiting,
        JournalJobState::Paused => JournalState::Paused,
        JournalJobState::Running(places) => JournalState::Placed(placement(places, nodes)?),
    })
}

fn placement(places: &[NodeIndex], nodes: &JournalNodes) -> Option<NamedPlacement> {
    let spot = |part: &[NodeIndex]| {
        let node = nodes.name(*part.first()?)?.to_owned();
        let tasks = u32::try_from(part.len()).ok()?;
        Some(NodeTasks { node, tasks })
    };
    let spots = places.chunk_by(|one, next| one == next).map(spot);
    spots
        .collect::<Option<Vec<NodeTasks>>>()
        .map(NamedPlacement)
}
