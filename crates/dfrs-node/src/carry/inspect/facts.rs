//! What is known of a job's processes before it is judged whether they can be carried.

use std::collections::{BTreeMap, BTreeSet};

use super::sockets::SocketTable;

/// All that the judgement looks at.
#[derive(Debug, Clone, Default)]
pub struct JobFacts {
    /// Slurm's job id.
    pub job: u32,
    /// The job's user.
    pub uid: u32,
    /// Nodes of the job, as its environment says; none if it does not.
    pub nodes: Option<u32>,
    /// Steps that run besides the batch script, as `0` or `interactive`.
    pub steps: Vec<String>,
    /// Processes of the job that are not in its PID namespace, by name.
    pub outside: Vec<String>,
    /// It is frozen, as by dfrsd or Slurm.
    pub is_frozen: bool,
    /// Mounts in its namespace that were not there when it began, by their places.
    pub own_mounts: Vec<String>,
    /// Namespaces of the job, by kind.
    pub namespaces: BTreeMap<&'static str, String>,
    /// Those of the node, by kind.
    pub node_namespaces: BTreeMap<&'static str, String>,
    /// The processes that would be dumped.
    pub processes: Vec<ProcessFacts>,
    /// The sockets of the job's network namespace.
    pub sockets: SocketTable,
    /// Pipes that processes outside of the job have open, too, by inode.
    pub shared_pipes: BTreeSet<u64>,
}

/// What is known of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessFacts {
    /// Its number in the job's namespace.
    pub pid: u32,
    /// The name of its program.
    pub name: String,
    /// As `R`, `S`, `D`, `T` or `Z`; that of a thread in state D counts.
    pub state: char,
    /// Another process traces it.
    pub traced: bool,
    /// All of its users: real, effective, saved, file system's; of all threads.
    pub uids: BTreeSet<u32>,
    /// It, or a thread, has capabilities.
    pub privileged: bool,
    /// It, or a thread, has given up gaining privileges.
    pub no_new_privileges: bool,
    /// It has a controlling terminal.
    pub terminal: bool,
    /// A 64-bit program; none if it is not known, as of a zombie.
    pub is_64_bit: Option<bool>,
    /// Bytes in RAM and in swap.
    pub bytes: u64,
    /// Bytes of huge pages.
    pub huge_bytes: u64,
    /// Its namespaces, by kind.
    pub namespaces: BTreeMap<&'static str, String>,
    /// Its root directory is that of the job's first process.
    pub has_usual_root: bool,
    /// Something of it could not be looked at.
    pub unseen: Option<String>,
    /// What it has open, maps, runs and works in.
    pub uses: Vec<Use>,
}

/// A thing that a process uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// How.
    pub how: How,
    /// What.
    pub what: Thing,
}

/// How a process uses a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// By a descriptor.
    Open,
    /// In its memory.
    Mapped,
    /// As its program.
    Program,
    /// As its working directory.
    WorkingDirectory,
}

/// A thing that a process uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thing {
    /// Something with a path, or that had one.
    File(FileFacts),
    /// A socket, by inode.
    Socket(u64),
    /// A pipe, by inode.
    Pipe(u64),
    /// inotify; whether all files that it watches can be found again.
    Inotify {
        /// They are on file systems with a device and handles.
        can_be_found: bool,
    },
    /// Something on a file system that a program of a user's makes (FUSE), or that is not mounted
    /// any more, by its path. It was not looked at: that program need not answer.
    Unseen(String),
    /// What the kernel names without a path, as `anon_inode:[eventfd]`.
    Other(String),
}

/// What is known of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    /// Its path, as the process has it, without the kernel's remark that it is deleted.
    pub path: String,
    /// It has no name any more.
    pub deleted: bool,
    /// What it is.
    pub kind: FileKind,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its names.
    pub links: u64,
    /// Root's, and only root can write to it.
    pub is_systems: bool,
    /// The type of its file system, as `ext4`; empty if it is not known.
    pub file_system: String,
    /// Its path leads to it.
    pub is_at_its_path: bool,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A pipe with a name.
    Fifo,
    /// A directory.
    Directory,
    /// A character device, by major and minor number.
    Character(u64, u64),
    /// A block device or another special file.
    Special,
}
