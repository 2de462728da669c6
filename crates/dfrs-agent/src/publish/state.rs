//! What must survive a restart of slurmctld, and the port to where it is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use dfrs_core::{Experience, Time};
use dfrs_proto::conf::{Config, Mode};
use serde::{Deserialize, Serialize};

use crate::clock::{Ahead, MonotonicClock};
use crate::is_default;
use crate::job::ledger::{Ledger, LedgerRecord};
use crate::job::life::Life;
use crate::job::life::journal::JournalState;

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// What is kept beside the jobs.
    #[serde(flatten)]
    pub head: Head,
    /// The jobs.
    pub ledger: Ledger,
}

/// What is kept beside the jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The partitions that DFRS scheduled, for a plugin that has to give parked jobs back and whose
    /// configuration no longer names them.
    pub partitions: Vec<String>,
    /// Where its journal is, in which the return of these jobs is to be written.
    #[serde(default)]
    pub journal: Option<PathBuf>,
    /// What time limits have been worth so far.
    #[serde(default, skip_serializing_if = "is_default")]
    pub experience: Experience,
    /// By how much DFRS's time was ahead of the wall clock.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ahead: Ahead,
    /// Jobs that are over and may have left an image, and the node that is to remove it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub void_images: BTreeMap<u32, String>,
    /// slurmctld ended in order after this, and kept its own state as well.
    #[serde(default = "in_order")]
    pub in_order: bool,
}

/// Older plugins did not say.
fn in_order() -> bool {
    true
}

impl State {
    /// The partitions that DFRS scheduled and by this configuration schedules no longer, while it
    /// schedules others.
    pub fn dropped_partitions(&self, config: &Config) -> Vec<String> {
        let full = config.mode == Mode::Full;
        let dropped = |name: &&String| full && !config.schedules(name);
        self.head
            .partitions
            .iter()
            .filter(dropped)
            .cloned()
            .collect()
    }

    /// What an agent needs that brings back what an earlier one parked, in the partitions that it
    /// had and in those of this dfrs.conf; `None`: there are none. What is kept may be lost or old,
    /// as a disk was full, so Slurm is looked at even if nothing is known to be parked.
    pub fn left_over(&self, config: Option<&Config>) -> Option<Config> {
        let named = config.map(Config::partition_names).unwrap_or_default();
        let partitions: BTreeSet<&String> = self.head.partitions.iter().chain(&named).collect();
        let lines = partitions.iter().map(|name| format!("Partition={name}\n"));
        let text = format!("Mode=full\n{}", lines.collect::<String>());
        let mut config = Config::parse(&text, "the state file").ok()?;
        if self.has_parked() {
            config.journal.clone_from(&self.head.journal);
        }
        Some(config)
    }

    /// A clock for an agent that goes on with this state, and with a journal in which the last
    /// event has this time. O(jobs).
    pub fn clock(&self, journal: Option<Time>) -> MonotonicClock {
        let records = self.ledger.iter();
        let counted = records.map(|(_, record)| record.progress.since());
        let happened = counted.chain(journal).max().unwrap_or(Time::ZERO);
        MonotonicClock::resume(self.head.ahead, happened)
    }

    /// Whether jobs depend on DFRS to come back: Slurm does not count their memory, or they are on
    /// their way there.
    pub fn has_parked(&self) -> bool {
        let mut records = self.ledger.iter();
        records.any(|(_, record)| record.life.depends_on_dfrs())
    }
}

/// What is kept of one job.
#[derive(Clone, Debug, PartialEq)]
pub enum PersistedJob {
    /// All that is known.
    Record(Box<LedgerRecord>),
    /// It waits for its first start, and has no history but what the journal and the policy have
    /// made of its submission. After a restart neither shall happen again.
    Waits {
        /// UNIX seconds.
        submit_time: i64,
        /// As in [`LedgerRecord`].
        admitted: bool,
        /// The journal has its submission.
        shown: bool,
    },
}

impl PersistedJob {
    /// What has to be kept of this record; `None`: nothing, as it says no more than Slurm does.
    pub fn of(record: &LedgerRecord) -> Option<Self> {
        let kept = Self::Waits {
            submit_time: record.submit_time,
            admitted: record.admitted,
            shown: record.shown == JournalState::Waiting,
        };
        let plain = LedgerRecord {
            progress: record.progress.clone(),
            life: record.life.clone(),
            // Slurm knows it as long as the job waits for its first start.
            limit: record.limit,
            ..kept.clone().into_record()
        };
        let is_pristine = record.life.is_pristine() && record.has_done_nothing();
        if plain != *record || !is_pristine {
            return Some(Self::Record(Box::new(record.clone())));
        }
        Some(kept).filter(|_| record.admitted || record.shown != JournalState::Unknown)
    }

    /// The record that this was made of.
    pub fn into_record(self) -> LedgerRecord {
        match self {
            Self::Record(record) => *record,
            Self::Waits {
                submit_time,
                admitted,
                shown,
            } => LedgerRecord {
                admitted,
                shown: if shown {
                    JournalState::Waiting
                } else {
                    JournalState::Unknown
                },
                ..LedgerRecord::new(submit_time, Time(0), Life::default())
            },
        }
    }
}

