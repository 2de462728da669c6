//! The image of a job that is carried: whether its next run goes on from it.

use serde::{Deserialize, Serialize};

use super::Life;

/// What is known of the job's image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LifeImage {
    /// There is none.
    #[default]
    None,
    /// One was begun, and may be complete. The job does not go on from it.
    Begun,
    /// It is complete, and no run is known to have gone on from it: its next one does.
    Complete,
    /// The same, and a run that was to go on from it has ended.
    NotRestored,
}

impl LifeImage {
    /// Whether the job's next run goes on from it.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Complete | Self::NotRestored)
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

    /// Its node says that its processes run there, and removes what image there is.
    pub fn note_runs(&mut self) {
        if self.is_running() {
            self.image = LifeImage::None;
        }
    }
}
