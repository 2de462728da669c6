//! What the agent has handed over and the writer has not written yet.

use std::time::Duration;

use dfrs_agent::publish::state::StateChanges;
use dfrs_proto::status::StateFileStatus;

use crate::writer_queue::WriterQueue;

/// Between the agent and the writer. Grows with the jobs that changed, not with time.
pub(super) type StateHandover = WriterQueue<PendingChanges>;

#[derive(Default)]
pub(super) struct PendingChanges {
    pending: StateChanges,
    submitted: u64,
    durable: u64,
}

impl StateHandover {
    /// Hands changes over; returns their number.
    pub(super) fn submit(&self, changes: StateChanges) -> u64 {
        self.add(|work| {
            work.pending.add(changes);
            work.submitted += 1;
            work.submitted
        })
    }

    /// How far the disk is behind.
    pub(super) fn lag(&self) -> StateFileStatus {
        let state = self.lock();
        StateFileStatus {
            changes: state.work.submitted - state.work.durable,
            age: state.age(),
            fails: state.fails,
        }
    }

    pub(super) fn durable(&self) -> u64 {
        self.lock().work.durable
    }

    /// Waits until changes up to this number are durable; false if they are not in time, `None` if writing
    /// fails.
    pub(super) fn wait_until_durable(&self, number: u64, max_wait: Duration) -> Option<bool> {
        let (state, _) = self.wait(max_wait, |state| {
            state.work.durable < number && !state.fails
        });
        let durable = state.work.durable >= number;
        (durable || !state.fails).then_some(durable)
    }

    /// Waits for changes, of which the last have the number that is returned.
    pub(super) fn take_changes(&self) -> Option<(StateChanges, u64)> {
        self.take(
            |work| work.pending.is_empty(),
            |work| (std::mem::take(&mut work.pending), work.submitted),
        )
    }

    /// Everything up to this number is durable. Returns whether writing failed before.
    pub(super) fn note_durable(&self, number: u64) -> bool {
        self.written(|work| {
            work.durable = number;
            number == work.submitted
        })
    }
}
