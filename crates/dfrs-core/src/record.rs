//! A decision as it is kept for a closer look.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::events::Events;
use crate::model::{Cluster, JobId};
use crate::plan::{Blocked, Plan};
use crate::policy::Policy;
use crate::units::Time;

/// All that a decision depended on, and what it was, so that it can be decided again anywhere: what
/// the plugin's recorder writes as JSON. Nothing is copied to write it, and nothing is rounded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionRecord<'a> {
    /// Why it was recorded.
    pub title: Cow<'a, str>,
    /// What decided, with its version.
    pub program: Cow<'a, str>,
    /// The policy and its settings.
    pub policy: Cow<'a, Policy>,
    /// When it was decided.
    pub now: Time,
    /// Nodes and jobs.
    pub cluster: Cow<'a, Cluster>,
    /// What had happened.
    pub events: Cow<'a, Events>,
    /// What was decided.
    pub plan: Cow<'a, Plan>,
    /// The jobs that it left waiting, and why.
    pub blocked: Vec<(JobId, Blocked)>,
    /// The rules that it broke, a line each.
    pub violations: Vec<String>,
}
