//! What an image says of itself: `manifest.json`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{FILE_MODE, NOT_PART};
use crate::carry::record::ProcessRecord;

/// The version that this program writes and reads.
pub const VERSION: u32 = 2;

/// What an image says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`VERSION`].
    pub version: u32,
    /// Slurm's job id.
    pub job: u32,
    /// The job's user.
    pub uid: u32,
    /// How often the job was requeued before the run that was dumped.
    pub restarts: u32,
    /// The PID of the dumped tree's root in its namespace.
    pub root_pid: u32,
    /// The node that it was dumped on.
    pub node: String,
    /// What that node's processor can do, as `/proc/cpuinfo` names it.
    pub cpu_flags: BTreeSet<String>,
    /// The processes, as they were dumped.
    pub processes: Vec<ProcessRecord>,
    /// Bytes of all files.
    pub bytes: u64,
    /// criu's files, by name.
    pub files: Vec<ImageFile>,
}

/// A file of an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageFile {
    /// Its name in the directory.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// CRC-32 of all of it.
    pub crc32: u32,
}

impl Manifest {
    /// Reads the text of a manifest.
    ///
    /// # Errors
    ///
    /// If it is none, or of another version.
    pub fn parse(text: &str) -> Result<Manifest, String> {
        let manifest: Manifest =
            serde_json::from_str(text).map_err(|error| format!("manifest.json: {error}"))?;
        if manifest.version != VERSION {
            return Err(format!(
                "manifest.json has version {}, this dfrsd reads {VERSION}; install the same dfrsd on all nodes",
                manifest.version
            ));
        }
        Ok(manifest)
    }
}

impl ImageFile {
    /// Reads a file to describe it.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn describe(directory: &Path, name: &str) -> io::Result<ImageFile> {
        let mut file = File::open(directory.join(name))?;
        let (mut checksum, mut bytes) = (crc32fast::Hasher::new(), 0);
        let mut piece = vec![0; 1 << 20];
        loop {
            let length = file.read(&mut piece)?;
            if length == 0 {
                break;
            }
            checksum.update(&piece[..length]);
            bytes += length as u64;
        }
        Ok(ImageFile {
            name: name.to_owned(),
            bytes,
            crc32: checksum.finalize(),
        })
    }

    /// Whether the file in the directory is root's alone and has not changed.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn check(&self, directory: &Path) -> Result<(), String> {
        let name = &self.name;
        if name.contains('/') || name.starts_with('.') {
            return Err(format!("manifest.json: '{name}' is no file of an image"));
        }
        let found = fs::symlink_metadata(directory.join(name))
            .map_err(|error| format!("{name}: {error}"))?;
        let owner = rustix::process::geteuid().as_raw();
        if !found.is_file() || found.uid() != owner || found.mode() & 0o7777 != FILE_MODE {
            return Err(format!("{name} is not a file of root's with mode 0600"));
        }
        let now =
            ImageFile::describe(directory, name).map_err(|error| format!("{name}: {error}"))?;
        if now == *self {
            Ok(())
        } else {
            Err(format!(
                "{name} is damaged: its size or checksum is not that of the dump"
            ))
        }
    }
}

/// The names of an image's own files, in order.
///
/// # Errors
///
/// If the directory cannot be read, or has something in it that is no file.
pub fn file_names(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if NOT_PART.contains(&name.as_str()) {
            continue;
        }
        if !entry.file_type()?.is_file() {
            return Err(io::Error::other(format!("{name} is no file")));
        }
        names.push(name);
    }
    names.sort();
    Ok(names)
}
