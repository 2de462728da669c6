//! Conservative backfilling: every job that waits has a reservation.

use dfrs_core::{Span, Time};

use super::Discipline;
use super::machine::Machine;
use super::profile::Profile;

/// A job that waits.
struct Waiting {
    job: usize,
    tasks: u32,
    duration: Span,
    /// When it is to start.
    start: Time,
}

impl Waiting {
    fn end(&self) -> Time {
        self.start + self.duration
    }
}

/// Reservations at the earliest time at which they delay none that was made before.
pub(super) struct Conservative {
    nodes: u32,
    /// What running jobs, as far as is expected, and reservations leave.
    profile: Profile,
    /// In the order of submission.
    waiting: Vec<Waiting>,
    submitted: Vec<usize>,
    /// Some job ended before that was expected.
    ended_early: bool,
    /// Some job did not end when that was expected.
    overran: bool,
    /// The first start of a waiting job.
    next: Option<Time>,
}

impl Conservative {
    pub fn new(nodes: u32) -> Self {
        Self {
            nodes,
            profile: Profile::new(nodes),
            waiting: Vec::new(),
            submitted: Vec::new(),
            ended_early: false,
            overran: false,
            next: None,
        }
    }

    /// Moves reservations forward, one after the other in the order of submission. None gets later,
    /// because each could stay where it is.
    fn compress(&mut self, now: Time) {
        for waiting in &mut self.waiting {
            let (start, end) = (waiting.start, waiting.end());
            self.profile.give(start, end, waiting.tasks);
            waiting.start = self.profile.earliest(now, waiting.tasks, waiting.duration);
            self.profile
                .take(waiting.start, waiting.end(), waiting.tasks);
        }
    }

    /// Makes all reservations anew, in the order of submission.
    fn reserve_anew(&mut self, machine: &Machine<'_>, now: Time) {
        self.profile = Profile::new(self.nodes);
        for (end, job) in machine.by_expected_end() {
            self.profile.take(now, end, machine.jobs[job].tasks);
        }
        for mut waiting in std::mem::take(&mut self.waiting) {
            self.reserve(now, &mut waiting);
            self.waiting.push(waiting);
        }
    }

    fn reserve(&mut self, now: Time, waiting: &mut Waiting) {
        waiting.start = self.profile.earliest(now, waiting.tasks, waiting.duration);
        self.profile
            .take(waiting.start, waiting.end(), waiting.tasks);
    }
}

impl Discipline for Conservative {
    fn ended(&mut self, machine: &Machine<'_>, now: Time, job: usize, expected: Time) {
        if expected > now {
            self.profile.give(now, expected, machine.jobs[job].tasks);
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
        self.profile.forget_before(now);
        if std::mem::take(&mut self.overran) {
            self.reserve_anew(machine, now);
        } else if self.ended_early {
            self.compress(now);
        }
        self.ended_early = false;
        for job in std::mem::take(&mut self.submitted) {
            let mut waiting = Waiting {
                job,
                tasks: machine.jobs[job].tasks,
                duration: machine.duration(job),
                start: now,
            };
            self.reserve(now, &mut waiting);
            self.waiting.push(waiting);
        }
        let starts = self.waiting.extract_if(.., |waiting| waiting.start <= now);
        for waiting in starts {
            machine.start(now, waiting.job);
        }
        self.next = self.waiting.iter().map(|waiting| waiting.start).min();
    }

    fn next(&self) -> Option<Time> {
        self.next
    }
}
