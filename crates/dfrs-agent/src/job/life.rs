//! The life of a job with DFRS: the phases that it goes through and what leads from one to the
//! next.
//!
//! This is the one place where phases change ([`Life::on`]) and where the next step of a job is
//! chosen ([`Life::next_step`]). Each phase has a file that says both; `transitions.md` shows
//! the whole table, which a test prints. What others need to know of a phase are projections, a
//! file each: `planned` (what the core decides about), `order` (what the nodes enforce), `reason`
//! (what squeue shows) and [`journal`].

use std::collections::BTreeSet;

use dfrs_core::{Pauses, Span, Time};
use serde::{Deserialize, Serialize};

use crate::is_default;
use crate::job::placement::NamedPlacement;
use crate::slurm::records::{ObservedJob, ObservedPlace, ObservedState};

mod ended;
mod event;
mod foreign;
pub mod journal;
mod leaving;
mod order;
mod parked;
mod parking;
mod pauses;
mod phase;
mod planned;
pub(crate) mod reason;
mod requeued;
mod room;
mod running;
#[cfg(test)]
pub(crate) mod samples;
mod starting;
mod step;
#[cfg(test)]
mod table;
#[cfg(test)]
mod tests;
mod transition;
mod unparking;
mod waiting;

pub use ended::Warning;
pub use event::{JobContext, LifeEvent};
pub(crate) use step::TOO_SLOW;
pub use step::{LifeStep, ParkStatus, StepResult};
pub use transition::Effects;

use phase::LifePhase;
use step::NO_ROOM;
use transition::{LEFT_ALONE_FOR, LifeTransition};

const SECOND: i64 = 1_000_000;
const HOUR: Span = Span(3600 * SECOND);
/// After so many failed attempts to pause a job it is left alone.
const MAX_FAILED_PAUSES: u32 = 3;

/// While slurmd knows of a job's former run, the next one is a second one there, and Slurm drains
/// the node ("Duplicate jobid"). So long nodes have to end the former one.
pub(crate) const UNTIL_ENDED: Span = Span(20 * SECOND);

/// Where a job is on its way, and what of its past decides what may happen next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Life {
    phase: LifePhase,
    /// Times that DFRS failed to pause it.
    failed_pauses: u32,
    /// Times in a row that it could not be parked.
    #[serde(default, skip_serializing_if = "is_default")]
    failed_parks: u32,
    /// When it was paused or moved within the last hour.
    moves: Vec<Time>,
    /// How long it was paused, or has been.
    #[serde(default, skip_serializing_if = "is_default")]
    pauses: Pauses,
    /// Nothing is done to it before this: what failed is not tried again at once.
    not_before: Time,
    /// It is not paused or moved before this: an operator resumed it, or it could not be parked.
    #[serde(default, skip_serializing_if = "is_default")]
    left_alone_until: Time,
    /// Where it was when it was last seen running or suspended, or was started since.
    #[serde(default)]
    last_place: NamedPlacement,
    /// It was warned since it last began, or may have been.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_warned: bool,
    /// Its last nodes may still run it: they were ordered to end it, and may not have yet, or are
    /// down.
    #[serde(
        default,
        rename = "is_left_behind",
        skip_serializing_if = "std::ops::Not::not"
    )]
    is_orphaned: bool,
    /// Nodes that were down when it went on elsewhere: they may still run it when they come back.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    unheard: BTreeSet<String>,
}

impl Life {
    /// The life of a job that the ledger does not know: it is new, or the ledger was lost.
    #[must_use]
    pub fn first_seen(context: &JobContext) -> Self {
        // What a node said of one that was being parked may be older than its return.
        let adopted = context.job.state == ObservedState::Suspended;
        let left_alone = Time(context.now.0 + LEFT_ALONE_FOR.0);
        // Where it ran is not known any more: nodes that are down may still run it, others end it
        // now.
        let ran = context.job.state == ObservedState::Pending && context.job.restarts > 0;
        let down = context.observation.nodes().iter();
        let down = down.filter(|node| ran && node.down);
        Self {
            phase: LifePhase::first_seen(context),
            left_alone_until: if adopted { left_alone } else { Time(0) },
            not_before: Time(if ran {
                context.now.0 + UNTIL_ENDED.0
            } else {
                0
            }),
            is_warned: context.job.warned,
            unheard: down.map(|node| node.name.clone()).collect(),
            // It may not be looked at again before it leaves.
            last_place: if context.job.has_place() {
                NamedPlacement::of_job(context.job, context.observation)
            } else {
                NamedPlacement::default()
            },
            ..Self::default()
        }
    }

