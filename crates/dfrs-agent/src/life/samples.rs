//! A job in each phase, for tests.

use dfrs_core::Time;

use super::Life;
use super::leaving::Next;
use super::parking::Parking;
use super::phase::Phase;
use super::requeued::Requeued;
use crate::placement::Placement;

/// Somewhere in the life of a job that ended up in `phase`.
pub(super) fn in_phase(phase: Phase) -> Life {
    Life {
        phase,
        ..Life::default()
    }
}

/// Runs.
pub(crate) fn running() -> Life {
    in_phase(Phase::Running)
}

/// Is being parked since the beginning of time.
pub(crate) fn parking() -> Life {
    in_phase(Phase::Parking(Parking { since: Time(0) }))
}

/// Was requeued, and pauses.
pub(crate) fn pausing() -> Life {
    requeued(Next::Pause)
}

/// Was requeued, and moves there.
pub(crate) fn moving(placement: Placement) -> Life {
    requeued(Next::Move(placement))
}

fn requeued(next: Next) -> Life {
    in_phase(Phase::Requeued(Requeued { next, gone: false }))
}
