//! Undoes a dump: the job goes on where it is.

use std::collections::BTreeSet;

use super::dump::{let_go_on, wait_for_criu};
use super::image::Images;
use super::tree::JobTree;

/// Removes the job's image and lets its processes go on. Without an image, or if they run, nothing
/// happens to them.
///
/// # Errors
///
/// If the image cannot be removed (then nothing was continued), or a process cannot be reached.
pub fn release(tree: &JobTree, images: &Images) -> Result<(), String> {
    // A criu whose dfrsd was killed still writes.
    wait_for_criu(tree)?;
    images.remove(tree.job)?;
    let_go_on(tree, &BTreeSet::new())
}
