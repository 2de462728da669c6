//! The life of a job with DFRS: the phases that it goes through and what leads from one to the
//! next.
//!
//! This is the one place where phases change ([`Life::on`]) and where the next step of a job is
//! chosen ([`Life::next_step`]). Each phase has a file that says both, and all else that is to be
//! said of it (`phase`); `transitions.md` shows the whole table, which a test prints. What others
//! need to know follows from that, in a file each: `traits` (what is asked about phases), `planned`
//! (what the core decides about), `order` (what the nodes enforce), `reason` (what squeue shows)
//! and [`journal`].

use std::collections::BTreeSet;

use dfrs_core::{Pauses, Span, Time};
use serde::{Deserialize, Serialize};

use crate::is_default;
use crate::job::placement::NamedPlacement;
use crate::slurm::records::ObservedState;

mod dumping;
mod ended;
mod event;
mod foreign;
mod image;
pub mod journal;
mod leaving;
mod order;
mod parked;
mod parking;
mod pauses;
mod phase;
mod planned;
mod reason;
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
mod traits;
mod transition;
mod unparking;
mod waiting;

pub use ended::Warning;
pub use event::{JobContext, LifeEvent};
pub use image::LifeImage;
pub(crate) use step::TOO_SLOW;
pub use step::{LifeStep, ParkStatus, StepResult};
pub use transition::Effects;

use phase::LifePhase;
use step::NO_ROOM;
use transition::{LEFT_ALONE_FOR, LifeTransition};

