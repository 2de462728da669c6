//! The file in its directory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

/// Numbers that are tried for a file that is put aside.
const MAX_BAD_FILES: u32 = 100;

/// Where the file is kept.
pub(super) trait Disk: Send {
    /// Replaces the file, durably: after a crash the old or the new one is there, whole, unless at
    /// the last moment `is_wanted` returns false.
    ///
    /// # Errors
    ///
    /// The system's.
    fn replace(&mut self, bytes: &[u8], is_wanted: &dyn Fn() -> bool) -> io::Result<()>;

    /// Adds to the end of the file that was replaced last, durably. After an error the end may be torn.
    ///
    /// # Errors
    ///
    /// The system's.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// A file in a directory of the system's.
pub(super) struct FileOnDisk {
    path: PathBuf,
    /// What is there was understood, and may be replaced.
    readable: bool,
    file: Option<File>,
}

impl FileOnDisk {
    pub(super) fn new(path: PathBuf, readable: bool) -> Self {
        Self {
            path,
            readable,
            file: None,
        }
    }

    /// Gives a file that could not be read another name; never one that is taken.
    fn put_aside(&mut self) -> io::Result<()> {
        if self.readable || !self.path.exists() {
            return Ok(());
        }
        let name = |number| match number {
            0 => self.path.with_extension("bad"),
            _ => self.path.with_extension(format!("bad.{number}")),
        };
        let free = (0..MAX_BAD_FILES).map(name).find(|path| !path.exists());
        let free = free.ok_or_else(|| io::Error::other("too many bad files are kept beside it"))?;
        fs::rename(&self.path, free)?;
        self.readable = true;
        Ok(())
    }

    /// The names in the directory survive a crash.
    fn sync_names(&self) -> io::Result<()> {
        let directory = self
            .path
            .parent()
            .filter(|path| !path.as_os_str().is_empty());
        File::open(directory.unwrap_or_else(|| ".".as_ref()))?.sync_all()
    }
}

impl Disk for FileOnDisk {
    fn replace(&mut self, bytes: &[u8], is_wanted: &dyn Fn() -> bool) -> io::Result<()> {
        self.file = None;
        self.put_aside()?;
        let new = self.path.with_extension("new");
        let mut file = File::create(&new)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        if !is_wanted() {
            return Ok(());
        }
        fs::rename(&new, &self.path)?;
        self.sync_names()?;
        self.file = Some(file);
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = self.file.as_mut();
        let file = file.ok_or_else(|| io::Error::other("there is no file to add to"))?;
        file.write_all(bytes)?;
        file.sync_data()
    }
}
