//! A job in each phase, for tests.

use dfrs_core::Time;

use super::Life;
use super::leaving::Next;
use super::parked::Parked;
use super::parking::ParkingPhase;
use super::phase::LifePhase;
use super::requeued::Requeued;
use super::starting::Starting;
use super::unparking::Unparking;
use crate::job::placement::NamedPlacement;

/// Somewhere in the life of a job that ended up in `phase`.
pub(super) fn in_phase(phase: LifePhase) -> Life {
    Life {
        phase,
        ..Life::default()
    }
}

/// Runs.
pub(crate) fn running() -> Life {
    in_phase(LifePhase::Running)
}

/// Is to come back from where it was parked.
pub(super) fn unparking() -> Life {
    in_phase(LifePhase::Unparking(Unparking {
        placement: NamedPlacement::default(),
        memory: vec![100],
        since: Time(0),
        is_forgotten: false,
    }))
}

/// Is being parked since the beginning of time.
pub(crate) fn parking() -> Life {
    in_phase(LifePhase::Parking(ParkingPhase {
        since: Time(0),
        is_suspended: false,
        is_forgotten: false,
    }))
}

/// Was requeued, and pauses.
pub(crate) fn pausing() -> Life {
    requeued(Next::Pause)
}

/// Was requeued, and moves there.
pub(crate) fn moving(placement: NamedPlacement) -> Life {
    requeued(Next::Move(placement))
}

fn requeued(next: Next) -> Life {
    in_phase(LifePhase::Requeued(Requeued::new(next, Time(0))))
}

/// Is to start, and has been since the beginning of time.
pub(super) fn starting() -> Life {
    in_phase(LifePhase::Starting(Starting {
        placement: NamedPlacement::default(),
        since: Time(0),
        resumes: false,
    }))
}

/// Is parked, with memory released on one node.
pub(super) fn parked() -> Life {
    in_phase(LifePhase::Parked(Parked {
        placement: NamedPlacement::default(),
        memory: vec![100],
        called_back: false,
        is_unheard: false,
    }))
}
