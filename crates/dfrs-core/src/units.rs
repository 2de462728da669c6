//! Quantities with their units. Whole numbers wherever sums must be exact and independent of
//! their order; only the yield is a real number. All arithmetic saturates: bad input cannot
//! overflow, and no value wraps around.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use serde::{Deserialize, Deserializer, Serialize};

/// Microseconds in a second.
const MICROSECONDS: i64 = 1_000_000;
/// Millionths of a core in a core.
const MICROCORES: u64 = 1_000_000;

/// A point in time, in microseconds since an origin that the driver chooses (the UNIX epoch when
/// live, the start of the trace in the simulator).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Time(pub i64);

impl Time {
    /// The origin.
    pub const ZERO: Self = Self(0);

    /// The point this many seconds after the origin.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(MICROSECONDS))
    }

    /// Whole seconds since the origin.
    pub const fn whole_seconds(self) -> i64 {
        Span(self.0).whole_seconds()
    }

    /// Seconds since the origin.
    pub fn seconds(self) -> f64 {
        Span(self.0).seconds()
    }

    /// Seconds since the origin, without what is less than a millisecond: for people and files.
    // Precise enough: milliseconds since 1970 are far below 2^53.
    pub fn seconds_to_the_millisecond(self) -> f64 {
        (self.0 / 1000) as f64 / 1000.0
    }

    /// The time from `earlier` to here, negative if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Self) -> Span {
        self.since(earlier)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(formatter)
    }
}

/// A length of time in microseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span(pub i64);

impl Span {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// One second.
    pub const SECOND: Self = Self(MICROSECONDS);

    /// This many whole seconds.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(MICROSECONDS))
    }

    /// Length in whole seconds, without the rest.
    pub const fn whole_seconds(self) -> i64 {
        self.0 / MICROSECONDS
    }

    /// Whether it is no time.
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// Length in seconds.
    // Precise enough: 2^53 microseconds are 285 years.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / MICROSECONDS as f64
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Span {
    /// Seconds without trailing zeros, e.g. `600 s` or `0.25 s`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} s", self.seconds())
    }
}

/// The arithmetic that every amount of a resource has.
macro_rules! amount {
    ($name:ident) => {
        impl $name {
            /// Nothing.
            pub const ZERO: Self = Self(0);

            /// This much for each of `count`.
            #[must_use]
            pub const fn times(self, count: u32) -> Self {
                Self(self.0.saturating_mul(count as u64))
            }

            /// What is left of this after `other`, never below zero.
            #[must_use]
            pub const fn minus(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            /// Whether there is none of it.
            pub const fn is_zero(self) -> bool {
                self.0 == 0
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                *self = self.minus(other);
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
                amounts.fold(Self::ZERO, Add::add)
            }
        }
    };
}

/// CPU, in millionths of a core. A node's capacity and a task's need are both in this unit.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Cores(pub u64);
amount!(Cores);

impl Cores {
    /// This many whole cores.
    pub const fn from_cores(cores: u64) -> Self {
        Self(cores.saturating_mul(MICROCORES))
    }

    /// Number of cores.
    // Precise enough: 2^53 millionths are nine billion cores.
    pub fn cores(self) -> f64 {
        self.0 as f64 / MICROCORES as f64
    }
}

impl fmt::Display for Cores {
    /// Cores without trailing zeros, e.g. `4 cores` or `0.25 cores`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} cores", self.cores())
    }
}

/// Memory in bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Bytes(pub u64);
amount!(Bytes);

impl Bytes {
    /// This many mebibytes, Slurm's unit of memory.
    pub const fn from_mebibytes(mebibytes: u64) -> Self {
        Self(mebibytes.saturating_mul(1 << 20))
    }
}

impl fmt::Display for Bytes {
    /// The largest binary unit that is at least 1, with at most one decimal, e.g. `1.5 GiB`.
    // Precise enough: shown with one decimal.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let mut unit = 0;
        while unit + 1 < UNITS.len() && self.0 >> (10 * (unit + 1)) > 0 {
            unit += 1;
        }
        let value = self.0 as f64 / (1u64 << (10 * unit)) as f64;
        if value.fract() == 0.0 {
            write!(formatter, "{value} {}", UNITS[unit])
        } else {
            write!(formatter, "{value:.1} {}", UNITS[unit])
        }
    }
}

