//! The events to decide about: which jobs wait and may start, and what has happened.

use dfrs_core::{Events, JobId, Mobility, Span, Time};
use dfrs_proto::conf::Mode;

use super::admission::{MAX_QUERIES, MAX_READS};
use super::{Agent, SECOND};
use crate::daemons::Daemons;
use crate::job::mobility::{is_settling, mobility, settled_at};
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Queries Slurm about the pending jobs for which it is not known whether they may start.
    pub(super) fn admit(&mut self, seen: &Observation, now: Time) {
        let fresh = self.lists.take_fresh();
        let max = match self.config.mode {
            Mode::Full => MAX_QUERIES,
            Mode::Off | Mode::Shadow => MAX_READS,
        };
        let questions = self.admission.due_queries(&fresh, max, now);
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
                self.admission.refuse(id, now);
                all = false;
                continue;
            }
            if !self.admission.ready().contains(&id) && self.is_admitted(id) {
                self.capacity_freed = true;
                self.submit_backoff.failed(id, &self.config.policy, now);
            }
            self.admission.admit(id, now);
            // Nothing reports that a limit begins to keep the job back: a refused start would.
            if self.config.mode != Mode::Full {
                self.admission.query_again(id, now);
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

    /// What happened since the last pass.
    pub(super) fn events(&mut self, observation: &Observation, now: Time) -> Events {
        let tried_again = self.refusals.take_due(now);
        let included = self.excluded.take_due(now);
        self.capacity_freed |= !(tried_again.is_empty() && included.is_empty());
        self.lists.unplanned.extend(&included);
        self.lists.unexplained.extend(&included);
        self.lists.unexplained.extend(tried_again);
        let ended = std::mem::take(&mut self.capacity_freed);
        let nodes_changed = self.room_grew(observation);
        if ended || nodes_changed {
            self.invalidate_moldable_plan();
        }
        let ready = self.admission.ready();
        let mut again = self.settle_queue.take_due(ready, now);
        again.extend(included.intersection(ready));
        again.extend(self.submit_backoff.take_due(ready, now));
        again.sort_unstable();
        again.dedup();
        let again = self.leave_to_core(again, observation);
        let new = self.submissions(observation, now);
        let new = self.leave_to_core(new, observation);
        let wait = !new.is_empty() || !self.settle_queue.is_empty();
        let settles = wait.then(|| self.next_to_settle(observation, now));
        self.settle_queue
            .add(&new, settles.flatten(), self.config.settle_time, now);
        let submitted = again.into_iter().chain(new);
        let submitted = submitted.map(|id| JobId(u64::from(id))).collect();
        if let Some(took) = self.remaps.follow(&self.ledger, now) {
            let text = format!(
                "the last remap took {} s to be carried out, the next one waits for that",
                took.0 / SECOND
            );
            self.slurm.log(LogLevel::Info, &text);
        }
        let period = self.remaps.is_due(now);
        if period {
            self.remaps.begin(now, self.config.period);
        }
        Events {
            ended,
            submitted,
            nodes_changed,
            period,
        }
    }

    /// Whether nodes came back, grew, or hold less than at the last decision. O(nodes that are
    /// different).
    fn room_grew(&mut self, observation: &Observation) -> bool {
        let nodes = self.lists.unnoticed.take();
        if !std::mem::take(&mut self.nodes_changed_since_decision) {
            return false;
        }
        if nodes.all {
            self.nodes
                .retain(|name, _| observation.node(name).is_some());
        }
        let (mut grew, mut drains) = (false, Vec::new());
        for position in observation.positions(&nodes) {
            let node = &observation.nodes()[position];
            let before = self.nodes.get_mut(&node.name);
            grew |= before.as_ref().is_none_or(|before| {
                (node.up && !before.up)
                    || node.memory > before.memory
                    || node.allocated_memory_mib < before.allocated_memory_mib
            });
            if node.drains() && before.as_ref().is_some_and(|before| before.up) {
                drains.push(node.index);
            }
            match before {
                Some(before) => before.clone_from(node),
                None => drop(self.nodes.insert(node.name.clone(), node.clone())),
            }
        }
        self.log_drains(&drains, observation);
        grew
    }

    /// When the first of the jobs that could be paused, had they run for long enough, has.
    fn next_to_settle(&self, observation: &Observation, now: Time) -> Option<Time> {
        let config = &self.config;
        let records = observation.placed().filter_map(|job| {
            let record = self.ledger.get(job.id)?;
            Some((job, &record.launches))
        });
        let settling = records.filter(|(job, launches)| {
            is_settling(job, launches, config, now) && mobility(job, config) != Mobility::Never
        });
        let times = settling.map(|(job, launches)| settled_at(job, launches, config));
        times.min()
    }

    /// Jobs that may start and that no decision has been about, in the order of their submission.
    fn submissions(&mut self, observation: &Observation, now: Time) -> Vec<u32> {
        let new = self
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
            let inherited = user
                .filter(|_| inherit)
                .map_or(Span::ZERO, |user| self.histories.inherited(user, now));
            if let Some(record) = self.ledger.get_mut(*id) {
                record.admitted = true;
                record.inherited = inherited;
            }
            if inherited > Span::ZERO {
                self.lists.unplanned.insert(*id);
            }
        }
        new.into_iter().map(|(_, _, id)| id).collect()
    }
}
