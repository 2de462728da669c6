//! The live journal: what the last pass changed, as events. It records what Slurm and the kernel
//! really did, never what was only planned.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use dfrs_core::{Bytes, Time};
use dfrs_proto::conf::Config;
use dfrs_proto::journal::{EventKind, JobOutcome, JournalEvent, JournalWriter, VERSION};

use crate::job::ledger::{Ledger, LedgerRecord};
use crate::job::life::journal::JournalState;
use crate::job::placement::NamedPlacement;
use crate::slurm::devices::requested_by_kind;
use crate::slurm::observation::Observation;
use crate::slurm::records::ObservedJob;
use crate::slurm::request::memory::memory_request;

mod change;
mod eligible;
mod memory;
mod nodes;
mod reasons;
mod refused;
mod resume;

use change::changes;
use eligible::Eligible;
use nodes::JournalNodes;
use reasons::EventReasons;
pub use reasons::{BY_OTHERS, Expected};
use refused::RefusalLog;
use resume::UnknownJobs;

/// An open journal.
pub struct LiveJournal {
    writer: Writer,
    nodes: JournalNodes,
    /// The journal's state of jobs that DFRS does not know.
    unknown_jobs: UnknownJobs,
    reasons: EventReasons,
    eligible: Eligible,
    refused: RefusalLog,
    /// This writer has written the platform.
    has_platform: bool,
}

/// What a live journal is written with.
pub type Writer = JournalWriter<Box<dyn Write>>;

impl LiveJournal {
    /// A journal that goes on where `writer` ends. Its state of the jobs counts, whatever the
    /// ledger has kept of that: either may be older than the other. O(jobs + nodes).
    #[must_use]
    pub fn resume(mut writer: Writer, ledger: &mut Ledger) -> Self {
        let standing = writer.take_state();
        let nodes = JournalNodes::new(standing.nodes);
        let eligible = Eligible::of(&standing.held_back);
        let unknown_jobs = resume::take_over(standing.jobs, &nodes, ledger);
        let under_way = ledger.iter().filter(|(_, job)| job.life.is_under_way());
        let reasons = EventReasons::before(under_way.map(|(id, _)| id));
        Self {
            writer,
            nodes,
            unknown_jobs,
            reasons,
            eligible,
            refused: RefusalLog::default(),
            has_platform: false,
        }
    }

    /// The jobs that the journal left running and that DFRS does not know, with their places; once.
    pub fn take_running_unknown_jobs(&mut self) -> BTreeMap<u32, NamedPlacement> {
        std::mem::take(&mut self.unknown_jobs.running)
    }

    /// This is going to happen to the job, as DFRS wants it to, or finds that it has; `why`, in
    /// words.
    pub fn expect(&mut self, job: u32, expected: Expected, why: impl Into<String>) {
        self.reasons.expect(job, expected, why.into());
    }

    /// Nothing of what was going to happen to the job will.
    pub fn expect_nothing(&mut self, job: u32) {
        self.reasons.forget(job);
    }

    /// The arrays of which tasks wait together, and whether each waits for nothing but room.
    pub fn see_arrays(&mut self, arrays: impl Iterator<Item = (u32, bool)>, now: Time) {
        self.eligible.see_arrays(arrays, now);
    }

    /// Slurm has refused to start the job here, and said why.
    pub fn refuse(&mut self, job: u32, placement: &NamedPlacement, why: &str) {
        self.refused.add(job, placement, why);
    }

    /// Writes what changed since the last call, all at `now`. `changed` names all jobs of which
    /// there may be something to write; `may_start` says whether a waiting job waits for nothing
    /// but room, where that is known.
    ///
    /// # Errors
    ///
    /// One line; the caller goes on without a journal.
    pub fn record(
        &mut self,
        observation: &Observation,
        ledger: &mut Ledger,
        changed: &BTreeSet<u32>,
        ended: &[(u32, LedgerRecord, JobOutcome)],
        (config, may_start): (&Config, &dyn Fn(u32) -> Option<bool>),
        now: Time,
    ) -> Result<(), String> {
        let now = self
            .writer
            .earliest()
            .map_or(now, |earliest| now.max(earliest));
        self.platform(observation, config, now)?;
        self.finish_unknown_jobs(now)?;
        for (id, record, outcome) in ended
            .iter()
            .filter(|(_, record, _)| record.shown != JournalState::Unknown)
        {
            let finish = EventKind::Finish {
                job: id.to_string(),
                outcome: shown_outcome(record, *outcome),
            };
            self.write(*id, finish, now)?;
            self.eligible.forget(*id);
            self.refused.forget(*id);
        }
        self.write_eligibility(ledger, changed, may_start, now)?;
        for (id, kind, shown) in changes(observation, ledger, changed, &self.nodes) {
            let new_size = match &kind {
                EventKind::Submit {
                    tasks, most_tasks, ..
                } => Some((*tasks, most_tasks.unwrap_or(*tasks))),
                _ => None,
            };
            let is_new = new_size.is_some();
            let starts = matches!(kind, EventKind::Start { .. } | EventKind::Resume { .. });
            self.write(id, kind, now)?;
            if is_new && let (Some(job), Some(record)) = (observation.job(id), ledger.get(id)) {
                let event = self.eligible.submitted(job, record, may_start(id), now);
                event.map_or(Ok(()), |kind| self.write(id, kind, now))?;
            }
            if starts {
                self.refused.forget(id);
            }
            if let Some(record) = ledger.get_mut(id) {
                record.shown = shown;
                if is_new {
                    record.shown_tasks = new_size;
                    record.shown_share = None;
                }
            }
        }
        self.refusals(ledger, now)?;
        self.yields(ledger, changed, now)
    }

