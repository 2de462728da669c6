//! The live journal: what the last pass changed, as events. It tells what Slurm and the kernel
//! really did, never what was only planned.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use dfrs_core::{Bytes, NodeIndex, Time};
use dfrs_proto::conf::Config;
use dfrs_proto::journal::{Event, EventKind, JournalWriter, Outcome, PlatformNode, VERSION};
use serde::{Deserialize, Serialize};

use crate::cluster::{memory_on_node, memory_request};
use crate::ledger::{Ledger, Next, Phase, Record};
use crate::observation::{Observation, ObservedJob};
use crate::placement::Placement;

/// What the journal says of a job so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Shown {
    /// Nothing.
    #[default]
    Unknown,
    /// Submitted.
    Waiting,
    /// Has a place.
    Placed(Placement),
    /// Gave up its place.
    Paused,
}

/// What the journal has to say about one job, in the order in which it is said: those that leave a
/// place before those that take one.
#[derive(Clone, Debug, PartialEq)]
enum Change {
    Finish(Outcome),
    Pause { lost: bool },
    Submit,
    Start(Placement),
    Resume(Placement),
    Migrate(Placement),
}

/// An open journal.
pub struct LiveJournal {
    writer: Writer,
    platform: Vec<String>,
}

/// What a live journal is written with.
pub type Writer = JournalWriter<Box<dyn Write>>;

impl LiveJournal {
    /// A journal that goes on where `writer` stands.
    #[must_use]
    pub fn new(writer: Writer) -> Self {
        Self {
            writer,
            platform: Vec::new(),
        }
    }

    /// Writes what changed since the last call, all at `now`. `changed` names all jobs of which there may be
    /// something to write.
    ///
    /// # Errors
    ///
    /// One line; the caller goes on without a journal.
    pub fn record(
        &mut self,
        observation: &Observation,
        ledger: &mut Ledger,
        changed: &BTreeSet<u32>,
        ended: &[(u32, Record, Outcome)],
        config: &Config,
        now: Time,
    ) -> Result<(), String> {
        let now = self
            .writer
            .earliest()
            .map_or(now, |earliest| now.max(earliest));
        self.platform(observation, config, now)?;
        for (id, _, outcome) in ended
            .iter()
            .filter(|(_, record, _)| record.shown != Shown::Unknown)
        {
            self.write(*id, Change::Finish(*outcome), None, observation, now)?;
        }
        let mut changes = self.changes(observation, ledger, changed);
        changes.sort_by_key(|(id, change, _)| (takes_a_place(change), *id));
        for (id, change, shown) in changes {
            self.write(id, change, observation.job(id), observation, now)?;
            if let Some(record) = ledger.get_mut(id) {
                record.shown = shown;
            }
        }
        self.yields(ledger, changed, now)
    }

    /// The platform, at the start and whenever a node is new.
    fn platform(
        &mut self,
        observation: &Observation,
        config: &Config,
        now: Time,
    ) -> Result<(), String> {
        let fresh: Vec<String> = observation
            .nodes()
            .iter()
            .map(|node| node.name.clone())
            .filter(|name| !self.platform.contains(name))
            .collect();
        if fresh.is_empty() {
            return Ok(());
        }
        self.platform.extend(fresh);
        let node = |name: &String| {
            let node = observation.node(name);
            let (cpus, memory) = node.map_or((0, 0), |node| (node.cpus, node.memory));
            PlatformNode {
                name: name.clone(),
                cpu: f64::from(cpus),
                mem: as_number(Bytes(memory << 20)),
            }
        };
        let kind = EventKind::Platform {
            version: VERSION,
            policy: config.policy.to_string(),
            period: Some(config.period),
            nodes: self.platform.iter().map(node).collect(),
        };
        self.emit(&Event::new(now, kind))
    }

