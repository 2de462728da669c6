//! GreedyPMC and `/move-per`: all waiting jobs are tried at every event, newcomers first; where memory, or
//! CPU below a ceiling, is short, those give way whose leaving costs least; nothing is mapped anew.

mod board;
mod calm;
mod chances;
mod crowd;
mod lending;
mod moves;
mod reservation;
mod room;
mod turn;
mod victims;

use crate::drain::holds_up_drain;
use crate::events::Stage;
use crate::greatest::Greatest;
use crate::load_limits::LoadLimit;
use crate::model::{Job, Mapping};
use crate::policy::Policy;
use crate::preempt::{is_hopeless, only_place};
use crate::priority::Priority;
use crate::prospects::Prospects;
use crate::roster::Roster;
use crate::stop::Stop;
use crate::target::Target;
use crate::units::{Span, Time};
use crate::usage::Usage;
use board::Board;
use calm::Calm;
pub(crate) use calm::Held;
use chances::Chances;
use lending::Lending;
use reservation::{Reservation, Window};
use room::{Room, put_or_miss};
use turn::{AverageNode, Turn, Urgency};
use victims::Terms;

/// For so long a newcomer does not push aside those that are hardly older.
const PATIENCE: Span = Span::from_seconds(60);

/// What those have had that give way to a newcomer that has hardly waited.
const SETTLED: Span = Span::from_seconds(150);

/// Into so many parts a move's cost is divided: who has had less than one gives way to nobody who never ran. Where
/// many short jobs come at once, each would otherwise be pushed aside several times, for far longer than it takes.
const PARTS_OF_COST: i64 = 7;

/// Up to this virtual time a job comes back in place of others at any event, later at the period only.
const YOUNG: Span = Span::from_seconds(1000);

/// How many times the priority of another a job needs to come back in its place: else the two would take
/// turns.
const MARGIN: f64 = 2.0;

/// Places waiting jobs, those that never ran first, by their wait over their size, and then the others in order of
/// priority: where they fit; else where others give way for them. At the period single jobs move, too. Those that
/// are expected to be long and cannot move freely come last, start where CPU is idle, and nobody gives way for
/// their first start.
///
/// O(nodes log nodes + runs), as much again for each job that others give way for, and O(nodes + tasks log
/// tasks) for each that Greedy places.
pub(crate) fn decide(
    policy: &Policy,
    roster: &Roster,
    now: Time,
    stage: Stage,
    stop: &Stop<'_>,
) -> Target {
    let is_period = stage == Stage::Period;
    if !is_period && !roster.has_waiting() {
        return Target::default();
    }
    let mut board = Board::new(policy, roster, now, stop);
    let most = board.moves_left;
    if roster.has_waiting() {
        Service::of(&mut board, is_period).run();
    }
    let gave_way = board.moves_left < most;
    let moved = is_period && moves::single(&mut board);
    if (gave_way || moved) && roster.has_waiting() {
        Service::of(&mut board, is_period).fill();
    }
    board.target
}

/// For what reason a waiting job may take the place of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// It never ran, and has hardly waited.
    New,
    /// It never ran, or was paused for too long.
    Waited,
    /// It gave way before, and has had much less than others.
    Back,
}

/// The waiting jobs being tried.
struct Service<'b, 'a> {
    board: &'b mut Board<'a>,
    is_period: bool,
    /// Whether others give way.
    pushes_aside: bool,
    /// Where there is room as it is.
    room: Prospects,
    /// The same for those that are tried on one node, because they find no room on several; made when first asked.
    room_on_one: Option<Prospects>,
    /// Where there would be room if others gave way.
    chances: Chances,
    /// Who is to start on idle CPU only.
    held: Held,
    /// Where there is some; made when it is first asked for since somebody else was placed.
    calm: Option<Calm>,
    /// The job that is to have a reservation.
    longest: Option<usize>,
    reservation: Option<Reservation>,
    /// What may be lent; made when it is first asked for since that changed. `None` within: nothing.
    lending: Option<Option<Lending>>,
}

impl<'b, 'a> Service<'b, 'a> {
    fn of(board: &'b mut Board<'a>, is_period: bool) -> Self {
        Self {
            room: Prospects::of(&board.usage),
            room_on_one: None,
            chances: Chances::default(),
            held: Held::of(board.policy.run_time_hint(), board.roster, board.now),
            calm: None,
            longest: None,
            reservation: None,
            lending: None,
            board,
            is_period,
            pushes_aside: true,
        }
    }

