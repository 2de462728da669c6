//! A job in each phase, and the names of the phases in the table.

use dfrs_core::Time;

use super::scene::here;
use crate::life::leaving::{Leaving, Next, Warned};
use crate::life::parked::Parked;
use crate::life::parking::Parking;
use crate::life::phase::Phase;
use crate::life::requeued::Requeued;
use crate::life::starting::Starting;
use crate::life::unparking::Unparking;

/// A job in one phase.
pub(super) struct Sample {
    pub(super) name: &'static str,
    /// Only what differs from the last one that is no variant is worth a row.
    pub(super) is_variant: bool,
    /// The phase, if it began at this time.
    pub(super) phase: fn(Time) -> Phase,
}

const fn usual(name: &'static str, phase: fn(Time) -> Phase) -> Sample {
    Sample {
        name,
        is_variant: false,
        phase,
    }
}

const fn variant(name: &'static str, phase: fn(Time) -> Phase) -> Sample {
    Sample {
        name,
        is_variant: true,
        phase,
    }
}

/// In the order in which jobs go through them.
pub(super) const SAMPLES: &[Sample] = &[
    usual("Waiting", |_| Phase::Waiting),
    usual("Starting", |since| starting(since, false)),
    variant("Starting, to go on", |since| starting(since, true)),
    usual("Running", |_| Phase::Running),
    usual("Parking", |since| parking(since, false)),
    variant("Parking, suspended", |since| parking(since, true)),
    usual("Parked", |_| parked(false, false)),
    variant("Parked, called back", |_| parked(true, false)),
    variant("Parked, unheard", |_| parked(false, true)),
    usual("Unparking", |since| {
        Phase::Unparking(Unparking {
            placement: here(),
            memory: vec![100],
            since,
            is_forgotten: false,
        })
    }),
    usual("Leaving, to pause", |_| {
        Phase::Leaving(Leaving { next: Next::Pause })
    }),
    usual("Warned, to pause", |since| {
        Phase::Warned(Warned {
            next: Next::Pause,
            since,
        })
    }),
    usual("Requeued, to pause", |_| requeued(Next::Pause, false)),
    usual("Gone, to pause", |_| requeued(Next::Pause, true)),
    variant("Gone, to restart", |_| requeued(Next::Restart, true)),
    variant("Gone, to move", |_| requeued(Next::Move(here()), true)),
    usual("Paused", |_| Phase::Paused),
    usual("Foreign", |_| Phase::Foreign),
];

fn parking(since: Time, is_suspended: bool) -> Phase {
    Phase::Parking(Parking {
        since,
        is_suspended,
        is_forgotten: false,
    })
}

fn parked(called_back: bool, is_unheard: bool) -> Phase {
    Phase::Parked(Parked {
        placement: here(),
        memory: vec![100],
        called_back,
        is_unheard,
    })
}

fn starting(since: Time, resumes: bool) -> Phase {
    Phase::Starting(Starting {
        placement: here(),
        since,
        resumes,
    })
}

fn requeued(next: Next, gone: bool) -> Phase {
    Phase::Requeued(Requeued { next, gone })
}

/// The name of a phase.
pub(super) fn name(phase: &Phase) -> String {
    match phase {
        Phase::Waiting => "Waiting".into(),
        Phase::Starting(Starting { resumes: false, .. }) => "Starting".into(),
        Phase::Starting(Starting { resumes: true, .. }) => "Starting, to go on".into(),
        Phase::Running => "Running".into(),
        Phase::Parking(Parking {
            is_suspended: false,
            ..
        }) => "Parking".into(),
        Phase::Parking(_) => "Parking, suspended".into(),
        Phase::Parked(Parked {
            called_back: true, ..
        }) => "Parked, called back".into(),
        Phase::Parked(Parked {
            is_unheard: true, ..
        }) => "Parked, unheard".into(),
        Phase::Parked(_) => "Parked".into(),
        Phase::Unparking(_) => "Unparking".into(),
        Phase::Leaving(Leaving { next }) => with("Leaving", next),
        Phase::Warned(Warned { next, .. }) => with("Warned", next),
        Phase::Requeued(Requeued { next, gone: false }) => with("Requeued", next),
        Phase::Requeued(Requeued { next, gone: true }) => with("Gone", next),
        Phase::Paused => "Paused".into(),
        Phase::Foreign => "Foreign".into(),
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
