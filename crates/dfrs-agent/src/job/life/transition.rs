//! A transition in the life of a job: what an event leads to.

use dfrs_core::Span;

use super::image::LifeImage;
use super::phase::LifePhase;
use crate::job::placement::NamedPlacement;

/// What was abandoned or refused is not tried again for so long.
pub(super) const RETRY_AFTER: Span = Span(15_000_000);
/// A step that Slurm refused for now is requested again after this time.
pub(super) const SAME_STEP_AFTER: Span = Span(1_000_000);
/// What an operator resumed is not paused or moved for so long.
pub(super) const LEFT_ALONE_FOR: Span = Span(600_000_000);

/// What an event means beyond the life of the job itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Slurm shows it as waiting, but nodes may still run it, or remember that they did: Slurm
    /// takes a node for down whose slurmd may still be at work.
    pub is_orphaned: bool,
    /// The place in which it ran, or the place that it was to have, became free without an action
    /// of DFRS.
    pub has_freed: bool,
    /// The job restarts: what it has done so far is lost.
    pub begins_again: bool,
    /// What Slurm has forgotten of it, for the log: "the job …".
    pub forgotten: Option<&'static str>,
    /// What becomes of its image, for the log: "JobId=…: …".
    pub image: Option<&'static str>,
}

/// What follows from an event.
#[derive(Debug, Default)]
pub(super) struct LifeTransition {
    /// The phase from now on; `None`: the same.
    pub(super) phase: Option<LifePhase>,
    /// Nothing is done to the job before this has passed.
    pub(super) retry_after: Option<Span>,
    /// An operator wants it to run: it is not paused or moved for a while.
    pub(super) is_left_alone: bool,
    /// It counts as a pause or a migration.
    pub(super) is_move: bool,
    /// It counts as an attempt to pause that failed.
    pub(super) is_failure: bool,
    /// It counts as an attempt to park it that failed.
    pub(super) is_not_parked: bool,
    /// Where the job was, for all that the ledger knows.
    pub(super) last_place: Option<NamedPlacement>,
    /// What is known of its image from now on.
    pub(super) image: Option<LifeImage>,
    pub(super) effects: Effects,
}

impl LifeTransition {
    /// Goes on with `phase`.
    pub(super) fn to(phase: LifePhase) -> Self {
        Self {
            phase: Some(phase),
            ..Self::default()
        }
    }

    /// The phase stays, and the step is requested again in a while.
    pub(super) fn same_step_later() -> Self {
        Self::default().after(SAME_STEP_AFTER)
    }

    /// A checkpoint that Slurm refused: the job runs on.
    pub(super) fn runs_on() -> Self {
        Self::to(LifePhase::Running).failed().after(RETRY_AFTER)
    }

    /// slurmctld was killed and has forgotten `what`.
    pub(super) fn repeat(phase: LifePhase, what: &'static str) -> Self {
        let mut turn = Self::to(phase);
        turn.effects.forgotten = Some(what);
        turn
    }

    pub(super) fn with_image(mut self, image: LifeImage) -> Self {
        self.image = Some(image);
        self
    }

    pub(super) fn after(mut self, pause: Span) -> Self {
        self.retry_after = Some(pause);
        self
    }

    pub(super) fn left_alone(mut self) -> Self {
        self.is_left_alone = true;
        self
    }

    pub(super) fn moved(mut self) -> Self {
        self.is_move = true;
        self
    }

    pub(super) fn failed(mut self) -> Self {
        self.is_failure = true;
        self
    }

    pub(super) fn not_parked(mut self) -> Self {
        self.is_not_parked = true;
        self
    }

    pub(super) fn freed(mut self) -> Self {
        self.effects.has_freed = true;
        self
    }

    pub(super) fn orphaned(mut self, is_orphaned: bool) -> Self {
        self.effects.is_orphaned = is_orphaned;
        self
    }

    pub(super) fn begins_again(mut self) -> Self {
        self.effects.begins_again = true;
        self
    }
}
