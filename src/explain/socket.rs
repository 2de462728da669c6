//! The socket in its directory.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use dfrs_proto::explain::SOCKET;

/// All users may connect: the kernel identifies them.
const MODE: u32 = 0o666;

/// A socket that listens; its name is removed when it is dropped.
pub(super) struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// By which the name is known to be still ours.
    inode: Option<(u64, u64)>,
}

impl Socket {
    /// Takes the place of one that was left behind, and of nothing else.
    pub(super) fn bind(directory: &Path) -> io::Result<Self> {
        let path = directory.join(SOCKET);
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        match fs::symlink_metadata(&path) {
            Ok(found) if found.file_type().is_socket() => fs::remove_file(&path).map_err(named)?,
            Ok(_) => return Err(named(io::Error::other("is no socket; move it away"))),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(named(error)),
        }
        let listener = UnixListener::bind(&path).map_err(named)?;
        listener.set_nonblocking(true).map_err(named)?;
        // Whatever slurmctld's umask is.
        fs::set_permissions(&path, Permissions::from_mode(MODE)).map_err(named)?;
        let inode = inode(&path);
        Ok(Self {
            listener,
            path,
            inode,
        })
    }

    pub(super) fn listener(&self) -> &UnixListener {
        &self.listener
    }

    /// The next client and its user; `None`: there is none.
    pub(super) fn accept(&self) -> io::Result<Option<(UnixStream, u32)>> {
        match self.listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(true)?;
                let peer = rustix::net::sockopt::socket_peercred(stream.as_fd())?;
                Ok(Some((stream, peer.uid.as_raw())))
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.inode.is_some() && inode(&self.path) == self.inode {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn inode(path: &Path) -> Option<(u64, u64)> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}
