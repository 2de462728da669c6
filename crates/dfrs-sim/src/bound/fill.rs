//! Which member gets what of one interval, as long as nothing that was given before has to change.

use super::flow::{Flow, Member};

/// What each of the members gets in an interval.
#[derive(Default)]
pub(super) struct Fill {
    /// The most that they can use.
    wanted: Vec<i128>,
    given: Vec<i128>,
    /// Members, by their place among those that are not complete, and their laxities.
    order: Vec<(f64, usize)>,
}

impl Fill {
    /// Gives the members all that they can use if there is as much, else first what they would
    /// otherwise be late for, then what is left by least laxity: the time until the deadline less
    /// the time that the rest takes at full rate. Returns whether a member is late then. O(n).
    pub fn give(&mut self, flow: &mut Flow, interval: u32, alive: &[u32]) -> bool {
        let (length, left) = {
            let interval = &flow.intervals[interval as usize];
            (interval.length(), interval.left)
        };
        self.wanted.clear();
        let wanted = alive.iter().map(|member| {
            let member = &flow.members[*member as usize];
            (length * i128::from(member.rate)).min(member.work - member.done)
        });
        self.wanted.extend(wanted);
        if self.wanted.iter().sum::<i128>() <= left {
            give_all(flow, interval, alive, &self.wanted);
            return false;
        }
        let is_short = self.share(flow, interval, alive);
        give_all(flow, interval, alive, &self.given);
        is_short
    }

    /// Shares out what is not enough for all.
    fn share(&mut self, flow: &mut Flow, interval: u32, alive: &[u32]) -> bool {
        let (from, to, mut left) = {
            let interval = &flow.intervals[interval as usize];
            (interval.from, interval.to, interval.left)
        };
        let mut is_short = false;
        self.given.clear();
        self.order.clear();
        for (place, (member, wanted)) in alive.iter().zip(&self.wanted).enumerate() {
            let member = &flow.members[*member as usize];
            let owed = (member.owed(to) - member.done).max(0);
            let gets = owed.min(*wanted).min(left);
            is_short |= gets < owed;
            left -= gets;
            self.given.push(gets);
            self.order.push((laxity(member, from), place));
        }
        self.share_by_laxity(left);
        let states = alive.iter().zip(self.wanted.iter().zip(&self.given));
        for (member, (wanted, given)) in states {
            flow.members[*member as usize].lags |= given < wanted;
        }
        is_short
    }

    /// Gives what is left by least laxity. Only whether there is enough for all of a half matters, not the
    /// order in it.
    fn share_by_laxity(&mut self, mut left: i128) {
        let mut order = &mut self.order[..];
        while left > 0 && !order.is_empty() {
            let half = order.len().div_ceil(2);
            order.select_nth_unstable_by(half - 1, |one, other| {
                one.0.total_cmp(&other.0).then(one.1.cmp(&other.1))
            });
            let (first, rest) = order.split_at_mut(half);
            let more = |place: usize| self.wanted[place] - self.given[place];
            let all: i128 = first.iter().map(|(_, place)| more(*place)).sum();
            if all > left && half > 1 {
                order = first;
                continue;
            }
            for (_, place) in first {
                let more = (self.wanted[*place] - self.given[*place]).min(left);
                self.given[*place] += more;
                left -= more;
            }
            order = rest;
        }
    }
}

fn give_all(flow: &mut Flow, interval: u32, alive: &[u32], given: &[i128]) {
    for (member, given) in alive.iter().zip(given) {
        if *given > 0 {
            flow.give(*member, interval, *given);
        }
    }
}

/// In microseconds. Only the order of jobs depends on it, so that it need not be exact.
fn laxity(member: &Member, now: i64) -> f64 {
    (member.due - now) as f64 - (member.work - member.done) as f64 / member.rate as f64
}
