//! What was added to time limits of jobs that ran is taken off again when they are back in the
//! queue. Their next run has the limit that their users requested, and until then Slurm's limits
//! and reservations are checked against no more than that.

use dfrs_proto::conf::Mode;

use crate::daemons::Daemons;
use crate::job::ledger::LedgerRecord;
use crate::pass::Agent;
use crate::slurm::job_name::job_name;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LimitExtension, LogLevel, Slurm};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Takes back the extensions of all waiting jobs. Before any other query about them: a job that
    /// starts has its own limit. O(these).
    pub(in crate::pass) fn take_back_time(&mut self) {
        if !self.may_change_limits() {
            return;
        }
        let waiting: Vec<u32> = self.lists.extended.iter().copied().collect();
        for id in waiting {
            self.guarded(id, |agent| {
                let record = agent.ledger.get(id);
                let extended = record.and_then(|record| record.extended);
                if extended.is_some_and(|extended| agent.took_back(id, &extended))
                    && let Some(record) = agent.ledger.get_mut(id)
                {
                    record.extended = None;
                }
            });
        }
    }

    /// Slurm uses the record of a run of scrontab for the next one.
    pub(in crate::pass) fn take_back_time_of_crontab(
        &mut self,
        id: u32,
        ended: &LedgerRecord,
        seen: &Observation,
    ) {
        let runs_again = seen.job(id).is_some_and(|job| job.cron);
        if let Some(extended) = &ended.extended
            && runs_again
            && self.may_change_limits()
        {
            self.took_back(id, extended);
        }
    }

    fn may_change_limits(&self) -> bool {
        self.config.mode == Mode::Full || self.giving_back.everything
    }

    /// Requests it from Slurm. Returns whether Slurm did it.
    fn took_back(&mut self, id: u32, extended: &LimitExtension) -> bool {
        let done = self.slurm.take_back_time(id, extended);
        if let Err(problem) = &done {
            let text = format!(
                "{}: its time limit stays extended: {problem}",
                job_name(id, self.seen.job(id))
            );
            self.slurm.log(LogLevel::Verbose, &text);
        }
        done.is_ok()
    }
}
