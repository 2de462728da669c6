//! What decisions know of run times.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Submission;
use super::setting::PolicySetting;

/// What decisions know of how long jobs run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RunTimeHint {
    /// Nothing.
    #[default]
    Nothing,
    /// Whether a job is long, by the limit that its user gave ([`crate::Job::limit`]), as far as
    /// such limits have been true ([`crate::Experience`]).
    Limits,
}

impl FromStr for RunTimeHint {
    type Err = &'static str;

    /// In any case.
    fn from_str(text: &str) -> Result<Self, &'static str> {
        let is_meant = |hint: &Self| hint.to_string().eq_ignore_ascii_case(text);
        let found = [Self::Nothing, Self::Limits].into_iter().find(is_meant);
        found.ok_or("allowed: none, limits")
    }
}

impl fmt::Display for RunTimeHint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Nothing => "none",
            Self::Limits => "limits",
        })
    }
}

impl RunTimeHint {
    /// As a setting of policies.
    pub const SETTING: PolicySetting = PolicySetting {
        word: "run-time-hint",
        value_name: "HINT",
        about: "What policies of DFRS that use run times (GreedyPMC) may know of them: none, or limits, which jobs are long, by \
            the time limits of their users, as far as such limits have been true",
        read: |settings, text| {
            settings.run_time_hint = text.parse()?;
            Ok(())
        },
        show: |settings| settings.run_time_hint.to_string(),
        matters_to: |policy| policy.submission == Submission::LeastCostPreemption,
    };
}
