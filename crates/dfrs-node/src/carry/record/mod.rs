//! What the processes of an image had when it was made: a restore must give them the same, and no
//! more.
//!
//! criu opens files by their paths, as root, and follows links: between a dump and a restore a user
//! can put a link to another's file in the place of one of theirs.

mod compare;
mod read;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use compare::check;
#[cfg(test)]
use read::read;
pub use read::read_all;

/// A process, by what the kernel shows of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRecord {
    /// Its number in the job's namespace.
    pub pid: u32,
    /// Its threads, by their numbers there.
    pub threads: BTreeMap<u32, ThreadRecord>,
    /// Its program, directories and what it has open, as `exe`, `cwd`, `root` and `fd/3`. What has
    /// no path is left out, as pipes and sockets.
    pub files: BTreeMap<String, FileRecord>,
    /// What it maps.
    pub mapped: BTreeSet<FileRecord>,
}

/// What a thread may do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRecord {
    /// Its users, groups and other groups: lines of `/proc/PID/status`, by name.
    pub ids: BTreeMap<String, Vec<u32>>,
    /// Its sets of capabilities, by name there.
    pub capabilities: BTreeMap<String, u64>,
    /// It has given up gaining privileges, and the mode of its filter of system calls.
    pub limits: BTreeMap<String, Vec<u32>>,
    /// Its control groups; they are not compared with those of the dump.
    #[serde(skip)]
    pub groups: String,
}

/// A file, and how it was opened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its path as the kernel shows it, which follows no links.
    pub path: String,
    /// Read (4) and write (2), as it was opened.
    pub access: u32,
    /// Its type and permissions (`st_mode`).
    pub mode: u32,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its inode; on another node that has the same file system it is the same.
    pub inode: u64,
    /// Of a device, which.
    pub device: u64,
    /// How many names it has. They are not compared.
    #[serde(skip)]
    pub links: u64,
}

#[cfg(test)]
mod tests;
