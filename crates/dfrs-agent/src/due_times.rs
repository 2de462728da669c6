//! When which job is to be looked at again.

use std::collections::BTreeSet;

use dfrs_core::Time;

/// Jobs by the times at which they are due, the earliest first. A job may have several.
#[derive(Clone, Debug, Default)]
pub struct DueTimes(BTreeSet<(Time, u32)>);

impl DueTimes {
    /// The job is due at this time, too. O(log n).
    pub fn add(&mut self, job: u32, at: Time) {
        self.0.insert((at, job));
    }

    /// The job is no longer due at this time. O(log n).
    pub fn cancel(&mut self, job: u32, at: Time) {
        self.0.remove(&(at, job));
    }

    /// When the first job is due.
    pub fn next(&self) -> Option<Time> {
        self.0.first().map(|(at, _)| *at)
    }

    /// The jobs that are due by now, the earliest first; they stay due.
    pub fn due(&self, now: Time) -> impl Iterator<Item = u32> {
        let due = self.0.iter().take_while(move |(at, _)| *at <= now);
        due.map(|(_, job)| *job)
    }

    /// The jobs that are due by now, the earliest first, and for the last time. O(log n) for each.
    pub fn take_due(&mut self, now: Time) -> Vec<u32> {
        let mut jobs = Vec::new();
        while let Some((at, job)) = self.0.first().copied().filter(|(at, _)| *at <= now) {
            self.0.remove(&(at, job));
            jobs.push(job);
        }
        jobs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_due_once_for_each_of_their_times() {
        let mut due = DueTimes::default();
        for (job, at) in [(7, 20), (8, 10), (7, 10), (9, 15), (9, 30)] {
            due.add(job, Time(at));
        }
        due.cancel(9, Time(15));
        assert_eq!(due.next(), Some(Time(10)));
        assert_eq!(due.due(Time(19)).collect::<Vec<u32>>(), [7, 8]);
        assert_eq!(due.take_due(Time(19)), [7, 8]);
        assert_eq!(due.take_due(Time(19)), [0; 0]);
        assert_eq!(due.take_due(Time(30)), [7, 9]);
        assert_eq!(due.next(), None);
    }
}
