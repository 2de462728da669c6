//! By which start of the job an image was restored: a file with the count of requeues before it.
//!
//! `restoring` is written before what was restored goes on, and becomes `restored` after that. So an
//! image is never restored a second time, and a start that slurmctld has forgotten is seen by the
//! next one, which has the same count (`carrier/spank_dfrs_carry.c` reads both files, too).

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{sync_directory, write_synced};

/// What was restored may go on, or is about to.
const RESTORING: &str = "restoring";
/// What was restored has gone on.
const RESTORED: &str = "restored";
/// Both, the surer one first.
pub(super) const NAMES: [&str; 2] = [RESTORED, RESTORING];

/// What is known of an image's restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RestoreMark {
    /// How often the job was requeued before the start that has it.
    pub(super) restarts: u32,
    /// It is sure that what was restored has gone on.
    pub(super) is_sure: bool,
}

/// The mark of the image in a directory; none: it was not restored.
pub(super) fn read(image: &Path) -> io::Result<Option<RestoreMark>> {
    for name in NAMES {
        match fs::read_to_string(image.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
            Ok(text) => {
                let restarts = text.trim_end().parse();
                let no_count = |_| io::Error::other(format!("{name}: no count of requeues"));
                return Ok(Some(RestoreMark {
                    restarts: restarts.map_err(no_count)?,
                    is_sure: name == RESTORED,
                }));
            }
        }
    }
    Ok(None)
}

/// The start after so many requeues is about to go on from the image.
pub(super) fn begin(image: &Path, restarts: u32) -> io::Result<()> {
    write_synced(image, RESTORING, &format!("{restarts}\n"))?;
    sync_directory(image)
}

/// It has gone on.
pub(super) fn end(image: &Path) -> io::Result<()> {
    fs::rename(image.join(RESTORING), image.join(RESTORED))?;
    sync_directory(image)
}

/// How long ago the image in a directory was surely restored; none if it was not.
pub(super) fn age(image: &Path) -> Option<Duration> {
    let mark = File::open(image.join(RESTORED)).ok()?;
    let written = mark.metadata().ok()?.modified();
    // Another node's clock may be ahead.
    let age = SystemTime::now().duration_since(written.ok()?);
    Some(age.unwrap_or_default())
}
