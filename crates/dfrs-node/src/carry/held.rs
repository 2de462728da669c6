//! Processes that are held: found once, and never taken for another.
//!
//! A number is another process's as soon as its own has ended, and a user can end their processes
//! and start others at any moment. A directory of `/proc` that is open stays that of its process.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use super::procfs::Process;
use super::signals;

/// A process that was found once: what is read of it is its own, or an error.
#[derive(Debug)]
pub struct HeldProcess {
    number: u32,
    directory: File,
}

impl HeldProcess {
    /// The process that has this number now.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn open(number: u32) -> io::Result<HeldProcess> {
        let directory = File::open(format!("/proc/{number}"))?;
        Ok(HeldProcess { number, directory })
    }

    /// Its number, which is another's when it has ended.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Sends it a signal.
    ///
    /// # Errors
    ///
    /// As [`signals::send`].
    pub fn send(&self, signal: i32) -> io::Result<()> {
        signals::send_to(&self.directory, signal)
    }
}

impl Process for &HeldProcess {
    fn file(self, name: &str) -> PathBuf {
        let directory = self.directory.as_raw_fd();
        PathBuf::from(format!("/proc/self/fd/{directory}/{name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::procfs::{self, ProcessStatus};
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    #[test]
    fn what_has_ended_is_not_taken_for_another() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let held = HeldProcess::open(child.id()).unwrap();
        let status = ProcessStatus::read(&held).unwrap();
        assert_eq!(status.parent(), Some(std::process::id()));
        assert_eq!(
            procfs::link(&held, "ns/pid"),
            procfs::link(child.id(), "ns/pid")
        );
        held.send(signals::HOLD).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(signals::HOLD));
        assert!(ProcessStatus::read(&held).is_none() && procfs::link(&held, "ns/pid").is_none());
        assert!(held.send(signals::HOLD).is_err());
        assert!(HeldProcess::open(u32::MAX).is_err());
    }
}
