//! Opens the files that users name.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file to be read, if reading it will not wait or go on for ever: a regular file, or a pipe
/// that is open already (such as `/dev/stdin`).
///
/// # Errors
///
/// The system's, or that it is something else: a directory, a device, or a FIFO to which perhaps no
/// process writes.
pub fn open(path: &Path) -> io::Result<File> {
    let kind = path.metadata()?.file_type();
    // What an open pipe's name in /proc leads to is no path.
    let is_pipe = || is_fifo(kind) && path.canonicalize().is_err();
    if !kind.is_file() && !is_pipe() {
        let what = if kind.is_dir() {
            "it is a directory"
        } else {
            "it is no regular file"
        };
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    File::open(path)
}

#[cfg(unix)]
fn is_fifo(kind: std::fs::FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_fifo(_: std::fs::FileType) -> bool {
    false
}