    /// Tries those that are left in what others have left or moved away from, and who made room does not need: nobody
    /// gives way for them.
    fn fill(mut self) {
        self.pushes_aside = false;
        self.run();
    }

    /// Tries all that may find a place: newcomers first, and then the highest priority.
    fn run(mut self) {
        let (roster, cluster) = (self.board.roster, self.board.cluster);
        let claim = self.pushes_aside.then_some(Claim::Waited);
        // Of those that want the same, the shorter a job, the more is lent to it.
        let shortest = Some(Span::ZERO);
        let mut places = roster.waiting_that(|job| self.may_start(job, shortest, claim));
        let reserves = self.board.policy.reserves();
        places.retain(|place| {
            let job = &cluster.jobs[*place];
            self.board.target.stays(*place) && (!reserves || self.may_start(job, job.limit, claim))
        });
        if places.is_empty() {
            return;
        }
        if reserves {
            self.longest = reservation::longest_waiting(self.board, &self.held);
            places.extend(self.longest.filter(|longest| !places.contains(longest)));
        }
        let ranked = self.ranked(&places);
        let is_alone = ranked.len() == 1;
        let mut waiting = Greatest::of(ranked);
        loop {
            let piece = waiting.next_piece();
            if piece.is_empty() {
                return;
            }
            for (turn, place) in piece {
                let job = &cluster.jobs[place];
                if self.board.stop.is_due_after_step() {
                    return;
                }
                let is_placed = self.start(place, job)
                    || self.borrow(place, job)
                    || self.make_room(place, job, turn.priority)
                    || self.start_on_one(place, job);
                if !is_placed && self.longest == Some(place) && !is_alone {
                    self.reserve();
                }
            }
            // What has no chance any more need not be put in order, but for whom room is reserved.
            waiting.rest.retain(|(_, place)| {
                let job = &cluster.jobs[*place];
                self.longest == Some(*place) || self.may_start(job, job.limit, self.claim(job))
            });
        }
    }

    /// The jobs at these places with their turns.
    fn ranked(&self, places: &[usize]) -> Vec<(Turn, usize)> {
        let Board {
            policy,
            cluster,
            now,
            ..
        } = *self.board;
        let average = AverageNode::of(cluster);
        let turn = |place: usize| {
            let job = &cluster.jobs[place];
            Turn {
                share_waited: self.share_waited(job),
                urgency: if holds_up_drain(cluster, job) {
                    Urgency::HoldsUpDrain
                } else if self.longest == Some(place) {
                    if job.comes_first {
                        Urgency::LongestFirst
                    } else {
                        Urgency::Longest
                    }
                } else {
                    average.urgency(job, now)
                },
                priority: policy.settings.priority.of(job, now),
            }
        };
        places.iter().map(|place| (turn(*place), *place)).collect()
    }

    /// Whether a job of this limit that wants as much may find a place, as far as is known without looking for one:
    /// where there is room, where CPU is lent, or in the place of others.
    fn may_start(&mut self, job: &Job, limit: Option<Span>, claim: Option<Claim>) -> bool {
        !self.is_hopeless(job, limit)
            || self.may_borrow(job, limit)
            || claim.is_some_and(|claim| !self.chances.are_none(&*self.board, claim, job))
    }

    /// Whether it is known without looking for a place that nothing is free for a job of this limit that wants as much.
    fn is_hopeless(&mut self, job: &Job, limit: Option<Span>) -> bool {
        let window = self.window(job);
        let beside = self.reservation.as_mut();
        let is_full = match beside.and_then(|reservation| reservation.room(window)) {
            Some(room) => room.is_hopeless(job),
            None => is_hopeless(&mut self.room, job),
        };
        is_full
            && self.on_one_node(job, limit).is_none_or(|one| {
                is_hopeless(known(&mut self.room_on_one, &self.board.usage), &one)
                    || self
                        .beside_on_one_node(window)
                        .is_some_and(|room| room.is_hopeless(&one))
            })
    }

    /// A job of this limit that is to have its least yield on several nodes, as one that has all its tasks on one: there
    /// it waits for nobody elsewhere, and shares CPU as others do. None that could not keep the ceiling of all nodes
    /// there: it can elsewhere. Under a policy that reserves none whose limit is longer than that of a job that borrows.
    fn on_one_node(&self, job: &Job, limit: Option<Span>) -> Option<Job> {
        let board = &*self.board;
        let is_short = limit.is_none_or(|limit| limit <= lending::LONGEST);
        let may = is_short || !board.policy.reserves();
        let is_free =
            may && only_place(job).is_none() && board.usage.limit(job) == LoadLimit::Parallel;
        let mut job = is_free.then(|| job.clone())?;
        job.layout.max_nodes = Some(1);
        board.usage.could_keep_ceiling(&job).then_some(job)
    }

