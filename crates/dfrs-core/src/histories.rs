//! What users have had lately: a job that follows on others of its user is not new to the machine.
//!
//! A user's time is that in which a job of theirs was at work, by its yield: what jobs had that ran
//! side by side counts once. Half of it is forgotten in an hour. What is above ten minutes of it a
//! job inherits when it begins to wait: decisions count it as virtual time of its own. So a long
//! job that is cut into pieces is no better off than in one piece, and the jobs of a user with a
//! short job now and then still count as new.

use std::collections::BTreeMap;

use crate::units::{Span, Time};

/// After so long half of what a user has had is forgotten.
const HALF_LIFE: Span = Span::from_seconds(3600);

/// So much of it no job inherits.
const FREE: Span = Span::from_seconds(600);

/// What users have had lately, by the numbers of users.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histories {
    users: BTreeMap<u32, History>,
}

/// Of one user.
#[derive(Clone, Copy, Debug, PartialEq)]
struct History {
    /// Seconds at `counted`.
    had: f64,
    counted: Time,
}

impl History {
    /// What is left of it at `now`.
    fn at(self, now: Time) -> f64 {
        let elapsed = now.since(self.counted).max(Span::ZERO).seconds();
        self.had * (-elapsed / HALF_LIFE.seconds()).exp2()
    }
}

impl Histories {
    /// A job of this user has ended after it had so much virtual time. O(log users).
    pub fn ended(&mut self, user: u32, virtual_time: Span, now: Time) {
        let known = self.users.get(&user).copied();
        // What another job had at the same time was counted when that ended.
        let more = known.map_or(virtual_time, |history| {
            virtual_time.min(now.since(history.counted))
        });
        let had = known.map_or(0.0, |history| history.at(now)) + more.max(Span::ZERO).seconds();
        let counted = known.map_or(now, |history| history.counted.max(now));
        self.users.insert(user, History { had, counted });
    }

    /// What a job of this user inherits that begins to wait now. O(log users).
    pub fn inherited(&self, user: u32, now: Time) -> Span {
        let had = self.users.get(&user).map_or(0.0, |history| history.at(now));
        let seconds = (had - FREE.seconds()).max(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "users have had less than 2^53 microseconds"
        )]
        Span((seconds * 1e6) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: u32 = 1000;

    fn at(seconds: i64) -> Time {
        Time::from_seconds(seconds)
    }

    fn span(seconds: i64) -> Span {
        Span::from_seconds(seconds)
    }

    /// What the next job inherits after so many runs of so many seconds, one after the other, all
    /// the time.
    fn after_pieces(count: i64, seconds: i64) -> f64 {
        let mut histories = Histories::default();
        for piece in 1..=count {
            histories.ended(USER, span(seconds), at(piece * seconds));
        }
        histories.inherited(USER, at(count * seconds)).seconds()
    }

    #[test]
    fn user_with_little_recent_use_inherits_nothing() {
        let mut histories = Histories::default();
        assert_eq!(histories.inherited(USER, at(0)), Span::ZERO);
        histories.ended(USER, span(600), at(1000));
        assert_eq!(histories.inherited(USER, at(1000)), Span::ZERO);
        histories.ended(USER, span(3600), at(5000));
        assert!(histories.inherited(USER, at(5000)) > span(3000));
        assert_eq!(histories.inherited(USER + 1, at(5000)), Span::ZERO);
        // Three hours later.
        assert_eq!(histories.inherited(USER, at(5000 + 3 * 3600)), Span::ZERO);
    }

    #[test]
    fn pieces_inherit_the_decayed_time_of_the_whole() {
        let pieces = after_pieces(20, 140);
        assert!(pieces > 1500.0 && pieces < 2800.0, "{pieces}");
        // However many there were: an hour over the logarithm of two, less what is free.
        let many = after_pieces(1000, 140);
        assert!(many > 4400.0 && many < 4700.0, "{many}");
    }

    #[test]
    fn concurrent_jobs_of_a_user_count_once() {
        let mut histories = Histories::default();
        for _ in 0..64 {
            histories.ended(USER, span(1000), at(1000));
        }
        assert_eq!(histories.inherited(USER, at(1000)), span(400));
    }

    #[test]
    fn clock_step_back_does_not_reduce_history() {
        let mut histories = Histories::default();
        histories.ended(USER, span(1000), at(5000));
        histories.ended(USER, span(1000), at(100));
        assert_eq!(histories.inherited(USER, at(100)), span(400));
    }
}
