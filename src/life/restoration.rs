//! Attempts to give the cluster back, until nothing is parked any more.

use dfrs_core::{Span, Time};

use super::{MAX_WITHHELD_TIME, MINUTE, PluginAction, error};

/// Time between two attempts.
const MIN_RETRY_INTERVAL: Span = Span(2_000_000);
/// The longest time between two attempts of which one failed: it doubles from one failure to the next.
const MAX_RETRY_INTERVAL: Span = Span(300_000_000);

/// How far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Restoration {
    /// When it is attempted next.
    pub(super) next: Time,
    /// The time between the last two attempts.
    interval: Span,
    handover: Handover,
}

/// When backfill schedules all partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Handover {
    /// It does.
    Done,
    /// When all is given back.
    WhenBack,
    /// When all is given back, at this time at the latest.
    By(Time),
}

/// How an attempt went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// How many jobs are still parked, or one line on why nothing is known.
    pub parked: Result<usize, String>,
    /// It has panicked.
    pub has_panicked: bool,
    /// Nothing is parked, and the nodes have acknowledged what came back.
    pub is_thaw_confirmed: bool,
    /// How many jobs depend on DFRS to come back.
    pub depending: usize,
    /// There are jobs that cannot be given back.
    pub has_left_out: bool,
}

impl Restoration {
    pub(super) fn new(handover: Handover, now: Time) -> Self {
        Self {
            next: now,
            interval: MIN_RETRY_INTERVAL,
            handover,
        }
    }

    pub(super) fn is_handed_over(&self) -> bool {
        self.handover == Handover::Done
    }

    /// How it goes on; `None`: it is over. `is_last`: it is if all is given back.
    pub(super) fn after(
        mut self,
        attempt: &Attempt,
        is_last: bool,
        now: Time,
    ) -> (Option<Self>, Vec<PluginAction>) {
        let mut actions = Vec::new();
        if attempt.parked == Ok(0) {
            // What was parked had it withheld until now.
            self.hand_over(&mut actions);
            if is_last {
                return (None, actions);
            }
        }
        self.interval = match &attempt.parked {
            Ok(_) => MIN_RETRY_INTERVAL,
            Err(problem) => {
                // What was parked may not be back: that is never given up.
                let next = Span((self.interval.0 * 2).min(MAX_RETRY_INTERVAL.0));
                actions.push(error(format!(
                    "jobs that DFRS parked have not resumed: {problem}; retry in {} s; 'scontrol resume' resumes single ones",
                    next.0 / 1_000_000
                )));
                next
            }
        };
        if matches!(self.handover, Handover::By(at) if at <= now) {
            actions.push(error(format!(
                "jobs that DFRS parked ({}) have not resumed after {} minutes: backfill schedules all partitions now, and may take their memory",
                attempt.depending,
                MAX_WITHHELD_TIME.0 / MINUTE
            )));
            self.hand_over(&mut actions);
        }
        let next = now + self.interval;
        self.next = match self.handover {
            Handover::By(at) => at.min(next),
            _ => next,
        };
        (Some(self), actions)
    }

    fn hand_over(&mut self, actions: &mut Vec<PluginAction>) {
        if !self.is_handed_over() {
            self.handover = Handover::Done;
            actions.push(PluginAction::HandOver);
        }
    }
}