    /// What is left beside the reservation for a job that has all its tasks on one node: there it shares CPU and takes
    /// longer than its limit says. `None`: all that is free.
    fn beside_on_one_node(&mut self, window: Window) -> Option<&mut Room> {
        let reservation = self.reservation.as_mut();
        reservation
            .filter(|_| window != Window::Any)
            .and_then(|reservation| reservation.room(Window::Beside))
    }

    /// Whether the job fits somewhere as it is; then it is there.
    fn start(&mut self, place: usize, job: &Job) -> bool {
        if is_hopeless(&mut self.room, job) {
            return false;
        }
        if self.held.holds_back(job) {
            return self.start_on_idle(place, job);
        }
        let found = match self.window(job) {
            Window::Any => {
                let board = &*self.board;
                put_or_miss(board.cluster, &board.usage, &mut self.room, job)
            }
            window => {
                let room = self.reservation.as_mut();
                let room = room.and_then(|reservation| reservation.room(window));
                room.and_then(|room| room.find(self.board.cluster, job))
            }
        };
        let Some(mapping) = found else {
            return false;
        };
        self.calm = None;
        self.arrive(place, job, mapping);
        true
    }

    /// What the job may use beside the reservation.
    fn window(&self, job: &Job) -> Window {
        let reservation = self.reservation.as_ref();
        reservation.map_or(Window::Any, |reservation| {
            reservation.window(job, self.board.now)
        })
    }

    /// Reserves what the job that has waited longest needs, if it waits still.
    fn reserve(&mut self) {
        let board = &*self.board;
        let longest = self.longest.filter(|longest| board.target.stays(*longest));
        self.reservation =
            longest.and_then(|longest| Reservation::of(board, &board.cluster.jobs[longest]));
        self.lending = None;
    }

