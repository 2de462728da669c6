//! What the kernel counts for this process.

use std::cell::Cell;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};

/// CPU time of the whole process since it began. The kernel's clock begins at zero again where a process
/// is restored from an image, on another node; this one goes on.
#[derive(Debug, Default)]
pub struct CpuClock {
    /// What earlier restores left behind.
    before: Cell<Duration>,
    last: Cell<Duration>,
}

impl CpuClock {
    /// Exact to the nanosecond, but for what was used between the last call and an image.
    ///
    /// # Panics
    /// Never on Linux, where the process's own CPU clock can always be read.
    pub fn now(&self) -> Duration {
        let shown = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
            .expect("a process can read its own CPU clock");
        self.continued(shown.into())
    }

    fn continued(&self, shown: Duration) -> Duration {
        let last = self.last.replace(shown);
        if shown < last {
            self.before.set(self.before.get() + last);
        }
        self.before.get() + shown
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_goes_on_after_each_restore() {
        let clock = CpuClock::default();
        let seconds = [1, 5, 0, 2, 1, 3].map(Duration::from_secs);
        let shown = seconds.map(|second| clock.continued(second).as_secs());
        assert_eq!(shown, [1, 5, 5, 7, 8, 10]);
    }
}
