//! Sharing: CPU for what runs now, and time limits that count virtual time.

use dfrs_core::{GrantedYield, JobId, Time, Yield};
use dfrs_proto::conf::Mode;

use super::Agent;
use crate::changes::{ChangeReader, UnreadChanges};
use crate::daemons::Daemons;
use crate::job::limits::{extension, record_extension};
use crate::plan::actual::ActualCluster;
use crate::probe::PassPart;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm};
use crate::slurm::records::ObservedState;

pub(super) mod needs;

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Allocates CPU again where places or nodes changed, or a period is over; moves time limits.
    /// Returns whether it did.
    pub(super) fn share_what_changed(
        &mut self,
        seen: &mut Observation,
        is_period: bool,
        now: Time,
    ) -> bool {
        self.probe.begin(PassPart::Share);
        self.follow(seen, now);
        let places_changed = std::mem::take(&mut self.lists.places_changed);
        let nodes_differ = std::mem::take(&mut self.lists.nodes_changed_since_orders);
        let changed = places_changed || nodes_differ || is_period;
        if changed {
            self.share(seen, now);
            self.follow(seen, now);
            self.lists.places_changed = false;
        }
        self.move_limits(seen, now);
        changed
    }

    /// Allocates CPU to what runs now. O(what changed), and O(nodes + places) for the shares
    /// themselves.
    pub(super) fn share(&mut self, observation: &Observation, now: Time) {
        let UnreadChanges { jobs, nodes } = self.lists.changes.take(ChangeReader::Shares);
        let mut actual = std::mem::take(&mut self.planner.actual);
        let facts = self.facts(observation, now);
        actual.follow(&jobs, &nodes, &facts);
        let shares = actual.shares(&facts);
        debug_assert_eq!(
            shares,
            ActualCluster::shares_from_scratch(&facts),
            "the shares have missed a change"
        );
        self.planner.actual = actual;
        let before = std::mem::take(&mut self.planner.shares);
        for id in before.keys().chain(shares.keys()) {
            let met = shares.get(id).copied();
            let met = met.unwrap_or_else(|| no_yield(*id));
            let is_managed = observation.job(*id).is_none_or(|job| self.is_managed(job));
            if self
                .ledger
                .get(*id)
                .filter(|_| is_managed)
                .is_some_and(|record| !record.has_shares(&met))
                && let Some(record) = self.ledger.get_mut(*id)
            {
                record.set_shares(now, met.of_request, met.of_need);
            }
        }
        let shares = shares.into_iter();
        self.planner.shares = shares.map(|(id, met)| (id, met.of_request)).collect();
    }

    /// Moves the time limits of jobs that lag behind. O(jobs that run and have a limit).
    pub(super) fn move_limits(&mut self, observation: &Observation, now: Time) {
        if self.config.mode != Mode::Full {
            return;
        }
        let limited = self.lists.limited.iter();
        let limited: Vec<u32> = limited.copied().collect();
        for job in limited.into_iter().filter_map(|id| observation.job(id)) {
            // A job that is warned, or about to be parked, still uses its limit up.
            let runs = job.state == ObservedState::Running;
            let record = self.ledger.get(job.id).filter(|_| runs);
            let seconds = record.and_then(|record| extension(record, job, now));
            let Some(seconds) = seconds else { continue };
            match self.slurm.extend_time(job.id, seconds) {
                Ok(before) => {
                    if let Some(record) = self.ledger.get_mut(job.id) {
                        record_extension(record, seconds, before);
                    }
                }
                Err(problem) => {
                    let text = format!("time limit not extended: {problem}");
                    self.log_about(LogLevel::Verbose, job, &text);
                }
            }
        }
    }
}

/// Of a job that has no CPU.
const fn no_yield(id: u32) -> GrantedYield {
    GrantedYield {
        job: JobId(id as u64),
        of_request: Yield::ZERO,
        of_need: Yield::ZERO,
    }
}
