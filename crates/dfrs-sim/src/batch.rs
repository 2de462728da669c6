//! The batch schedulers that DFRS is compared with. A task has a node (or a processor) to itself
//! from start to end; under those that share nodes, whole CPUs and memory.

mod allocations;
mod conservative;
mod core_ranges;
mod core_rows;
mod core_shares;
mod empty_nodes;
mod gang;
mod machine;
mod node_amounts;
mod node_amounts_profile;
mod oversubscribed;
mod places;
mod profile;
mod queue;
mod shared_queue;
mod steps;
mod submissions;

use std::borrow::Cow;
use std::time::Instant;

use dfrs_core::{JobId, Time};

use crate::error::SimulationError;
use crate::journal::TraceJournal;
use crate::outcome::SimOutcome;
use crate::settings::{Estimates, LAST, SimSettings};
use crate::trace::Trace;
use conservative::Conservative;
use machine::{Durations, Machine};
use oversubscribed::CorePartitions;
use places::Places;
use queue::Queue;
use submissions::TraceSubmissions;

pub(crate) use empty_nodes::EmptyNodeCounts;
pub(crate) use node_amounts::NodeAmounts;

/// What each is, by its name, without a number at the end.
const DESCRIPTIONS: &str = include_str!("batch/descriptions.txt");

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
    /// As FCFS, but jobs share nodes: a task has whole CPUs
    /// ([`crate::trace::TraceJob::allocated_cpu`]) and its memory, of which nothing is given out twice, as
    /// with Slurm's select/cons_tres, CR_Core_Memory and OverSubscribe=NO.
    FcfsShared,
    /// EASY on nodes that jobs share. The first of the queue is to have certain nodes, rather those that
    /// are not free before.
    EasyShared,
    /// As EASY on nodes that jobs share, with a quarter of each node's cores that only jobs with GPUs have, an equal part
    /// for each GPU: they take those of their own GPUs first (Slurm's RestrictedCoresPerGPU since 24.05; the NodeName
    /// lines of slurm.conf(5), and `_pick_restricted_cores()` of select/cons_tres). A task without GPUs that wants
    /// more than the rest of a node never fits.
    EasyRestricted,
    /// Conservative on nodes that jobs share. A reservation is for certain nodes, as in Slurm's backfill.
    ConservativeShared,
    /// EASY on nodes that jobs share, with gang scheduling: each CPU is given to so many jobs, 2 to 9, that
    /// take turns ([`crate::SimSettings::time_slice`]); all have their memory (Slurm's PreemptMode=GANG and
    /// OverSubscribe=FORCE:n).
    EasyGang(u8),
    /// EASY on nodes whose cores are given to so many jobs each, 2 to 9, that run at once and have equal parts of them;
    /// all have their memory (Slurm's OverSubscribe=FORCE:n with CR_Core_Memory and without PreemptMode=GANG). As in
    /// `_job_test()` and `part_data_build_row_bitmaps()` of select/cons_tres (Slurm 26.05) a job has idle cores if they
    /// suffice, else cores that are all free in one row, the fullest first. No job is ended at its limit, however
    /// slow, and a job on several cores loses nothing beside its slowest task: both favour it.
    EasyForce(u8),
    /// EASY on nodes that jobs of two partitions share, of which one is for jobs of an hour at most and has the higher
    /// PriorityTier: where no cores are idle, its jobs have those of the other's, which are suspended until all their
    /// cores are free and keep their memory (Slurm's PreemptMode=SUSPEND,GANG, PreemptType=preempt/partition_prio and
    /// OverSubscribe=FORCE:1; preempt.html of Slurm 26.05). Suspending and resuming cost nothing, which favours it.
    EasySuspend,
}

impl Batch {
    /// All of them; of gang scheduling two, and of jobs on the same cores at once one.
    pub const ALL: [Self; 12] = [
        Self::Fcfs,
        Self::Easy,
        Self::EasyNoShadow,
        Self::Conservative,
        Self::FcfsShared,
        Self::EasyShared,
        Self::ConservativeShared,
        Self::EasyGang(2),
        Self::EasyGang(4),
        Self::EasyForce(4),
        Self::EasySuspend,
        Self::EasyRestricted,
    ];

