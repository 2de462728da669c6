//! Which nodes jobs are on; only the journal wants to know.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Mapping, NodeIndex, Time};
use dfrs_proto::journal::WriteError;

use super::id;
use crate::journal::TraceJournal;

pub(super) struct Places {
    free: BTreeSet<u32>,
    taken: BTreeMap<usize, Vec<u32>>,
}

impl Places {
    pub fn new(nodes: u32) -> Self {
        Self {
            free: (0..nodes).collect(),
            taken: BTreeMap::new(),
        }
    }

    /// The job starts on these nodes; else on the first free ones, one for each task.
    pub fn start(
        &mut self,
        journal: &mut TraceJournal<'_>,
        now: Time,
        job: usize,
        (tasks, mapping): (u32, Option<Mapping>),
    ) -> Result<(), WriteError> {
        if !journal.is_wanted() {
            return Ok(());
        }
        if let Some(mapping) = mapping {
            journal.start(now, id(job), &mapping)?;
            return journal.share(now, id(job), 1.0);
        }
        let nodes: Vec<u32> = self.free.iter().copied().take(tasks as usize).collect();
        for node in &nodes {
            self.free.remove(node);
        }
        journal.start(
            now,
            id(job),
            &Mapping::from_tasks(nodes.iter().copied().map(NodeIndex)),
        )?;
        self.taken.insert(job, nodes);
        journal.share(now, id(job), 1.0)
    }

    pub fn finish(
        &mut self,
        journal: &mut TraceJournal<'_>,
        now: Time,
        job: usize,
    ) -> Result<(), WriteError> {
        self.free
            .extend(self.taken.remove(&job).unwrap_or_default());
        journal.finish(now, id(job))
    }
}
