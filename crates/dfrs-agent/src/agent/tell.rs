//! Telling: the nodes, the users, the journal.

use std::collections::BTreeMap;

use dfrs_core::Time;
use dfrs_proto::conf::Mode;

use super::Agent;
use crate::daemons::Daemons;
use crate::ledger::Phase;
use crate::node_orders::node_orders;
use crate::observation::{Observation, ObservedJob, ObservedState};
use crate::placement::Placement;
use crate::reasons::reason;
use crate::slurm::{Level, Slurm};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Tells the nodes, the journal and the users.
    pub(super) fn tell(&mut self, observation: &Observation, now: Time) {
        if self.config.mode == Mode::Full {
            self.daemons.set(
                node_orders(observation, &self.ledger),
                self.being_parked(observation),
            );
            self.set_reasons(observation);
        }
        self.write_journal(observation, now);
    }

    pub(super) fn write_journal(&mut self, observation: &Observation, now: Time) {
        let ended = std::mem::take(&mut self.ended);
        if let Some(journal) = &mut self.journal
            && let Err(problem) =
                journal.record(observation, &mut self.ledger, &ended, &self.config, now)
        {
            self.slurm
                .log(Level::Error, &format!("the journal ends here: {problem}"));
            self.journal = None;
        }
    }

    /// The nodes of each suspended job that is being parked.
    fn being_parked(&self, observation: &Observation) -> BTreeMap<u32, Vec<String>> {
        let parking = |job: &&ObservedJob| {
            let record = self.ledger.jobs.get(&job.id);
            record.is_some_and(|record| matches!(record.phase, Phase::Parking { .. }))
        };
        let nodes = |job: &ObservedJob| {
            Placement::of_job(job, observation)
                .0
                .into_iter()
                .map(|spot| spot.node)
                .collect()
        };
        observation
            .jobs
            .iter()
            .filter(parking)
            .map(|job| (job.id, nodes(job)))
            .collect()
    }

    fn set_reasons(&mut self, observation: &Observation) {
        for job in &observation.jobs {
            let Some(record) = self.ledger.jobs.get(&job.id) else {
                continue;
            };
            let gated = job.state == ObservedState::Pending && !self.ready.contains(&job.id);
            if gated && !record.phase.is_under_way() {
                continue;
            }
            let Some(text) = reason(
                job,
                &record.phase,
                self.blocked.get(&job.id).copied(),
                observation,
            ) else {
                continue;
            };
            if let Err(problem) = self.slurm.set_reason(job.id, &text) {
                self.slurm.log(
                    Level::Debug,
                    &format!("job {}: reason not set: {problem}", job.id),
                );
            }
        }
    }
}
