//! The events to decide about: which jobs wait and may start, and what has happened.

use dfrs_core::{Events, JobId, Mobility, Time};

use crate::changes::{ChangeEntry, ChangeReader};
use crate::daemons::Daemons;
use crate::job::mobility::{is_settling, mobility, settled_at};
use crate::pass::Agent;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// What happened since the last pass.
    pub(in crate::pass) fn events(&mut self, observation: &Observation, now: Time) -> Events {
        let tried_again = self.planner.refusals.take_due(now);
        let included = self.planner.excluded.take_due(now);
        self.lists.capacity_freed |= !(tried_again.is_empty() && included.is_empty());
        let changes = &mut self.lists.changes;
        changes.extend(included.iter().copied().map(ChangeEntry::JobExclusion));
        changes.extend(tried_again.into_iter().map(ChangeEntry::JobReason));
        let ended = std::mem::take(&mut self.lists.capacity_freed);
        let nodes_changed = self.room_grew(observation);
        if ended || nodes_changed {
            self.planner.partition_policies.invalidate();
        }
        let ready = self.queue.admission.ready();
        let mut again = self.queue.settle_queue.take_due(ready, now);
        again.extend(included.intersection(ready));
        again.extend(self.queue.submit_backoff.take_due(ready, now));
        again.sort_unstable();
        again.dedup();
        let again = self.leave_to_core(again, observation);
        let new = self.submissions(observation, now);
        let new = self.leave_to_core(new, observation);
        let wait = !new.is_empty() || !self.queue.settle_queue.is_empty();
        let settles = wait.then(|| self.next_to_settle(observation, now));
        self.queue
            .settle_queue
            .add(&new, settles.flatten(), self.config.settle_time, now);
        let submitted = again.into_iter().chain(new);
        let submitted = submitted.map(|id| JobId(u64::from(id))).collect();
        if let Some(took) = self.planner.remaps.follow(&self.ledger, now) {
            let text = format!(
                "last remap took {} s to carry out; next remap delayed accordingly",
                took.whole_seconds()
            );
            self.slurm.log(LogLevel::Info, &text);
        }
        let period = self.planner.remaps.is_due(now);
        if period {
            let settings = &self.config.policy.settings;
            self.planner.remaps.begin(now, settings.period);
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
        let nodes = self.lists.changes.take(ChangeReader::Room).nodes;
        if !std::mem::take(&mut self.lists.nodes_changed_since_decision) {
            return false;
        }
        if nodes.all {
            self.nodes
                .at_decision
                .retain(|name, _| observation.node(name).is_some());
        }
        let (mut grew, mut drains) = (false, Vec::new());
        for position in observation.positions(&nodes) {
            let node = &observation.nodes()[position];
            let before = self.nodes.at_decision.get_mut(&node.name);
            grew |= before.as_ref().is_none_or(|before| {
                (node.up && !before.up)
                    || node.memory > before.memory
                    || node.cpus_left() > before.cpus_left()
                    || node.has_more_devices_than(before)
                    || node.allocated_memory_mib < before.allocated_memory_mib
            });
            if node.drains() && before.as_ref().is_some_and(|before| before.up) {
                drains.push(node.index);
            }
            match before {
                Some(before) => before.clone_from(node),
                None => drop(
                    self.nodes
                        .at_decision
                        .insert(node.name.clone(), node.clone()),
                ),
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
}