    /// Whether nothing follows from what Slurm shows now.
    pub(crate) fn is_unchanged_by(&self, context: &JobContext) -> bool {
        let (job, observation) = (context.job, context.observation);
        let moved = job.has_place() && !self.last_place.is_of(job, observation);
        !moved && self.phase.on(&LifeEvent::Seen, context).is_none()
    }

    /// What follows from `event`, by what Slurm shows now. Every change of a phase is one of these.
    pub fn on(&mut self, event: &LifeEvent, context: &JobContext) -> Effects {
        let turn = self.phase.on(event, context);
        match event {
            LifeEvent::Seen if context.job.has_place() => {
                self.update_last_place(
                    NamedPlacement::of_job(context.job, context.observation),
                    context,
                );
                self.is_orphaned = false;
            }
            // Slurm waits for no process on a node that is down.
            LifeEvent::Seen if turn.is_some() => {
                let mut spots = self.last_place.0.iter();
                self.is_orphaned |= spots.any(|spot| context.observation.is_down(&spot.node));
            }
            // It may have ended by the next look.
            LifeEvent::Did(LifeStep::Start(placement), StepResult::Done) => {
                self.update_last_place(placement.clone(), context);
                self.is_orphaned = false;
            }
            LifeEvent::HandedBack => self.not_before = Time(0),
            LifeEvent::Did(LifeStep::Warn, StepResult::Done) => self.is_warned = true,
            LifeEvent::Did(LifeStep::ReleaseMemory, StepResult::Released(_)) => {
                self.failed_parks = 0
            }
            LifeEvent::Forgotten { .. } => self.is_warned |= self.may_have_been_warned(),
            _ => {}
        }
        if matches!(event, LifeEvent::Seen) && context.job.state == ObservedState::Pending {
            self.is_warned = false;
        }
        turn.map_or_else(Effects::default, |turn| self.take(turn, context))
    }

    /// Notes where it is now. Nodes that it left and that are down do not know that it is over
    /// there.
    fn update_last_place(&mut self, place: NamedPlacement, context: &JobContext) {
        let before = std::mem::replace(&mut self.last_place, place);
        if self.is_orphaned {
            let left = before.0.into_iter().map(|spot| spot.node);
            self.unheard
                .extend(left.filter(|name| context.observation.is_down(name)));
        }
    }

    fn take(&mut self, turn: LifeTransition, context: &JobContext) -> Effects {
        let now = context.now;
        if turn.is_move {
            self.count_move(now);
        }
        self.failed_pauses += u32::from(turn.is_failure);
        if let Some(pause) = turn.retry_after {
            self.not_before = Time(now.0 + pause.0);
        }
        if turn.is_not_parked {
            self.failed_parks = self.failed_parks.saturating_add(1);
            self.leave_alone_for(self.until_next_park(context.config.park_timeout), now);
        }
        if turn.is_left_alone {
            self.leave_alone_for(LEFT_ALONE_FOR, now);
        }
        if let Some(place) = turn.last_place {
            self.update_last_place(place, context);
        }
        if let Some(phase) = turn.phase {
            self.phase = phase;
            pauses::follow(&mut self.pauses, &self.phase, now);
        }
        turn.effects
    }

    /// The next step, or `None` while the job has to wait or has nothing under way. `on_nodes`:
    /// what its nodes say of its parking.
    #[must_use]
    pub fn next_step(&self, context: &JobContext, on_nodes: ParkStatus) -> Option<LifeStep> {
        (self.not_before <= context.now)
            .then(|| self.phase.next_step(context, on_nodes))
            .flatten()
    }

    /// The step of a job that waits for memory on these nodes where none becomes free; `None` for
    /// all others.
    pub(crate) fn blocked_on_memory(
        &self,
        nodes: &NamedPlacement,
        context: &JobContext,
    ) -> Option<LifeStep> {
        let waits = match &self.phase {
            LifePhase::Starting(starting) => starting.lacks_room_on(nodes, context),
            _ => false,
        };
        waits.then_some(NO_ROOM)
    }

    /// Nothing is done to it before `time`.
    pub fn hold_off(&mut self, time: Time) {
        self.not_before = time;
    }

    /// Whether its last nodes may still run it: they were ordered to end it, and may not have yet,
    /// or are down.
    #[must_use]
    pub fn is_orphaned(&self) -> bool {
        self.is_orphaned
    }

    /// Set when its last nodes are ordered to end it; cleared when they have.
    pub fn set_orphaned(&mut self, is_orphaned: bool) {
        self.is_orphaned = is_orphaned;
    }

    /// Nodes that may still run it although it has gone on elsewhere, or waits to.
    #[must_use]
    pub const fn unconfirmed_nodes(&self) -> &BTreeSet<String> {
        &self.unheard
    }

    /// This node has ended what it ran of it.
    pub fn confirm_ended(&mut self, node: &str) {
        self.unheard.remove(node);
    }

