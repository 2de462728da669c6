//! Facts that the controller can query without a protocol of ours: names beside the socket.
//!
//! Slurm's fan-out reports the nodes on which the address that it was given did not exist. A fact
//! is therefore a symbolic link to the daemon's socket: a message to `parked.17.sock` reaches
//! exactly the nodes on which job 17 is parked, and one to `need.17.3.sock` those on which three
//! eighths of what it requested are enough for it. Plain files are the daemon's own notes for a
//! successor after a crash: `frozen.17` that it froze the job, and may undo that; `limit.17` that
//! it lowered the job's memory limit, and what to give back; `image.17` that it stopped the job for
//! an image.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use dfrs_core::Need;
use dfrs_proto::message::EIGHTHS;
use serde::{Deserialize, Serialize};

/// File name of the daemon's socket.
pub const SOCKET: &str = "dfrsd.sock";
const SWAP: &str = "swap.sock";
const LESS_SWAP: &str = "swap-less.sock";
const MORE: &str = "needs-more.sock";
const LESS: &str = "needs-less.sock";

/// What is published of a job by one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobFact {
    /// It is parked here.
    Parked,
    /// It keeps its memory in RAM itself, or can have no image.
    Stuck,
    /// It can be carried.
    Carriable,
    /// Its image is complete; the job is stopped.
    Imaged,
    /// There is no image of it, as was ordered.
    Void,
}

impl JobFact {
    const fn stem(self) -> &'static str {
        match self {
            JobFact::Parked => "parked",
            JobFact::Stuck => "stuck",
            JobFact::Carriable => "carry",
            JobFact::Imaged => "imaged",
            JobFact::Void => "void",
        }
    }
}

/// What was done to a job's memory limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitNote {
    /// Bytes that the job may have while it runs, by Slurm.
    pub running_bytes: u64,
    /// Bytes that it may have while it is parked, by this daemon; none: it was about to lower the limit.
    pub parked_bytes: Option<u64>,
}

/// The directory with the socket and the names beside it.
#[derive(Debug, Clone)]
pub struct FactsDirectory {
    directory: PathBuf,
}

impl FactsDirectory {
    /// Facts of the daemon whose socket is in `directory`, which exists. Links of a predecessor are
    /// removed: their facts have to be found true again first.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read or a link not removed.
    pub fn new(directory: &Path) -> io::Result<FactsDirectory> {
        let facts = FactsDirectory {
            directory: directory.to_path_buf(),
        };
        facts.remove_links()?;
        Ok(facts)
    }

    /// Publishes whether something holds of job `id`.
    ///
    /// # Errors
    ///
    /// If the link cannot be made or removed.
    pub fn set_of_job(&self, id: u32, fact: JobFact, holds: bool) -> io::Result<()> {
        self.set_link(&format!("{}.{id}.sock", fact.stem()), holds)
    }

    /// Publishes whether jobs can be parked here.
    ///
    /// # Errors
    ///
    /// If the link cannot be made or removed.
    pub fn set_swap(&self, present: bool) -> io::Result<()> {
        self.set_link(SWAP, present)
    }

    /// Publishes how many eighths of the requested swap can hold parked jobs: these and all that
    /// are fewer; none is not queried. `before`: what was published.
    ///
    /// # Errors
    ///
    /// If a link cannot be made or removed: then some of it may be done.
    pub fn set_swap_eighths(&self, before: Option<u8>, eighths: Option<u8>) -> io::Result<()> {
        let holds = |part: u8, of: Option<u8>| of.is_some_and(|of| of >= part);
        for part in 1..=EIGHTHS {
            if holds(part, before) != holds(part, eighths) {
                self.set_link(&format!("swap.{part}.sock"), holds(part, eighths))?;
            }
        }
        self.set_link(LESS_SWAP, eighths.is_some_and(|eighths| eighths < EIGHTHS))
    }

    /// Publishes whether some job here needs more than it counts with in decisions, and whether one
    /// needs less.
    ///
    /// # Errors
    ///
    /// If a link cannot be made or removed.
    pub fn set_need_changes(&self, more: bool, less: bool) -> io::Result<()> {
        self.set_link(MORE, more)?;
        self.set_link(LESS, less)
    }

