//! Undoes a dump: the job goes on where it is.

use std::collections::BTreeSet;

use super::dump::{let_go_on, release_monitor, wait_for_criu};
use super::image::Images;
use super::tree::{self, JobTree};

/// As [`release`], by the job's number. Of one that has ended meanwhile only the monitor may be
/// left, which ends then, too.
///
/// # Errors
///
/// As [`JobTree::find`] and [`release`].
pub fn release_job(job: u32, images: &Images) -> Result<(), String> {
    let error = match JobTree::find(job) {
        Ok(tree) => return release(&tree, images),
        Err(error) => error,
    };
    let monitor = tree::lone_monitor(job).ok_or(error)?;
    images.take_back(job, tree::restarts_of(&monitor)?)?;
    release_monitor(&monitor)
}

/// Removes the job's image and lets its processes go on. Without an image, or if they run, nothing
/// happens to them.
///
/// # Errors
///
/// If the image cannot be taken back, as when the job has gone on from it elsewhere (then nothing
/// was continued), or a process cannot be reached.
pub fn release(tree: &JobTree, images: &Images) -> Result<(), String> {
    // A criu whose dfrsd was killed still writes.
    wait_for_criu(tree)?;
    images.take_back(tree.job, tree.restarts)?;
    let_go_on(tree, &BTreeSet::new())
}
