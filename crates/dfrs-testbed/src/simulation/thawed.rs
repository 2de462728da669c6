//! The rule that what Slurm counts is thawed: a job that gets its memory back need not wait for its
//! resume to be thawed, which would then cost it time.

use std::collections::BTreeMap;

use dfrs_core::{Span, Time};

use super::scenario::SECOND;
use crate::model::{ClusterModel, MESSAGE_TIMEOUT};
use dfrs_agent::slurm::records::ObservedState;

/// So long after its memory is counted again, a job is thawed.
const THAW_TIMEOUT: i64 = 2 * SECOND;
/// A node that answers again gets its orders after this: the last message that it did not answer is
/// given up, and the next one sent.
const MAX_SILENCE: Span = Span(MESSAGE_TIMEOUT.0 + 60 * SECOND);

/// Jobs whose memory was claimed, and when.
#[derive(Debug, Default)]
pub(super) struct Thawed(BTreeMap<u32, Time>);

impl Thawed {
    /// Something was done to a job.
    pub(super) fn note_call(&mut self, what: &str, job: u32, now: Time) {
        if what == "claim" {
            self.0.insert(job, now);
        } else {
            self.0.remove(&job);
        }
    }

    /// Orders get lost, or no agent is there to give them.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// What is wrong by now, if anything is.
    pub(super) fn look(&mut self, model: &ClusterModel) -> Result<(), String> {
        for (job, at) in &mut self.0 {
            if !model.nodes_take_orders(*job) {
                *at = model.now() + MAX_SILENCE;
            }
        }
        let late = |at: &Time| model.now().0 - at.0 > THAW_TIMEOUT;
        let mut late = self.0.iter().filter(|(_, at)| late(at)).peekable();
        if late.peek().is_none() {
            return Ok(());
        }
        let frozen = model.frozen_jobs();
        let counted = |job: &u32| {
            let job = model.jobs().get(job);
            job.is_some_and(|job| {
                job.seen.state == ObservedState::Suspended && job.seen.is_counted()
            })
        };
        let wrong = late.find(|(job, _)| frozen.contains(job) && counted(job));
        wrong.map_or(Ok(()), |(job, _)| {
            Err(format!("job {job} has its memory again and is frozen"))
        })
    }
}
