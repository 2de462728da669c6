//! This library in slurmctld's memory. After `fini()` slurmctld unloads it (`plugin_unload()` in
//! src/common/plugin.c, 22.05 and 24.11), and no thread may run its code any more, unless it stays.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Joins a thread that was stopped and keeps the other end of `ended` until its end. After `timeout` it is
/// left alone, with the library in memory, as its code still runs. Returns whether it has ended.
pub(crate) fn join_within(timeout: Duration, thread: JoinHandle<()>, ended: &Receiver<()>) -> bool {
    let has_ended = ended.recv_timeout(timeout) == Err(RecvTimeoutError::Disconnected);
    if has_ended {
        // What panics in it is caught, or reported by the panic hook.
        let _ = thread.join();
    } else {
        keep_loaded();
    }
    has_ended
}

/// Has the library stay in memory for the rest of the process, for threads that `fini()` cannot wait for.
pub(crate) fn keep_loaded() {
    // What is linked into a test is never unloaded.
    #[cfg(not(no_slurm))]
    crate::shim::keep_loaded();
}
