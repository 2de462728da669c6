//! EASY on nodes whose cores are given out several times, as Slurm does with `OverSubscribe=FORCE` and with a partition
//! whose jobs suspend those of another.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use std::time::Instant;

use dfrs_core::{Progress, Rate, Span, Time, Yield};

use super::allocations::{Allocations, CoreReservation, CoreWish};
use super::core_rows::CorePlace;
use super::core_shares::{CoreUser, core_yields};
use super::node_amounts::NodeAmounts;
use super::submissions::TraceSubmissions;
use super::{Batch, id};
use crate::error::SimulationError;
use crate::journal::TraceJournal;
use crate::outcome::SimOutcome;
use crate::settings::{Estimates, LAST, SimSettings};
use crate::trace::{Trace, TraceJob};

/// The partitions, that of the highest tier first, as how many jobs may have a core of each.
pub(super) enum CorePartitions {
    /// One, whose jobs are that many on each core.
    One(u8),
    /// One for short jobs ([`TraceJob::is_short`]), which suspend those of the other.
    ShortFirst,
}

impl CorePartitions {
    fn rows(&self) -> Vec<u8> {
        match self {
            Self::One(rows) => vec![*rows],
            Self::ShortFirst => vec![1, 1],
        }
    }
}

/// A job that has its memory, and cores.
struct OnCores {
    partition: usize,
    place: Rc<CorePlace>,
    start: Time,
    progress: Progress,
    is_suspended: bool,
    suspended: Span,
    /// Of each task; changes with what else is on its node.
    yields: Vec<f64>,
}

struct Oversubscribed<'a> {
    jobs: &'a [TraceJob],
    estimates: Estimates,
    partitions: CorePartitions,
    allocations: Allocations,
    running: BTreeMap<usize, OnCores>,
    /// In the order in which they are tried: those of the highest tier first, in the order of their submission.
    waiting: BTreeSet<(usize, usize)>,
    /// Of the first job of each partition that could not start, made when a job last ended or ran longer than expected.
    reservations: Vec<Option<CoreReservation>>,
    /// Nodes on which tasks have come or gone.
    changed: BTreeSet<usize>,
    now: Time,
}

/// Simulates the trace.
pub(super) fn run(
    trace: &Trace,
    (batch, partitions): (Batch, CorePartitions),
    settings: &SimSettings,
    mut journal: TraceJournal<'_>,
) -> Result<SimOutcome, SimulationError> {
    let mut cluster = Oversubscribed::new(trace, partitions, settings);
    let mut outcome = SimOutcome::of_jobs(trace.jobs.len());
    journal.platform(batch.name().into(), None, settings.nodes)?;
    let mut submissions = TraceSubmissions::of(&trace.jobs);
    loop {
        let overrun = cluster.next_overrun();
        let events = [cluster.next_end(), overrun, submissions.next()];
        let Some(now) = events.into_iter().flatten().min() else {
            return Ok(outcome);
        };
        if now > LAST {
            return Err(SimulationError::TooLong);
        }
        cluster.advance(now);
        for job in cluster.take_ended() {
            outcome.jobs[job].finish = now;
            journal.finish(now, id(job))?;
        }
        if overrun == Some(now) {
            cluster.reservations.fill_with(|| None);
        }
        let new = submissions.take(now, &mut journal)?;
        let before = Instant::now();
        let started = cluster.schedule(new);
        let mut changes = cluster.settle();
        outcome.decisions.add(before.elapsed());
        for job in started {
            outcome.jobs[job].start = now;
            journal.start(now, id(job), &cluster.running[&job].place.mapping())?;
        }
        // What has less from now on gives up its CPU before others take it.
        changes.sort_by_key(|change| (change.grows, change.job));
        for change in changes {
            journal.share(now, id(change.job), change.rate.share().0)?;
        }
    }
}

/// A job's rate has changed.
struct RateChange {
    job: usize,
    rate: Rate,
    grows: bool,
}

impl<'a> Oversubscribed<'a> {
    fn new(trace: &'a Trace, partitions: CorePartitions, settings: &SimSettings) -> Self {
        let rows = partitions.rows();
        let nodes = NodeAmounts::of_nodes(trace, settings.nodes, NodeAmounts::NODE);
        Self {
            jobs: &trace.jobs,
            estimates: settings.estimates,
            allocations: Allocations::new(nodes, &rows),
            reservations: rows.iter().map(|_| None).collect(),
            partitions,
            running: BTreeMap::new(),
            waiting: BTreeSet::new(),
            changed: BTreeSet::new(),
            now: Time::ZERO,
        }
    }