    /// Nothing is done to it before this: what failed is not tried again at once.
    #[must_use]
    pub fn not_before(&self) -> Time {
        self.not_before
    }

    /// Whether it has to wait after something that failed.
    #[must_use]
    pub fn is_held_off(&self, now: Time) -> bool {
        self.not_before > now
    }

    /// When it may be paused or moved again, after an operator resumed it, or it could not be
    /// parked.
    #[must_use]
    pub fn left_alone_until(&self) -> Time {
        self.left_alone_until
    }

    fn leave_alone_for(&mut self, pause: Span, now: Time) {
        self.left_alone_until = self.left_alone_until.max(Time(now.0 + pause.0));
    }

    /// For how long a job that could not be parked is left alone: the time that it cost, then twice
    /// that, then an hour.
    fn until_next_park(&self, timeout: Span) -> Span {
        match self.failed_parks {
            0 => Span(0),
            1 => timeout,
            2 => Span(timeout.0.saturating_mul(2)),
            _ => HOUR,
        }
    }

    /// Whether it could not be parked when it was tried last.
    #[must_use]
    pub fn could_not_be_parked(&self) -> bool {
        self.failed_parks > 0
    }

    /// Counts a pause or a migration.
    fn count_move(&mut self, now: Time) {
        self.moves.retain(|at| now.0 - at.0 < HOUR.0);
        self.moves.push(now);
    }

    /// Pauses and migrations within the last hour.
    #[must_use]
    pub fn recent_moves(&self, now: Time) -> u32 {
        let recent = self.moves.iter().filter(|at| now.0 - at.0 < HOUR.0).count();
        u32::try_from(recent).unwrap_or(u32::MAX)
    }

    /// Whether it has been paused for so long, or came back so and has not had its place for an
    /// eighth of that: then it comes before others. `None`: never.
    #[must_use]
    pub fn is_starved(&self, longest_pause: Option<Span>, now: Time) -> bool {
        longest_pause.is_some_and(|longest| self.pauses.were_too_long(longest, now))
    }

    /// When that next changes by the passing of time alone.
    #[must_use]
    pub fn starved_changes_at(&self, longest_pause: Option<Span>, now: Time) -> Option<Time> {
        self.pauses.next_change(longest_pause?, now)
    }

    /// When the first of the recent pauses and migrations is no longer one.
    #[must_use]
    pub fn next_move_forgotten(&self, now: Time) -> Option<Time> {
        let forgotten = self.moves.iter().map(|at| Time(at.0 + HOUR.0));
        forgotten.filter(|at| *at > now).min()
    }