    /// The platform, at the start and whenever nodes are new, others than before, or gone.
    fn platform(
        &mut self,
        observation: &Observation,
        config: &Config,
        now: Time,
    ) -> Result<(), String> {
        let differs = self.nodes.follow(observation);
        if self.has_platform && !differs {
            return Ok(());
        }
        let kind = EventKind::Platform {
            version: VERSION,
            policy: config.policy.to_string(),
            period: Some(config.policy.settings.period),
            nodes: self.nodes.all().to_vec(),
        };
        self.emit(&JournalEvent::new(now, kind))?;
        self.has_platform = true;
        Ok(())
    }

    /// The ends of the jobs of which nothing else will ever be said.
    fn finish_unknown_jobs(&mut self, now: Time) -> Result<(), String> {
        for job in std::mem::take(&mut self.unknown_jobs.names) {
            let outcome = JobOutcome::Other;
            let finish = JournalEvent::new(now, EventKind::Finish { job, outcome });
            self.emit(&finish.because("no longer in DFRS's records"))?;
        }
        Ok(())
    }

    /// Writes whether waiting jobs that the journal knows wait for nothing but room, where that
    /// changed.
    fn write_eligibility(
        &mut self,
        ledger: &Ledger,
        changed: &BTreeSet<u32>,
        may_start: &dyn Fn(u32) -> Option<bool>,
        now: Time,
    ) -> Result<(), String> {
        for id in changed {
            let waits = ledger
                .get(*id)
                .is_some_and(|job| job.shown == JournalState::Waiting);
            let Some(value) = may_start(*id).filter(|_| waits) else {
                continue;
            };
            if let Some(kind) = self.eligible.changed(*id, value) {
                self.write(*id, kind, now)?;
            }
        }
        Ok(())
    }

    /// The starts that were refused since the last call.
    fn refusals(&mut self, ledger: &Ledger, now: Time) -> Result<(), String> {
        for (id, placement, why) in self.refused.take() {
            let shown = ledger.get(id).map(|job| &job.shown);
            if matches!(shown, Some(JournalState::Waiting | JournalState::Paused)) {
                let kind = EventKind::Refused {
                    job: id.to_string(),
                    nodes: self.nodes.per_task(&placement),
                };
                self.emit(&JournalEvent::new(now, kind).because(why))?;
            }
        }
        Ok(())
    }

    fn write(&mut self, id: u32, kind: EventKind, now: Time) -> Result<(), String> {
        let reason = self.reasons.take(id, &kind);
        self.emit(&JournalEvent {
            reason,
            ..JournalEvent::new(now, kind)
        })
    }

    /// Shares that changed since they were last written.
    fn yields(
        &mut self,
        ledger: &mut Ledger,
        changed: &BTreeSet<u32>,
        now: Time,
    ) -> Result<(), String> {
        for id in changed {
            let Some(record) = ledger.get(*id) else {
                continue;
            };
            let placed = matches!(record.shown, JournalState::Placed(_));
            let shown = placed.then(|| record.share());
            if record.shown_share == shown {
                continue;
            }
            if let Some(share) = shown {
                let kind = EventKind::Yield {
                    job: id.to_string(),
                    value: share.0,
                };
                self.write(*id, kind, now)?;
            }
            if let Some(record) = ledger.get_mut(*id) {
                record.shown_share = shown;
            }
        }
        Ok(())
    }

    fn emit(&mut self, event: &JournalEvent) -> Result<(), String> {
        self.writer.write(event).map_err(|error| error.to_string())
    }
}

/// What a job that others ran to its end while the journal was not written did is not known.
fn shown_outcome(record: &LedgerRecord, outcome: JobOutcome) -> JobOutcome {
    match (&record.shown, outcome) {
        (JournalState::Placed(_), outcome) => outcome,
        (_, JobOutcome::Completed) => JobOutcome::Other,
        (_, outcome) => outcome,
    }
}

/// A job that has one task a node at most needs its memory per node for that task: said in the
/// plainer way.
fn submission(
    job: &ObservedJob,
    (tasks, max_tasks): (u32, u32),
    observation: &Observation,
) -> EventKind {
    // The job's own request: its partition may give it less or more another time.
    let asked = ObservedJob {
        starts_whole: false,
        ..job.clone()
    };
    let (task, node) = memory_request(&asked, observation);
    let (mem, mem_per_node) = if job.request.task_range().1 == 1 || job.request.tasks_per_node == 1
    {
        (as_number(Bytes(task.0 + node.0)), 0.0)
    } else {
        (as_number(task), as_number(node))
    };
    EventKind::Submit {
        job: job.id.to_string(),
        tasks,
        most_tasks: (max_tasks > tasks).then_some(max_tasks),
        cpu: f64::from(job.request.cpus_per_task.max(1)),
        mem,
        mem_per_node,
        devices: requested_by_kind(&job.request.devices),
        runtime: None,
    }
}

// Precise enough: amounts of memory are far below 2^53 bytes.
fn as_number(bytes: Bytes) -> f64 {
    bytes.0 as f64
}

#[cfg(test)]
mod tests;
