//! The batch schedulers that DFRS is compared with. A task has a node (or a processor) to itself
//! from start to end.

mod conservative;
mod machine;
mod places;
mod profile;
mod queue;

use std::time::Instant;

use dfrs_core::{JobId, Time};

use crate::journal::Journal;
use crate::outcome::{JobRecord, Outcome};
use crate::simulate::{Estimates, LAST, Settings, SimulationError};
use crate::trace::Trace;
use conservative::Conservative;
use machine::{Durations, Machine};
use places::Places;
use queue::Queue;

/// A batch scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// First come, first served: a job starts when all earlier ones have started and its nodes are
    /// free.
    Fcfs,
    /// As FCFS, but a job may start before the first in the queue if that does not delay the first:
    /// if it ends by the time at which the first can start, or uses nodes that are left then
    /// (EASY backfilling; TPDS, Section 5).
    Easy,
    /// As EASY without the rule about the time of the end: only nodes that are left are filled. The
    /// TPDS paper's figures for EASY were made so.
    EasyNoShadow,
    /// Every job has a reservation from its submission on, at the earliest time that delays no
    /// reservation made before. When a job ends early, those that wait move forward where they can,
    /// one after the other (conservative backfilling with compression; Mu'alem and Feitelson, TPDS
    /// 12(6), 2001).
    Conservative,
}

impl Batch {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Fcfs,
        Self::Easy,
        Self::EasyNoShadow,
        Self::Conservative,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fcfs => "FCFS",
            Self::Easy => "EASY",
            Self::EasyNoShadow => "EASY/no-shadow",
            Self::Conservative => "Conservative",
        }
    }

    /// What it does, in one line.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Fcfs => {
                "batch: jobs start in the order of their submission, each task on a node of its own"
            }
            Self::Easy => {
                "batch: as FCFS, but a later job starts if that does not delay the first of the queue"
            }
            Self::EasyNoShadow => {
                "batch: EASY without looking at when jobs end, as in the TPDS paper's figures"
            }
            Self::Conservative => {
                "batch: as FCFS, but a later job starts if that does not delay any before it"
            }
        }
    }
}

/// Which of the waiting jobs start.
trait Discipline {
    /// A job that was expected to run until `expected` has ended now.
    fn ended(&mut self, machine: &Machine<'_>, now: Time, job: usize, expected: Time);

    /// Some job runs longer than was expected.
    fn overran(&mut self);

    /// A job waits from now on.
    fn submitted(&mut self, job: usize);

    /// Starts what is to start now.
    fn schedule(&mut self, machine: &mut Machine<'_>, now: Time);

    /// When it wants to look again although no job ends or is submitted.
    fn next(&self) -> Option<Time>;
}

/// Simulates the trace.
pub(crate) fn run(
    trace: &Trace,
    batch: Batch,
    settings: &Settings,
    journal: Journal<'_>,
) -> Result<Outcome, SimulationError> {
    let durations = match (batch, settings.estimates) {
        (Batch::Fcfs, _) | (Batch::Easy | Batch::EasyNoShadow, Estimates::Perfect) => {
            Durations::Known
        }
        (_, estimates) => Durations::Expected(estimates),
    };
    let machine = Machine::new(&trace.jobs, settings.nodes, durations);
    match batch {
        Batch::Conservative => {
            let discipline = Conservative::new(settings.nodes);
            carry_out(trace, batch, machine, discipline, journal)
        }
        _ => carry_out(trace, batch, machine, Queue::new(batch), journal),
    }
}

/// One instant after the other: what ends, what runs longer than expected, what is submitted, and
/// then what starts.
fn carry_out(
    trace: &Trace,
    batch: Batch,
    mut machine: Machine<'_>,
    mut discipline: impl Discipline,
    mut journal: Journal<'_>,
) -> Result<Outcome, SimulationError> {
    let mut outcome = Outcome {
        jobs: vec![JobRecord::default(); trace.jobs.len()],
        ..Outcome::default()
    };
    let nodes = machine.free;
    let mut places = Places::new(if journal.is_wanted() { nodes } else { 0 });
    journal.platform(batch.name().into(), None, nodes)?;
    let mut submitted = 0;
    loop {
        let submission = trace.jobs.get(submitted).map(|job| job.submit);
        let events = [machine.next(), submission, discipline.next()];
        let Some(now) = events.into_iter().flatten().min() else {
            return Ok(outcome);
        };
        if now > LAST {
            return Err(SimulationError::TooLong);
        }
        while let Some((job, expected)) = machine.take_ended(now) {
            outcome.jobs[job].finish = now;
            discipline.ended(&machine, now, job, expected);
            places.finish(&mut journal, now, job)?;
        }
        if machine.extend_overdue(now) {
            discipline.overran();
        }
        while trace
            .jobs
            .get(submitted)
            .is_some_and(|job| job.submit == now)
        {
            discipline.submitted(submitted);
            journal.submit(id(submitted))?;
            submitted += 1;
        }
        let before = Instant::now();
        discipline.schedule(&mut machine, now);
        outcome.decisions.add(before.elapsed());
        for job in machine.started.drain(..) {
            outcome.jobs[job].start = now;
            places.start(&mut journal, now, job, trace.jobs[job].tasks)?;
        }
    }
}

fn id(job: usize) -> JobId {
    JobId(job as u64)
}
