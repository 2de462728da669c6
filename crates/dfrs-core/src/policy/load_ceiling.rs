//! A ceiling on the load of nodes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::units::Cores;

/// A ceiling on the load of a node, in percent of its CPU capacity: at 400, a node's tasks may
/// together need four times its CPU, and no yield need be below 1/4. At least 100; less counts as
/// 100. Jobs that stay where they are may exceed it. As text it is `400%`.
///
/// ```
/// use dfrs_core::LoadCeiling;
/// assert_eq!("150%".parse(), Ok(LoadCeiling(150)));
/// assert_eq!(LoadCeiling(400).to_string(), "400%");
/// assert!("99%".parse::<LoadCeiling>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LoadCeiling(pub u32);

/// A text is no [`LoadCeiling`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadCeilingError;

impl fmt::Display for LoadCeilingError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("allowed: whole percent, at least 100%")
    }
}

impl std::error::Error for LoadCeilingError {}

impl LoadCeiling {
    /// The greatest sum of needs on a node of this capacity, rounded down.
    ///
    /// ```
    /// use dfrs_core::{Cores, LoadCeiling};
    /// assert_eq!(LoadCeiling(400).of(Cores::from_cores(8)), Cores::from_cores(32));
    /// assert_eq!(LoadCeiling(50).of(Cores::from_cores(8)), Cores::from_cores(8));
    /// ```
    #[must_use]
    pub fn of(self, capacity: Cores) -> Cores {
        let percent = u128::from(self.0.max(100));
        Cores(u64::try_from(u128::from(capacity.0) * percent / 100).unwrap_or(u64::MAX))
    }
}

impl FromStr for LoadCeiling {
    type Err = LoadCeilingError;

    fn from_str(text: &str) -> Result<Self, LoadCeilingError> {
        let digits = text.strip_suffix('%').ok_or(LoadCeilingError)?;
        if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(LoadCeilingError);
        }
        let percent: u32 = digits.parse().map_err(|_| LoadCeilingError)?;
        (percent >= 100)
            .then_some(Self(percent))
            .ok_or(LoadCeilingError)
    }
}

impl fmt::Display for LoadCeiling {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}%", self.0.max(100))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ceiling_is_in_percent_of_the_capacity() {
        let of = |percent, capacity| LoadCeiling(percent).of(Cores(capacity));
        assert_eq!(of(250, 3), Cores(7));
        assert_eq!(of(99, 3), Cores(3));
        assert_eq!(of(101, u64::MAX), Cores(u64::MAX));
    }

    #[test]
    fn texts_are_whole_percent_and_come_back() {
        for percent in [100, 101, 150, u32::MAX] {
            let ceiling = LoadCeiling(percent);
            assert_eq!(ceiling.to_string().parse(), Ok(ceiling));
        }
        for text in [
            "",
            "%",
            "150",
            "99%",
            "-150%",
            "+150%",
            "1.5%",
            "150 %",
            "4294967296%",
        ] {
            assert_eq!(text.parse::<LoadCeiling>(), Err(LoadCeilingError), "{text}");
        }
    }
}
