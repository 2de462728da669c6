//! For how long the shim has held slurmctld's locks, and waited for them.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::bindings;
use crate::measures::LockTimes;

static TIMES: LazyLock<Mutex<LockTimes>> = LazyLock::new(Mutex::default);

/// Counts from now on.
pub fn observe_locks() {
    // SAFETY: `count` can be called at any time and by any thread.
    unsafe { bindings::dfrs_observe_locks(Some(count)) };
}

/// What has been counted since.
pub fn lock_times() -> LockTimes {
    times().clone()
}

extern "C" fn count(writes: bool, waited_microseconds: u64, held_microseconds: u64) {
    let waited = Duration::from_micros(waited_microseconds);
    let held = Duration::from_micros(held_microseconds);
    times().add(writes, waited, held);
}

/// A poisoned lock still has whole counts.
fn times() -> MutexGuard<'static, LockTimes> {
    TIMES.lock().unwrap_or_else(PoisonError::into_inner)
}
