//! Sharing: CPU for what runs now, and time limits that count virtual time.

use std::collections::BTreeMap;

use dfrs_core::yields::allocate_yields_at;
use dfrs_core::{Time, Yield};
use dfrs_proto::conf::Mode;

use super::Agent;
use crate::cluster::actual;
use crate::daemons::Daemons;
use crate::ledger::Phase;
use crate::limits::{extended, extension};
use crate::observation::{Observation, ObservedState};
use crate::slurm::{Level, Slurm};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Allocates CPU to what runs now.
    pub(super) fn share(&mut self, observation: &Observation, now: Time) {
        let cluster = actual(observation, &self.ledger, &self.facts(now));
        let shares: BTreeMap<u64, Yield> = allocate_yields_at(&self.config.policy, &cluster, now)
            .into_iter()
            .map(|(id, share)| (id.0, share))
            .collect();
        for (id, record) in &mut self.ledger.jobs {
            record.share = shares.get(&u64::from(*id)).copied().unwrap_or_default();
        }
        if self.config.mode == Mode::Full {
            self.move_limits(observation, now);
        }
    }

    fn move_limits(&mut self, observation: &Observation, now: Time) {
        for job in &observation.jobs {
            let Some(record) = self.ledger.jobs.get_mut(&job.id) else {
                continue;
            };
            let runs = job.state == ObservedState::Running && record.phase == Phase::Running;
            let Some(seconds) = extension(record, job, now).filter(|_| runs) else {
                continue;
            };
            match self.slurm.extend_time(job.id, seconds) {
                Ok(()) => extended(record, seconds),
                Err(problem) => {
                    let text = format!("job {}: time limit not moved: {problem}", job.id);
                    self.slurm.log(Level::Verbose, &text);
                }
            }
        }
    }
}
