//! GreedyPMC and `/move-per`: all pending and paused jobs are tried at every event, those that
//! never ran first; where memory, or CPU below a ceiling, is short, the jobs are preempted whose
//! preemption costs least; nothing is remapped.

mod candidates;
mod decision_state;
mod feasibility;
mod idle_capacity;
mod lending;
mod moves;
mod rank;
mod reservation;
mod victims;

use crate::drain::holds_up_drain;
use crate::events::Stage;
use crate::fit_cache::FitCache;
use crate::greatest::Greatest;
use crate::model::{Job, Mapping};
use crate::preempt::{cannot_fit, only_place};
use crate::priority::Priority;
use crate::question::Question;
use crate::room::{Room, known, put_or_miss};
use crate::space::LoadLimit;
use crate::target::Target;
use crate::units::Span;
use decision_state::DecisionState;
use feasibility::PreemptionFeasibility;
pub(crate) use idle_capacity::DeferredJobs;
use idle_capacity::IdleCapacity;
use lending::Lending;
use rank::{AverageNode, Rank, RankClass};
use reservation::{Reservation, Window};
use victims::VictimCriteria;

/// A job that has waited less than this preempts only jobs that are [`SETTLED`].
const MIN_WAIT: Span = Span::from_seconds(60);

/// The least virtual time of the victims of a job that has hardly waited.
const SETTLED: Span = Span::from_seconds(150);

/// A job that has had less virtual time than the cost of a move over this is not preempted for one
/// that never ran. Where many short jobs come at once, each would otherwise be preempted several
/// times, for far longer than it takes.
const PARTS_OF_COST: i64 = 7;

/// Up to this virtual time a paused job preempts others at any event, later at the period only.
const YOUNG: Span = Span::from_seconds(1000);

/// How many times the priority of its victim a paused job needs: else the two would preempt each
/// other alternately.
const MARGIN: f64 = 2.0;

/// Places pending and paused jobs, those that never ran first, by their wait over their size, and
/// then the others in order of priority: where they fit; else where preemption makes room. At the
/// period single jobs move, too. Jobs that are expected to be long and cannot move freely come
/// last, start where CPU is idle, and preempt none at their first start.
///
/// O(nodes log nodes + runs), as much again for each job that preempts others, and O(nodes + tasks
/// log tasks) for each that Greedy places.
pub(crate) fn decide(question: Question<'_>, stage: Stage) -> Target {
    let roster = question.roster;
    let is_period = stage == Stage::Period;
    if !is_period && !roster.has_waiting() {
        return Target::default();
    }
    let mut state = DecisionState::new(question);
    let moves_before = state.moves_left;
    if roster.has_waiting() {
        Service::of(&mut state, is_period).run();
    }
    let preempted = state.moves_left < moves_before;
    let moved = is_period && moves::move_single_jobs(&mut state);
    if (preempted || moved) && roster.has_waiting() {
        Service::of(&mut state, is_period).fill();
    }
    state.target
}

/// For what reason a job may preempt others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PreemptionClass {
    /// The job never ran, and has hardly waited.
    New,
    /// The job never ran, or was paused for too long.
    Waited,
    /// The job was preempted before, and has had much less than others.
    Back,
}

/// The jobs without a place being tried.
struct Service<'b, 'a> {
    state: &'b mut DecisionState<'a>,
    is_period: bool,
    /// Whether jobs are preempted.
    preempts: bool,
    /// Where there is room as it is.
    room: FitCache,
    /// Where there is room for jobs that are tried on one node, because they find no room on
    /// several; made when first needed.
    room_on_one: Option<FitCache>,
    /// Where there would be room after preemption.
    feasibility: PreemptionFeasibility,
    /// Which jobs are to start on idle CPU only.
    deferred: DeferredJobs,
    /// Where there is idle capacity; made when first needed since another job was placed.
    idle_capacity: Option<IdleCapacity>,
    /// The job that is to have a reservation.
    longest: Option<usize>,
    reservation: Option<Reservation>,
    /// What may be lent; made when first needed since that changed. `None` within: nothing.
    lending: Option<Option<Lending>>,
}

impl<'b, 'a> Service<'b, 'a> {
    fn of(state: &'b mut DecisionState<'a>, is_period: bool) -> Self {
        let (policy, roster) = (state.question.policy, state.question.roster);
        Self {
            room: FitCache::of(&state.usage),
            room_on_one: None,
            feasibility: PreemptionFeasibility::default(),
            deferred: DeferredJobs::of(policy.run_time_hint(), roster, state.question.now),
            idle_capacity: None,
            longest: None,
            reservation: None,
            lending: None,
            state,
            is_period,
            preempts: true,
        }
    }