const SECOND: i64 = 1_000_000;
const HOUR: Span = Span(3600 * SECOND);
/// A job that was requeued does not start again earlier where it ran.
const SECONDS_UNTIL_RESTART: i64 = 2;
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
    /// Its image, if it is carried.
    #[serde(default, skip_serializing_if = "is_default")]
    image: LifeImage,
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
                context.place()
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
        !moved && self.phase.rules().on(&LifeEvent::Seen, context).is_none()
    }

    /// What follows from `event`, by what Slurm shows now. Every change of a phase is one of these.
    pub fn on(&mut self, event: &LifeEvent, context: &JobContext) -> Effects {
        let context = &self.known_to(context);
        let turn = self.phase.rules().on(event, context);
        match event {
            LifeEvent::Seen if context.job.has_place() => {
                self.update_last_place(context.place(), context);
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
            LifeEvent::Did(LifeStep::Requeue, StepResult::Done) if self.is_dumping() => {
                self.failed_parks = 0;
            }
            LifeEvent::Forgotten { .. } => self.is_warned |= self.may_have_been_warned(),
            _ => {}
        }
        if matches!(event, LifeEvent::Seen) && context.job.state == ObservedState::Pending {
            self.is_warned = false;
        }
        turn.map_or_else(Effects::default, |turn| self.take(turn, context))
    }

    /// The context, with what is known of the job's image.
    fn known_to<'a>(&self, context: &JobContext<'a>) -> JobContext<'a> {
        JobContext {
            image: self.image.as_of(context.now),
            ..*context
        }
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
        if let Some(image) = turn.image {
            self.image = image;
        }
        if let Some(place) = turn.last_place {
            self.update_last_place(place, context);
        }
        if let Some(phase) = turn.phase {
            // It goes on where it is, and its end is its own.
            self.is_warned &= !(self.is_dumping() && phase == LifePhase::Running);
            self.phase = phase;
            pauses::follow(&mut self.pauses, &self.phase, now);
        }
        turn.effects
    }

    /// The next step, or `None` while the job has to wait or has nothing under way. `on_nodes`:
    /// what its nodes say of its parking.
    pub fn next_step(&self, context: &JobContext, on_nodes: ParkStatus) -> Option<LifeStep> {
        let context = &self.known_to(context);
        (self.not_before <= context.now)
            .then(|| self.phase.rules().next_step(context, on_nodes))
            .flatten()
            .filter(|step| !self.is_too_early(step, context))
    }

    /// Whether slurmd would take the start for one of the run that it has just ended there, and
    /// refuse it: the job would have failed. It compares whole seconds (`cred_cache` of slurmd, 22.05
    /// and 24.11).
    fn is_too_early(&self, step: &LifeStep, context: &JobContext) -> bool {
        let LifeStep::Start(placement) = step else {
            return false;
        };
        let since = context.now.whole_seconds() - context.job.submit_seconds;
        let was_there = |node: &str| self.last_place.0.iter().any(|spot| spot.node == node);
        context.job.restarts > 0
            && (0..SECONDS_UNTIL_RESTART).contains(&since)
            && placement.0.iter().any(|spot| was_there(&spot.node))
    }

    /// The step of a job that waits for memory on these nodes where none becomes free; `None` for
    /// all others.
    pub(crate) fn blocked_on_memory(
        &self,
        nodes: &NamedPlacement,
        context: &JobContext,
    ) -> Option<LifeStep> {
        let waits = self.phase.rules().lacks_room_on(nodes, context);
        waits.then_some(NO_ROOM)
    }

    /// Nothing is done to it before `time`.
    pub fn hold_off(&mut self, time: Time) {
        self.not_before = time;
    }

    /// Whether its last nodes may still run it: they were ordered to end it, and may not have yet,
    /// or are down.
    pub fn is_orphaned(&self) -> bool {
        self.is_orphaned
    }

    /// Set when its last nodes are ordered to end it; cleared when they have.
    pub fn set_orphaned(&mut self, is_orphaned: bool) {
        self.is_orphaned = is_orphaned;
    }

    /// Nodes that may still run it although it has gone on elsewhere, or waits to.
    pub const fn unconfirmed_nodes(&self) -> &BTreeSet<String> {
        &self.unheard
    }

    /// This node has ended what it ran of it.
    pub fn confirm_ended(&mut self, node: &str) {
        self.unheard.remove(node);
    }

    /// Nothing is done to it before this: what failed is not tried again at once.
    pub fn not_before(&self) -> Time {
        self.not_before
    }

    /// Whether it has to wait after something that failed.
    pub fn is_held_off(&self, now: Time) -> bool {
        self.not_before > now
    }

    /// When it may be paused or moved again, after an operator resumed it, or it could not be
    /// parked.
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
    pub fn could_not_be_parked(&self) -> bool {
        self.failed_parks > 0
    }

    /// Counts a pause or a migration.
    fn count_move(&mut self, now: Time) {
        self.moves.retain(|at| now.0 - at.0 < HOUR.0);
        self.moves.push(now);
    }

    /// Pauses and migrations within the last hour.
    pub fn recent_moves(&self, now: Time) -> u32 {
        let recent = self.moves.iter().filter(|at| now.0 - at.0 < HOUR.0).count();
        u32::try_from(recent).unwrap_or(u32::MAX)
    }

    /// Whether it has been paused for so long, or came back so and has not had its place for an
    /// eighth of that: then it comes before others. `None`: never.
    pub fn is_starved(&self, longest_pause: Option<Span>, now: Time) -> bool {
        longest_pause.is_some_and(|longest| self.pauses.were_too_long(longest, now))
    }

    /// When that next changes by the passing of time alone.
    pub fn starved_changes_at(&self, longest_pause: Option<Span>, now: Time) -> Option<Time> {
        self.pauses.next_change(longest_pause?, now)
    }

    /// When the first of the recent pauses and migrations is no longer one.
    pub fn next_move_forgotten(&self, now: Time) -> Option<Time> {
        let forgotten = self.moves.iter().map(|at| Time(at.0 + HOUR.0));
        forgotten.filter(|at| *at > now).min()
    }

    /// What is under way, and where, for the log: "parking on n1,n2".
    pub(crate) fn under_way_text(&self) -> String {
        self.phase.rules().under_way_text(&self.last_place)
    }

    /// Whether pausing it failed too often to be tried again.
    pub fn is_stuck(&self) -> bool {
        self.failed_pauses >= MAX_FAILED_PAUSES
    }

    /// Where it was when it was last seen running or suspended, or was started since.
    pub fn last_place(&self) -> &NamedPlacement {
        &self.last_place
    }

    /// Nodes may still run a job there that had its id before.
    pub fn set_last_place(&mut self, place: NamedPlacement) {
        self.last_place = place;
    }

    /// Whether nothing has happened to the job since its submission, except that it may have to
    /// wait a little before the next try.
    pub fn is_pristine(&self) -> bool {
        let pristine = Self {
            not_before: self.not_before,
            ..Self::default()
        };
        *self == pristine
    }
}
