//! What is going to happen in the model, in the order of its times.

use std::collections::BTreeMap;

use dfrs_core::Time;

/// One thing that happens by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ModelEvent {
    /// The prolog is over: the processes of this run begin.
    Launched(u64),
    /// The script of this run begins a step.
    Step(u64),
    /// Slurm's signals to stop, or to go on, reach the processes of this run.
    Stopped(u64, bool),
    /// This run begins its next phase, if its rate has not changed since.
    Phase(u64, u64),
    /// This node looks at what it has measured of this run, if nothing has changed since.
    Measured(u64, u32, u64),
    /// This run has done its work, if its rate has not changed since.
    Finished(u64, u64),
    /// slurmctld gets the report that this run is over.
    Reported(u64),
    /// The last process of this run on this node is gone.
    Gone(u64, u32),
    /// A warning signal reaches this run.
    Warned(u64),
    /// Messages to nodes may be due.
    Due,
    /// The orders of this message reach this node.
    Orders(u32, u64),
    /// The query of this message reaches its nodes.
    Queried(u64),
    /// Nodes that have not answered this message do not.
    Unanswered(u64),
    /// The time to live of this node's orders is over, if there were no later ones.
    Expires(u32),
    /// slurmctld saves its state.
    Save,
    /// slurmctld looks at its nodes and at time limits.
    Ping,
    /// Slurm's own backfill makes a pass.
    Backfill,
    /// A user submits again what a slurmctld that was killed has forgotten.
    SubmitAgain(u32),
    /// A machine that was switched off is there again.
    Booted(u32),
}

/// Events by time; those of one time in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(super) struct EventQueue {
    events: BTreeMap<(Time, u64), ModelEvent>,
    added: u64,
}

impl EventQueue {
    pub(super) fn add(&mut self, at: Time, event: ModelEvent) {
        self.events.insert((at, self.added), event);
        self.added += 1;
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.events.first_key_value().map(|((at, _), _)| *at)
    }

    pub(super) fn take(&mut self, until: Time) -> Option<(Time, ModelEvent)> {
        let entry = self.events.first_entry()?;
        (entry.key().0 <= until).then(|| {
            let ((at, _), event) = entry.remove_entry();
            (at, event)
        })
    }
}