    /// Tries the jobs that are left in the room that preemption and moves have left over. Preempts
    /// none.
    fn fill(mut self) {
        self.preempts = false;
        self.run();
    }

    /// Tries all jobs that may find a place, by rank.
    fn run(mut self) {
        let (roster, cluster) = (self.state.question.roster, self.state.question.cluster);
        let class = self.preempts.then_some(PreemptionClass::Waited);
        // Of jobs with the same demand, the shorter a job, the more is lent to it.
        let shortest = Some(Span::ZERO);
        let mut indices = roster.waiting_that(|job| self.may_start(job, shortest, class));
        let reserves = self.state.question.policy.reserves();
        indices.retain(|index| {
            let job = &cluster.jobs[*index];
            self.state.target.stays(*index) && (!reserves || self.may_start(job, job.limit, class))
        });
        if indices.is_empty() {
            return;
        }
        if reserves {
            self.longest = reservation::longest_waiting(self.state, &self.deferred);
            indices.extend(self.longest.filter(|longest| !indices.contains(longest)));
        }
        let ranked = self.ranked(&indices);
        let is_alone = ranked.len() == 1;
        let mut waiting = Greatest::of(ranked);
        loop {
            let piece = waiting.next_piece();
            if piece.is_empty() {
                return;
            }
            for (rank, index) in piece {
                let job = &cluster.jobs[index];
                if self.state.question.stop.is_due_after_step() {
                    return;
                }
                let is_placed = self.start(index, job)
                    || self.borrow(index, job)
                    || self.make_room(index, job, rank.priority)
                    || self.start_on_one(index, job);
                if !is_placed && self.longest == Some(index) && !is_alone {
                    self.reserve();
                }
            }
            // Jobs that cannot fit any more need not be put in order, but for the one with the
            // reservation.
            waiting.rest.retain(|(_, index)| {
                let job = &cluster.jobs[*index];
                self.longest == Some(*index) || self.may_start(job, job.limit, self.class(job))
            });
        }
    }

    /// The jobs at these indices with their ranks.
    fn ranked(&self, indices: &[usize]) -> Vec<(Rank, usize)> {
        let question = self.state.question;
        let (cluster, now) = (question.cluster, question.now);
        let average = AverageNode::of(cluster);
        let rank = |index: usize| {
            let job = &cluster.jobs[index];
            Rank {
                share_waited: self.share_waited(job),
                rank_class: if holds_up_drain(cluster, job) {
                    RankClass::HoldsUpDrain
                } else {
                    average.rank_class(job, now, self.longest == Some(index))
                },
                priority: question.priority(job),
            }
        };
        indices.iter().map(|index| (rank(*index), *index)).collect()
    }

    /// Whether a job of this limit with as great a demand may find a place, as far as is known
    /// without looking for one: where there is room, where CPU is lent, or by preemption.
    fn may_start(
        &mut self,
        job: &Job,
        limit: Option<Span>,
        class: Option<PreemptionClass>,
    ) -> bool {
        !self.cannot_fit(job, limit)
            || self.may_borrow(job, limit)
            || class.is_some_and(|class| !self.feasibility.cannot_fit(&*self.state, class, job))
    }

    /// Whether it is known without looking for a place that nothing is free for a job of this limit
    /// with as great a demand.
    fn cannot_fit(&mut self, job: &Job, limit: Option<Span>) -> bool {
        let window = self.window(job);
        let reservation = self.reservation.as_mut();
        let is_full = match reservation.and_then(|reservation| reservation.room(window)) {
            Some(room) => room.cannot_fit(job),
            None => cannot_fit(&mut self.room, job),
        };
        is_full
            && self.on_one_node(job, limit).is_none_or(|one| {
                cannot_fit(known(&mut self.room_on_one, &self.state.usage), &one)
                    || self
                        .room_on_one_node(window)
                        .is_some_and(|room| room.cannot_fit(&one))
            })
    }

    /// A job of this limit that is to have its least yield on several nodes, as a job that has all
    /// its tasks on one: there its tasks wait for none elsewhere, and it shares CPU as others do.
    /// `None` for a job that could not keep the ceiling of all nodes there: it can elsewhere. Under
    /// a policy that reserves, also `None` for a job whose limit is longer than that of a job that
    /// borrows.
    fn on_one_node(&self, job: &Job, limit: Option<Span>) -> Option<Job> {
        let state = &*self.state;
        let is_short = limit.is_none_or(|limit| limit <= lending::MAX_LOAN);
        let may = is_short || !state.question.policy.reserves();
        let is_free =
            may && only_place(job).is_none() && state.usage.limit(job) == LoadLimit::Parallel;
        let mut job = is_free.then(|| job.clone())?;
        job.layout.max_nodes = Some(1);
        state.usage.could_keep_ceiling(&job).then_some(job)
    }

