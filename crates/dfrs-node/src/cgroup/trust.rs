//! Which directories are trusted: those that only root can have made and can change.
//!
//! A user may own a part of the tree: systemd delegates one to every user manager, and a
//! container's administrator is another user. The contents of a directory there are what its owner
//! wrote.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Others may write to it, by its group or as any user.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Whether `directory` is one that belongs to root, or to the user that runs this program (which is
/// root in earnest), and that no other user can write to. A symbolic link is no directory.
///
/// # Errors
///
/// If it cannot be looked at; a directory that vanished is not trusted, which is no error.
pub fn is_trusted(directory: &Path) -> io::Result<bool> {
    let found = match fs::symlink_metadata(directory) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let owners = [0, rustix::process::geteuid().as_raw()];
    Ok(found.is_dir() && owners.contains(&found.uid()) && found.mode() & WRITABLE_BY_OTHERS == 0)
}

/// Whether `below` and everything between it and `root`, itself included, are trusted; `below` is
/// relative to `root`.
///
/// # Errors
///
/// If one of them cannot be looked at.
pub fn is_trusted_down_to(root: &Path, below: &Path) -> io::Result<bool> {
    for part in below.ancestors() {
        if !is_trusted(&root.join(part))? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn directory_writable_by_others_is_not_trusted() {
        let scratch = Scratch::new();
        let inner = scratch.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        assert!(is_trusted_down_to(scratch.path(), Path::new("a/b")).unwrap());
        for mode in [0o775, 0o757, 0o777] {
            fs::set_permissions(scratch.path().join("a"), fs::Permissions::from_mode(mode))
                .unwrap();
            assert!(!is_trusted(&scratch.path().join("a")).unwrap(), "{mode:o}");
            assert!(is_trusted(&inner).unwrap());
            assert!(!is_trusted_down_to(scratch.path(), Path::new("a/b")).unwrap());
        }
    }

    #[test]
    fn links_files_and_missing_paths_are_not_trusted() {
        let scratch = Scratch::new();
        symlink("/", scratch.path().join("link")).unwrap();
        fs::write(scratch.path().join("file"), "").unwrap();
        for name in ["link", "file", "gone"] {
            assert!(!is_trusted(&scratch.path().join(name)).unwrap(), "{name}");
        }
    }

    #[test]
    fn directory_owned_by_a_user_is_not_trusted() {
        let scratch = Scratch::new();
        // Only root can give away; others have shown the rest.
        if std::os::unix::fs::chown(scratch.path(), Some(65_534), None).is_ok() {
            assert!(!is_trusted(scratch.path()).unwrap());
        }
    }
}