    /// Publishes what is enough for job `id`, of which `before` was published: this need, and all
    /// that are larger. For a job that needs its request nothing is published.
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
        self.set_note(&format!("frozen.{id}"), frozen)
    }

    /// Jobs that this daemon, or one before it, froze; in no order.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read.
    pub fn frozen(&self) -> io::Result<Vec<u32>> {
        self.numbered("frozen.")
    }

    /// Notes that this daemon makes an image of job `id`, or has one; or that there is none of the
    /// job as it runs.
    ///
    /// # Errors
    ///
    /// If the note cannot be written or removed.
    pub fn set_image_note(&self, id: u32, is_there: bool) -> io::Result<()> {
        self.set_note(&format!("image.{id}"), is_there)
    }

    /// Jobs of which this daemon, or one before it, made images; in no order.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read.
    pub fn images(&self) -> io::Result<Vec<u32>> {
        self.numbered("image.")
    }

    /// Notes what is done to the memory limit of job `id`, or that nothing is any more. A note is replaced whole:
    /// half of one would give back a wrong limit.
    ///
    /// # Errors
    ///
    /// If the note cannot be written or removed.
    pub fn set_limit_note(&self, id: u32, note: Option<LimitNote>) -> io::Result<()> {
        let file = self.directory.join(format!("limit.{id}"));
        let Some(note) = note else {
            return removed(fs::remove_file(file));
        };
        let new = self.directory.join(format!("new-limit.{id}"));
        fs::write(&new, serde_json::to_vec(&note)?)?;
        fs::rename(new, file)
    }

    /// What this daemon, or one before it, did to memory limits, by job. What is no such note was not written by
    /// one, and is left out.
    ///
    /// # Errors
    ///
    /// If the directory or a note cannot be read.
    pub fn limit_notes(&self) -> io::Result<BTreeMap<u32, LimitNote>> {
        let mut notes = BTreeMap::new();
        for id in self.numbered("limit.")? {
            let text = fs::read(self.directory.join(format!("limit.{id}")))?;
            notes.extend(serde_json::from_slice(&text).ok().map(|note| (id, note)));
        }
        Ok(notes)
    }

    fn numbered(&self, prefix: &str) -> io::Result<Vec<u32>> {
        let names = self.names()?;
        let jobs = names
            .iter()
            .filter_map(|name| name.strip_prefix(prefix)?.parse().ok());
        Ok(jobs.collect())
    }

    /// Removes all links, as facts end with the daemon. Notes stay.
    ///
    /// # Errors
    ///
    /// If the directory cannot be read or a link not removed.
    pub fn remove_links(&self) -> io::Result<()> {
        for name in self.names()? {
            let is_numbered = [
                "carry.", "imaged.", "need.", "parked.", "stuck.", "swap.", "void.",
            ]
            .iter()
            .any(|word| name.starts_with(word) && name.ends_with(".sock"));
            if is_numbered || [LESS_SWAP, MORE, LESS].contains(&name.as_str()) {
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

    fn set_note(&self, name: &str, is_there: bool) -> io::Result<()> {
        let note = self.directory.join(name);
        if is_there {
            fs::write(note, "")
        } else {
            removed(fs::remove_file(note))
        }
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
        let facts = FactsDirectory::new(scratch.path()).unwrap();
        let reaches = |name: &str| UnixStream::connect(scratch.path().join(name)).is_ok();
        assert!(!reaches("parked.17.sock"));
        facts.set_of_job(17, JobFact::Parked, true).unwrap();
        facts.set_of_job(17, JobFact::Parked, true).unwrap();
        facts.set_swap(true).unwrap();
        assert!(reaches("parked.17.sock") && reaches("swap.sock") && !reaches("parked.1.sock"));
        facts.set_of_job(17, JobFact::Parked, false).unwrap();
        facts.set_of_job(17, JobFact::Parked, false).unwrap();
        assert!(!reaches("parked.17.sock"));
    }

    #[test]
    fn need_link_exists_for_each_sufficient_number_of_eighths() {
        let scratch = Scratch::new();
        let facts = FactsDirectory::new(scratch.path()).unwrap();
        let eighths = Need::from_eighths;
        let links = || {
            let mut names = facts.names().unwrap();
            names.sort();
            names.join(" ")
        };
        facts.set_need(17, Need::WHOLE, eighths(5)).unwrap();
        assert_eq!(links(), "need.17.5.sock need.17.6.sock need.17.7.sock");
        facts.set_need(17, eighths(5), eighths(6)).unwrap();
        facts.set_need_changes(true, false).unwrap();
        assert_eq!(links(), "need.17.6.sock need.17.7.sock needs-more.sock");
        facts.set_need(17, eighths(6), Need::WHOLE).unwrap();
        facts.set_need_changes(false, true).unwrap();
        assert_eq!(links(), "needs-less.sock");
    }

    #[test]
    fn swap_link_exists_for_each_available_number_of_eighths() {
        let scratch = Scratch::new();
        let facts = FactsDirectory::new(scratch.path()).unwrap();
        let links = || {
            let mut names = facts.names().unwrap();
            names.sort();
            names.join(" ")
        };
        facts.set_swap_eighths(None, Some(2)).unwrap();
        assert_eq!(links(), "swap-less.sock swap.1.sock swap.2.sock");
        facts.set_swap_eighths(Some(2), Some(0)).unwrap();
        assert_eq!(links(), "swap-less.sock");
        facts.set_swap_eighths(Some(0), Some(8)).unwrap();
        assert_eq!(links().matches("swap.").count(), 8);
        assert!(!links().contains("less"));
        facts.set_swap_eighths(Some(8), None).unwrap();
        assert_eq!(links(), "");
    }

    #[test]
    fn stale_links_are_removed_and_notes_are_kept() {
        let scratch = Scratch::new();
        let facts = FactsDirectory::new(scratch.path()).unwrap();
        facts.set_of_job(17, JobFact::Parked, true).unwrap();
        facts.set_swap(true).unwrap();
        facts.set_swap_eighths(None, Some(3)).unwrap();
        facts.set_need(17, Need::WHOLE, Need::LEAST).unwrap();
        facts.set_need_changes(true, true).unwrap();
        facts.set_frozen(17, true).unwrap();
        facts.set_of_job(18, JobFact::Stuck, true).unwrap();
        let note = LimitNote {
            running_bytes: 100,
            parked_bytes: Some(10),
        };
        facts.set_limit_note(17, Some(note)).unwrap();
        fs::write(scratch.path().join("other.file"), "").unwrap();
        fs::write(scratch.path().join("limit.18"), "{").unwrap();
        let successor = FactsDirectory::new(scratch.path()).unwrap();
        assert_eq!(successor.frozen().unwrap(), [17]);
        assert_eq!(successor.limit_notes().unwrap(), [(17, note)].into());
        let mut names = successor.names().unwrap();
        names.sort();
        assert_eq!(names, ["frozen.17", "limit.17", "limit.18", "other.file"]);
        successor.set_frozen(17, false).unwrap();
        successor.set_limit_note(17, None).unwrap();
        successor.set_limit_note(17, None).unwrap();
        assert!(successor.frozen().unwrap().is_empty());
        assert!(successor.limit_notes().unwrap().is_empty());
    }
}
