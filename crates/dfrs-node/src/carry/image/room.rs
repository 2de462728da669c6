//! Whether there is room for another image.

use std::fs;
use std::io;
use std::path::Path;

use nix::sys::statvfs::statvfs;

/// What stays free beside an image.
const MARGIN_BYTES: u64 = 64 << 20;

/// Refuses an image of so many bytes if it, or the quota for all, would not fit.
///
/// # Errors
///
/// How much is missing; one line.
pub fn check(directory: &Path, quota: Option<u64>, bytes: u64) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", directory.display());
    let stat = statvfs(directory).map_err(|error| failed(error.into()))?;
    let free = stat.blocks_available().saturating_mul(stat.fragment_size());
    let needed = bytes.saturating_add(MARGIN_BYTES);
    if needed > free {
        return Err(missing(directory, needed, free, "are free"));
    }
    if let Some(quota) = quota {
        let left = quota.saturating_sub(used(directory).map_err(failed)?);
        if bytes > left {
            return Err(missing(directory, bytes, left, "are left of the quota"));
        }
    }
    Ok(())
}

fn missing(directory: &Path, needed: u64, there: u64, what: &str) -> String {
    format!(
        "{}: its image needs up to {} MiB, and {} MiB {what}",
        directory.display(),
        needed.div_ceil(1 << 20),
        there >> 20
    )
}

/// Bytes of all images.
fn used(directory: &Path) -> io::Result<u64> {
    let mut bytes = 0u64;
    for image in fs::read_dir(directory)? {
        let image = image?;
        if !image.file_type()?.is_dir() {
            continue;
        }
        // An image that goes meanwhile counts as none.
        for file in fs::read_dir(image.path()).into_iter().flatten().flatten() {
            bytes = bytes.saturating_add(file.metadata().map_or(0, |file| file.len()));
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn image_has_to_fit_into_the_quota_and_the_file_system() {
        let scratch = Scratch::new();
        fs::create_dir(scratch.path().join("7")).unwrap();
        fs::write(scratch.path().join("7/pages"), [0; 1000]).unwrap();
        let check = |quota, bytes| check(scratch.path(), quota, bytes);
        assert_eq!(check(Some(1500), 500), Ok(()));
        assert!(
            check(Some(1500), 501)
                .unwrap_err()
                .contains("0 MiB are left of the quota")
        );
        assert!(check(Some(10), 1).is_err(), "the quota was lowered");
        assert!(check(None, u64::MAX).unwrap_err().contains("are free"));
    }
}
