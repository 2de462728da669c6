//! Conservative backfilling: every job that waits has a reservation.

use std::collections::BTreeMap;

use dfrs_core::{Span, Time};

use super::Discipline;
use super::machine::Machine;
use super::steps::{ProfileRoom, Steps};

/// A job that waits.
struct Waiting<P> {
    job: usize,
    place: P,
    duration: Span,
    /// When it is to start.
    start: Time,
}

impl<P> Waiting<P> {
    fn end(&self) -> Time {
        self.start + self.duration
    }
}

/// Reservations at the earliest time at which they delay none that was made before.
pub(super) struct Conservative<R: ProfileRoom> {
    /// The empty machine.
    empty: R,
    /// What running jobs, as far as is expected, and reservations leave.
    plan: Steps<R>,
    /// In the order of submission.
    waiting: Vec<Waiting<R::Place>>,
    /// Where each job is that runs.
    running: BTreeMap<usize, R::Place>,
    submitted: Vec<usize>,
    /// Some job ended before that was expected.
    ended_early: bool,
    /// Some job did not end when that was expected.
    overran: bool,
    /// The first start of a waiting job.
    next: Option<Time>,
}

impl<R: ProfileRoom> Conservative<R> {
    /// With a machine that is empty.
    pub fn new(empty: R) -> Self {
        Self {
            plan: Steps::new(empty.clone()),
            empty,
            waiting: Vec::new(),
            running: BTreeMap::new(),
            submitted: Vec::new(),
            ended_early: false,
            overran: false,
            next: None,
        }
    }

    /// Moves reservations forward, one after the other in the order of submission. None gets later,
    /// because each could stay where it is.
    fn compress(&mut self, machine: &Machine<'_>, now: Time) {
        for mut waiting in std::mem::take(&mut self.waiting) {
            let (start, end) = (waiting.start, waiting.end());
            self.plan.give(start, end, &waiting.place);
            self.reserve(machine, now, &mut waiting);
            self.waiting.push(waiting);
        }
    }

    /// Makes all reservations again, in the order of submission.
    fn rebuild_reservations(&mut self, machine: &Machine<'_>, now: Time) {
        self.plan = Steps::new(self.empty.clone());
        for (end, job) in machine.by_expected_end() {
            if let Some(place) = self.running.get(&job) {
                self.plan.take(now, end, place);
            }
        }
        for mut waiting in std::mem::take(&mut self.waiting) {
            self.reserve(machine, now, &mut waiting);
            self.waiting.push(waiting);
        }
    }

    fn reserve(&mut self, machine: &Machine<'_>, now: Time, waiting: &mut Waiting<R::Place>) {
        let job = &machine.jobs[waiting.job];
        (waiting.start, waiting.place) = R::earliest(&self.plan, now, job, waiting.duration);
        self.plan.take(waiting.start, waiting.end(), &waiting.place);
    }
}

impl<R: ProfileRoom> Discipline for Conservative<R> {
    fn ended(&mut self, _: &Machine<'_>, now: Time, job: usize, expected: Time) {
        let place = self.running.remove(&job);
        if let Some(place) = place.filter(|_| expected > now) {
            self.plan.give(now, expected, &place);
            self.ended_early = true;
        }
    }

    fn overran(&mut self) {
        self.overran = true;
    }

    fn submitted(&mut self, job: usize) {
        self.submitted.push(job);
    }

    fn schedule(&mut self, machine: &mut Machine<'_>, now: Time) {
        self.plan.forget_before(now);
        if std::mem::take(&mut self.overran) {
            self.rebuild_reservations(machine, now);
        } else if self.ended_early {
            self.compress(machine, now);
        }
        self.ended_early = false;
        for job in std::mem::take(&mut self.submitted) {
            let mut waiting = Waiting {
                job,
                place: R::Place::default(),
                duration: machine.duration(job),
                start: now,
            };
            self.reserve(machine, now, &mut waiting);
            self.waiting.push(waiting);
        }
        let starts = self.waiting.extract_if(.., |waiting| waiting.start <= now);
        for waiting in starts {
            machine.start(now, waiting.job, R::mapping(&waiting.place));
            self.running.insert(waiting.job, waiting.place);
        }
        self.next = self.waiting.iter().map(|waiting| waiting.start).min();
    }

    fn next(&self) -> Option<Time> {
        self.next
    }
}
