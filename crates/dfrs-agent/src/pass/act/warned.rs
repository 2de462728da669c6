//! Jobs that end by themselves after DFRS's warning: they saved and ended, as guides to checkpoints
//! advise, or died of a signal for which they have no trap. DFRS has ended them, and not they
//! themselves, so they are queued again. A job that did the last of its work just then looks the
//! same, and is queued again, too.

use dfrs_core::Time;
use dfrs_proto::conf::Mode;

use crate::daemons::Daemons;
use crate::job::ledger::LedgerRecord;
use crate::job::life::Warning;
use crate::pass::Agent;
use crate::slurm::job_name::job_name;
use crate::slurm::port::{Ending, LogLevel, Slurm};
use crate::slurm::records::ObservedJob;

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Has a job that is over queued again if it ended after its warning. Returns its record if it
    /// is really over.
    pub(in crate::pass) fn requeue_if_warned(
        &mut self,
        id: u32,
        mut record: LedgerRecord,
        now: Time,
    ) -> Option<LedgerRecord> {
        let warning = record.life.warning();
        if self.config.mode != Mode::Full || warning == Warning::None {
            return Some(record);
        }
        let was_warned = warning == Warning::Sent;
        let requeued = self
            .slurm
            .requeue_warned(id, record.shown_submit_time, was_warned);
        match requeued {
            Ok(ending) => {
                self.slurm
                    .log(LogLevel::Info, &text(id, self.seen.job(id), ending));
                record.life.set_requeued(ending, now);
            }
            // The request is repeated as long as the job is not shown as pending.
            Err(why) if why.is_transient() => record.life.defer_requeue(now),
            Err(_) => return Some(record),
        }
        self.ledger.insert(id, record);
        None
    }
}

fn text(id: u32, job: Option<&ObservedJob>, ending: Ending) -> String {
    let what = match ending {
        Ending::Saved => {
            "ended with exit code 0 after the checkpoint signal: requeued, to continue from its checkpoint"
        }
        Ending::Failed => "was killed by the checkpoint signal, or failed after it: requeued",
    };
    format!("{}: {what}", job_name(id, job))
}
