//! What a node's dfrsd measures of a job about which it is queried.

use dfrs_core::{Cores, Interval, Measured, Need, Span, Time};

use super::cluster::SECOND;

/// The longest interval.
const INTERVAL: Span = Span(10 * SECOND);
/// One in which the job is held back ends after this.
const REACTION: Span = Span(SECOND);

/// One job on one node. While nothing changes, nothing happens: it says when it is next to be
/// looked at.
#[derive(Clone, Debug)]
pub(super) struct NeedGauge {
    request: Cores,
    measured: Measured,
    since: Time,
    counted: Time,
    /// Core microseconds since then.
    used: f64,
    was_throttled: bool,
    /// Cores that it uses now.
    uses: f64,
    /// It would use more now than its cap leaves it.
    is_throttled: bool,
    /// Since when that is so.
    throttled_since: Time,
    /// Grows with every change.
    pub(super) version: u64,
}

impl NeedGauge {
    pub(super) fn new(now: Time, request: f64) -> Self {
        let request = cores(request);
        Self {
            request,
            measured: Measured::new(request),
            since: now,
            counted: now,
            used: 0.0,
            was_throttled: false,
            uses: 0.0,
            is_throttled: false,
            throttled_since: now,
            version: 0,
        }
    }

    pub(super) fn need(&self) -> Need {
        self.measured.need()
    }

    /// Whether it measures parts of this.
    pub(super) fn is_of(&self, request: f64) -> bool {
        self.request == cores(request)
    }

    /// The job uses so much from now on. Returns whether that is a change.
    pub(super) fn set(&mut self, now: Time, uses: f64, is_throttled: bool) -> bool {
        if self.is_throttled == is_throttled && (self.uses - uses).abs() < 1e-9 {
            let is_first = self.version == 0;
            self.version += u64::from(is_first);
            return is_first;
        }
        self.count(now);
        if self.is_settled() && self.since < now {
            self.begin_interval(now);
        }
        if is_throttled && !self.is_throttled {
            self.throttled_since = now;
        }
        (self.uses, self.is_throttled) = (uses, is_throttled);
        self.version += 1;
        true
    }

    /// When it is to be looked at, if nothing changes before.
    pub(super) fn next(&self) -> Option<Time> {
        if self.is_settled() {
            return None;
        }
        let end = Time(self.since.0 + INTERVAL.0);
        let noticed = Time(self.throttled_since.max(self.since).0 + REACTION.0);
        Some(if self.is_throttled {
            noticed.min(end)
        } else {
            end
        })
    }

    /// Ends the interval.
    pub(super) fn look(&mut self, now: Time) {
        self.count(now);
        let lasted = now.since(self.since);
        if lasted <= Span::ZERO {
            return;
        }
        self.measured.note(&Interval {
            lasted,
            used: cores(self.used / micros(lasted)),
            throttled: self.was_throttled,
        });
        self.begin_interval(now);
        self.version += 1;
    }

    fn is_settled(&self) -> bool {
        self.measured
            .is_settled(cores(self.uses), self.is_throttled)
    }

    fn count(&mut self, now: Time) {
        let elapsed = now.since(self.counted).max(Span::ZERO);
        self.used += self.uses * micros(elapsed);
        self.was_throttled |= self.is_throttled && elapsed > Span::ZERO;
        self.counted = now;
    }

    fn begin_interval(&mut self, now: Time) {
        (self.since, self.counted) = (now, now);
        (self.used, self.was_throttled) = (0.0, false);
    }
}

// Precise enough: far below 2^53 microseconds.
fn micros(span: Span) -> f64 {
    span.0 as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "some cores"
)]
fn cores(number: f64) -> Cores {
    Cores((number.max(0.0) * 1e6).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks whenever it is to, until then. Returns the eighths.
    fn until(gauge: &mut NeedGauge, seconds: i64) -> u8 {
        while let Some(at) = gauge.next().filter(|at| at.0 <= seconds * SECOND) {
            gauge.look(at);
        }
        gauge.need().eighths()
    }

    #[test]
    fn idle_job_is_measured_every_ten_seconds_until_it_is_settled() {
        let mut gauge = NeedGauge::new(Time(0), 4.0);
        assert!(gauge.set(Time(0), 1.0, false));
        assert!(!gauge.set(Time(0), 1.0, false));
        assert_eq!(until(&mut gauge, 59), 8);
        assert_eq!(until(&mut gauge, 60), 4);
        assert_eq!(until(&mut gauge, 3600), 3);
        assert_eq!(gauge.next(), None);
    }

    #[test]
    fn throttled_job_gets_its_request_back_after_a_second() {
        let mut gauge = NeedGauge::new(Time(0), 4.0);
        gauge.set(Time(0), 1.0, false);
        until(&mut gauge, 600);
        gauge.set(Time(603 * SECOND), 1.5, true);
        assert_eq!(gauge.next(), Some(Time(604 * SECOND)));
        assert_eq!(until(&mut gauge, 604), 8);
        assert_eq!(gauge.next(), None);
    }
}