    /// What jobs with whole CPUs may lend to this one; `None`: nothing.
    fn lending(&mut self, job: &Job) -> Option<Lenders<'_>> {
        let board = &*self.board;
        if !board.policy.reserves() || only_place(job).is_some() {
            return None;
        }
        let reservation = self.reservation.as_ref();
        let lending = self
            .lending
            .get_or_insert_with(|| Lending::of(board, reservation));
        lending
            .as_mut()
            .map(|lending| (board, lending, reservation))
    }

    /// Whether CPUs may be lent to a job of this limit that wants as much, as far as is known without looking for them.
    fn may_borrow(&mut self, job: &Job, limit: Option<Span>) -> bool {
        // Asked with another limit than its own it stands for all that want the same.
        if limit == job.limit && self.held.holds_back(job) {
            return false;
        }
        let (Some(limit), Some((board, lending, reservation))) = (limit, self.lending(job)) else {
            return false;
        };
        lending.may_find(board, reservation, job, limit)
    }

    /// Whether the job is short enough for CPUs that others can do without; then it is there. None that is held back:
    /// beside those that share nodes it would have no CPU of its own.
    fn borrow(&mut self, place: usize, job: &Job) -> bool {
        if self.held.holds_back(job) {
            return false;
        }
        let found = self
            .lending(job)
            .and_then(|(board, lending, reservation)| lending.find(board, reservation, job));
        let Some(mapping) = found else {
            return false;
        };
        self.calm = None;
        self.arrive(place, job, mapping);
        true
    }

    /// Whether there is idle CPU for the job; then it is there.
    fn start_on_idle(&mut self, place: usize, job: &Job) -> bool {
        let window = self.window(job);
        let (cluster, usage, swap) = (self.board.cluster, &self.board.usage, &self.board.swap);
        let found = match &mut self.reservation {
            Some(reservation) if window != Window::Any => {
                reservation.find_idle(cluster, swap, window, job)
            }
            _ => self
                .calm
                .get_or_insert_with(|| Calm::of(usage, swap))
                .put(cluster, usage, job),
        };
        let Some(mapping) = found else {
            return false;
        };
        if let Some(calm) = &mut self.calm {
            calm.take(job, &mapping);
        }
        self.arrive(place, job, mapping);
        true
    }

    /// Lets a job that finds no room on several nodes share one if it fits there. The last resort: where others can
    /// give way for it, it has its least yield. Under a policy that reserves for no longer than a job may borrow: the
    /// next job that needs all nodes waits for it.
    fn start_on_one(&mut self, place: usize, job: &Job) -> bool {
        if self.held.holds_back(job) {
            return false;
        }
        let Some(one) = self.on_one_node(job, job.limit) else {
            return false;
        };
        let (window, cluster) = (self.window(job), self.board.cluster);
        if is_hopeless(known(&mut self.room_on_one, &self.board.usage), &one) {
            return false;
        }
        let found = match self.beside_on_one_node(window) {
            Some(beside) => beside.find(cluster, &one),
            None => {
                let usage = &self.board.usage;
                let room = known(&mut self.room_on_one, usage);
                put_or_miss(cluster, usage, room, &one)
            }
        };
        let usage = &self.board.usage;
        let reserves = self.board.policy.reserves();
        let is_short =
            |mapping: &Mapping| reservation::lasts(usage, job, mapping) <= lending::LONGEST;
        let Some(mapping) = found.filter(|mapping| !reserves || is_short(mapping)) else {
            return false;
        };
        self.calm = None;
        self.arrive(place, job, mapping);
        true
    }

    /// The job runs there from now on.
    fn arrive(&mut self, place: usize, job: &Job, mapping: Mapping) {
        self.board.usage.add(job, &mapping);
        self.room.shrink();
        if let Some(room) = &mut self.room_on_one {
            room.shrink();
        }
        self.chances.take(job, &mapping);
        let (usage, now) = (&self.board.usage, self.board.now);
        if let Some(reservation) = &mut self.reservation {
            reservation.take(usage, job, &mapping, now);
        }
        let lending = self.lending.as_mut().and_then(Option::as_mut);
        if lending.is_some_and(|lending| !lending.take(job, &mapping)) {
            self.lending = None;
        }
        self.board.target.give_place(job, place, mapping);
    }

    /// Of its limit how much it has waited, in millionths, for a job that never ran and is held back: these
    /// come last.
    fn share_waited(&self, job: &Job) -> Option<u64> {
        let limit = job
            .limit
            .filter(|_| job.never_ran() && self.held.holds_back(job))?;
        let waited = i128::from(job.flow_time(self.board.now).0) * 1_000_000;
        Some(u64::try_from(waited / i128::from(limit.0.max(1))).unwrap_or_default())
    }

    /// Whether others can give way for the job; then it has a claim to it, and they have.
    fn make_room(&mut self, place: usize, job: &Job, priority: Priority) -> bool {
        let Some(claim) = self.claim(job) else {
            return false;
        };
        if self.chances.are_none(&*self.board, claim, job) || self.board.stop.is_due() {
            return false;
        }
        let Some(arrived) = victims::make_room(
            self.board,
            place,
            Terms::of(claim, priority, self.board.policy),
        ) else {
            if only_place(job).is_none() {
                self.chances.miss(claim, job);
            }
            return false;
        };
        for (index, mapping) in &arrived {
            self.chances.take(&self.board.cluster.jobs[*index], mapping);
        }
        if self.reservation.is_some() {
            self.reserve();
        }
        self.lending = None;
        // Those that gave way may have left more than it takes.
        self.room = Prospects::of(&self.board.usage);
        self.room_on_one = None;
        self.calm = None;
        true
    }

    fn claim(&self, job: &Job) -> Option<Claim> {
        if !self.pushes_aside {
            return None;
        }
        if job.comes_first {
            return Some(Claim::Waited);
        }
        if job.never_ran() && self.held.holds_back(job) {
            return None;
        }
        if job.virtual_time > Span::ZERO {
            return (self.is_period || job.virtual_time < YOUNG).then_some(Claim::Back);
        }
        if self.held.holds_back(job) {
            return None;
        }
        let has_waited = job.flow_time(self.board.now) >= PATIENCE;
        Some(if has_waited {
            Claim::Waited
        } else {
            Claim::New
        })
    }
}

/// What is left in this usage, looked at if it is not known.
fn known<'p>(room: &'p mut Option<Prospects>, usage: &Usage) -> &'p mut Prospects {
    room.get_or_insert_with(|| Prospects::of(usage))
}

/// What may be lent, and what that depends on.
type Lenders<'s> = (&'s Board<'s>, &'s mut Lending, Option<&'s Reservation>);

/// Jobs, and where they are from now on.
type Arrivals = Vec<(usize, Mapping)>;
