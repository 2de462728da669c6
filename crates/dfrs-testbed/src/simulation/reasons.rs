//! The rule that the journal says why, and takes nothing for others' doing that DFRS did.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_proto::journal::{EventKind, JournalEvent};

use dfrs_agent::publish::live_journal::BY_OTHERS;

/// Jobs that DFRS has started, and whose start is not in the journal yet.
#[derive(Debug, Default)]
pub(super) struct ReasonRule {
    started: BTreeSet<String>,
    /// Refusals in the journal, by job.
    refused: BTreeMap<String, BTreeSet<String>>,
}

impl ReasonRule {
    /// Something was done to a job.
    pub(super) fn note_call(&mut self, line: &str, job: u32) {
        if line == format!("start {job}") {
            self.started.insert(job.to_string());
        } else if line.starts_with("backfill") {
            self.started.remove(&job.to_string());
        }
    }

    /// slurmctld may have forgotten what was done.
    pub(super) fn forget(&mut self) {
        self.started.clear();
        self.refused.clear();
    }

    /// Checks this event of the journal. Returns what is wrong with it, if anything.
    pub(super) fn follow(&mut self, event: &JournalEvent) -> Result<(), String> {
        let (job, starts) = match &event.kind {
            // Another writer does not know what was written before.
            EventKind::Platform { .. } => {
                self.refused.clear();
                return Ok(());
            }
            EventKind::Refused { job, nodes } => {
                let why = event.reason.as_deref();
                return self.refuse(job, &format!("{nodes:?} {why:?}"), why.is_some());
            }
            EventKind::Start { job, .. } => (job, true),
            EventKind::Resume { job, .. }
            | EventKind::Migrate { job, .. }
            | EventKind::Pause { job, .. } => (job, false),
            EventKind::Finish { job, .. } => {
                self.started.remove(job);
                self.refused.remove(job);
                return Ok(());
            }
            _ => return Ok(()),
        };
        let Some(why) = &event.reason else {
            return Err(format!("nothing is said of {:?}", event.kind));
        };
        self.refused.remove(job);
        if self.started.remove(job) && starts && why == BY_OTHERS {
            return Err(format!(
                "DFRS started job {job}, and the journal says '{why}'"
            ));
        }
        Ok(())
    }

    fn refuse(&mut self, job: &str, what: &str, is_explained: bool) -> Result<(), String> {
        if !is_explained {
            return Err(format!("nothing is said of why job {job} was refused"));
        }
        let known = self.refused.entry(job.to_owned()).or_default();
        match known.insert(what.to_owned()) {
            true => Ok(()),
            false => Err(format!(
                "the same refusal of job {job} is reported again: {what}"
            )),
        }
    }
}
