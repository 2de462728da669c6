//! What a job needs here of what it requested, from the CPU use that the kernel reports. Pure: no
//! I/O, no clock. The rule itself is [`Measured`].

use std::time::Duration;

use dfrs_core::{Cores, Interval, Measured, Need, Span};

use crate::cgroup::CpuUse;

/// The longest interval.
const INTERVAL: Duration = Duration::from_secs(10);

/// An interval in which the job is held back ends as soon as it has lasted for this, and the job was held back
/// for so many seconds: once is no habit.
const REACTION: Duration = Duration::from_secs(1);
const MIN_THROTTLED_SECONDS: f64 = 0.2;

/// A job that was held back for a smaller part of an interval lost next to nothing: the kernel
/// hands out quotas in slices, and stops now and then a job that stays below its quota.
const NOTICEABLE_FRACTION: f64 = 0.05;

/// One job, measured since it was met here.
#[derive(Debug, Clone, PartialEq)]
pub struct NeedMeter {
    request: Cores,
    measured: Measured,
    since: Duration,
    first: CpuUse,
}

impl NeedMeter {
    /// A job that requested so much here, of which nothing is known yet; none if the kernel does
    /// not report its CPU time.
    pub fn start(request: Cores, now: Duration, cpu: CpuUse) -> Option<NeedMeter> {
        cpu.used_seconds?;
        Some(NeedMeter {
            request,
            measured: Measured::new(request),
            since: now,
            first: cpu,
        })
    }

    /// What it requested here.
    pub fn request(&self) -> Cores {
        self.request
    }

    /// What it needs of that.
    pub fn need(&self) -> Need {
        self.measured.need()
    }

    /// Takes a reading; one that lacks the CPU time (the job is just ending) is ignored. `capped`:
    /// it could have been held back, so that it was if the kernel does not report it.
    pub fn read(&mut self, now: Duration, cpu: CpuUse, capped: bool) {
        let lasted = now.saturating_sub(self.since);
        let (Some(used), Some(before)) = (cpu.used_seconds, self.first.used_seconds) else {
            return;
        };
        let held_back = match cpu.throttled_seconds {
            // A counter that began within the interval began at 0.
            Some(seconds) => seconds - self.first.throttled_seconds.unwrap_or(0.0),
            None if capped => lasted.as_secs_f64(),
            None => 0.0,
        };
        let throttled = held_back > NOTICEABLE_FRACTION * lasted.as_secs_f64();
        let ends_early = lasted >= REACTION && throttled && held_back > MIN_THROTTLED_SECONDS;
        if !ends_early && lasted < INTERVAL {
            return;
        }
        self.measured.note(&Interval {
            lasted: span(lasted),
            used: cores((used - before) / lasted.as_secs_f64()),
            throttled,
        });
        self.since = now;
        self.first = cpu;
    }
}

/// So many cores, to the millionth; none for what is no number of them.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // `as` saturates
pub fn cores(number: f64) -> Cores {
    Cores((number * 1e6).round() as u64)
}

fn span(time: Duration) -> Span {
    Span(i64::try_from(time.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REQUEST: Cores = Cores::from_cores(2);

    /// A job whose counters are read every quarter of a second.
    struct Job {
        meter: NeedMeter,
        at: Duration,
        used: f64,
        throttled: f64,
    }

    impl Job {
        fn new() -> Job {
            let meter = NeedMeter::start(REQUEST, Duration::ZERO, cpu(0.0, Some(0.0)));
            Job {
                meter: meter.unwrap(),
                at: Duration::ZERO,
                used: 0.0,
                throttled: 0.0,
            }
        }

        /// Uses so many cores, and is held back in this part of the time. Returns the eighths that it needs.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a few
        fn work(&mut self, seconds: f64, cores: f64, throttled: f64) -> u8 {
            for _ in 0..(seconds * 4.0) as u32 {
                self.at += Duration::from_millis(250);
                self.used += cores / 4.0;
                self.throttled += throttled / 4.0;
                let cpu = cpu(self.used, Some(self.throttled));
                self.meter.read(self.at, cpu, true);
            }
            self.meter.need().eighths()
        }
    }

    fn cpu(used: f64, throttled: Option<f64>) -> CpuUse {
        CpuUse {
            used_seconds: Some(used),
            throttled_seconds: throttled,
        }
    }

    #[test]
    fn need_halves_after_a_minute_at_a_quarter_of_the_request() {
        let mut job = Job::new();
        assert_eq!(job.work(59.0, 0.5, 0.0), 8);
        assert_eq!(job.work(1.0, 0.5, 0.0), 4);
        assert_eq!(job.work(60.0, 0.5, 0.01), 3, "a hundredth is not noticed");
    }

    #[test]
    fn throttled_job_has_its_request_after_a_second() {
        let mut job = Job::new();
        job.work(60.0, 0.5, 0.0);
        assert_eq!(job.work(0.75, 0.6, 0.5), 4);
        assert_eq!(job.work(0.25, 0.6, 0.5), 8);
        let mut later = Job::new();
        later.work(65.0, 0.5, 0.0);
        assert_eq!(later.work(0.75, 0.6, 0.5), 8, "within a calm interval");
    }

    #[test]
    fn brief_throttling_raises_the_need_only_when_it_is_noticeable() {
        let mut job = Job::new();
        job.work(60.0, 0.5, 0.0);
        for _ in 0..6 {
            job.work(0.25, 0.5, 0.6);
            job.work(9.75, 0.5, 0.0);
        }
        assert_eq!(job.meter.need().eighths(), 3);
        job.work(10.0, 0.5, 0.06);
        assert_eq!(job.meter.need().eighths(), 8);
    }

    #[test]
    fn cap_without_throttling_counters_counts_as_throttling() {
        let mut meter = NeedMeter::start(REQUEST, Duration::ZERO, cpu(0.0, None)).unwrap();
        let mut other = meter.clone();
        for seconds in 1..=600 {
            let at = Duration::from_secs(seconds);
            meter.read(at, cpu(0.0, None), true);
            other.read(at, cpu(0.0, None), false);
        }
        assert_eq!(meter.need(), Need::WHOLE);
        assert_eq!(other.need(), Need::LEAST);
    }

    #[test]
    fn without_cpu_accounting_nothing_is_measured() {
        let none = CpuUse::default();
        assert_eq!(NeedMeter::start(REQUEST, Duration::ZERO, none), None);
        let mut job = Job::new();
        job.meter.read(Duration::from_secs(60), none, true);
        assert_eq!(job.meter.need(), Need::WHOLE);
    }

    #[test]
    fn cores_are_millionths() {
        assert_eq!(cores(0.5), Cores(500_000));
        assert_eq!([cores(-1.0), cores(f64::NAN)], [Cores::ZERO; 2]);
    }

    proptest! {
        /// However it behaves, a job that is held back for a second needs its request.
        #[test]
        fn need_is_the_request_after_a_second_of_throttling(
            before in proptest::collection::vec((1.0f64..100.0, 0.0f64..2.0, 0.0f64..0.2), 0..30),
        ) {
            let mut job = Job::new();
            for (seconds, cores, throttled) in before {
                job.work(seconds, cores, throttled);
            }
            prop_assert_eq!(job.work(1.25, 0.1, 1.0), 8);
        }
    }
}
