//! For how long jobs have had places.

use dfrs_core::{JobId, Span, Time};

use crate::journal::position;

/// One job's time with a place.
#[derive(Clone, Copy, Default)]
struct Stay {
    /// Until it gave up its last place.
    before: Span,
    /// Since when it has one.
    since: Option<Time>,
}

/// The times of all jobs of a trace with a place.
pub(super) struct Stays(Vec<Stay>);

impl Stays {
    /// No job of so many has had one.
    pub(super) fn of(jobs: usize) -> Self {
        Self(vec![Stay::default(); jobs])
    }

    /// The job has a place from now on.
    pub(super) fn begin(&mut self, job: JobId, now: Time) {
        self.0[position(job)].since = Some(now);
    }

    /// The job gives up its place. With its work it loses the time, too.
    pub(super) fn end(&mut self, job: JobId, now: Time, is_lost: bool) {
        let before = if is_lost {
            Span::ZERO
        } else {
            self.until(job, now)
        };
        self.0[position(job)] = Stay {
            before,
            since: None,
        };
    }

    /// How long it has had one until now.
    pub(super) fn until(&self, job: JobId, now: Time) -> Span {
        let stay = self.0[position(job)];
        let last = stay.since.map_or(Span::ZERO, |since| now.since(since));
        stay.before + last.max(Span::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_with_a_place_add_up_until_work_is_lost() {
        let mut stays = Stays::of(2);
        let (job, at) = (JobId(1), Time::from_seconds);
        let seconds = |stays: &Stays, now| stays.until(job, at(now)).seconds();
        assert!(seconds(&stays, 5).abs() < 1e-9);
        stays.begin(job, at(10));
        assert!((seconds(&stays, 15) - 5.0).abs() < 1e-9);
        stays.end(job, at(20), false);
        stays.begin(job, at(100));
        assert!((seconds(&stays, 101) - 11.0).abs() < 1e-9);
        stays.end(job, at(110), true);
        assert!(seconds(&stays, 200).abs() < 1e-9);
    }
}