/// An amount of any other resource (GPUs, licences, bandwidth), in the smallest unit that the
/// driver counts it in. Node and job must use the same unit.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Amount(pub u64);
amount!(Amount);

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A job's weight in priority and in shares, in thousandths: 1000 is the weight of an ordinary job.
/// 0 is taken as 1, so that every job has some share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Weight(pub u32);

impl Weight {
    /// The weight of an ordinary job.
    pub const ONE: Self = Self(1000);

    /// The weight as a factor, above 0.
    pub fn factor(self) -> f64 {
        f64::from(self.0.max(1)) / 1000.0
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self::ONE
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.factor().fmt(formatter)
    }
}

/// CPU allocated over CPU needed, between 0 and 1, equal for all tasks of a job (TPDS, Section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
pub struct Yield(pub f64);

impl Yield {
    /// Nothing is allocated.
    pub const ZERO: Self = Self(0.0);
    /// All that the job can use is allocated.
    pub const ONE: Self = Self(1.0);

    /// What a task with this need gets at this yield, rounded down to a millionth of a core.
    // Precise enough: 2^53 millionths are nine billion cores.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to 0..=1"
    )]
    pub fn of(self, need: Cores) -> Cores {
        Cores((need.0 as f64 * self.0.clamp(0.0, 1.0)).floor() as u64)
    }
}

impl<'a> Deserialize<'a> for Yield {
    /// JSON has no number for what is none, as a plan that breaks a rule may contain: it is `null`.
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Option::<f64>::deserialize(deserializer)?;
        Ok(Self(number.unwrap_or(f64::NAN)))
    }
}

impl fmt::Display for Yield {
    /// At most four decimals, e.g. `0.3333`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounded = (self.0 * 10_000.0).round() / 10_000.0;
        rounded.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_shown_with_their_unit() {
        assert_eq!(Bytes::from_mebibytes(1536).to_string(), "1.5 GiB");
        assert_eq!(Bytes(1023).to_string(), "1023 B");
        assert_eq!(Bytes(1024).to_string(), "1 KiB");
        assert_eq!(Bytes(u64::MAX).to_string(), "16 EiB");
        assert_eq!(Cores(250_000).to_string(), "0.25 cores");
        assert_eq!(Span::from_seconds(600).to_string(), "600 s");
        assert_eq!(Time(-250_000).to_string(), "-0.25 s");
        assert_eq!(Amount(7).to_string(), "7");
        assert_eq!(Yield(1.0 / 3.0).to_string(), "0.3333");
        assert_eq!(Weight(1500).to_string(), "1.5");
        assert_eq!(Weight::default().to_string(), "1");
        assert_eq!(Weight(0).factor(), 0.001);
    }

    #[test]
    fn times_and_lengths_are_added_and_subtracted() {
        assert_eq!(Time::from_seconds(3).seconds(), 3.0);
        assert_eq!(Time(2_999_999).whole_seconds(), 2);
        assert_eq!(Time(1_234_567).seconds_to_the_millisecond(), 1.234);
        assert_eq!(Time::from_seconds(3) - Time(1), Span(2_999_999));
        let mut span = Span(3);
        span += Span(4);
        assert_eq!((span, span - Span(9)), (Span(7), Span(-2)));
    }

    #[test]
    fn amounts_are_summed_and_taken_away_down_to_nothing() {
        let mut left: Cores = [Cores(1), Cores(4)].into_iter().sum();
        left += Cores(2);
        left -= Cores(3);
        assert_eq!((left, left.times(3)), (Cores(4), Cores(12)));
        assert!(!left.is_zero());
        left -= Cores(5);
        assert!(left.is_zero());
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Bytes(5).minus(Bytes(7)), Bytes::ZERO);
        assert_eq!(Bytes(u64::MAX) + Bytes(1), Bytes(u64::MAX));
        assert_eq!(Bytes(u64::MAX).times(2), Bytes(u64::MAX));
        assert_eq!(Time(i64::MAX) + Span(1), Time(i64::MAX));
        assert_eq!(Time(i64::MIN) - Time(i64::MAX), Span(i64::MIN));
    }

    #[test]
    fn a_yield_scales_need_and_never_beyond_one() {
        assert_eq!(Yield(0.5).of(Cores::from_cores(3)), Cores(1_500_000));
        assert_eq!(Yield(7.0).of(Cores(10)), Cores(10));
    }
}
