//! Sharing: CPU for what runs now, and time limits that count virtual time.

use std::collections::BTreeMap;

use dfrs_core::{Rate, Time, Yield, yields_of};
use dfrs_proto::conf::Mode;

use super::Agent;
use crate::cluster::{Facts, actual};
use crate::daemons::Daemons;
use crate::limits::{extended, extension};
use crate::observation::{Observation, ObservedState};
use crate::slurm::{Level, Slurm};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Allocates CPU to what runs now.
    pub(super) fn share(&mut self, observation: &Observation, now: Time) {
        let facts = Facts {
            config: &self.config,
            can_park: &self.can_park,
            ready: self.admission.ready(),
            refusals: &self.refusals,
            now,
        };
        let cluster = actual(observation, &self.ledger, &facts);
        let yields = yields_of(&self.config.policy, &cluster, now);
        let shares: BTreeMap<u32, Yield> = yields
            .into_iter()
            .filter_map(|(id, share)| Some((u32::try_from(id.0).ok()?, share)))
            .collect();
        let before = std::mem::take(&mut self.shares);
        for id in before.keys().chain(shares.keys()) {
            let share = shares.get(id).copied().unwrap_or_default();
            if self
                .ledger
                .get(*id)
                .is_some_and(|record| record.progress.rate() != Rate::of(share))
                && let Some(record) = self.ledger.get_mut(*id)
            {
                record.set_share(now, share);
            }
        }
        self.shares = shares;
    }

    /// Moves the time limits of jobs that lag behind. O(jobs that have places).
    pub(super) fn move_limits(&mut self, observation: &Observation, now: Time) {
        if self.config.mode != Mode::Full {
            return;
        }
        for job in observation.placed() {
            let seconds = self.ledger.get(job.id).and_then(|record| {
                let runs = job.state == ObservedState::Running && record.life.is_running();
                extension(record, job, now).filter(|_| runs)
            });
            let Some(seconds) = seconds else { continue };
            match self.slurm.extend_time(job.id, seconds) {
                Ok(()) => {
                    if let Some(record) = self.ledger.get_mut(job.id) {
                        extended(record, seconds);
                    }
                }
                Err(problem) => {
                    let text = format!("job {}: time limit not moved: {problem}", job.id);
                    self.slurm.log(Level::Verbose, &text);
                }
            }
        }
    }
}
