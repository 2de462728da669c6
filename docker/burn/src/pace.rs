//! The arithmetic of pacing: how much CPU a task may burn now, and how long it must sleep.
//!
//! A task of rate *r* gains *r* CPU seconds of allowance per second of wall time and spends them by
//! burning. Its rate is thus the most CPU that it can use (its CPU need), and it uses less only
//! when it is given less. Allowance is not saved up: one that could not be spent in time, because
//! the task was frozen, throttled or had no core, is lost but for [`Pace::MAX_CREDIT`] of wall
//! time, which is there to make up for timers that wake up late.

use std::time::Duration;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaceStep {
    /// Burn until the CPU clock shows this.
    BurnUntil(Duration),
    /// The allowance is spent: sleep until the wall clock shows this.
    SleepUntil(Duration),
}

/// Converts wall time to allowed CPU time. Both clocks are the caller's and only need to be
/// monotonic.
#[derive(Debug, Clone)]
pub struct Pace {
    rate: f64,
    /// The allowance ran out, or will run out, ...
    paid_wall: Duration,
    /// ... when the CPU clock shows this.
    paid_cpu: Duration,
}

impl Pace {
    /// CPU is burnt in slices which last this long at the task's rate.
    pub const SLICE: Duration = Duration::from_millis(20);
    /// Unspent allowance older than this is lost.
    pub const MAX_CREDIT: Duration = Duration::from_millis(40);

    /// Shorter sleeps are put off to the next one: a sleep costs CPU time itself, and a task that
    /// slept off the cost of each sleep would never do anything else.
    const MIN_SLEEP: Duration = Duration::from_millis(10);

    /// A pace of `rate` cores (at least 0.01) that starts now, with no allowance.
    pub fn new(rate: f64, wall: Duration, cpu: Duration) -> Self {
        Self {
            rate,
            paid_wall: wall,
            paid_cpu: cpu,
        }
    }

    /// What to do at `wall` if the CPU clock shows `cpu`. O(1).
    pub fn step(&mut self, wall: Duration, cpu: Duration) -> PaceStep {
        self.account(cpu);
        self.forget(wall);
        if self.paid_wall > wall + Self::MIN_SLEEP {
            return PaceStep::SleepUntil(self.paid_wall);
        }
        let slice = Self::SLICE.mul_f64(self.rate);
        PaceStep::BurnUntil(self.paid_cpu + slice)
    }

    /// CPU time spent since the last call moves the moment up to which the task has had its due.
    fn account(&mut self, cpu: Duration) {
        let spent = cpu.saturating_sub(self.paid_cpu);
        self.paid_wall += spent.div_f64(self.rate);
        self.paid_cpu = self.paid_cpu.max(cpu);
    }

    /// No catching up: what is older than the largest credit is gone.
    fn forget(&mut self, wall: Duration) {
        self.paid_wall = self.paid_wall.max(wall.saturating_sub(Self::MAX_CREDIT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    /// What a sleep costs.
    const SLEEP_COST: Duration = Duration::from_micros(80);

    /// A machine that gives the task a share of one core (1 = a whole core), in which sleeps end
    /// late by a fixed time. Returns the CPU time used after `wall` of wall time.
    fn run(rate: f64, share: f64, late: Duration, wall: Duration) -> Duration {
        let mut now = Duration::ZERO;
        let mut cpu = Duration::ZERO;
        let mut pace = Pace::new(rate, now, cpu);
        while now < wall {
            match pace.step(now, cpu) {
                PaceStep::BurnUntil(until) => {
                    now += (until - cpu).div_f64(share);
                    cpu = until;
                }
                PaceStep::SleepUntil(until) => {
                    now = until + late;
                    cpu += SLEEP_COST;
                }
            }
        }
        cpu
    }

    fn assert_close(value: Duration, expected: Duration, tolerance: f64) {
        let difference = value.as_secs_f64() - expected.as_secs_f64();
        assert!(
            difference.abs() <= tolerance * expected.as_secs_f64(),
            "{value:?} is not within {tolerance} of {expected:?}"
        );
    }

    #[test]
    fn uses_exactly_its_rate_when_nothing_is_in_the_way() {
        for rate in [0.01, 0.08, 0.25, 1.0] {
            let used = run(rate, 1.0, Duration::ZERO, Duration::from_secs(10));
            assert_close(used, Duration::from_secs(10).mul_f64(rate), 0.01);
        }
    }

    #[test]
    fn late_timers_cost_nothing() {
        let used = run(0.1, 1.0, 5 * MILLISECOND, Duration::from_secs(10));
        assert_close(used, Duration::from_secs(1), 0.01);
    }

    #[test]
    fn task_uses_its_whole_share_when_that_is_below_its_rate() {
        let used = run(0.5, 0.2, Duration::ZERO, Duration::from_secs(10));
        assert_close(used, Duration::from_secs(2), 0.01);
    }

    #[test]
    fn task_uses_no_more_than_its_rate() {
        let used = run(0.3, 1.0, Duration::ZERO, Duration::from_secs(10));
        let max = (Duration::from_secs(10) + Pace::SLICE + Pace::MIN_SLEEP).mul_f64(0.3);
        assert!(used <= max, "{used:?} is more than {max:?}");
    }

    #[test]
    fn a_pause_is_not_caught_up() {
        let mut pace = Pace::new(0.1, Duration::ZERO, Duration::ZERO);
        let after = Duration::from_secs(60);
        let mut cpu = Duration::ZERO;
        loop {
            match pace.step(after, cpu) {
                PaceStep::BurnUntil(until) => cpu = until,
                PaceStep::SleepUntil(until) => {
                    assert!(until > after);
                    break;
                }
            }
        }
        assert!(cpu <= (Pace::MAX_CREDIT + Pace::SLICE).mul_f64(0.1));
    }

    #[test]
    fn cpu_used_outside_the_slices_counts_against_the_rate() {
        let mut pace = Pace::new(0.5, Duration::ZERO, Duration::ZERO);
        let step = pace.step(MILLISECOND, 100 * MILLISECOND);
        assert_eq!(step, PaceStep::SleepUntil(200 * MILLISECOND));
    }
}
