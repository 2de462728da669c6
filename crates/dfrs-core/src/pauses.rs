//! How long a job has been paused: so that none is for ever.

use serde::{Deserialize, Serialize};

use crate::units::{Span, Time};

/// For how long a job is paused before it is [starved](crate::Job::starved), where a site does not
/// say otherwise: a day.
pub const LONGEST_PAUSE: Span = Span::from_seconds(86_400);

/// A job that has come back after so long keeps its place for this part of the longest pause, one
/// over: three hours of each day. If it kept its place as long as the pause, others would wait that
/// can be done meanwhile.
const PART_KEPT: i64 = 8;

/// The pause that a job is in, or its last one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pauses {
    /// Since when it has no place; `None`: it has one, or never had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<Time>,
    /// When it last came back, and after how long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    back: Option<(Time, Span)>,
}

impl Pauses {
    /// Whether there was none.
    pub fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// The job has no place from `now` on, if it had one.
    pub fn begin(&mut self, now: Time) {
        self.since.get_or_insert(now);
    }

    /// The job has a place from `now` on.
    pub fn end(&mut self, now: Time) {
        if let Some(since) = self.since.take() {
            self.back = Some((now, now.since(since)));
        }
    }

    /// Whether it has been paused for `longest`, or was when it came back, less than an eighth of
    /// that ago.
    pub fn were_too_long(&self, longest: Span, now: Time) -> bool {
        match (self.since, self.back) {
            (Some(since), _) => now.since(since) >= longest,
            (None, Some((back, lasted))) => lasted >= longest && now.since(back) < kept(longest),
            (None, None) => false,
        }
    }

    /// When that is next otherwise, if nothing happens but that time passes.
    pub fn next_change(&self, longest: Span, now: Time) -> Option<Time> {
        let at = match (self.since, self.back) {
            (Some(since), _) => since + longest,
            (None, Some((back, lasted))) if lasted >= longest => back + kept(longest),
            (None, _) => return None,
        };
        Some(at).filter(|at| *at > now)
    }
}

/// For how long it keeps its place.
fn kept(longest: Span) -> Span {
    Span(longest.0 / PART_KEPT)
}