    /// What is left beside the reservation for a job that has all its tasks on one node: there it
    /// shares CPU and takes longer than its limit says. `None`: all that is free.
    fn room_on_one_node(&mut self, window: Window) -> Option<&mut Room> {
        let reservation = self.reservation.as_mut();
        reservation
            .filter(|_| window != Window::Any)
            .and_then(|reservation| reservation.room(Window::Alongside))
    }

    /// Whether the job fits somewhere as it is; then it is there.
    fn start(&mut self, index: usize, job: &Job) -> bool {
        if cannot_fit(&mut self.room, job) {
            return false;
        }
        if self.deferred.defers(job) {
            return self.start_on_idle(index, job);
        }
        let found = match self.window(job) {
            Window::Any => {
                let state = &*self.state;
                put_or_miss(state.question.cluster, &state.usage, &mut self.room, job)
            }
            window => {
                let room = self.reservation.as_mut();
                let room = room.and_then(|reservation| reservation.room(window));
                room.and_then(|room| room.find(self.state.question.cluster, job))
            }
        };
        self.take_place(index, job, found)
    }

    /// The job has the place that was found, if one was. Returns whether it has.
    fn take_place(&mut self, index: usize, job: &Job, found: Option<Mapping>) -> bool {
        let Some(mapping) = found else {
            return false;
        };
        self.idle_capacity = None;
        self.arrive(index, job, mapping);
        true
    }

    /// What the job may use beside the reservation.
    fn window(&self, job: &Job) -> Window {
        let reservation = self.reservation.as_ref();
        reservation.map_or(Window::Any, |reservation| {
            reservation.window(job, self.state.question.now)
        })
    }

    /// Reserves what the job that has waited longest needs, if it waits still.
    fn reserve(&mut self) {
        let state = &*self.state;
        let longest = self.longest.filter(|longest| state.target.stays(*longest));
        self.reservation = longest
            .and_then(|longest| Reservation::of(state, &state.question.cluster.jobs[longest]));
        self.lending = None;
    }

