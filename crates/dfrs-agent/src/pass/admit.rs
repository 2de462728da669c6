//! Admitting: which jobs that wait Slurm would start.

use dfrs_core::{Span, Time};
use dfrs_proto::conf::Mode;

use super::Agent;
use crate::changes::ChangeEntry;
use crate::daemons::Daemons;
use crate::probe::PassPart;
use crate::slurm::observation::Observation;
use crate::slurm::port::Slurm;

pub(super) mod admission;
pub(super) mod arrays;
pub(super) mod limited_users;
pub(super) mod settle_queue;
pub(super) mod submit_backoff;

use admission::{MAX_QUERIES, MAX_READS};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Queries Slurm about the pending jobs for which it is not known whether they may start.
    pub(super) fn admit(&mut self, seen: &Observation, now: Time) {
        self.probe.begin(PassPart::Query);
        let fresh = self.lists.take_fresh();
        let max = match self.config.mode {
            Mode::Full => MAX_QUERIES,
            Mode::Off | Mode::Shadow => MAX_READS,
        };
        let questions = self.queue.admission.due_queries(&fresh, max, now);
        self.query_may_start(questions.into_iter().collect(), seen, now);
    }

    /// Queries Slurm whether these jobs may start; shadow mode reads what Slurm has noted of them.
    /// Returns whether all may.
    pub(super) fn query_may_start(
        &mut self,
        jobs: Vec<u32>,
        seen: &Observation,
        now: Time,
    ) -> bool {
        let waiting: Vec<u32> = jobs
            .into_iter()
            .filter(|id| seen.job(*id).is_some())
            .collect();
        let answers = self.query_answers(&waiting);
        let mut all = true;
        for (id, may_start) in waiting.into_iter().zip(answers) {
            if !may_start {
                self.queue.admission.refuse(id, now);
                all = false;
                continue;
            }
            if !self.queue.admission.ready().contains(&id) && self.is_admitted(id) {
                self.lists.capacity_freed = true;
                self.queue
                    .submit_backoff
                    .failed(id, &self.config.policy, now);
            }
            self.queue.admission.admit(id, now);
            // Nothing reports that a limit begins to keep the job back: a refused start would.
            if self.config.mode != Mode::Full {
                self.queue.admission.query_again(id, now);
            }
        }
        all
    }

    fn query_answers(&mut self, waiting: &[u32]) -> Vec<bool> {
        if waiting.is_empty() {
            return Vec::new();
        }
        if self.config.mode != Mode::Full {
            return self.slurm.wait_for_room(waiting);
        }
        let answers = self.slurm.may_start(waiting);
        answers.iter().map(Result::is_ok).collect()
    }

    pub(super) fn is_admitted(&self, id: u32) -> bool {
        self.ledger.get(id).is_some_and(|record| record.admitted)
    }

    /// Jobs that may start and that no decision has been about, in the order of their submission.
    pub(super) fn submissions(&mut self, observation: &Observation, now: Time) -> Vec<u32> {
        let new = self
            .queue
            .admission
            .ready()
            .iter()
            .filter(|id| !self.is_admitted(**id));
        let mut new: Vec<(i64, u32, u32)> = new
            .filter_map(|id| observation.job(*id))
            .map(|job| (job.submit_seconds, job.array_task, job.id))
            .collect();
        new.sort_unstable();
        let inherit = self.config.policy.weighs_moves();
        for (_, _, id) in &new {
            let user = observation.job(*id).map(|job| job.user);
            let inherited = user.filter(|_| inherit).map_or(Span::ZERO, |user| {
                self.planner.histories.inherited(user, now)
            });
            if let Some(record) = self.ledger.get_mut(*id) {
                record.admitted = true;
                record.inherited = inherited;
            }
            if inherited > Span::ZERO {
                self.lists.changes.note(ChangeEntry::JobPlanning(*id));
            }
        }
        new.into_iter().map(|(_, _, id)| id).collect()
    }
}
