//! The image of a job that is carried: whether its next run goes on from it.

use dfrs_core::{Span, Time};
use serde::{Deserialize, Serialize};

use super::Life;
use super::step::has_passed;

/// What is known of the job's image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LifeImage {
    /// There is none.
    #[default]
    None,
    /// One was begun, and may be complete. The job does not go on from it.
    Begun,
    /// It is complete: the job's next run goes on from it.
    Complete,
    /// The same, and a run that began then is to go on from it, or has.
    Used(Time),
    /// A run that was to go on from it has ended before it was known that it did.
    NotRestored,
}

/// After so long a run has gone on from its image, whatever its node says: it may have become one
/// that cannot be carried.
const MAX_RESTORE: Span = Span::from_seconds(900);

impl LifeImage {
    /// Whether the job's next run goes on from it.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Complete | Self::Used(_) | Self::NotRestored)
    }

    /// What is known of it at this time.
    pub(super) fn as_of(self, now: Time) -> Self {
        match self {
            Self::Used(since) if has_passed(since, MAX_RESTORE, now) => Self::None,
            image => image,
        }
    }

    /// Whether it is removed before the job starts: it is of a run that the job does not go on from.
    #[must_use]
    pub const fn is_void(self) -> bool {
        matches!(self, Self::Begun)
    }
}

impl Life {
    /// What is known of its image.
    #[must_use]
    pub const fn image(&self) -> LifeImage {
        self.image
    }

    /// Its node says that the image is complete.
    pub fn note_image_complete(&mut self) {
        if self.is_dumping() {
            self.image = LifeImage::Complete;
        }
    }

    /// Its node says that its processes run there: the job has gone on from what image there is.
    pub fn note_runs(&mut self) {
        if self.is_running() {
            self.image = LifeImage::None;
        }
    }
}
