//! Jobs that die of DFRS's warning: their users said that they are prepared for it, and their scripts are not
//! after all. DFRS has ended them, and not they themselves, so they are queued again.

use dfrs_proto::conf::Mode;

use super::Agent;
use crate::daemons::Daemons;
use crate::ledger::Record;
use crate::slurm::{Level, Slurm};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Has a job that is over queued again if its warning has ended it. Returns its record if it is over
    /// indeed.
    pub(super) fn requeue_if_warned(&mut self, id: u32, mut record: Record) -> Option<Record> {
        if self.config.mode != Mode::Full || !record.life.may_have_died_of_a_warning() {
            return Some(record);
        }
        let requeued = self.slurm.requeue_warned(id, record.shown_submit_time);
        // What it may have been refused for a moment is asked for again as long as it is not shown as waiting.
        if requeued.as_ref().is_err_and(|why| !why.is_transient()) {
            return Some(record);
        }
        if requeued.is_ok() {
            let text = format!(
                "job {id} died of the warning that it asked for, and begins again: its script has no trap"
            );
            self.slurm.log(Level::Info, &text);
        }
        record.life.died_of_a_warning();
        self.ledger.insert(id, record);
        None
    }
}