    /// What to say of each job, and what the journal will have said of it then.
    fn changes(
        &self,
        observation: &Observation,
        ledger: &Ledger,
        changed: &BTreeSet<u32>,
    ) -> Vec<(u32, Change, Shown)> {
        let mut used = memory_shown(observation, ledger);
        let mut changes = Vec::new();
        for job in changed.iter().filter_map(|id| observation.job(*id)) {
            let Some(record) = ledger.get(job.id) else {
                continue;
            };
            if record.shown == Shown::Unknown {
                changes.push((job.id, Change::Submit, Shown::Waiting));
            }
            let before = if record.shown == Shown::Unknown {
                Shown::Waiting
            } else {
                record.shown.clone()
            };
            let after = visible(job, record, &before, observation, &mut used);
            let change = match (&before, &after) {
                (before, after) if before == after => continue,
                (Shown::Placed(_), Shown::Placed(to)) => Change::Migrate(to.clone()),
                (Shown::Placed(_), _) => Change::Pause {
                    lost: after == Shown::Waiting,
                },
                (Shown::Paused, Shown::Placed(to)) => Change::Resume(to.clone()),
                (_, Shown::Placed(to)) => Change::Start(to.clone()),
                _ => continue,
            };
            let after = if after == Shown::Waiting {
                Shown::Paused
            } else {
                after
            };
            changes.push((job.id, change, after));
        }
        changes
    }

    fn write(
        &mut self,
        id: u32,
        change: Change,
        job: Option<&ObservedJob>,
        observation: &Observation,
        now: Time,
    ) -> Result<(), String> {
        let name = id.to_string();
        let kind = match change {
            Change::Finish(outcome) => EventKind::Finish { job: name, outcome },
            Change::Pause { lost } => EventKind::Pause { job: name, lost },
            Change::Start(placement) => EventKind::Start {
                job: name,
                nodes: self.per_task(&placement),
            },
            Change::Resume(placement) => EventKind::Resume {
                job: name,
                nodes: self.per_task(&placement),
                stall: None,
            },
            Change::Migrate(placement) => EventKind::Migrate {
                job: name,
                nodes: self.per_task(&placement),
                stall: None,
            },
            Change::Submit => match job {
                Some(job) => submission(name, job, observation),
                None => return Ok(()),
            },
        };
        self.emit(&Event::new(now, kind))
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
            let placed = matches!(record.shown, Shown::Placed(_));
            let shown = placed.then_some(record.share);
            if record.shown_share == shown {
                continue;
            }
            if let Some(share) = shown {
                let kind = EventKind::Yield {
                    job: id.to_string(),
                    value: share.0,
                };
                self.emit(&Event::new(now, kind))?;
            }
            if let Some(record) = ledger.get_mut(*id) {
                record.shown_share = shown;
            }
        }
        Ok(())
    }

    fn per_task(&self, placement: &Placement) -> Vec<NodeIndex> {
        let index = |name: &String| self.platform.iter().position(|known| known == name);
        let nodes = placement
            .0
            .iter()
            .filter_map(|spot| Some((index(&spot.node)?, spot.tasks)));
        nodes
            .flat_map(|(index, tasks)| {
                let index = NodeIndex(u32::try_from(index).unwrap_or(u32::MAX));
                std::iter::repeat_n(index, tasks as usize)
            })
            .collect()
    }

    fn emit(&mut self, event: &Event) -> Result<(), String> {
        self.writer.write(event).map_err(|error| error.to_string())
    }
}

fn takes_a_place(change: &Change) -> bool {
    matches!(
        change,
        Change::Start(_) | Change::Resume(_) | Change::Migrate(_)
    )
}

