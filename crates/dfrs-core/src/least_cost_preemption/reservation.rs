//! The reservation of the job that has waited longest: EASY's guarantee, by memory and CPU, kept
//! while jobs share nodes (Lifka, The ANL/IBM SP Scheduling System, 1995).

use super::decision_state::DecisionState;
use super::idle_capacity::{DeferredJobs, IDLE, IdleCapacity};
use crate::greedy;
use crate::leaving::LeavingJobs;
use crate::model::{Cluster, Job, JobId, Mapping, NodeIndex};
use crate::preempt::{only_place, put};
use crate::room::Room;
use crate::space::share;
use crate::units::{Span, Time};
use crate::usage::{SwapUsage, Usage};

/// How many of those that wait longest are looked at: one that waits for nodes that are down gets
/// no reservation.
const TRIES: usize = 8;

/// When and where a job can start at the latest, by the time limits of those that run.
pub(super) struct Reservation {
    job: JobId,
    at: Time,
    nodes: Vec<NodeIndex>,
    /// What is in use at that time if nothing else starts, the job in its place.
    then: Usage,
    /// For jobs that may run on beyond that time: what is in use now or then, whichever is more.
    alongside: Room,
    /// For jobs that end before.
    before: Room,
    /// What of the two is idle, for deferred jobs; made when first needed since that changed.
    idle: [Option<IdleCapacity>; 2],
}

/// What a waiting job may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window {
    /// All that is free: there is no reservation, or it makes room for it at once.
    Any,
    /// The job ends before the reservation begins.
    Before,
    /// What the reservation leaves.
    Alongside,
}

impl Reservation {
    /// The reservation of this job, which finds no room now. `None` if the limits of the others do
    /// not say when it will: some have none. O(nodes log nodes + runs log runs).
    pub(super) fn of(state: &DecisionState<'_>, job: &Job) -> Option<Self> {
        let mut then = state.usage.clone();
        let (at, mapping) = if job.layout.together.is_some() {
            first_together(state, job, &mut then)
        } else {
            first_place(state, job, &mut then)
        }?;
        then.add(job, &mapping);
        let mut alongside = state.usage.clone();
        let count = u32::try_from(alongside.nodes()).unwrap_or(u32::MAX);
        for node in (0..count).map(NodeIndex) {
            alongside.set_greater(node, &state.usage, &then);
        }
        // Jobs that share CPU on nodes of the reservation end later.
        alongside.limit_load(mapping.nodes(), IDLE);
        let mut before = state.usage.clone();
        before.limit_load(mapping.nodes(), IDLE);
        Some(Self {
            job: job.id,
            at,
            nodes: mapping.nodes().collect(),
            then,
            alongside: Room::of(alongside),
            before: Room::of(before),
            idle: [None, None],
        })
    }

    /// What this waiting job may use: what moves freely is moved away when the time has come.
    pub(super) fn window(&self, job: &Job, now: Time) -> Window {
        if job.moves_freely() || job.id == self.job {
            Window::Any
        } else if left(job).is_some_and(|left| now + left <= self.at) {
            Window::Before
        } else {
            Window::Alongside
        }
    }

    /// What is in use for a job that runs for so long.
    pub(super) fn usage_for(&self, span: Span, now: Time) -> &Usage {
        if now + span <= self.at {
            self.before.usage()
        } else {
            self.alongside.usage()
        }
    }

    /// What is left for such jobs.
    pub(super) fn room(&mut self, window: Window) -> Option<&mut Room> {
        match window {
            Window::Any => None,
            Window::Before => Some(&mut self.before),
            Window::Alongside => Some(&mut self.alongside),
        }
    }

    /// Where a deferred job finds idle CPU beside the reservation.
    pub(super) fn find_idle(
        &mut self,
        cluster: &Cluster,
        swap: &SwapUsage,
        window: Window,
        job: &Job,
    ) -> Option<Mapping> {
        let [idle_before, idle_alongside] = &mut self.idle;
        let (room, idle) = match window {
            Window::Before => (&self.before, idle_before),
            Window::Any | Window::Alongside => (&self.alongside, idle_alongside),
        };
        idle.get_or_insert_with(|| IdleCapacity::of(room.usage(), swap))
            .put(cluster, room.usage(), job)
    }

    /// The nodes of the reservation, ascending.
    pub(super) fn nodes(&self) -> &[NodeIndex] {
        &self.nodes
    }

    /// The job, counted in `usage` already, is here from now on.
    pub(super) fn take(&mut self, usage: &Usage, job: &Job, mapping: &Mapping, now: Time) {
        self.idle = [None, None];
        self.before.take(job, mapping);
        let shares = slowness(usage, mapping) > 1.0;
        if !job.moves_freely() && (shares || self.window(job, now) == Window::Alongside) {
            self.then.add(job, mapping);
        }
        self.alongside
            .take_greater(mapping.nodes(), usage, &self.then);
    }
}

/// The job that is to have a reservation if it finds no room: the one that was submitted first of
/// those that never ran and are not deferred, which lose most by waiting, and of those that were
/// paused for too long, which others would keep from their nodes for ever; where there is none of
/// them, of the deferred ones. One that finds no place on empty nodes either is left out, as far as
/// eight are looked at. `None` also where all jobs can move freely: they are preempted. O(nodes +
/// jobs), and O(nodes) for each that is looked at.
pub(super) fn longest_waiting(state: &DecisionState<'_>, deferred: &DeferredJobs) -> Option<usize> {
    let jobs = &state.question.cluster.jobs;
    if jobs.iter().all(Job::moves_freely) {
        return None;
    }
    let mut waiting = state.question.roster.waiting_that(|_| true);
    waiting.retain(|index| {
        let job = &jobs[*index];
        let is_new = only_place(job).is_none() && job.virtual_time <= Span::ZERO;
        (is_new || job.starved) && state.target.stays(*index)
    });
    let (held_back, others): (Vec<usize>, Vec<usize>) = waiting
        .into_iter()
        .partition(|index| deferred.defers(&jobs[*index]));
    oldest_that_fits(state, others).or_else(|| oldest_that_fits(state, held_back))
}

