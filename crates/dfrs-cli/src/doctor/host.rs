//! How the doctor looks at a machine: programs that it runs and files that it reads. Tests put recorded
//! answers in its place.

use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use dfrs_node_proto::report::NodeStatus;

use crate::program;

/// The longest file that is read, in bytes: the plugin's, with what debuggers need.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// A program has so long to answer: a busy slurmctld takes its time.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(20);

/// How the error ends when there is no such program.
pub const NOT_IN_PATH: &str = "is not in PATH";

/// The owner of a file or directory.
#[derive(Clone, Copy, Debug)]
pub struct FileOwner {
    pub uid: u32,
    /// The permissions.
    pub mode: u32,
    pub is_directory: bool,
}

/// A machine.
pub trait Host {
    /// What a program prints.
    ///
    /// # Errors
    ///
    /// One line, if it is not there or fails.
    fn run(&self, program: &str, arguments: &[&str]) -> Result<String, String>;

    /// What is in a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The owner of the file or directory.
    fn owner(&self, path: &Path) -> io::Result<FileOwner>;

    /// The value of a variable of the environment, unless it is empty.
    fn variable(&self, name: &str) -> Option<String>;

    /// The file as text; what is no UTF-8 is replaced.
    fn text(&self, path: &Path) -> io::Result<String> {
        let bytes = self.read(path)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Queries dfrsd of this node, or of the host's name, as root or SlurmUser may.
///
/// # Errors
///
/// One line, if dfrsd does not answer.
pub fn query_dfrsd(host: &impl Host, node: Option<&str>) -> Result<NodeStatus, String> {
    let mut arguments = vec!["status", "--json"];
    arguments.extend(node.iter().flat_map(|name| ["--node", name]));
    let answer = host.run("dfrsd", &arguments)?;
    serde_json::from_str(&answer).map_err(|error| {
        format!("unreadable answer of 'dfrsd status': {error}; is it the version of dfrs?")
    })
}

/// The one that we are on.
pub struct LocalHost;

impl Host for LocalHost {
    fn run(&self, program: &str, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(program);
        command.args(arguments).env("LC_ALL", "C");
        let ended =
            program::run(&mut command, COMMAND_TIMEOUT).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => format!("{program} {NOT_IN_PATH}"),
                io::ErrorKind::TimedOut => format!(
                    "{program} {} does not answer for {} s",
                    arguments.join(" "),
                    COMMAND_TIMEOUT.as_secs()
                ),
                _ => format!("{program} cannot be run: {error}"),
            })?;
        if ended.succeeded {
            Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
        } else {
            let stderr = String::from_utf8_lossy(&ended.stderr);
            let line = stderr.lines().find(|line| !line.trim().is_empty());
            let line = line.unwrap_or("it says nothing").trim();
            Err(format!("{program} {} fails: {line}", arguments.join(" ")))
        }
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path)?;
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn owner(&self, path: &Path) -> io::Result<FileOwner> {
        let metadata = std::fs::metadata(path)?;
        Ok(FileOwner {
            uid: metadata.uid(),
            mode: metadata.mode() & 0o7777,
            is_directory: metadata.is_dir(),
        })
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }
}
