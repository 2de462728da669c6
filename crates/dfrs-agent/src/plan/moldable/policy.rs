//! `Policy=DEMT` as a policy of partitions: what it keeps from one plan to the next.

use std::collections::BTreeSet;

use dfrs_core::Time;
use dfrs_proto::conf::Partition;

use super::speedup::parse_comment;
use super::{MoldablePlan, WaitHistory, decide, reason};
use crate::plan::cluster::PassFacts;
use crate::plan::partition_policy::{PartitionPolicy, PlannedStart};
use crate::slurm::records::ObservedJob;

/// The most characters of a comment that are shown.
const MAX_SHOWN: usize = 80;

/// What is known of partitions of moldable jobs between plans.
#[derive(Debug, Default)]
pub struct Demt {
    history: WaitHistory,
    /// The last plan, which may not have been kept.
    newest: MoldablePlan,
    kept: MoldablePlan,
    next: Option<Time>,
}

impl PartitionPolicy for Demt {
    fn schedules(&self, partition: &Partition) -> bool {
        partition.moldable.is_some()
    }

    fn plan(&mut self, facts: &PassFacts) -> Vec<PlannedStart> {
        self.newest = decide(facts, &self.history);
        std::mem::take(&mut self.newest.starts)
    }

    fn keep(&mut self, now: Time) -> BTreeSet<u32> {
        let plan = std::mem::take(&mut self.newest);
        let (before, after) = (&self.kept.outlook, &plan.outlook);
        let either = before.keys().chain(after.keys()).copied();
        let changed = either.filter(|id| before.get(id) != after.get(id));
        let changed = changed.collect();
        self.history.update(&plan, now);
        self.next = plan.next(now);
        self.kept = plan;
        changed
    }

    fn pending(&self) -> usize {
        self.kept.outlook.len()
    }

    fn next(&self) -> Option<Time> {
        self.next
    }

    fn reason(&self, id: u32, wall: &dyn Fn(Time) -> Time, now: Time) -> Option<String> {
        let outlook = self.kept.outlook.get(&id)?;
        Some(reason(outlook, wall, now))
    }

    fn notes(&self, job: &ObservedJob) -> Vec<String> {
        let mut notes = vec![
            "its partition has whole nodes (Policy=DEMT): it is never paused or moved".to_owned(),
        ];
        if let Err(word) = parse_comment(&job.comment) {
            let word: String = word.chars().take(MAX_SHOWN).collect();
            notes.push(format!(
                "its comment has an invalid speedup '{word}', which is ignored"
            ));
        }
        notes
    }
}
