//! One pass of the scheduler: look, admit, decide, act, share, publish, a file each. Everything
//! between two looks at Slurm is a function of the observation, the ledger and the time.

use dfrs_core::{Span, Time};

use crate::clock::Ahead;
use crate::daemons::Daemons;
use crate::probe::PassPart;
use crate::publish::state::State;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm, SlurmError};

mod act;
mod admit;
mod agent;
mod decide;
mod follow;
mod look;
mod publish;
mod share;

pub use agent::{Agent, Ports};
pub use publish::counts::Counts;

/// Slurm is looked at after this time even if nothing seems to have changed (reservations start).
const MAX_SLEEP: Span = Span::from_seconds(5);

/// What one pass did, for statistics and tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassReport {
    /// Jobs that waited when it began.
    pub queue: u32,
    /// Jobs that decisions were about.
    pub depth: u32,
    /// Jobs that were started or came back.
    pub started: u32,
    /// There is more to do at once: the next pass need not wait.
    pub unfinished: bool,
    /// If its decision took too long and was ended: how many in a row were.
    pub ended_decisions: u32,
    /// If the plan broke a rule and was dropped, and no job was left to exclude for that: the
    /// number of such plans in a row.
    pub dropped_plans: u32,
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Slurm, for the passive mode and for tests.
    pub fn slurm(&mut self) -> &mut S {
        &mut self.slurm
    }

    /// Slurm was reconfigured: looks again at the next tick.
    pub fn refresh(&mut self) {
        self.looks.at = Time(0);
        self.looks.cores_hidden = Time(0);
    }

    /// Sets by how much the time given to the agent is ahead of Slurm's clock from now on.
    pub fn set_ahead(&mut self, ahead: Ahead) {
        if ahead != self.looks.ahead {
            let text = format!(
                "clock set back: from now on times in DFRS's journal are {} s ahead of the system clock",
                ahead.seconds()
            );
            self.slurm.log(LogLevel::Info, &text);
            self.looks.ahead = ahead;
            self.looks.at = Time(0);
        }
    }

    /// Whether there may be something to do.
    pub fn is_due(&self, now: Time) -> bool {
        self.due_at() <= now
    }

    /// When there is next something to do, as far as it is known now: Slurm's records may change
    /// before. A time in the past means at once.
    pub fn due_at(&self) -> Time {
        let looked = self.looks.ahead.wall(self.looks.at);
        let changed = self.slurm.last_update() >= looked.whole_seconds();
        let needs_changed = self.needs_changed();
        if changed || needs_changed || self.lists.capacity_freed || self.lists.any_under_way() {
            return self.looks.at;
        }
        let foreseen = [
            self.lists.next(),
            self.queue.admission.next(),
            self.queue.array_admission.next(),
            self.queue.settle_queue.next(),
            self.queue.submit_backoff.next(),
            self.planner.decision_backoff.next(),
            self.planner.excluded.next(),
            self.planner.partition_policies.next(),
            self.planner.refusals.next(),
            self.planner.kept_memory.next(),
            Some(self.planner.remaps.due()),
            self.giving_back.partitions.next(self.looks.at),
            self.nodes.orphaned.next(),
            self.nodes.resumptions.next(),
        ];
        let slept = Time(self.looks.at.0 + self.looks.max_sleep.0);
        foreseen.into_iter().flatten().fold(slept, Time::min)
    }

    /// Sets the longest time between two looks at Slurm while nothing seems to have changed; for a
    /// driver that knows that nothing changes behind Slurm's update times.
    #[cfg(any(test, feature = "fixtures"))]
    pub fn set_max_sleep(&mut self, longest: Span) {
        self.looks.max_sleep = longest;
    }

    /// Looks, decides, acts, and sends orders to the nodes.
    ///
    /// # Errors
    ///
    /// Slurm could not be looked at.
    pub fn pass(&mut self, now: Time) -> Result<PassReport, SlurmError> {
        self.pass_while(now, &|| true)
    }

    /// As [`Self::pass`], but a decision is ended as soon as it may not go on: it changes nothing.
    /// Its events are decided about later, and nothing else until then. Everything else is done as
    /// usual.
    ///
    /// # Errors
    ///
    /// Slurm could not be looked at.
    pub fn pass_while(
        &mut self,
        now: Time,
        may_go_on: &dyn Fn() -> bool,
    ) -> Result<PassReport, SlurmError> {
        self.probe.begin(PassPart::Look);
        self.looks.at = now;
        self.learn_from_nodes(now);
        self.look(now)?;
        self.split_arrays(now)?;
        let mut seen = std::mem::take(&mut self.seen);
        let report = self.run(&mut seen, now, may_go_on);
        self.seen = seen;
        report
    }

    /// The steps of a pass.
    fn run(
        &mut self,
        seen: &mut Observation,
        now: Time,
        may_go_on: &dyn Fn() -> bool,
    ) -> Result<PassReport, SlurmError> {
        let mut report = PassReport {
            queue: self.lists.queue(),
            ..PassReport::default()
        };
        self.follow_look(seen, now);
        self.admit(seen, now);
        let is_period = self.decide_about_events(seen, now, may_go_on, &mut report);
        self.save_durably();
        self.act_in_rounds(seen, now, &mut report)?;
        let changed = self.share_what_changed(seen, is_period, now);
        self.publish_all(seen, changed, now);
        Ok(report)
    }

    /// Stops the pusher and keeps the ledger. Returns the state if it could not be kept, for the
    /// next agent in this process.
    #[must_use]
    pub fn finish(&mut self, now: Time) -> Option<State> {
        self.ledger.count_until(self.planner.shares.keys(), now);
        self.persist_in_order();
        self.nodes.daemons.stop();
        (self.publisher.saved.store.durable() < self.publisher.saved.number).then(|| self.state())
    }
}

#[cfg(test)]
mod tests;
