//! Whole CPUs that jobs on several nodes lend to short jobs.
//!
//! A job on several nodes has whole CPUs: what sharing would cost it is not known, as its tasks may
//! wait for each other. One that has run for long can do without them for a while, if it is kept
//! from them for a third of the time that it has had in all; and a short job has all of them
//! meanwhile. Jobs that move freely lend nothing: they are preempted.

use super::decision_state::DecisionState;
use super::reservation::Reservation;
use crate::model::{Job, Mapping, NodeIndex};
use crate::policy::LoadCeiling;
use crate::room::Room;
use crate::units::Span;
use crate::usage::Usage;

/// For which part of its virtual time a job may be kept from its CPUs: one over this. So it is done
/// after four thirds of the time that it needs at most.
const PART: i64 = 3;

/// Limits are rounded up to the first of these, each twice the one before: the shortest.
const MIN_LOAN: Span = Span::from_seconds(60);

/// How many there are: the longest is of 256 minutes.
const CLASSES: usize = 9;

/// For so long a job may share CPUs that others have for themselves.
pub(super) const MAX_LOAN: Span = Span(MIN_LOAN.0 << (CLASSES - 1));

/// A node that is lent has twice the load that it has CPU for: the borrower has all of it.
const LENT: LoadCeiling = LoadCeiling::from_percent(200);

/// What may be lent.
pub(super) struct Lending {
    /// For how long the jobs with whole CPUs on each node can do without them; `None`: there is no
    /// such job.
    spare: Vec<Option<Span>>,
    /// For jobs of each class of limits, made when first needed.
    rooms: [Option<Room>; CLASSES],
}

impl Lending {
    /// `None` if nothing can be lent. O(nodes + runs).
    pub(super) fn of(state: &DecisionState<'_>, reservation: Option<&Reservation>) -> Option<Self> {
        let mut lending = Self {
            spare: vec![None; state.question.cluster.nodes.len()],
            rooms: [const { None }; CLASSES],
        };
        let reserved = reservation.map_or(&[][..], Reservation::nodes);
        let running = state.question.roster.running_at();
        for (_, job) in running.filter(|(index, _)| state.target.stays(*index)) {
            if let Some(mapping) = job.running_on() {
                lending.count(&state.usage, mapping, spare(job), reserved);
            }
        }
        // Jobs that arrive have had nothing that they could do without.
        for (_, change) in state.target.changes() {
            if let Some(mapping) = change.mapping() {
                lending.count(&state.usage, mapping, Span::ZERO, reserved);
            }
        }
        let is_lent = |spare: &Option<Span>| spare.is_some_and(|spare| spare >= MIN_LOAN);
        lending.spare.iter().any(is_lent).then_some(lending)
    }

    fn count(&mut self, usage: &Usage, mapping: &Mapping, spare: Span, reserved: &[NodeIndex]) {
        if !mapping.spans_nodes() {
            return;
        }
        // A job that lends, or borrows, does neither elsewhere; nor does a job on nodes of the
        // reservation.
        let is_bound =
            |node: NodeIndex| usage.parallel(node) > 1 || reserved.binary_search(&node).is_ok();
        let spare = if mapping.nodes().any(is_bound) {
            Span::ZERO
        } else {
            spare
        };
        for node in mapping.nodes() {
            if let Some(least) = self.spare.get_mut(node.index()) {
                *least = Some(least.map_or(spare, |least| least.min(spare)));
            }
        }
    }

    /// Where the waiting job, of this limit, finds CPUs that are lent for as long, or are idle,
    /// beside the reservation. O(nodes log nodes) the first time for a class of limits.
    pub(super) fn find(
        &mut self,
        state: &DecisionState<'_>,
        reservation: Option<&Reservation>,
        job: &Job,
    ) -> Option<Mapping> {
        let class = class_of(job.limit?)?;
        let room = self.room(state, reservation, class);
        room.find(state.question.cluster, job)
    }

    /// Whether [`Self::find`] may succeed for a job of this limit with as great a demand, as far as
    /// is known without looking for a place.
    pub(super) fn may_find(
        &mut self,
        state: &DecisionState<'_>,
        reservation: Option<&Reservation>,
        job: &Job,
        limit: Span,
    ) -> bool {
        class_of(limit).is_some_and(|class| {
            let room = self.room(state, reservation, class);
            !room.cannot_fit(job)
        })
    }

    fn room(
        &mut self,
        state: &DecisionState<'_>,
        reservation: Option<&Reservation>,
        class: usize,
    ) -> &mut Room {
        let spare = &self.spare;
        self.rooms[class].get_or_insert_with(|| {
            let span = span_of(class);
            let usage = reservation.map_or(&state.usage, |reservation| {
                reservation.usage_for(span, state.question.now)
            });
            let mut usage = usage.clone();
            for (node, spare) in (0..).map(NodeIndex).zip(spare) {
                if spare.is_some_and(|spare| spare >= span) {
                    usage.raise_parallel_ceiling(node, LENT);
                }
            }
            Room::of(usage)
        })
    }

    /// The job is here from now on. Whether what may be lent is the same as before but for that.
    pub(super) fn take(&mut self, job: &Job, mapping: &Mapping) -> bool {
        if mapping.spans_nodes() {
            return false;
        }
        for room in self.rooms.iter_mut().flatten() {
            room.take(job, mapping);
        }
        true
    }
}

/// For how long the job can do without its CPUs: a job with devices cannot.
fn spare(job: &Job) -> Span {
    if job.moves_freely() && !job.starved || job.requires_devices() {
        return Span::ZERO;
    }
    Span((job.virtual_time.0 / PART).saturating_sub(job.delay.0))
}

/// The class of a limit; `None`: it is too long.
fn class_of(limit: Span) -> Option<usize> {
    (0..CLASSES).find(|class| limit <= span_of(*class))
}

/// The time up to which limits of this class are rounded.
fn span_of(class: usize) -> Span {
    Span(MIN_LOAN.0 << class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_rounded_up_to_powers_of_two_of_minutes() {
        let of = |seconds| {
            let class = class_of(Span::from_seconds(seconds))?;
            Some((class, span_of(class).seconds()))
        };
        assert_eq!(of(1), Some((0, 60.0)));
        assert_eq!(of(60), Some((0, 60.0)));
        assert_eq!(of(61), Some((1, 120.0)));
        assert_eq!(of(3600), Some((6, 3840.0)));
        assert_eq!(of(15_360), Some((8, 15_360.0)));
        assert_eq!(of(15_361), None);
    }
}
