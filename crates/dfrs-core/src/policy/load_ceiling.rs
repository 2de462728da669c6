//! A ceiling on the load of nodes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::setting::{PolicySetting, or_none, shown_or_none};
use crate::units::Cores;

/// A ceiling on the load of a node, in percent of its CPU capacity: at 400, a node's tasks may
/// together need four times its CPU, and no yield need be below 1/4. At least 100. Jobs that stay
/// where they are may exceed it. As text it is `400%`.
///
/// ```
/// use dfrs_core::LoadCeiling;
/// assert_eq!("150%".parse(), Ok(LoadCeiling::from_percent(150)));
/// assert_eq!(LoadCeiling::from_percent(400).to_string(), "400%");
/// assert!("99%".parse::<LoadCeiling>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "u32", try_from = "u32")]
pub struct LoadCeiling(u32);

const ALLOWED: &str = "allowed: whole percent, at least 100%";

impl LoadCeiling {
    /// A ceiling of so many percent; less than 100 counts as 100.
    pub const fn from_percent(percent: u32) -> Self {
        Self(if percent < 100 { 100 } else { percent })
    }

    /// The greatest sum of needs on a node of this capacity, rounded down.
    ///
    /// ```
    /// use dfrs_core::{Cores, LoadCeiling};
    /// let ceiling = LoadCeiling::from_percent(400);
    /// assert_eq!(ceiling.of(Cores::from_cores(8)), Cores::from_cores(32));
    /// ```
    pub fn of(self, capacity: Cores) -> Cores {
        let percent = u128::from(self.0);
        Cores(u64::try_from(u128::from(capacity.0) * percent / 100).unwrap_or(u64::MAX))
    }
}

impl FromStr for LoadCeiling {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let is_number = |digits: &&str| digits.bytes().all(|digit| digit.is_ascii_digit());
        let digits = text.strip_suffix('%').filter(is_number).ok_or(ALLOWED)?;
        Self::try_from(digits.parse::<u32>().map_err(|_| ALLOWED)?)
    }
}

impl TryFrom<u32> for LoadCeiling {
    type Error = &'static str;

    fn try_from(percent: u32) -> Result<Self, &'static str> {
        (percent >= 100).then_some(Self(percent)).ok_or(ALLOWED)
    }
}

impl From<LoadCeiling> for u32 {
    fn from(ceiling: LoadCeiling) -> Self {
        ceiling.0
    }
}

impl fmt::Display for LoadCeiling {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}%", self.0)
    }
}

impl LoadCeiling {
    /// As a setting of policies.
    pub const SETTING: PolicySetting = PolicySetting {
        word: "load-ceiling",
        value_name: "PERCENT",
        about: "The highest load that policies of DFRS give a node, in percent of its CPUs, or none: with 200% its jobs never \
            need more than twice what it has",
        read: |settings, text| {
            settings.load_ceiling = or_none(text)?;
            Ok(())
        },
        show: |settings| shown_or_none(settings.load_ceiling),
        matters_to: |_| true,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ceiling_is_in_percent_of_the_capacity() {
        let of = |percent, capacity| LoadCeiling::from_percent(percent).of(Cores(capacity));
        assert_eq!(of(250, 3), Cores(7));
        assert_eq!(of(99, 3), Cores(3));
        assert_eq!(of(101, u64::MAX), Cores(u64::MAX));
    }

    #[test]
    fn ceiling_is_never_below_the_capacity() {
        assert_eq!(LoadCeiling::from_percent(50).to_string(), "100%");
        assert_eq!(serde_json::to_string(&LoadCeiling(150)).unwrap(), "150");
        assert_eq!(
            serde_json::from_str::<LoadCeiling>("150").unwrap(),
            LoadCeiling(150)
        );
        let refused = serde_json::from_str::<LoadCeiling>("99").unwrap_err();
        assert!(
            refused.to_string().starts_with("allowed: whole percent"),
            "{refused}"
        );
    }

    #[test]
    fn load_ceiling_text_round_trips() {
        for percent in [100, 101, 150, u32::MAX] {
            let ceiling = LoadCeiling::from_percent(percent);
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
            assert_eq!(text.parse::<LoadCeiling>(), Err(ALLOWED), "{text}");
        }
    }
}
