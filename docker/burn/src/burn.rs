//! The task itself: spends its allowance on its memory and on arithmetic until its work is done.

use std::hint::black_box;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::clock::{CpuClock, major_faults};
use crate::memory::Ballast;
use crate::pace::{Pace, PaceStep};

/// In this time all memory is used once. Less often than this a page would hardly be "in use".
const SWEEP: Duration = Duration::from_secs(10);
/// Pages written between two looks at the CPU clock.
const FILL_STEP: usize = 16;
/// Operations between two looks at the CPU clock, some microseconds.
const SPIN_STEP: u32 = 4_000;

/// What a task has to do and how far it has come. All work is in CPU seconds.
#[derive(Debug)]
pub struct BurnTask {
    total: Duration,
    /// Done in an earlier run.
    restored: Duration,
    /// CPU time of this run that was no work.
    wasted: Duration,
    pace: Pace,
    ballast: Ballast,
    pages_per_slice: usize,
    /// After a restart the memory is filled once more, which is no progress.
    fill_is_work: bool,
    started: Instant,
    cpu: CpuClock,
}

impl BurnTask {
    /// A task that takes `work` of wall time when it gets `rate` cores, of which `done` CPU time
    /// was spent in an earlier run.
    pub fn new(work: Duration, rate: f64, done: Option<Duration>, ballast: Ballast) -> Self {
        let slices = SWEEP.as_millis() / Pace::SLICE.as_millis();
        let slices = usize::try_from(slices).unwrap_or(usize::MAX);
        Self {
            total: work.mul_f64(rate),
            restored: done.unwrap_or_default(),
            wasted: Duration::ZERO,
            pace: Pace::new(rate, Duration::ZERO, Duration::ZERO),
            pages_per_slice: ballast.pages().div_ceil(slices),
            ballast,
            fill_is_work: done.is_none(),
            started: Instant::now(),
            cpu: CpuClock::default(),
        }
    }

    /// Work done: all CPU time of the process, its sleeps' cost included, but for what was wasted.
    pub fn done(&self) -> Duration {
        self.restored + self.cpu.now().saturating_sub(self.wasted)
    }

    /// Work that was done in an earlier run.
    pub fn restored(&self) -> Duration {
        self.restored
    }

    /// Work there is in all.
    pub fn total(&self) -> Duration {
        self.total
    }

    /// Whether all work is done.
    pub fn is_finished(&self) -> bool {
        self.done() >= self.total
    }

    /// One burst of burning or one sleep, neither much longer than a slice.
    ///
    /// # Errors
    /// When the task's memory does not hold what it wrote there.
    pub fn advance(&mut self) -> Result<(), String> {
        match self.pace.step(self.started.elapsed(), self.cpu.now()) {
            PaceStep::SleepUntil(until) => sleep(until.saturating_sub(self.started.elapsed())),
            PaceStep::BurnUntil(until) if self.ballast.is_full() => {
                self.use_memory()?;
                self.spin(until);
            }
            PaceStep::BurnUntil(until) => self.fill(until),
        }
        Ok(())
    }

    fn fill(&mut self, until: Duration) {
        let before = self.cpu.now();
        while !self.ballast.is_full() && self.cpu.now() < until {
            self.ballast.fill(FILL_STEP);
        }
        if !self.fill_is_work {
            self.wasted += self.cpu.now().saturating_sub(before);
        }
    }

    /// Fetching pages back from swap costs CPU time, which is not work.
    fn use_memory(&mut self) -> Result<(), String> {
        let (before, fetched) = (self.cpu.now(), major_faults());
        self.ballast.sweep(self.pages_per_slice)?;
        if major_faults() != fetched {
            self.wasted += self.cpu.now().saturating_sub(before);
        }
        Ok(())
    }

    fn spin(&self, until: Duration) {
        let now = self.cpu.now();
        let end = until.min(now + self.total.saturating_sub(self.done()));
        while self.cpu.now() < end {
            let mut value = 1_u64;
            for round in 0..SPIN_STEP {
                value = black_box(value.wrapping_mul(6_364_136_223_846_793_005) ^ u64::from(round));
            }
        }
    }
}