    /// What jobs with whole CPUs may lend to this one; `None`: nothing.
    fn lending(&mut self, job: &Job) -> Option<Lenders<'_>> {
        let state = &*self.state;
        if !state.question.policy.reserves() || only_place(job).is_some() {
            return None;
        }
        let reservation = self.reservation.as_ref();
        let lending = self
            .lending
            .get_or_insert_with(|| Lending::of(state, reservation));
        lending
            .as_mut()
            .map(|lending| (state, lending, reservation))
    }

    /// Whether CPUs may be lent to a job of this limit with as great a demand, as far as is known
    /// without looking for them.
    fn may_borrow(&mut self, job: &Job, limit: Option<Span>) -> bool {
        // With another limit than its own the job stands for all jobs with the same demand.
        if limit == job.limit && self.deferred.defers(job) {
            return false;
        }
        let (Some(limit), Some((state, lending, reservation))) = (limit, self.lending(job)) else {
            return false;
        };
        lending.may_find(state, reservation, job, limit)
    }

    /// Whether the job is short enough for CPUs that others can do without; then it is there. A
    /// deferred job does not borrow: beside those that share nodes it would have no CPU of its own.
    fn borrow(&mut self, index: usize, job: &Job) -> bool {
        if self.deferred.defers(job) {
            return false;
        }
        let found = self
            .lending(job)
            .and_then(|(state, lending, reservation)| lending.find(state, reservation, job));
        self.take_place(index, job, found)
    }

    /// Whether there is idle CPU for the job; then it is there.
    fn start_on_idle(&mut self, index: usize, job: &Job) -> bool {
        let window = self.window(job);
        let cluster = self.state.question.cluster;
        let (usage, swap) = (&self.state.usage, &self.state.swap);
        let found = match &mut self.reservation {
            Some(reservation) if window != Window::Any => {
                reservation.find_idle(cluster, swap, window, job)
            }
            _ => self
                .idle_capacity
                .get_or_insert_with(|| IdleCapacity::of(usage, swap))
                .put(cluster, usage, job),
        };
        let Some(mapping) = found else {
            return false;
        };
        if let Some(idle_capacity) = &mut self.idle_capacity {
            idle_capacity.take(job, &mapping);
        }
        self.arrive(index, job, mapping);
        true
    }

    /// Lets a job that finds no room on several nodes share one if it fits there. The last resort:
    /// where it can preempt others, it has its least yield. Under a policy that reserves for no
    /// longer than a job may borrow: the next job that needs all nodes waits for it.
    fn start_on_one(&mut self, index: usize, job: &Job) -> bool {
        if self.deferred.defers(job) {
            return false;
        }
        let Some(one) = self.on_one_node(job, job.limit) else {
            return false;
        };
        let (window, cluster) = (self.window(job), self.state.question.cluster);
        if cannot_fit(known(&mut self.room_on_one, &self.state.usage), &one) {
            return false;
        }
        let found = match self.room_on_one_node(window) {
            Some(room) => room.find(cluster, &one),
            None => {
                let usage = &self.state.usage;
                let room = known(&mut self.room_on_one, usage);
                put_or_miss(cluster, usage, room, &one)
            }
        };
        let usage = &self.state.usage;
        let reserves = self.state.question.policy.reserves();
        let is_short =
            |mapping: &Mapping| reservation::lasts(usage, job, mapping) <= lending::MAX_LOAN;
        let found = found.filter(|mapping| !reserves || is_short(mapping));
        self.take_place(index, job, found)
    }

    /// The job runs there from now on.
    fn arrive(&mut self, index: usize, job: &Job, mapping: Mapping) {
        self.state.usage.add(job, &mapping);
        self.room.shrink();
        if let Some(room) = &mut self.room_on_one {
            room.shrink();
        }
        self.feasibility.take(job, &mapping);
        let (usage, now) = (&self.state.usage, self.state.question.now);
        if let Some(reservation) = &mut self.reservation {
            reservation.take(usage, job, &mapping, now);
        }
        let lending = self.lending.as_mut().and_then(Option::as_mut);
        if lending.is_some_and(|lending| !lending.take(job, &mapping)) {
            self.lending = None;
        }
        self.state.target.give_place(job, index, mapping);
    }

    /// Of its limit how much it has waited, in millionths, for a deferred job that never ran: these
    /// come last.
    fn share_waited(&self, job: &Job) -> Option<u64> {
        let limit = job
            .limit
            .filter(|_| job.never_ran() && self.deferred.defers(job))?;
        let waited = i128::from(job.flow_time(self.state.question.now).0) * 1_000_000;
        Some(u64::try_from(waited / i128::from(limit.0.max(1))).unwrap_or_default())
    }

    /// Whether the job may preempt others and finds room so; then they are preempted.
    fn make_room(&mut self, index: usize, job: &Job, priority: Priority) -> bool {
        let Some(class) = self.class(job) else {
            return false;
        };
        let stop = self.state.question.stop;
        if self.feasibility.cannot_fit(&*self.state, class, job) || stop.is_due() {
            return false;
        }
        let Some(arrived) = victims::make_room(
            self.state,
            index,
            VictimCriteria::of(class, priority, self.state.question.policy),
        ) else {
            if only_place(job).is_none() {
                self.feasibility.miss(class, job);
            }
            return false;
        };
        for (index, mapping) in &arrived {
            self.feasibility
                .take(&self.state.question.cluster.jobs[*index], mapping);
        }
        if self.reservation.is_some() {
            self.reserve();
        }
        self.lending = None;
        // The preempted jobs may have left more than this job takes.
        self.room = FitCache::of(&self.state.usage);
        self.room_on_one = None;
        self.idle_capacity = None;
        true
    }

    fn class(&self, job: &Job) -> Option<PreemptionClass> {
        if !self.preempts {
            return None;
        }
        if job.starved {
            return Some(PreemptionClass::Waited);
        }
        let has_had = job.virtual_time > Span::ZERO;
        if (job.never_ran() || !has_had) && self.deferred.defers(job) {
            return None;
        }
        if has_had {
            return (self.is_period || job.virtual_time < YOUNG).then_some(PreemptionClass::Back);
        }
        let has_waited = job.flow_time(self.state.question.now) >= MIN_WAIT;
        Some(if has_waited {
            PreemptionClass::Waited
        } else {
            PreemptionClass::New
        })
    }
}

/// What may be lent, and what that depends on.
type Lenders<'s> = (
    &'s DecisionState<'s>,
    &'s mut Lending,
    Option<&'s Reservation>,
);

/// Jobs, and where they are from now on.
type Arrivals = Vec<(usize, Mapping)>;
