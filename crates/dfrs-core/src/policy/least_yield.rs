//! The least yield of jobs that run on several nodes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::setting::{PolicySetting, or_none, shown_or_none};
use super::{LoadCeiling, Submission};

/// The least yield of jobs that run on several nodes, in percent. 1 to 100; less counts as 1, more
/// as 100.
///
/// Tasks that wait for each other make little progress while each node gives them their CPU in
/// slices of its own (docs/parallel.md). As text it is a share: `0.5`.
///
/// ```
/// use dfrs_core::LeastYield;
/// assert_eq!("0.5".parse(), Ok(LeastYield(50)));
/// assert_eq!(LeastYield(100).to_string(), "1");
/// assert!("0".parse::<LeastYield>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LeastYield(pub u32);

const ALLOWED: &str = "allowed: a number from 0.01 to 1, in hundredths";

impl LeastYield {
    /// All CPU that it needs.
    pub const ALL: Self = Self(100);

    /// What jobs that require devices ([`crate::Job::rigid`]) have on any nodes, by default and by
    /// every policy but those of other crates: a device that waits for the CPU of its job is worth
    /// more than what others lose. Where the least yields of such jobs are together more than a
    /// node has, they share it evenly, but for a hundredth of what each other job there needs.
    pub const OF_DEVICES: Self = Self(80);

    fn percent(self) -> u32 {
        self.0.clamp(1, 100)
    }

    /// As a share.
    pub(crate) fn share(self) -> f64 {
        f64::from(self.percent()) / 100.0
    }

    /// The load up to which all on a node can have it.
    pub(crate) fn ceiling(self) -> LoadCeiling {
        LoadCeiling::from_percent(10_000 / self.percent())
    }
}

impl FromStr for LeastYield {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let (whole, hundredths) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number(whole) || !is_number(hundredths) || !(1..=2).contains(&hundredths.len()) {
            return Err(ALLOWED);
        }
        let number = |digits: &str| digits.parse::<u32>().map_err(|_| ALLOWED);
        let (whole, hundredths) = (number(whole)?, number(&format!("{hundredths:0<2}"))?);
        let percent = whole.saturating_mul(100).saturating_add(hundredths);
        let percent = Some(percent).filter(|percent| (1..=100).contains(percent));
        percent.map(Self).ok_or(ALLOWED)
    }
}

impl fmt::Display for LeastYield {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.share())
    }
}

impl LeastYield {
    /// As a setting of policies.
    pub const SETTING: PolicySetting = PolicySetting {
        word: "parallel-least-yield",
        value_name: "YIELD",
        about: "The least yield that policies of DFRS that have one (GreedyPMC) give jobs on several nodes, from 0.01 to 1, or \
            none",
        read: |settings, text| {
            settings.parallel_least_yield = or_none(text)?;
            Ok(())
        },
        show: |settings| shown_or_none(settings.parallel_least_yield),
        matters_to: |policy| policy.submission == Submission::LeastCostPreemption,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_yield_text_round_trips() {
        for percent in 1..=100 {
            let least = LeastYield(percent);
            assert_eq!(least.to_string().parse(), Ok(least));
        }
        for (text, percent) in [
            ("0.5", 50),
            ("0.50", 50),
            ("1", 100),
            ("1.0", 100),
            ("0.07", 7),
        ] {
            assert_eq!(text.parse(), Ok(LeastYield(percent)));
        }
        for text in [
            "",
            "0",
            "0.0",
            ".5",
            "1.01",
            "2",
            "-1",
            "0.005",
            "0.",
            "50%",
            "4294967296",
        ] {
            assert_eq!(text.parse::<LeastYield>(), Err(ALLOWED), "{text}");
        }
    }

    #[test]
    fn least_yield_is_feasible_at_its_ceiling() {
        for (percent, ceiling) in [(100, 100), (50, 200), (30, 333), (1, 10_000), (0, 10_000)] {
            assert_eq!(
                LeastYield(percent).ceiling(),
                LoadCeiling::from_percent(ceiling)
            );
        }
    }
}
