//! What happened.

use dfrs_core::{JobId, Trigger};

/// What happened since the last decision: all of it is decided about together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Jobs ended.
    pub ended: bool,
    /// Jobs that were submitted, in the order in which they are decided about.
    pub submitted: Vec<JobId>,
    /// Nodes came, went or changed state.
    pub nodes_changed: bool,
    /// The period elapsed.
    pub period: bool,
}

impl Events {
    /// As the trigger of a decision, if it is one.
    pub(crate) fn trigger(&self) -> Option<Trigger> {
        match (
            self.ended,
            &self.submitted[..],
            self.nodes_changed,
            self.period,
        ) {
            (true, [], false, false) => Some(Trigger::Completion),
            (false, [job], false, false) => Some(Trigger::Submission(*job)),
            (false, [], true, false) => Some(Trigger::NodeChange),
            (false, [], false, true) => Some(Trigger::Period),
            _ => None,
        }
    }
}