/// Of these jobs the one that was submitted first, of those that find a place on empty nodes.
fn oldest_that_fits(state: &DecisionState<'_>, mut waiting: Vec<usize>) -> Option<usize> {
    let jobs = &state.question.cluster.jobs;
    let by_age = |index: &usize| (jobs[*index].submit, jobs[*index].id);
    if waiting.len() > TRIES {
        waiting.select_nth_unstable_by_key(TRIES, by_age);
        waiting.truncate(TRIES);
    }
    waiting.sort_unstable_by_key(by_age);
    let empty = state.usage.without_jobs(state.question.cluster);
    let mut waiting = waiting.into_iter();
    waiting.find(|index| {
        let job = &jobs[*index];
        match only_place(job) {
            Some(_) => put(state.question.cluster, &empty, job).is_some(),
            None => greedy::could_place(state.question.cluster, &empty, job),
        }
    })
}

/// When the job has a place, as those that run end, and where. `then` is what is in use then.
fn first_place(state: &DecisionState<'_>, job: &Job, then: &mut Usage) -> Option<(Time, Mapping)> {
    let cluster = state.question.cluster;
    let mut room = greedy::TaskSlots::new(cluster, then, job);
    let mut ends = ends(state).into_iter().peekable();
    while let Some((end, index, mapping)) = ends.next() {
        if state.question.stop.is_due_after_step() {
            return None;
        }
        then.remove(&cluster.jobs[index], mapping);
        let known = mapping
            .nodes()
            .filter(|node| node.index() < cluster.nodes.len());
        for node in known.filter(|node| job.layout.allows(*node)) {
            room.update(then, node);
        }
        let is_last_then = ends.peek().is_none_or(|(next, ..)| *next > end);
        if is_last_then
            && room.suffices()
            && let Some(found) = put(cluster, then, job)
        {
            return Some((end, found));
        }
    }
    None
}

/// As [`first_place`], for a job with a rule about which nodes it may have together.
fn first_together(
    state: &DecisionState<'_>,
    job: &Job,
    then: &mut Usage,
) -> Option<(Time, Mapping)> {
    let (times, order): (Vec<Time>, Vec<(usize, &Mapping)>) = ends(state)
        .into_iter()
        .map(|(end, index, mapping)| (end, (index, mapping)))
        .unzip();
    let numbers: Vec<usize> = (1..=times.len())
        .filter(|number| {
            times
                .get(*number)
                .is_none_or(|next| *next > times[number - 1])
        })
        .collect();
    let mut leaving = LeavingJobs::new(state.question.cluster, job, &order, then);
    let (number, found) = leaving.first_place(&numbers, state.question.stop)?;
    Some((times[number - 1], found))
}

/// When those that run end at the latest, the soonest first; those without a limit are left out.
/// O(runs log runs).
fn ends<'b>(state: &'b DecisionState<'_>) -> Vec<(Time, usize, &'b Mapping)> {
    let running = state.question.roster.running_at().map(|(index, _)| index);
    let arriving = state.target.changes().map(|(index, _)| index);
    let arriving = arriving.filter(|index| !state.question.cluster.jobs[*index].is_running());
    let mut ends: Vec<(Time, usize, &Mapping)> = running
        .chain(arriving)
        .filter_map(|index| {
            let mapping = state.target.mapping(state.question.cluster, index)?;
            let left = left(&state.question.cluster.jobs[index])?;
            let left = times(left, slowness(&state.usage, mapping));
            Some((state.question.now + left, index, mapping))
        })
        .collect();
    ends.sort_unstable_by_key(|(end, index, _)| (*end, *index));
    ends
}

/// How much virtual time the job has left by its limit; one that has had more is taken to need as
/// much again.
fn left(job: &Job) -> Option<Span> {
    let limit = job.limit?;
    let had = job.virtual_time.max(Span::ZERO);
    let left = Span(limit.0.saturating_sub(had.0));
    Some(if left > Span::ZERO {
        left
    } else {
        had.max(Span(1))
    })
}

/// How many times longer a job takes here with an equal share of the fullest of its nodes, at least
/// 1.
pub(super) fn slowness(usage: &Usage, mapping: &Mapping) -> f64 {
    let load = |node| share(usage.load(node).0, usage.cpu(node).0);
    let known = mapping.nodes().filter(|node| node.index() < usage.nodes());
    known.map(load).fold(1.0, f64::max)
}

/// For how long a job of this limit is here at most, if it starts here and all have equal shares;
/// no time if it has no limit.
pub(super) fn lasts(usage: &Usage, job: &Job, mapping: &Mapping) -> Span {
    let mut there = usage.clone();
    there.add(job, mapping);
    let limit = job.limit.unwrap_or(Span::ZERO);
    times(limit, slowness(&there, mapping))
}

/// A length of time, so many times, at least once.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a conversion to a whole number saturates, and a microsecond matters to no reservation"
)]
fn times(span: Span, factor: f64) -> Span {
    Span((span.0 as f64 * factor) as i64)
}