    /// When the next job ends if nothing changes. O(running jobs).
    fn next_end(&self) -> Option<Time> {
        let running = self.running.values();
        running
            .filter_map(|running| running.progress.finish())
            .min()
    }

    /// When the next job is expected to end, and does not if it is too slow. None while that concerns no job.
    fn next_overrun(&self) -> Option<Time> {
        let running = self.running.iter().filter(|_| !self.waiting.is_empty());
        let running = running.filter(|(_, running)| !running.is_suspended);
        running
            .map(|(job, running)| self.expected_end(*job, running))
            .min()
    }

    fn advance(&mut self, now: Time) {
        for running in self.running.values_mut() {
            if running.is_suspended {
                running.suspended += now.since(self.now);
            }
        }
        self.now = now;
    }

    /// Jobs whose work is done leave.
    fn take_ended(&mut self) -> Vec<usize> {
        let now = self.now;
        let is_done = |running: &OnCores| running.progress.finish().is_some_and(|end| end <= now);
        let ended = self.running.iter().filter(|(_, running)| is_done(running));
        let ended: Vec<usize> = ended.map(|(job, _)| *job).collect();
        let mut left = Vec::new();
        for job in &ended {
            if let Some(running) = self.running.remove(job) {
                left.push((*job, running.partition, running.place));
            }
        }
        let jobs = left
            .iter()
            .map(|(job, partition, place)| (*job, *partition, place));
        self.allocations.give(jobs);
        let nodes = left.iter().flat_map(|(.., place)| &place.tasks);
        self.changed.extend(nodes.map(|task| task.node));
        if !ended.is_empty() {
            self.reservations.fill_with(|| None);
        }
        ended
    }

    /// How long the job is expected to run with cores of its own, from its start on.
    fn duration(&self, job: usize) -> Span {
        let job = &self.jobs[job];
        match (self.estimates, job.estimate) {
            (Estimates::User, Some(estimate)) => estimate.max(Span(1)),
            _ => job.runtime.max(Span(1)),
        }
    }

    fn partition_of(&self, job: usize) -> usize {
        match self.partitions {
            CorePartitions::One(_) => 0,
            CorePartitions::ShortFirst => usize::from(!self.jobs[job].is_short()),
        }
    }

    /// A job that runs longer than expected is taken to need twice, four times, ... as long; Slurm adds to its end
    /// the time for which it was suspended.
    fn expected_end(&self, job: usize, running: &OnCores) -> Time {
        let ran = self.now.since(running.start) - running.suspended;
        let mut duration = self.duration(job);
        while duration <= ran {
            duration = Span(duration.0.saturating_mul(2));
        }
        self.now + (duration - ran)
    }

    /// The waiting jobs that may be able to start, with their partitions, in the order in which they are tried.
    fn tried(&mut self, new: Range<usize>) -> Vec<(usize, usize)> {
        let with_partition = |job| (self.partition_of(job), job);
        let new: Vec<(usize, usize)> = new.map(with_partition).collect();
        // As long as no job ends and none of a higher tier comes, what could not start cannot start now either.
        let lowest = self.reservations.len() - 1;
        let is_same = self.reservations.iter().any(Option::is_some)
            && new.iter().all(|(partition, _)| *partition == lowest);
        self.waiting.extend(&new);
        if is_same {
            return new;
        }
        self.reservations.fill_with(|| None);
        self.waiting.iter().copied().collect()
    }

    /// Of which reservations, of its partition and those of higher tiers, the job would run beyond the start.
    fn outlasts(&self, job: usize, partition: usize) -> Vec<bool> {
        let end = self.now + self.duration(job);
        let made = self.reservations[..=partition].iter();
        made.map(|made| made.as_ref().is_some_and(|made| end > made.start))
            .collect()
    }

    fn fit(&self, job: usize, partition: usize, outlasts: &[bool]) -> Option<CorePlace> {
        let made = |beyond: bool| {
            let all = self.reservations.iter().zip(outlasts);
            let wanted = all.filter(|(_, outlasts)| **outlasts == beyond);
            wanted.filter_map(|(made, _)| made.as_ref()).collect()
        };
        let wish = CoreWish::Outlasting {
            kept: made(true),
            spared: made(false),
        };
        self.allocations.fit(&self.jobs[job], partition, &wish)
    }

