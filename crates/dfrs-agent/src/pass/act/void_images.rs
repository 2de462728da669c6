//! Images of jobs that are over: the last node removes them. Until it says that it has, no other job
//! with such an id starts: it would go on from the image of another.
//!
//! Only a job that Slurm shows as over leaves one. Of a job that is not seen any more nothing is
//! known: it may wait in a partition that DFRS does not schedule.

use dfrs_proto::journal::JobOutcome;

use crate::daemons::Daemons;
use crate::job::ledger::LedgerRecord;
use crate::job::life::LifeImage;
use crate::job::placement::{NamedPlacement, NodeTasks};
use crate::pass::Agent;
use crate::publish::node_orders::LeftImage;
use crate::slurm::job_name::job_name;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// The job is over: its image, if it may have one, is void.
    pub(in crate::pass) fn void_image_of_ended(
        &mut self,
        id: u32,
        record: &LedgerRecord,
        outcome: JobOutcome,
    ) {
        let is_left = record.life.image() != LifeImage::None && outcome != JobOutcome::Other;
        let last = record.life.last_place().0.first().filter(|_| is_left);
        if let Some(last) = last {
            self.nodes.void_images.insert(id, last.node.clone());
        }
    }

    /// Where the image of a job is being removed that had this id before.
    pub(in crate::pass) fn place_of_void_image(&self, id: u32) -> Option<NamedPlacement> {
        let node = self.nodes.void_images.get(&id)?.clone();
        Some(NamedPlacement(vec![NodeTasks { node, tasks: 1 }]))
    }

    /// Whether the nodes have the order to remove the image of this job, so that what they say is
    /// about that.
    pub(in crate::pass) fn is_void_ordered(&self, id: u32) -> bool {
        let mut former = self.nodes.former.values();
        former.any(|jobs| jobs.get(&id) == Some(&LeftImage::Void))
    }

    /// Forgets images that are removed, durably: another job may have the id next. O(such images).
    pub(in crate::pass) fn follow_void_images(&mut self, seen: &Observation) {
        let all: Vec<u32> = self.nodes.void_images.keys().copied().collect();
        let facts = self.nodes.facts.clone();
        let mut is_changed = false;
        for id in all {
            let is_gone = facts
                .as_ref()
                .is_some_and(|facts| facts.parked.contains(&id));
            let node = &self.nodes.void_images[&id];
            let text = if is_gone && self.is_void_ordered(id) {
                "its image is removed".to_owned()
            } else if seen.node(node).is_none() {
                format!(
                    "its image may be left: {node}, which was to remove it, is no node any more"
                )
            } else if seen.job(id).is_some_and(|job| job.has_place()) {
                "its image is left to the node that runs another job with this id".to_owned()
            } else {
                continue;
            };
            let text = format!("{}: {text}", job_name(id, None));
            self.slurm.log(LogLevel::Info, &text);
            self.nodes.void_images.remove(&id);
            is_changed = true;
        }
        if is_changed {
            self.persist_head();
        }
    }
}
