//! Which traces there are, and over which of them averages are taken.

use serde::{Deserialize, Serialize};

/// One trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceId {
    /// A trace of the Lublin-Feitelson model as it comes, by its number from 0.
    Unscaled(u32),
    /// An unscaled trace with its gaps stretched to an offered load in tenths.
    Scaled(u32, u8),
    /// What was submitted to HPC2N in a week, counted from 0.
    Week(u32),
    /// All that was submitted to HPC2N.
    Whole,
}

/// A set of traces over which results are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceSet {
    /// The synthetic traces as the model has them.
    Unscaled,
    /// The synthetic traces at all loads from 0.1 to 0.9.
    Scaled,
    /// The scaled traces at one load, in tenths.
    Load(u8),
    /// The scaled traces at loads of 0.7 and above.
    Heavy,
    /// The weeks of HPC2N.
    Weeks,
    /// All of HPC2N at once.
    Whole,
}

impl TraceSet {
    /// Name in tables.
    pub fn title(self) -> String {
        match self {
            Self::Unscaled => "unscaled synthetic traces".into(),
            Self::Scaled => "scaled synthetic traces".into(),
            Self::Load(tenths) => format!("synthetic traces at load 0.{tenths}"),
            Self::Heavy => "scaled synthetic traces, load ≥ 0.7".into(),
            Self::Weeks => "HPC2N weeks".into(),
            Self::Whole => "HPC2N, not split".into(),
        }
    }

    /// The title where there is little room.
    pub fn short_title(self) -> String {
        match self {
            Self::Unscaled => "unscaled".into(),
            Self::Scaled => "scaled".into(),
            set => set.title(),
        }
    }

    /// Name in CSV files.
    pub fn name(self) -> String {
        match self {
            Self::Unscaled => "unscaled".into(),
            Self::Scaled => "scaled".into(),
            Self::Load(tenths) => format!("load-0.{tenths}"),
            Self::Heavy => "heavy".into(),
            Self::Weeks => "hpc2n-weeks".into(),
            Self::Whole => "hpc2n-whole".into(),
        }
    }
}
