//! Gang scheduling: every CPU is given out several times, and jobs take turns.

use std::collections::VecDeque;
use std::time::Instant;

use dfrs_core::{Span, Time};

use super::node_amounts::{NodeAmounts, Tasks};
use super::submissions::TraceSubmissions;
use super::{Batch, id};
use crate::error::SimulationError;
use crate::journal::TraceJournal;
use crate::outcome::SimOutcome;
use crate::settings::{Estimates, LAST, SimSettings};
use crate::trace::{NODE_CPU, Trace, TraceJob};

/// Whether a job has its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// The job is in the turn that goes on.
    Own,
    /// The job fits beside that turn, and keeps its place in the order.
    Backfilled,
    No,
}

/// A job that has its memory, and CPUs in turns.
struct Running {
    job: usize,
    tasks: Tasks,
    turn: Turn,
    done: Span,
}

/// When the first job of the queue can start, and what of each node is left for others then.
struct GangReservation {
    start: Time,
    left: Vec<NodeAmounts>,
}

struct Gang<'a> {
    jobs: &'a [TraceJob],
    estimates: Estimates,
    /// How many jobs a CPU is given to.
    times: u32,
    slice: Span,
    /// What is not given out: each CPU counts as often as it may be.
    free: Vec<NodeAmounts>,
    /// CPUs that no job uses now.
    idle: Vec<NodeAmounts>,
    /// The nodes when they are empty.
    nodes: Vec<NodeAmounts>,
    /// The running jobs in the order of their turns.
    running: Vec<Running>,
    queue: VecDeque<usize>,
    now: Time,
}

/// Simulates the trace.
pub(super) fn run(
    trace: &Trace,
    (batch, times): (Batch, u32),
    settings: &SimSettings,
    mut journal: TraceJournal<'_>,
) -> Result<SimOutcome, SimulationError> {
    let mut gang = Gang::new(trace, times, settings);
    let mut outcome = SimOutcome::of_jobs(trace.jobs.len());
    journal.platform(batch.name().into(), None, settings.nodes)?;
    let mut submissions = TraceSubmissions::of(&trace.jobs);
    loop {
        let events = [gang.next_end(), gang.next_slice(), submissions.next()];
        let Some(now) = events.into_iter().flatten().min() else {
            return Ok(outcome);
        };
        if now > LAST {
            return Err(SimulationError::TooLong);
        }
        let is_slice = gang.next_slice() == Some(now);
        gang.advance(now);
        let ended = gang.take_ended();
        for job in &ended {
            outcome.jobs[*job].finish = now;
            journal.finish(now, id(*job))?;
        }
        let before = Instant::now();
        let turns = gang.turns();
        if is_slice {
            gang.next_turn();
        }
        let new = submissions.take(now, &mut journal)?;
        gang.queue.extend(new.clone());
        // A turn frees no room.
        let first = match ended.is_empty() && new.is_empty() {
            true => Vec::new(),
            false => gang.schedule(),
        };
        gang.fill();
        outcome.decisions.add(before.elapsed());
        for running in gang
            .running
            .iter()
            .filter(|running| first.contains(&running.job))
        {
            outcome.jobs[running.job].start = now;
            journal.start(now, id(running.job), &running.tasks.mapping())?;
        }
        // A job whose turn is over gives up its CPUs before others take them.
        for has_turn in [false, true] {
            for running in &gang.running {
                let is_first = first.contains(&running.job);
                let had_turn = !is_first && turns.contains(&running.job);
                let has = running.turn != Turn::No;
                if has == has_turn && (is_first || had_turn != has) {
                    journal.share(now, id(running.job), if has { 1.0 } else { 0.0 })?;
                }
            }
        }
    }
}

impl<'a> Gang<'a> {
    fn new(trace: &'a Trace, times: u32, settings: &SimSettings) -> Self {
        let nodes = NodeAmounts::of_nodes(trace, settings.nodes, NodeAmounts::NODE);
        let overcommitted = |node: &NodeAmounts| NodeAmounts {
            cpu: NODE_CPU.0 * u64::from(times),
            ..*node
        };
        Self {
            jobs: &trace.jobs,
            estimates: settings.estimates,
            times,
            slice: settings.time_slice,
            free: nodes.iter().map(overcommitted).collect(),
            idle: nodes.clone(),
            nodes,
            running: Vec::new(),
            queue: VecDeque::new(),
            now: Time::ZERO,
        }
    }

    /// When the next job ends if turns stay as they are.
    fn next_end(&self) -> Option<Time> {
        let active = self
            .running
            .iter()
            .filter(|running| running.turn != Turn::No);
        let left = active.map(|running| self.jobs[running.job].runtime - running.done);
        left.min().map(|left| self.now + left)
    }

    /// When the turn ends: at a multiple of the slice. None as long as that would change nothing.
    fn next_slice(&self) -> Option<Time> {
        let is_needed = self.running.iter().any(|running| running.turn != Turn::Own);
        is_needed.then(|| Time((self.now.0 / self.slice.0 + 1) * self.slice.0))
    }

    fn advance(&mut self, now: Time) {
        for running in &mut self.running {
            if running.turn != Turn::No {
                running.done += now.since(self.now);
            }
        }
        self.now = now;
    }

    /// Jobs whose work is done leave.
    fn take_ended(&mut self) -> Vec<usize> {
        let mut ended = Vec::new();
        let all = std::mem::take(&mut self.running);
        for running in all {
            if running.turn == Turn::No || running.done < self.jobs[running.job].runtime {
                self.running.push(running);
                continue;
            }
            running.tasks.give_to(&mut self.free);
            self.use_cpus(&running.tasks, false);
            ended.push(running.job);
        }
        ended.sort_unstable();
        ended
    }

