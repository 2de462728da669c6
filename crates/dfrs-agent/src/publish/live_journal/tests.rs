//! What becomes of a requeued job in the journal.

use dfrs_core::Yield;
use dfrs_journal::{Tolerance, validate};

use super::*;
use crate::fixtures::{FakeJournal, config, job, nodes};
use crate::job::life::{Life, samples};
use crate::job::placement::NodeTasks;
use crate::slurm::devices::{ObservedDevices, RequestedDevices};
use crate::slurm::records::{ObservedPlace, ObservedState};

/// A journal in memory, and what writes it.
struct Scratch {
    written: FakeJournal,
    journal: LiveJournal,
}

impl Scratch {
    fn new() -> Self {
        let written = FakeJournal::default();
        let journal = LiveJournal::resume(written.writer(), &mut Ledger::default());
        Self { written, journal }
    }

    fn record(&mut self, seconds: i64, observation: &Observation, ledger: &mut Ledger) {
        let now = Time::from_seconds(seconds);
        let changed = ledger.take_changed();
        self.journal
            .record(
                observation,
                ledger,
                &changed,
                &[],
                (&config(), &|_| None),
                now,
            )
            .expect("written");
    }

    fn events(&self) -> Vec<(usize, JournalEvent)> {
        self.written.events()
    }
}

/// A job of so many tasks, 400 MiB each, one on each of these nodes.
fn running(id: u32, on: &[u32]) -> ObservedJob {
    let place = |node: &u32| ObservedPlace {
        node: *node,
        tasks: 1,
        memory_mib: 400,
    };
    let mut job = job(id, u32::try_from(on.len()).unwrap_or(0));
    job.request.memory = 400;
    job.state = ObservedState::Running;
    job.places = on.iter().map(place).collect();
    job
}

fn record(life: Life) -> LedgerRecord {
    let mut record = LedgerRecord::new(1000, Time(0), life);
    record.set_share(Time(0), Yield(0.5));
    record
}

fn placement(on: &[u32]) -> NamedPlacement {
    NamedPlacement(
        on.iter()
            .map(|node| NodeTasks {
                node: format!("n{node}"),
                tasks: 1,
            })
            .collect(),
    )
}

/// Jobs 1 and 2 run on n0 and n1 and job 1 is requeued; n0 is free already and job 3 starts there.
/// What becomes of job 1 then is `job_1`.
fn requeue(job_1: Life) -> Scratch {
    let mut scratch = Scratch::new();
    let mut ledger = Ledger::default();
    let jobs = [running(1, &[0, 1]), running(2, &[0, 1])];
    let mut observation = Observation::new(jobs, nodes(3));
    ledger.insert(1, record(samples::running()));
    ledger.insert(2, record(samples::running()));
    scratch.record(10, &observation, &mut ledger);

    let mut leaving = running(1, &[1]);
    leaving.state = ObservedState::Pending;
    leaving.completing = true;
    observation.insert(leaving);
    observation.insert(running(3, &[0]));
    if let Some(record) = ledger.get_mut(1) {
        record.life = job_1;
    }
    ledger.insert(3, record(samples::running()));
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
fn requeued_job_is_paused_before_its_last_process_is_gone() {
    let scratch = requeue(samples::pausing());
    assert!(matches!(
        last_of_job_1(&scratch),
        EventKind::Pause { lost: false, .. }
    ));
}

#[test]
fn migrating_job_is_shown_on_its_new_nodes_when_they_are_free() {
    let scratch = requeue(samples::moving(placement(&[1, 2])));
    assert!(matches!(last_of_job_1(&scratch), EventKind::Migrate { .. }));
}

#[test]
fn migrating_job_is_paused_while_its_new_nodes_are_full() {
    // 400 MiB of each of jobs 2 and 3 are on n0, which has 1000.
    let scratch = requeue(samples::moving(placement(&[0, 2])));
    assert!(matches!(last_of_job_1(&scratch), EventKind::Pause { .. }));
}

#[test]
fn resized_job_is_another_one_in_the_journal() {
    let mut scratch = Scratch::new();
    let mut ledger = Ledger::default();
    let mut observation = Observation::new([running(1, &[0, 1])], nodes(2));
    ledger.insert(1, record(samples::running()));
    scratch.record(10, &observation, &mut ledger);
    // scontrol update numnodes=1: Slurm leaves it the number of tasks that it asked for.
    let mut shrunk = running(1, &[0]);
    shrunk.request.tasks = 2;
    observation.insert(shrunk);
    let _ = ledger.get_mut(1);
    scratch.record(20, &observation, &mut ledger);
    scratch.record(30, &observation, &mut ledger);
    assert_eq!(validate(scratch.events(), Tolerance::default()), []);
    let text = scratch.written.text();
    assert_eq!(text.matches("finish").count(), 1, "{text}");
    assert_eq!(text.matches("submit").count(), 2, "{text}");
}

#[test]
fn devices_of_nodes_and_of_jobs_are_in_the_journal() {
    let mut scratch = Scratch::new();
    let mut ledger = Ledger::default();
    let with_gpus = |allocated: u64| {
        let mut nodes = nodes(2);
        let kind = "gpu".into();
        nodes[1].devices = vec![ObservedDevices {
            kind,
            count: 4,
            allocated,
        }];
        nodes
    };
    let mut gpu_job = running(1, &[1]);
    let kind = "gpu:a100".into();
    gpu_job.request.devices = vec![RequestedDevices { kind, count: 2 }];
    let observation = Observation::new([gpu_job.clone()], with_gpus(0));
    ledger.insert(1, record(samples::running()));
    scratch.record(10, &observation, &mut ledger);
    // What is allocated is no other cluster.
    let observation = Observation::new([gpu_job], with_gpus(2));
    scratch.record(20, &observation, &mut ledger);
    let text = scratch.written.text();
    assert!(text.contains(r#""devices":{"gpu":4}"#), "{text}");
    assert!(text.contains(r#""devices":{"gpu:a100":2}"#), "{text}");
    assert_eq!(text.matches("platform").count(), 1, "{text}");
}
