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

/// A text is no [`RunTimeHint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTimeHintError;

impl fmt::Display for RunTimeHintError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("allowed: none, limits")
    }
}

impl std::error::Error for RunTimeHintError {}

impl FromStr for RunTimeHint {
    type Err = RunTimeHintError;

    /// In any case.
    fn from_str(text: &str) -> Result<Self, RunTimeHintError> {
        let hints = [Self::Nothing, Self::Limits];
        let found = hints
            .into_iter()
            .find(|hint| hint.to_string().eq_ignore_ascii_case(text));
        found.ok_or(RunTimeHintError)
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
            settings.run_time_hint = text
                .parse()
                .map_err(|error: RunTimeHintError| error.to_string())?;
            Ok(())
        },
        show: |settings| settings.run_time_hint.to_string(),
        matters_to: |policy| policy.submission == Submission::LeastCostPreemption,
    };
}