/// What the journal shall say of a job. A requeued job has given its place up as soon as Slurm counts
/// its memory as free; its nodes become free one by one after that, and others start there at once.
/// One that moves is shown at its new place from then on, if that is free too (nothing else is
/// planned there), else as paused.
fn visible(
    job: &ObservedJob,
    record: &Record,
    before: &Shown,
    observation: &Observation,
    used: &mut BTreeMap<String, u64>,
) -> Shown {
    let here = || Shown::Placed(Placement::of_job(job, observation));
    match &record.phase {
        Phase::Running | Phase::Leaving { .. } | Phase::Warned { .. } | Phase::Parking { .. } => {
            here()
        }
        Phase::Foreign => before.clone(),
        Phase::Unparking { .. } if job.is_counted() => here(),
        Phase::Requeued {
            next: Next::Move(placement),
            ..
        }
        | Phase::Starting {
            placement,
            resumes: true,
            ..
        } => match before {
            Shown::Placed(old)
                if old == placement || moves(job, old, placement, observation, used) =>
            {
                Shown::Placed(placement.clone())
            }
            _ => Shown::Paused,
        },
        Phase::Requeued {
            next: Next::Pause, ..
        }
        | Phase::Paused
        | Phase::Parked { .. }
        | Phase::Unparking { .. } => Shown::Paused,
        Phase::Requeued {
            next: Next::Restart,
            ..
        }
        | Phase::Starting { resumes: false, .. }
        | Phase::Waiting => match before {
            Shown::Paused => Shown::Paused,
            _ => Shown::Waiting,
        },
    }
}

/// Whether a job in this phase is where Slurm says that it is.
fn is_here(phase: &Phase) -> bool {
    matches!(
        phase,
        Phase::Running | Phase::Leaving { .. } | Phase::Warned { .. } | Phase::Parking { .. }
    )
}

/// Takes a job's memory from its old place to the new one, if it fits there.
fn moves(
    job: &ObservedJob,
    old: &Placement,
    new: &Placement,
    observation: &Observation,
    used: &mut BTreeMap<String, u64>,
) -> bool {
    let mut after = used.clone();
    for spot in &old.0 {
        let amount = after.entry(spot.node.clone()).or_default();
        *amount = amount.saturating_sub(memory_on_node(job, spot.tasks, observation));
    }
    for spot in &new.0 {
        *after.entry(spot.node.clone()).or_default() +=
            memory_on_node(job, spot.tasks, observation);
    }
    let fits = new.0.iter().all(|spot| {
        let node = observation.node(&spot.node);
        node.is_some_and(|node| {
            after
                .get(&spot.node)
                .is_none_or(|amount| *amount <= node.memory)
        })
    });
    if fits {
        *used = after;
    }
    fits
}

/// MiB that the journal shows as used on each node: at the end of this pass by jobs that run, before
/// it by others.
fn memory_shown(observation: &Observation, ledger: &Ledger) -> BTreeMap<String, u64> {
    let mut used = BTreeMap::new();
    for job in observation.jobs() {
        let placement = match ledger.get(job.id) {
            Some(record) if is_here(&record.phase) => Placement::of_job(job, observation),
            Some(Record {
                shown: Shown::Placed(placement),
                ..
            }) => placement.clone(),
            _ => continue,
        };
        for spot in &placement.0 {
            *used.entry(spot.node.clone()).or_default() +=
                memory_on_node(job, spot.tasks, observation);
        }
    }
    used
}

