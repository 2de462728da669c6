//! What the kernel counts for this process.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};

/// CPU time of the whole process since it began, exact to the nanosecond.
///
/// # Panics
/// Never on Linux, where the process's own CPU clock can always be read.
pub fn cpu_time() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .expect("a process can read its own CPU clock")
        .into()
}

/// Pages that the process had to wait for because they were on disk.
///
/// # Panics
/// Never on Linux, where a process can always read its own usage.
pub fn major_faults() -> i64 {
    getrusage(UsageWho::RUSAGE_SELF)
        .expect("a process can read its own usage")
        .major_page_faults()
}
