//! Facts that the controller can ask for without a protocol of ours: names beside the socket.
//!
//! Slurm's fan-out reports the nodes on which the address that it was given did not exist. A fact is
//! therefore a symbolic link to the daemon's socket: a message to `parked.17.sock` reaches exactly
//! the nodes on which job 17 is parked, and one to `need.17.3.sock` those on which three eighths of what
//! it asked for are enough for it. `frozen.17` (a plain file) is the daemon's own note that it
//! froze the job, so that a successor after a crash knows which freezing it may undo.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use dfrs_core::Need;

/// File name of the daemon's socket.
pub const SOCKET: &str = "dfrsd.sock";
const SWAP: &str = "swap.sock";
const MORE: &str = "needs-more.sock";
const LESS: &str = "needs-less.sock";

/// The directory with the socket and the names beside it.
#[derive(Debug, Clone)]
pub struct Facts {
    directory: PathBuf,
}

impl Facts {
    /// Facts of the daemon whose socket is in `directory`, which exists. Links of a predecessor are
    /// removed: what they say has to be found true again first.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read or a link not removed.
    pub fn new(directory: &Path) -> io::Result<Facts> {
        let facts = Facts {
            directory: directory.to_path_buf(),
        };
        facts.remove_links()?;
        Ok(facts)
    }

    /// Says whether job `id` is parked here.
    ///
    /// # Errors
    ///
    /// If the link cannot be made or removed.
    pub fn set_parked(&self, id: u32, parked: bool) -> io::Result<()> {
        self.set_link(&format!("parked.{id}.sock"), parked)
    }

    /// Says whether jobs can be parked here.
    ///
    /// # Errors
    ///
    /// If the link cannot be made or removed.
    pub fn set_swap(&self, present: bool) -> io::Result<()> {
        self.set_link(SWAP, present)
    }

    /// Says whether some job here needs more than it counts with in decisions, and whether one needs less.
    ///
    /// # Errors
    ///
    /// If a link cannot be made or removed.
    pub fn set_news_of_needs(&self, more: bool, less: bool) -> io::Result<()> {
        self.set_link(MORE, more)?;
        self.set_link(LESS, less)
    }

    /// Says what is enough for job `id`, of which `before` was said: this need, and all that are larger. Of
    /// one that needs its request nothing is said.
    ///
    /// # Errors
    ///
    /// If a link cannot be made or removed: then some of it may be done.
    pub fn set_need(&self, id: u32, before: Need, need: Need) -> io::Result<()> {
        for eighths in Need::LEAST.eighths()..Need::WHOLE.eighths() {
            let is_enough = |need: Need| eighths >= need.eighths();
            if is_enough(before) != is_enough(need) {
                self.set_link(&format!("need.{id}.{eighths}.sock"), is_enough(need))?;
            }
        }
        Ok(())
    }

    /// Notes that this daemon froze job `id`, or that it no longer does.
    ///
    /// # Errors
    ///
    /// If the note cannot be written or removed.
    pub fn set_frozen(&self, id: u32, frozen: bool) -> io::Result<()> {
        let note = self.directory.join(format!("frozen.{id}"));
        if frozen {
            fs::write(note, "")
        } else {
            removed(fs::remove_file(note))
        }
    }

    /// Jobs that this daemon, or one before it, froze; in no order.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read.
    pub fn frozen(&self) -> io::Result<Vec<u32>> {
        let names = self.names()?;
        let jobs = names
            .iter()
            .filter_map(|name| name.strip_prefix("frozen.")?.parse().ok());
        Ok(jobs.collect())
    }

    /// Removes all links, as facts end with the daemon. Notes stay.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read or a link not removed.
    pub fn remove_links(&self) -> io::Result<()> {
        for name in self.names()? {
            let about_a_job = ["parked.", "need."]
                .iter()
                .any(|word| name.starts_with(word) && name.ends_with(".sock"));
            if about_a_job || [SWAP, MORE, LESS].contains(&name.as_str()) {
                removed(fs::remove_file(self.directory.join(name)))?;
            }
        }
        Ok(())
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.directory)?;
        Ok(entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect())
    }

    fn set_link(&self, name: &str, present: bool) -> io::Result<()> {
        let link = self.directory.join(name);
        if !present {
            return removed(fs::remove_file(link));
        }
        match symlink(SOCKET, link) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    }
}

/// Removing what is not there is no error.
fn removed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::os::unix::net::{UnixListener, UnixStream};

    #[test]
    fn a_fact_is_an_address_that_reaches_the_daemon() {
        let scratch = Scratch::new();
        let _listener = UnixListener::bind(scratch.path().join(SOCKET)).unwrap();
        let facts = Facts::new(scratch.path()).unwrap();
        let reaches = |name: &str| UnixStream::connect(scratch.path().join(name)).is_ok();
        assert!(!reaches("parked.17.sock"));
        facts.set_parked(17, true).unwrap();
        facts.set_parked(17, true).unwrap();
        facts.set_swap(true).unwrap();
        assert!(reaches("parked.17.sock") && reaches("swap.sock") && !reaches("parked.1.sock"));
        facts.set_parked(17, false).unwrap();
        facts.set_parked(17, false).unwrap();
        assert!(!reaches("parked.17.sock"));
    }

    #[test]
    fn what_is_enough_for_a_job_is_said_for_each_number_of_eighths() {
        let scratch = Scratch::new();
        let facts = Facts::new(scratch.path()).unwrap();
        let eighths = Need::from_eighths;
        let said = || {
            let mut names = facts.names().unwrap();
            names.sort();
            names.join(" ")
        };
        facts.set_need(17, Need::WHOLE, eighths(5)).unwrap();
        assert_eq!(said(), "need.17.5.sock need.17.6.sock need.17.7.sock");
        facts.set_need(17, eighths(5), eighths(6)).unwrap();
        facts.set_news_of_needs(true, false).unwrap();
        assert_eq!(said(), "need.17.6.sock need.17.7.sock needs-more.sock");
        facts.set_need(17, eighths(6), Need::WHOLE).unwrap();
        facts.set_news_of_needs(false, true).unwrap();
        assert_eq!(said(), "needs-less.sock");
    }

    #[test]
    fn links_of_a_predecessor_are_not_believed_but_its_notes_are() {
        let scratch = Scratch::new();
        let facts = Facts::new(scratch.path()).unwrap();
        facts.set_parked(17, true).unwrap();
        facts.set_swap(true).unwrap();
        facts.set_need(17, Need::WHOLE, Need::LEAST).unwrap();
        facts.set_news_of_needs(true, true).unwrap();
        facts.set_frozen(17, true).unwrap();
        fs::write(scratch.path().join("other.file"), "").unwrap();
        let successor = Facts::new(scratch.path()).unwrap();
        assert_eq!(successor.frozen().unwrap(), [17]);
        let mut names = successor.names().unwrap();
        names.sort();
        assert_eq!(names, ["frozen.17", "other.file"]);
        successor.set_frozen(17, false).unwrap();
        assert!(successor.frozen().unwrap().is_empty());
    }
}