/// A job that has one task a node at most needs its memory per node for that task: said in the
/// plainer way.
fn submission(name: String, job: &ObservedJob, observation: &Observation) -> EventKind {
    let (task, node) = memory_request(job, observation);
    let (mem, mem_per_node) = if job.tasks == 1 || job.tasks_per_node == 1 {
        (as_number(Bytes(task.0 + node.0)), 0.0)
    } else {
        (as_number(task), as_number(node))
    };
    EventKind::Submit {
        job: name,
        tasks: job.tasks,
        cpu: f64::from(job.cpus_per_task.max(1)),
        mem,
        mem_per_node,
        runtime: None,
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "amounts of memory are far below 2^53 bytes"
)]
fn as_number(bytes: Bytes) -> f64 {
    bytes.0 as f64
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use dfrs_core::Yield;
    use dfrs_proto::journal::{JournalReader, Tolerance, validate};

    use super::*;
    use crate::model::{config, job, nodes};
    use crate::observation::{ObservedState, Place};
    use crate::placement::Spot;

    /// A journal in memory.
    struct Scratch {
        bytes: Bytes,
        journal: LiveJournal,
    }

    #[derive(Clone, Default)]
    struct Bytes(Rc<RefCell<Vec<u8>>>);

    impl Write for Bytes {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Scratch {
        fn new() -> Self {
            let bytes = Bytes::default();
            let writer = JournalWriter::resume(Box::new(bytes.clone()) as Box<dyn Write>, None);
            let journal = LiveJournal::new(writer);
            Self { bytes, journal }
        }

        fn record(&mut self, seconds: i64, observation: &Observation, ledger: &mut Ledger) {
            let now = Time::from_seconds(seconds);
            let changed = ledger.take_changed();
            self.journal
                .record(observation, ledger, &changed, &[], &config(), now)
                .expect("written");
        }

        fn events(&self) -> Vec<(usize, Event)> {
            JournalReader::new(self.bytes.0.borrow().as_slice())
                .collect::<Result<_, _>>()
                .expect("events")
        }
    }

    /// A job of so many tasks, 400 MiB each, one on each of these nodes.
    fn running(id: u32, on: &[u32]) -> ObservedJob {
        let place = |node: &u32| Place {
            node: *node,
            tasks: 1,
            memory: 400,
        };
        let mut job = job(id, u32::try_from(on.len()).unwrap_or(0));
        job.memory = 400;
        job.state = ObservedState::Running;
        job.places = on.iter().map(place).collect();
        job
    }

    fn record(phase: Phase) -> Record {
        Record {
            share: Yield(0.5),
            ..Record::new(1000, Time(0), phase)
        }
    }

    fn placement(on: &[u32]) -> Placement {
        Placement(
            on.iter()
                .map(|node| Spot {
                    node: format!("n{node}"),
                    tasks: 1,
                })
                .collect(),
        )
    }

    /// Jobs 1 and 2 run on n0 and n1 and job 1 is requeued; n0 is free already and job 3 starts there.
    /// What becomes of job 1 is `next`.
    fn requeue(next: Next) -> Scratch {
        let mut scratch = Scratch::new();
        let mut ledger = Ledger::default();
        let jobs = [running(1, &[0, 1]), running(2, &[0, 1])];
        let mut observation = Observation::new(jobs, nodes(3));
        ledger.insert(1, record(Phase::Running));
        ledger.insert(2, record(Phase::Running));
        scratch.record(10, &observation, &mut ledger);

        let mut leaving = running(1, &[1]);
        leaving.state = ObservedState::Pending;
        leaving.completing = true;
        observation.insert(leaving);
        observation.insert(running(3, &[0]));
        if let Some(record) = ledger.get_mut(1) {
            record.phase = Phase::Requeued { next, gone: false };
        }
        ledger.insert(3, record(Phase::Running));
        scratch.record(20, &observation, &mut ledger);
        assert_eq!(
            validate(scratch.events(), Tolerance::default()),
            [],
            "{:?}",
            scratch.events()
        );
        scratch
    }

    fn last_of_job_1(scratch: &Scratch) -> EventKind {
        let is_about = |kind: &EventKind| matches!(kind, EventKind::Pause { job, .. } | EventKind::Migrate { job, .. } if job == "1");
        let events = scratch.events();
        let found = events
            .into_iter()
            .map(|(_, event)| event.kind)
            .rfind(is_about);
        found.expect("an event")
    }

    #[test]
    fn a_requeued_job_makes_room_before_its_last_process_is_gone() {
        let scratch = requeue(Next::Pause);
        assert!(matches!(
            last_of_job_1(&scratch),
            EventKind::Pause { lost: false, .. }
        ));
    }

    #[test]
    fn a_moving_job_is_shown_where_it_goes_if_that_is_free() {
        let scratch = requeue(Next::Move(placement(&[1, 2])));
        assert!(matches!(last_of_job_1(&scratch), EventKind::Migrate { .. }));
    }

    #[test]
    fn a_moving_job_is_paused_while_its_new_place_is_taken() {
        // 400 MiB of each of jobs 2 and 3 are on n0, which has 1000.
        let scratch = requeue(Next::Move(placement(&[0, 2])));
        assert!(matches!(last_of_job_1(&scratch), EventKind::Pause { .. }));
    }
}