    /// Starts what is to start, new jobs among them: of each partition the first while they fit, then others that do
    /// not delay the first.
    fn schedule(&mut self, new: Range<usize>) -> Vec<usize> {
        // Room only shrinks: a job that requires no less than one that failed would fail, too.
        let mut missed: BTreeMap<(NodeAmounts, usize, Vec<bool>), u32> = BTreeMap::new();
        let mut started = Vec::new();
        for (partition, job) in self.tried(new) {
            let about = &self.jobs[job];
            let outlasts = self.outlasts(job, partition);
            let least = missed
                .entry((NodeAmounts::of_task(about), partition, outlasts.clone()))
                .or_insert(u32::MAX);
            let found = (about.tasks < *least).then(|| self.fit(job, partition, &outlasts));
            let Some(place) = found.flatten() else {
                *least = about.tasks.min(*least);
                if self.reservations[partition].is_none() {
                    self.reservations[partition] = self.reserve(job, partition);
                }
                continue;
            };
            for (made, outlasts) in self.reservations.iter_mut().zip(outlasts) {
                if let Some(made) = made.as_mut().filter(|_| outlasts) {
                    made.keep(partition, &place);
                }
            }
            self.waiting.remove(&(partition, job));
            self.start(job, partition, place);
            started.push(job);
        }
        started
    }

    fn start(&mut self, job: usize, partition: usize, place: CorePlace) {
        let place = Rc::new(place);
        self.allocations.take(job, partition, &place);
        self.changed
            .extend(place.tasks.iter().map(|task| task.node));
        let mut progress = Progress::new(self.now, Some(self.jobs[job].runtime));
        progress.place(self.now, Span::ZERO);
        let running = OnCores {
            partition,
            start: self.now,
            progress,
            is_suspended: false,
            suspended: Span::ZERO,
            yields: vec![0.0; place.tasks.len()],
            place,
        };
        self.running.insert(job, running);
    }

    /// Reserves a place for a job that cannot start now. As Slurm's backfill does, it takes jobs to run from now on
    /// for as long as their limits say.
    fn reserve(&self, job: usize, partition: usize) -> Option<CoreReservation> {
        let mut ends: Vec<_> = self
            .running
            .iter()
            .map(|(job, running)| {
                let end = self.expected_end(*job, running);
                (end, *job, running.partition, &running.place)
            })
            .collect();
        ends.sort_unstable_by_key(|(end, job, ..)| (*end, *job));
        self.allocations.reserve(&self.jobs[job], partition, &ends)
    }

    /// Suspends and resumes jobs (`_update_active_row()` of Slurm's gang.c: a job of a lower tier runs if none of its
    /// cores is in use by a higher one), and gives each the rate that it has now. Returns what has changed.
    fn settle(&mut self) -> Vec<RateChange> {
        if self.changed.is_empty() {
            return Vec::new();
        }
        for running in self
            .running
            .values_mut()
            .filter(|running| running.partition > 0)
        {
            let is_preempted = self
                .allocations
                .is_preempted(running.partition, &running.place);
            if is_preempted != running.is_suspended {
                running.is_suspended = is_preempted;
                self.changed
                    .extend(running.place.tasks.iter().map(|task| task.node));
            }
        }
        self.share_cores();
        self.changed.clear();
        let mut changes = Vec::new();
        for (job, running) in &mut self.running {
            let least = running.yields.iter().copied().fold(1.0, f64::min);
            let rate = match running.is_suspended {
                true => Rate::ZERO,
                false => Rate::of(Yield(least)),
            };
            let before = running.progress.rate();
            if rate == before {
                continue;
            }
            running.progress.set_rate(self.now, rate);
            changes.push(RateChange {
                job: *job,
                rate,
                grows: rate.share().0 > before.share().0,
            });
        }
        changes
    }

    /// The yields of all tasks on nodes that have changed.
    fn share_cores(&mut self) {
        let mut on_node: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (job, running) in self
            .running
            .iter()
            .filter(|(_, running)| !running.is_suspended)
        {
            for (at, task) in running.place.tasks.iter().enumerate() {
                if self.changed.contains(&task.node) {
                    on_node.entry(task.node).or_default().push((*job, at));
                }
            }
        }
        for tasks in on_node.values() {
            let users: Vec<CoreUser<'_>> = tasks
                .iter()
                .map(|(job, at)| CoreUser {
                    cores: &self.running[job].place.tasks[*at].cores,
                    need: self.jobs[*job].cpu.0,
                })
                .collect();
            let yields = core_yields(&users);
            for ((job, at), value) in tasks.iter().zip(yields) {
                if let Some(running) = self.running.get_mut(job) {
                    running.yields[*at] = value;
                }
            }
        }
    }
}
