//! What follows from an event, in words.

use dfrs_core::Time;

use super::owned_event::{self, OwnedEvent};
use super::samples::name;
use super::scene::Scene;
use crate::job::life::{Effects, Life, SECOND};

/// What follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TransitionOutcome {
    /// The next phase, or that it stays.
    pub(super) becomes: String,
    /// All else.
    pub(super) and: Vec<String>,
}

const STAYS: &str = "stays";

impl TransitionOutcome {
    /// What follows in this scene.
    pub(super) fn of(scene: &Scene, happening: &OwnedEvent) -> Self {
        let before = scene.life();
        let mut after = before.clone();
        let effects = scene.with_context(|context| after.on(&happening.event(), context));
        let mut and = counts(&before, &after);
        and.extend(consequences(&effects).map(str::to_owned));
        if let (OwnedEvent::Seen, Some(step)) = (happening, scene.next_step(&after)) {
            and.push(format!("asks to {}", owned_event::name(&step)));
        }
        let is_same = name(&before.phase) == name(&after.phase);
        let becomes = if is_same {
            STAYS.to_owned()
        } else {
            name(&after.phase)
        };
        Self { becomes, and }
    }

    /// One outcome for both, if they only differ in whether the job pauses or restarts: that
    /// follows from whether it keeps a checkpoint.
    pub(super) fn or(&self, other: &Self) -> Option<Self> {
        let becomes = self.becomes.strip_suffix("to pause")?;
        let is_other = other.becomes.strip_suffix("to restart") == Some(becomes);
        (is_other && self.and == other.and).then(|| Self {
            becomes: format!("{becomes}to pause or to restart"),
            and: self.and.clone(),
        })
    }

    /// Whether nothing follows.
    pub(super) fn is_nothing(&self) -> bool {
        self.becomes == STAYS && self.and.is_empty()
    }
}

fn counts(before: &Life, after: &Life) -> Vec<String> {
    let mut words = Vec::new();
    if after.moves.len() > before.moves.len() {
        words.push("counts as a move".to_owned());
    }
    if after.failed_pauses > before.failed_pauses {
        words.push("counts as a failed pause".to_owned());
    }
    if after.failed_parks > before.failed_parks {
        words.push("counts as a failed attempt to park it".to_owned());
    }
    if after.left_alone_until > before.left_alone_until {
        words.push("is left alone for a while".to_owned());
    }
    let Time(not_before) = after.not_before;
    if not_before > before.not_before.0 {
        let seconds = not_before / SECOND - super::scene::NOW;
        words.push(format!("waits {seconds} s"));
    }
    words
}

fn consequences(effects: &Effects) -> impl Iterator<Item = &'static str> {
    [
        (effects.is_orphaned, "its nodes are sent an abort"),
        (effects.has_freed, "others may have its place"),
        (effects.begins_again, "its progress is lost"),
    ]
    .into_iter()
    .filter_map(|(holds, words)| holds.then_some(words))
}
