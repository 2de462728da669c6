//! What the agent has handed over and the writer has not written yet.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dfrs_agent::publish::state::StateChanges;
use dfrs_proto::status::StateFileStatus;

/// Between the agent and the writer. Grows with the jobs that changed, not with time.
#[derive(Default)]
pub(super) struct StateHandover {
    state: Mutex<HandoverState>,
    changed: Condvar,
}

#[derive(Default)]
struct HandoverState {
    pending: StateChanges,
    submitted: u64,
    durable: u64,
    /// Since when there is something that is not durable.
    behind_since: Option<Instant>,
    /// The last attempt failed.
    fails: bool,
    stops: bool,
    abandoned: bool,
}

/// What the writer has to do next.
pub(super) enum StateWork {
    /// Write these changes, the last of which have this number.
    Write(Box<StateChanges>, u64),
    /// There is nothing left to write, and will be nothing.
    End,
}

impl StateHandover {
    /// Hands changes over; returns their number.
    pub(super) fn submit(&self, changes: StateChanges) -> u64 {
        let mut state = self.lock();
        state.pending.add(changes);
        state.submitted += 1;
        state.behind_since.get_or_insert_with(Instant::now);
        self.changed.notify_all();
        state.submitted
    }

    /// How far the disk is behind.
    pub(super) fn lag(&self) -> StateFileStatus {
        let state = self.lock();
        let age = state.behind_since.map(|since| since.elapsed().as_micros());
        StateFileStatus {
            changes: state.submitted - state.durable,
            age: age.map_or(0, |age| u64::try_from(age).unwrap_or(u64::MAX)),
            fails: state.fails,
        }
    }

    pub(super) fn durable(&self) -> u64 {
        self.lock().durable
    }

    /// Waits until changes up to this number are durable; false if they are not in time, `None` if writing
    /// fails.
    pub(super) fn wait(&self, number: u64, max_wait: Duration) -> Option<bool> {
        let waits = |state: &mut HandoverState| state.durable < number && !state.fails;
        let (state, _) = self
            .changed
            .wait_timeout_while(self.lock(), max_wait, waits)
            .unwrap_or_else(PoisonError::into_inner);
        let durable = state.durable >= number;
        (durable || !state.fails).then_some(durable)
    }

    /// Waits for something to write.
    pub(super) fn take(&self) -> StateWork {
        let idle = |state: &mut HandoverState| state.pending.is_empty() && !state.stops;
        let mut state = self
            .changed
            .wait_while(self.lock(), idle)
            .unwrap_or_else(PoisonError::into_inner);
        if state.pending.is_empty() || state.abandoned {
            return StateWork::End;
        }
        let changes = Box::new(std::mem::take(&mut state.pending));
        StateWork::Write(changes, state.submitted)
    }

    /// Everything up to this number is durable.
    pub(super) fn written(&self, number: u64) {
        let mut state = self.lock();
        state.durable = number;
        // What was handed over meanwhile is newer than that.
        state.behind_since = (number < state.submitted).then(Instant::now);
        state.fails = false;
        self.changed.notify_all();
    }

    /// An attempt failed.
    pub(super) fn failed(&self) {
        self.lock().fails = true;
        self.changed.notify_all();
    }

    /// Waits before the next attempt; true: there is none.
    pub(super) fn pause(&self, pause: Duration) -> bool {
        let goes_on = |state: &mut HandoverState| !state.stops;
        let wait = self.changed.wait_timeout_while(self.lock(), pause, goes_on);
        let (state, _) = wait.unwrap_or_else(PoisonError::into_inner);
        state.stops
    }

    /// Has the writer end when it has written what it has.
    pub(super) fn stop(&self) {
        self.lock().stops = true;
        self.changed.notify_all();
    }

    /// The writer is no longer waited for: it writes nothing.
    pub(super) fn abandon(&self) {
        self.lock().abandoned = true;
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.lock().abandoned
    }

    /// A poisoned lock only means that another thread panicked between two whole updates.
    fn lock(&self) -> MutexGuard<'_, HandoverState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
