//! A job in each phase, and the names of the phases in the table.

use dfrs_core::Time;

use super::scene::here;
use crate::job::life::dumping::Dumping;
use crate::job::life::leaving::{LeavingPhase, Next, Warned};
use crate::job::life::parked::Parked;
use crate::job::life::parking::ParkingPhase;
use crate::job::life::phase::LifePhase;
use crate::job::life::requeued::Requeued;
use crate::job::life::starting::Starting;
use crate::job::life::unparking::Unparking;

/// A job in one phase.
pub(in crate::job::life) struct Sample {
    pub(super) name: &'static str,
    /// Only what differs from the last one that is no variant is worth a row.
    pub(super) is_variant: bool,
    /// The phase, if it began at this time.
    pub(in crate::job::life) phase: fn(Time) -> LifePhase,
}

const fn usual(name: &'static str, phase: fn(Time) -> LifePhase) -> Sample {
    Sample {
        name,
        is_variant: false,
        phase,
    }
}

const fn variant(name: &'static str, phase: fn(Time) -> LifePhase) -> Sample {
    Sample {
        name,
        is_variant: true,
        phase,
    }
}

/// In the order in which jobs go through them.
pub(in crate::job::life) const SAMPLES: &[Sample] = &[
    usual("Waiting", |_| LifePhase::Waiting),
    usual("Starting", |since| starting(since, false)),
    variant("Starting, to go on", |since| starting(since, true)),
    usual("Running", |_| LifePhase::Running),
    usual("Parking", |since| parking(since, false)),
    variant("Parking, suspended", |since| parking(since, true)),
    usual("Parked", |_| parked(false, false)),
    variant("Parked, called back", |_| parked(true, false)),
    variant("Parked, unheard", |_| parked(false, true)),
    usual("Unparking", |since| {
        LifePhase::Unparking(Unparking {
            placement: here(),
            memory: vec![100],
            since,
            is_forgotten: false,
        })
    }),
    usual("Leaving, to pause", |_| {
        LifePhase::Leaving(LeavingPhase { next: Next::Pause })
    }),
    usual("Warned, to pause", |since| {
        LifePhase::Warned(Warned {
            next: Next::Pause,
            since,
        })
    }),
    usual("Dumping, to pause", |since| {
        LifePhase::Dumping(Dumping {
            next: Next::Pause,
            since,
        })
    }),
    usual("Requeued, to pause", |_| requeued(Next::Pause, false)),
    usual("Gone, to pause", |_| requeued(Next::Pause, true)),
    variant("Gone, to restart", |_| requeued(Next::Restart, true)),
    variant("Gone, to move", |_| requeued(Next::Move(here()), true)),
    usual("Paused", |_| LifePhase::Paused),
    usual("Foreign", |_| LifePhase::Foreign),
];

fn parking(since: Time, is_suspended: bool) -> LifePhase {
    LifePhase::Parking(ParkingPhase {
        since,
        is_suspended,
        is_forgotten: false,
    })
}

fn parked(called_back: bool, is_unheard: bool) -> LifePhase {
    LifePhase::Parked(Parked {
        placement: here(),
        memory: vec![100],
        called_back,
        is_unheard,
    })
}

fn starting(since: Time, resumes: bool) -> LifePhase {
    LifePhase::Starting(Starting {
        placement: here(),
        since,
        resumes,
    })
}

fn requeued(next: Next, gone: bool) -> LifePhase {
    LifePhase::Requeued(Requeued {
        next,
        gone,
        has_image: false,
        since: Time(0),
    })
}

/// The name of a phase.
pub(super) fn name(phase: &LifePhase) -> String {
    match phase {
        LifePhase::Waiting => "Waiting".into(),
        LifePhase::Starting(Starting { resumes: false, .. }) => "Starting".into(),
        LifePhase::Starting(Starting { resumes: true, .. }) => "Starting, to go on".into(),
        LifePhase::Running => "Running".into(),
        LifePhase::Parking(ParkingPhase {
            is_suspended: false,
            ..
        }) => "Parking".into(),
        LifePhase::Parking(_) => "Parking, suspended".into(),
        LifePhase::Parked(Parked {
            called_back: true, ..
        }) => "Parked, called back".into(),
        LifePhase::Parked(Parked {
            is_unheard: true, ..
        }) => "Parked, unheard".into(),
        LifePhase::Parked(_) => "Parked".into(),
        LifePhase::Unparking(_) => "Unparking".into(),
        LifePhase::Leaving(LeavingPhase { next }) => with("Leaving", next),
        LifePhase::Warned(Warned { next, .. }) => with("Warned", next),
        LifePhase::Dumping(Dumping { next, .. }) => with("Dumping", next),
        LifePhase::Requeued(Requeued {
            next, gone: false, ..
        }) => with("Requeued", next),
        LifePhase::Requeued(Requeued {
            next, gone: true, ..
        }) => with("Gone", next),
        LifePhase::Paused => "Paused".into(),
        LifePhase::Foreign => "Foreign".into(),
    }
}

fn with(name: &str, next: &Next) -> String {
    let next = match next {
        Next::Pause => "to pause",
        Next::Restart => "to restart",
        Next::Move(_) => "to move",
    };
    format!("{name}, {next}")
}
