//! The clock of order sender and node poller.

use std::time::Instant;

use dfrs_core::Time;

/// The time since it was started, which no change of the wall clock touches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Uptime(Instant);

impl Uptime {
    /// Starts it.
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    /// The time now.
    pub(super) fn now(self) -> Time {
        Time(i64::try_from(self.0.elapsed().as_micros()).unwrap_or(i64::MAX))
    }
}
