//! Small readers of `/proc`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The kinds of namespaces that are compared.
pub const NAMESPACES: [&str; 8] = ["cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"];

/// A process as a number, or one that is [held](super::held::HeldProcess).
pub trait Process: Copy {
    /// One of its files in `/proc`.
    fn file(self, name: &str) -> PathBuf;
}

impl Process for u32 {
    fn file(self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{self}/{name}"))
    }
}

/// A file of a process.
pub fn file(process: impl Process, name: &str) -> PathBuf {
    process.file(name)
}

/// Its text; what is not UTF-8 is replaced.
///
/// # Errors
///
/// If it cannot be read.
pub fn text(process: impl Process, name: &str) -> io::Result<String> {
    let bytes = fs::read(file(process, name))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Where a link of a process leads; none if it has ended or has no such link.
pub fn link(process: impl Process, name: &str) -> Option<String> {
    let target = fs::read_link(file(process, name)).ok()?;
    Some(target.to_string_lossy().into_owned())
}

/// The names in a directory of a process; none if it has ended.
pub fn names(process: impl Process, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(file(process, directory));
    let entries = entries.into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

/// All processes of the node.
///
/// # Errors
///
/// If they cannot be listed.
pub fn processes() -> Result<Vec<u32>, String> {
    let entries = fs::read_dir("/proc").map_err(|error| format!("/proc: {error}"))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter_map(|name| name.parse().ok()).collect())
}

/// The namespaces of a process, by kind.
pub fn namespaces(process: impl Process) -> BTreeMap<&'static str, String> {
    let found = NAMESPACES.iter().filter_map(|kind| {
        let target = link(process, &format!("ns/{kind}"))?;
        Some((*kind, target))
    });
    found.collect()
}

/// The text of `/proc/cpuinfo`; empty if it cannot be read.
pub fn cpu_information() -> String {
    fs::read_to_string("/proc/cpuinfo").unwrap_or_default()
}

/// Whether both paths are the same file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// What `/proc/PID/status` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStatus(BTreeMap<String, String>);

impl ProcessStatus {
    /// That of a process; none if it has ended.
    pub fn read(process: impl Process) -> Option<ProcessStatus> {
        text(process, "status")
            .ok()
            .map(|text| ProcessStatus::parse(&text))
    }

    /// Lines of `Name:\tvalue`.
    pub fn parse(text: &str) -> ProcessStatus {
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        let fields = fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
        ProcessStatus(fields.collect())
    }

    /// A field's value; empty if there is none.
    pub fn field(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// The numbers of a field.
    pub fn numbers(&self, name: &str) -> Vec<u32> {
        let words = self.field(name).split_whitespace();
        words.filter_map(|word| word.parse().ok()).collect()
    }

    /// A field in kB, in bytes; 0 if there is none.
    pub fn bytes(&self, name: &str) -> u64 {
        let kibibytes = self.field(name).strip_suffix(" kB");
        let kibibytes = kibibytes.and_then(|number| number.trim().parse::<u64>().ok());
        kibibytes.unwrap_or(0).saturating_mul(1024)
    }

    /// The process that started it, or adopted it.
    pub fn parent(&self) -> Option<u32> {
        self.numbers("PPid").first().copied()
    }

    /// Its number in its own namespace.
    pub fn own_number(&self) -> Option<u32> {
        self.numbers("NSpid").last().copied()
    }

    /// Whether a process of root's traces it, as criu does. One of its user's may, too.
    pub fn is_traced(&self) -> bool {
        let tracer = self
            .numbers("TracerPid")
            .first()
            .copied()
            .filter(|tracer| *tracer != 0);
        let tracer = tracer.and_then(ProcessStatus::read);
        tracer.is_some_and(|tracer| tracer.numbers("Uid").first() == Some(&0))
    }

    /// Its state's character, as `R`, `S`, `D`, `T` or `Z`.
    pub fn state(&self) -> char {
        self.field("State").chars().next().unwrap_or('?')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_status_are_read() {
        let text = "Name:\tx y\nState:\tT (stopped)\nPPid:\t7\nUid:\t1\t2\t3\t4\n\
            NSpid:\t900\t31\nVmRSS:\t      12 kB\nodd line\n";
        let status = ProcessStatus::parse(text);
        assert_eq!(status.field("Name"), "x y");
        assert_eq!((status.state(), status.parent()), ('T', Some(7)));
        assert_eq!(status.numbers("Uid"), [1, 2, 3, 4]);
        assert_eq!(status.own_number(), Some(31));
        assert_eq!(
            (status.bytes("VmRSS"), status.bytes("VmSwap")),
            (12 << 10, 0)
        );
        assert_eq!(ProcessStatus::parse("").state(), '?');
    }

    #[test]
    fn this_process_is_found() {
        let own = std::process::id();
        assert!(processes().unwrap().contains(&own));
        assert_eq!(namespaces(own).len(), NAMESPACES.len());
        assert!(names(own, "fd").contains(&"0".to_owned()));
        assert!(is_same_file(&file(own, "root"), Path::new("/")));
        assert!(!is_same_file(Path::new("/"), Path::new("/proc")));
    }
}