/// What changed in what is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateChanges {
    /// The new head, if it changed.
    pub head: Option<Head>,
    /// What is kept of these jobs from now on; `None`: nothing.
    pub jobs: BTreeMap<u32, Option<PersistedJob>>,
}

impl StateChanges {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.head.is_none() && self.jobs.is_empty()
    }

    /// Both, `later` after this. O(what changed later).
    pub fn add(&mut self, later: Self) {
        self.head = later.head.or(self.head.take());
        self.jobs.extend(later.jobs);
    }

    /// Makes `state` what it is after these changes.
    pub fn apply_to(self, state: &mut State) {
        if let Some(head) = self.head {
            state.head = head;
        }
        for (id, kept) in self.jobs {
            match kept {
                Some(kept) => state.ledger.insert(id, kept.into_record()),
                None => drop(state.ledger.remove(id)),
            }
        }
    }
}

/// Where the state is kept. The store logs its failures to slurmctld's log and retries; the agent
/// does neither.
pub trait Store {
    /// Keeps these changes, soon: waits for nothing. Returns their number, which grows. After a
    /// crash all changes up to some number are there, and none after.
    fn save(&mut self, changes: StateChanges) -> u64;
    /// All changes up to this number survive a crash.
    fn durable(&self) -> u64;
    /// Waits until the changes up to this number survive a crash, for a bounded time, and not at
    /// all while that fails. Returns whether they do.
    fn wait(&mut self, number: u64) -> bool;
    /// Waits for the last changes, for a bounded time, and keeps nothing any more.
    fn finish(&mut self);
}

#[cfg(test)]
mod tests {
    use dfrs_core::Span;
    use serde_json::Value;

    use super::*;
    use crate::job::life::samples;

    /// A job in each phase, as version 1 of the file has them.
    const VERSION_1: &str = include_str!("state/version_1.json");

    #[test]
    fn version_1_state_file_is_read_and_written_unchanged() {
        let state: State = serde_json::from_str(VERSION_1).expect("is read");
        assert_eq!(state.ledger.len(), 11);
        let written = serde_json::to_value(&state).expect("is written");
        let before: Value = serde_json::from_str(VERSION_1).expect("is JSON");
        assert_eq!(written, before);
    }

    #[test]
    fn state_head_is_applied_in_full() {
        let mut clock = MonotonicClock::resume(Ahead::default(), Time::ZERO);
        clock.read(Time::from_seconds(100));
        clock.read(Time::from_seconds(10));
        let head = Head {
            partitions: vec!["a".to_owned()],
            journal: Some(PathBuf::from("/journal")),
            ahead: clock.ahead(),
            in_order: true,
            ..Head::default()
        };
        assert_ne!(head.ahead, Ahead::default());
        let mut state = State::default();
        let changes = StateChanges {
            head: Some(head.clone()),
            ..StateChanges::default()
        };
        changes.apply_to(&mut state);
        assert_eq!(state.head, head);
    }

    #[test]
    fn leftover_partitions_are_those_of_the_state_and_of_dfrs_conf() {
        let config = |text| Config::parse(text, "dfrs.conf").expect("a configuration");
        let off = config("Mode=off\nPartition=a\nPartition=b\n");
        let unknown = State::default().left_over(Some(&off)).expect("some");
        assert_eq!(unknown.partition_names(), ["a", "b"]);
        assert_eq!(State::default().left_over(None), None);
        let mut known = State::default();
        known.head.partitions = vec!["a".to_owned()];
        let union = known.left_over(Some(&off)).expect("some");
        assert_eq!(union.partition_names(), ["a", "b"]);
        let without = known.left_over(None).expect("some");
        assert_eq!(without.partition_names(), ["a"]);
    }

    fn waiting() -> LedgerRecord {
        LedgerRecord::new(1_700_000_000, Time(5), Life::default())
    }

    #[test]
    fn waiting_job_is_persisted_only_when_it_has_history() {
        assert_eq!(PersistedJob::of(&waiting()), None, "Slurm knows as much");
        let admitted = LedgerRecord {
            admitted: true,
            shown: JournalState::Waiting,
            ..waiting()
        };
        let kept = PersistedJob::of(&admitted).expect("is kept");
        assert!(matches!(kept, PersistedJob::Waits { .. }), "{kept:?}");
        let back = kept.into_record();
        assert_eq!((back.admitted, &back.shown), (true, &JournalState::Waiting));
        assert_eq!(back.shown_submit_time, 1_700_000_000);
        for with_history in [
            LedgerRecord {
                progress: waiting().progress.with_virtual_time(Span(1)),
                ..waiting()
            },
            LedgerRecord {
                restarts: 1,
                ..waiting()
            },
            LedgerRecord {
                life: samples::pausing(),
                ..waiting()
            },
        ] {
            let kept = PersistedJob::of(&with_history).expect("is kept");
            assert_eq!(kept.into_record(), with_history);
        }
    }
}
