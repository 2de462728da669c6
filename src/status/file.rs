//! The status file in its directory: whole at any time, and for all to read.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use dfrs_proto::status::FILE;

/// The file names nodes and partitions, no users and no jobs.
const MODE: u32 = 0o644;

/// Where the file is.
pub(super) struct StatusFile {
    path: PathBuf,
}

impl StatusFile {
    pub(super) fn in_directory(directory: &Path) -> Self {
        Self {
            path: directory.join(FILE),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Rewrites the file, under another name first. After a crash an older one may be there.
    /// `is_wanted` is called last: a disk that hung may answer long after another thread has taken
    /// over.
    pub(super) fn replace(&self, bytes: &[u8], is_wanted: impl Fn() -> bool) -> io::Result<()> {
        let new = self.path.with_extension("new");
        match fs::remove_file(&new) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // A link that others put there is not followed.
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(MODE).open(&new)?;
        file.write_all(bytes)?;
        // Whatever slurmctld's umask is.
        file.set_permissions(Permissions::from_mode(MODE))?;
        if !is_wanted() {
            return Ok(());
        }
        fs::rename(&new, &self.path)
    }
}