    /// The one of this name, in any case.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        let gangs = (2..=9).map(Self::EasyGang);
        let forced = (2..=9).map(Self::EasyForce);
        let mut all = Self::ALL.into_iter().chain(gangs).chain(forced);
        all.find(|batch| batch.name().eq_ignore_ascii_case(name))
    }

    /// Whether jobs share nodes; else each task has one to itself.
    pub const fn shares_nodes(self) -> bool {
        matches!(
            self,
            Self::FcfsShared
                | Self::EasyShared
                | Self::ConservativeShared
                | Self::EasyGang(_)
                | Self::EasyForce(_)
                | Self::EasySuspend
                | Self::EasyRestricted
        )
    }

    /// What a node without jobs has, where jobs share nodes.
    pub(crate) const fn empty_node(self) -> NodeAmounts {
        match self {
            Self::EasyRestricted => NodeAmounts::RESTRICTED_NODE,
            _ => NodeAmounts::NODE,
        }
    }

    /// The name of the scheduler.
    pub fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Fcfs => "FCFS",
            Self::Easy => "EASY",
            Self::EasyNoShadow => "EASY/no-shadow",
            Self::Conservative => "Conservative",
            Self::FcfsShared => "FCFS/shared",
            Self::EasyShared => "EASY/shared",
            Self::ConservativeShared => "Conservative/shared",
            Self::EasyGang(times) => return format!("EASY/gang{times}").into(),
            Self::EasyForce(times) => return format!("EASY/force{times}").into(),
            Self::EasySuspend => "EASY/suspend",
            Self::EasyRestricted => "EASY/restricted",
        })
    }

    /// What it does, in one line.
    pub fn description(self) -> &'static str {
        let name = self.name();
        let family = name.trim_end_matches(|last: char| last.is_ascii_digit());
        let mut lines = DESCRIPTIONS.lines();
        let found = lines.find_map(|line| line.strip_prefix(family)?.strip_prefix(": "));
        found.unwrap_or_default()
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
    settings: &SimSettings,
    journal: TraceJournal<'_>,
) -> Result<SimOutcome, SimulationError> {
    match batch {
        Batch::EasyGang(times) => {
            return gang::run(trace, (batch, times.into()), settings, journal);
        }
        Batch::EasyForce(times) => {
            let partitions = CorePartitions::One(times);
            return oversubscribed::run(trace, (batch, partitions), settings, journal);
        }
        Batch::EasySuspend => {
            let partitions = CorePartitions::ShortFirst;
            return oversubscribed::run(trace, (batch, partitions), settings, journal);
        }
        _ => {}
    }
    let durations = match (batch, settings.estimates) {
        (Batch::Fcfs | Batch::FcfsShared, _)
        | (
            Batch::Easy | Batch::EasyNoShadow | Batch::EasyShared | Batch::EasyRestricted,
            Estimates::Perfect,
        ) => Durations::Known,
        (_, estimates) => Durations::Expected(estimates),
    };
    let machine = Machine::new(&trace.jobs, durations);
    let nodes = settings.nodes;
    let empty = NodeAmounts::of_nodes(trace, nodes, batch.empty_node());
    let named = (batch, nodes);
    match batch {
        Batch::Conservative => carry_out(trace, named, machine, Conservative::new(nodes), journal),
        Batch::ConservativeShared => {
            carry_out(trace, named, machine, Conservative::new(empty), journal)
        }
        Batch::FcfsShared | Batch::EasyShared | Batch::EasyRestricted => {
            carry_out(trace, named, machine, Queue::new(batch, empty), journal)
        }
        _ => carry_out(trace, named, machine, Queue::new(batch, nodes), journal),
    }
}

/// One instant after the other: what ends, what runs longer than expected, what is submitted, and
/// then what starts.
fn carry_out(
    trace: &Trace,
    (batch, nodes): (Batch, u32),
    mut machine: Machine<'_>,
    mut discipline: impl Discipline,
    mut journal: TraceJournal<'_>,
) -> Result<SimOutcome, SimulationError> {
    let mut outcome = SimOutcome::of_jobs(trace.jobs.len());
    let mut places = Places::new(if journal.is_wanted() { nodes } else { 0 });
    journal.platform(batch.name().into(), None, nodes)?;
    let mut submissions = TraceSubmissions::of(&trace.jobs);
    loop {
        let events = [machine.next(), submissions.next(), discipline.next()];
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
        for job in submissions.take(now, &mut journal)? {
            discipline.submitted(job);
        }
        let before = Instant::now();
        discipline.schedule(&mut machine, now);
        outcome.decisions.add(before.elapsed());
        for (job, mapping) in machine.started.drain(..) {
            outcome.jobs[job].start = now;
            let tasks = trace.jobs[job].tasks;
            places.start(&mut journal, now, job, (tasks, mapping))?;
        }
    }
}

fn id(job: usize) -> JobId {
    JobId(job as u64)
}