    /// Where it is on its way, for people.
    #[must_use]
    pub fn phase_name(&self) -> &'static str {
        match &self.phase {
            LifePhase::Waiting => "waiting",
            LifePhase::Starting(_) => "starting",
            LifePhase::Running => "running",
            LifePhase::Parking(_) => "being parked",
            LifePhase::Parked(_) => "parked",
            LifePhase::Unparking(_) => "coming back",
            LifePhase::Leaving(_) => "to give up its place",
            LifePhase::Warned(_) => "writing its checkpoint",
            LifePhase::Requeued(_) => "being requeued",
            LifePhase::Paused => "paused after its checkpoint",
            LifePhase::Foreign => "suspended by others",
        }
    }

    /// What is under way, and where, for the log: "parking on n1,n2".
    #[must_use]
    pub(crate) fn under_way_text(&self) -> String {
        match &self.phase {
            LifePhase::Starting(starting) => format!("start on {}", starting.placement),
            LifePhase::Parking(_) => format!("parking on {}", self.last_place),
            LifePhase::Unparking(_) => format!("resumption on {}", self.last_place),
            _ => "action".to_owned(),
        }
    }

    /// Whether pausing it failed too often to be tried again.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.failed_pauses >= MAX_FAILED_PAUSES
    }

    /// Where it was when it was last seen running or suspended, or was started since.
    #[must_use]
    pub fn last_place(&self) -> &NamedPlacement {
        &self.last_place
    }

    /// Nodes may still run a job there that had its id before.
    pub fn set_last_place(&mut self, place: NamedPlacement) {
        self.last_place = place;
    }

    /// Whether nothing has happened to the job since its submission, except that it may have to
    /// wait a little before the next try.
    #[must_use]
    pub fn is_pristine(&self) -> bool {
        let pristine = Self {
            not_before: self.not_before,
            ..Self::default()
        };
        *self == pristine
    }

    /// Whether something is under way: the core plans around such a job.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        !matches!(
            self.phase,
            LifePhase::Waiting
                | LifePhase::Running
                | LifePhase::Parked(_)
                | LifePhase::Paused
                | LifePhase::Foreign
        )
    }

    /// Whether there may be a next step, which nothing but what Slurm or the nodes show keeps it
    /// from.
    #[must_use]
    pub fn may_have_step(&self) -> bool {
        self.is_under_way() || matches!(self.phase, LifePhase::Parked(_))
    }

    /// Whether it is giving up its place.
    #[must_use]
    pub fn is_leaving(&self) -> bool {
        matches!(
            self.phase,
            LifePhase::Parking(_)
                | LifePhase::Leaving(_)
                | LifePhase::Warned(_)
                | LifePhase::Requeued(_)
        )
    }

    /// Whether it waits in Slurm's queue and nothing is planned for it.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        matches!(self.phase, LifePhase::Waiting | LifePhase::Paused)
    }

    /// Whether it runs and nothing is planned for it.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.phase == LifePhase::Running
    }

    /// Whether it is parked, and nothing is planned for it.
    #[must_use]
    pub fn is_parked(&self) -> bool {
        matches!(self.phase, LifePhase::Parked(_))
    }

    /// Whether it is planned to start, and has not yet.
    #[must_use]
    pub fn is_starting(&self) -> bool {
        matches!(self.phase, LifePhase::Starting(_))
    }

    /// Whether it gave up its place by a checkpoint, and nothing is planned for it.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.phase == LifePhase::Paused
    }

    /// Whether it is being parked.
    #[must_use]
    pub fn is_parking(&self) -> bool {
        matches!(self.phase, LifePhase::Parking(_))
    }

    /// Whether its nodes have to say that it is parked.
    #[must_use]
    pub fn needs_park_confirmation(&self) -> bool {
        match &self.phase {
            LifePhase::Parking(_) => true,
            LifePhase::Parked(parked) => parked.is_unheard,
            _ => false,
        }
    }

    /// Whether it is parked, or is to give up its place and has it still.
    #[must_use]
    pub fn can_cancel_pause(&self) -> bool {
        matches!(
            self.phase,
            LifePhase::Parking(_)
                | LifePhase::Parked(_)
                | LifePhase::Leaving(_)
                | LifePhase::Warned(_)
        )
    }

    /// Whether it was parked and is on its way back.
    #[must_use]
    pub fn is_unparking(&self) -> bool {
        matches!(self.phase, LifePhase::Unparking(_))
    }

    /// MiB that are not free for others on `place`, the job's number `position`, and that the core
    /// does not know of, as it does not decide about the job: what a job that an operator suspended
    /// holds there, and what a job that an operator resumed, or that is given back, shall have
    /// there.
    #[must_use]
    pub fn undecided_memory(&self, position: usize, place: &ObservedPlace) -> u64 {
        match &self.phase {
            LifePhase::Foreign => place.memory_mib,
            LifePhase::Parked(parked) if parked.called_back => {
                parked.memory.get(position).copied().unwrap_or(0)
            }
            LifePhase::Unparking(unparking) => unparking.memory.get(position).copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// Whether it holds memory on its nodes that Slurm does not count, or may: slurmctld has
    /// forgotten that it was brought back.
    #[must_use]
    pub fn holds_uncounted_memory(&self, job: &ObservedJob) -> bool {
        let holds = match &self.phase {
            LifePhase::Unparking(unparking) => unparking.is_forgotten,
            LifePhase::Parking(_) => {
                matches!(job.state, ObservedState::Suspended | ObservedState::Ended)
            }
            LifePhase::Parked(parked) => parked.is_unheard,
            _ => false,
        };
        holds && !job.is_counted()
    }

    /// Whether an operator says when it runs, not the core.
    #[must_use]
    pub fn is_undecided(&self, job: &ObservedJob) -> bool {
        match &self.phase {
            LifePhase::Foreign => true,
            LifePhase::Parked(parked) => parked.is_undecided(job),
            _ => false,
        }
    }

    /// Whether an operator suspended it: DFRS leaves it alone until it runs again.
    #[must_use]
    pub fn is_suspended_by_operator(&self) -> bool {
        self.phase == LifePhase::Foreign
    }

    /// Whether nothing more follows from handing it back: it waits, runs, is on its way back, or is
    /// suspended by an operator.
    #[must_use]
    pub fn is_handed_back(&self) -> bool {
        matches!(
            self.phase,
            LifePhase::Waiting
                | LifePhase::Paused
                | LifePhase::Running
                | LifePhase::Unparking(_)
                | LifePhase::Foreign
        )
    }

    /// Whether it depends on DFRS to come back: Slurm does not count its memory, or it is on its
    /// way there.
    #[must_use]
    pub fn depends_on_dfrs(&self) -> bool {
        matches!(
            self.phase,
            LifePhase::Parking(_) | LifePhase::Parked(_) | LifePhase::Unparking(_)
        )
    }
}
