//! Jobs that end by themselves after DFRS has warned them. The warning requests them to save and to
//! end, so such an end is no end of the job: it is queued again, as Slurm does with jobs that it
//! preempts.

use dfrs_core::Time;

use super::Life;
use super::leaving::Next;
use super::phase::LifePhase;
use super::requeued::Requeued;
use crate::slurm::port::Ending;

/// Whether DFRS has warned a job in the run that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warning {
    /// It has not.
    None,
    /// slurmctld, or this, may have been killed before it had kept the warning.
    Doubtful,
    /// It has.
    Sent,
}

impl Life {
    /// Whether it was warned in the run that is over, if one is.
    pub fn warning(&self) -> Warning {
        let phase = self.phase.rules();
        if self.is_warned || phase.was_warned() {
            Warning::Sent
        } else if phase.after_leaving().is_some() {
            Warning::Doubtful
        } else {
            Warning::None
        }
    }

    /// It has ended after a warning, and was queued again for that. No event, since Slurm need not
    /// show it any more.
    pub fn set_requeued(&mut self, ending: Ending, now: Time) {
        self.is_warned = false;
        let next = match ending {
            Ending::Saved => self.next_after_warning(),
            // It has written no checkpoint and restarts.
            Ending::Failed => Next::Restart,
        };
        self.failed_pauses += u32::from(ending == Ending::Failed);
        self.becomes_requeued(next, now);
    }

    /// The request is repeated later: Slurm could not do it at once.
    pub fn defer_requeue(&mut self, now: Time) {
        self.is_warned = self.warning() == Warning::Sent;
        self.becomes_requeued(self.next_after_warning(), now);
    }

    fn next_after_warning(&self) -> Next {
        let next = self.phase.rules().after_leaving();
        next.cloned().unwrap_or(Next::Pause)
    }

    fn becomes_requeued(&mut self, next: Next, now: Time) {
        self.phase = LifePhase::Requeued(Requeued::new(next, now));
        super::pauses::follow(&mut self.pauses, &self.phase, now);
    }

    /// slurmctld was killed: what was about to be done to the job may have been done. A job that
    /// restarts when it is preempted is not warned.
    pub(super) fn may_have_been_warned(&self) -> bool {
        let next = self.phase.rules().after_leaving();
        next.is_some_and(|next| *next != Next::Restart)
    }
}
