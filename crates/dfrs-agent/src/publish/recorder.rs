//! The port of the flight recorder: decisions that are kept for a closer look.

use dfrs_core::DecisionRecord;

/// Why a decision is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// Its plan broke a rule and was dropped.
    Dropped,
    /// The decision was requested.
    Requested,
}

/// Where recorded decisions go.
pub trait Recorder {
    /// Whether a record of the next decision was requested.
    fn is_requested(&mut self) -> bool;
    /// Keeps a decision. Returns where it is; `None`: one was kept for the same reason lately.
    ///
    /// # Errors
    ///
    /// One line on what went wrong and where.
    fn save(
        &mut self,
        occasion: Occasion,
        record: &DecisionRecord<'_>,
    ) -> Result<Option<String>, String>;
}