    /// The jobs that have a turn.
    fn turns(&self) -> Vec<usize> {
        let active = self
            .running
            .iter()
            .filter(|running| running.turn != Turn::No);
        active.map(|running| running.job).collect()
    }

    /// Moves the jobs in the turn behind all others; then, in order, each job that fits is in the
    /// next turn.
    fn next_turn(&mut self) {
        let all = std::mem::take(&mut self.running);
        let (last, mut next): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|running| running.turn == Turn::Own);
        next.extend(last);
        self.running = next;
        self.idle.clone_from(&self.nodes);
        for running in &mut self.running {
            running.turn = Turn::No;
        }
        self.give_turns(Turn::Own);
    }

    /// A job that fits beside the turn need not wait for the next.
    fn fill(&mut self) {
        self.give_turns(Turn::Backfilled);
    }

    fn give_turns(&mut self, turn: Turn) {
        for place in 0..self.running.len() {
            let running = &self.running[place];
            let fits = |run: &dfrs_core::Run| {
                self.idle[run.node.index()].cpu >= running.tasks.task.cpu * u64::from(run.tasks)
            };
            if running.turn == Turn::No && running.tasks.runs.iter().all(fits) {
                let tasks = running.tasks.clone();
                self.use_cpus(&tasks, true);
                self.running[place].turn = turn;
            }
        }
    }

    fn use_cpus(&mut self, tasks: &Tasks, begins: bool) {
        let cpus = NodeAmounts {
            cpu: tasks.task.cpu,
            ..NodeAmounts::default()
        };
        for run in &tasks.runs {
            let room = &mut self.idle[run.node.index()];
            match begins {
                true => room.take(cpus, run.tasks),
                false => room.give(cpus, run.tasks),
            }
        }
    }

    /// How long the job is expected to run with CPUs of its own; a job that has run for longer is
    /// taken to need twice, four times, ... as long.
    fn duration(&self, job: usize, done: Span) -> Span {
        let job = &self.jobs[job];
        let limit = match (self.estimates, job.estimate) {
            (Estimates::User, Some(estimate)) => estimate.max(Span(1)),
            _ => return job.runtime,
        };
        let mut duration = limit;
        while duration <= done {
            duration = Span(duration.0.saturating_mul(2));
        }
        duration
    }

    /// A place for the job where CPUs are given out as few times as can be.
    fn fit(&self, rooms: &[NodeAmounts], job: &TraceJob) -> Option<Tasks> {
        (1..=self.times).find_map(|layer| {
            let unused = NODE_CPU.0 * u64::from(self.times - layer);
            Tasks::find(job, rooms.len(), |node| {
                let room = NodeAmounts {
                    cpu: rooms[node].cpu.saturating_sub(unused).min(NODE_CPU.0),
                    ..rooms[node]
                };
                let tasks = room.holds(NodeAmounts::of_task(job));
                (tasks, tasks)
            })
        })
    }

    /// Starts the first of the queue while they fit, then others that do not delay the first;
    /// returns the jobs that started.
    fn schedule(&mut self) -> Vec<usize> {
        let mut started = Vec::new();
        while let Some(&job) = self.queue.front() {
            let Some(tasks) = self.fit(&self.free, &self.jobs[job]) else {
                break;
            };
            self.queue.pop_front();
            self.start(job, tasks, &mut started);
        }
        if self.queue.len() < 2 {
            return started;
        }
        let mut reservation = self.reserve();
        let others = self.queue.split_off(1);
        for job in others {
            let about = &self.jobs[job];
            let is_in_time = self.now + self.duration(job, Span::ZERO) <= reservation.start;
            let found = match is_in_time {
                true => self.fit(&self.free, about),
                false => self.fit(&self.free_with_reservation(&reservation), about),
            };
            let Some(tasks) = found else {
                self.queue.push_back(job);
                continue;
            };
            if !is_in_time {
                tasks.take_from(&mut reservation.left);
            }
            self.start(job, tasks, &mut started);
        }
        started
    }

    fn start(&mut self, job: usize, tasks: Tasks, started: &mut Vec<usize>) {
        tasks.take_from(&mut self.free);
        self.running.push(Running {
            job,
            tasks,
            turn: Turn::No,
            done: Span::ZERO,
        });
        started.push(job);
    }

    /// What is free now and when the first starts.
    fn free_with_reservation(&self, reservation: &GangReservation) -> Vec<NodeAmounts> {
        let rooms = self.free.iter().zip(&reservation.left);
        rooms.map(|(free, left)| free.least(*left)).collect()
    }

    /// When enough jobs are expected to have ended for the first of the queue. As Slurm's backfill does, it
    /// takes jobs to have CPUs of their own from now on.
    fn reserve(&self) -> GangReservation {
        let first = self.queue.front().map(|job| &self.jobs[*job]);
        let expected = |running: &Running| {
            let left = self.duration(running.job, running.done) - running.done;
            (self.now + left.max(Span::ZERO), running.job)
        };
        let mut ends: Vec<(Time, usize, &Tasks)> = self
            .running
            .iter()
            .map(|running| {
                let (end, job) = expected(running);
                (end, job, &running.tasks)
            })
            .collect();
        ends.sort_unstable_by_key(|(end, job, _)| (*end, *job));
        let mut left = self.free.clone();
        for together in ends.chunk_by(|one, other| one.0 == other.0) {
            for (.., tasks) in together {
                tasks.give_to(&mut left);
            }
            if let Some(place) = first.and_then(|job| self.fit(&left, job)) {
                place.take_from(&mut left);
                let start = together[0].0;
                return GangReservation { start, left };
            }
        }
        GangReservation { start: LAST, left }
    }
}
