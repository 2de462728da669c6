//! The flow of the transportation problem: which job does how much in which interval.
//!
//! Only what is not zero is kept; a job has an edge to each interval of its window, with its rate
//! times the interval's length as capacity, whether or not anything flows there.

use super::bits::{SparseSet, WORD};

/// A part of the time in which no job is released and none is due.
#[derive(Clone, Debug)]
pub(super) struct FlowInterval {
    pub from: i64,
    pub to: i64,
    /// What of its capacity is not used.
    pub left: i128,
    /// The members that do something in it.
    pub users: SparseSet,
}

impl FlowInterval {
    pub fn length(&self) -> i128 {
        i128::from(self.to - self.from)
    }
}

/// A job that the sweep has met.
#[derive(Clone, Debug, Default)]
pub(super) struct Member {
    /// The job's place in the instance.
    pub job: u32,
    pub rate: i64,
    pub due: i64,
    /// What it has to do in these intervals and later.
    pub work: i128,
    /// What it does in these intervals.
    pub done: i128,
    /// The member's first interval.
    pub first: u32,
    /// The interval after its last, once that is known.
    pub end: u32,
    /// Whether it did less than it could, so that the intervals so far matter to it.
    pub lags: bool,
    /// The intervals in which it can do no more.
    full: SparseSet,
    /// What it does in those others in which it does something, ascending.
    parts: Vec<(u32, i128)>,
}

impl Member {
    /// What it must have done by `now` to be ready when it is due.
    pub fn owed(&self, now: i64) -> i128 {
        let later = i128::from((self.due - now).max(0)) * i128::from(self.rate);
        (self.work - later).max(0)
    }

    /// The most that it can do in an interval of its window.
    fn max_amount(&self, interval: &FlowInterval) -> i128 {
        interval.length() * i128::from(self.rate)
    }

    /// What it does in this interval, in which it does at most so much.
    fn amount(&self, interval: u32, max: i128) -> i128 {
        if self.full.contains(interval) {
            return max;
        }
        find(&self.parts, interval).map_or(0, |found| self.parts[found].1)
    }

    fn set_part(&mut self, interval: u32, amount: i128) {
        match (find(&self.parts, interval), amount) {
            (Ok(found), 0) => {
                self.parts.remove(found);
            }
            (Ok(found), _) => self.parts[found].1 = amount,
            (Err(_), 0) => {}
            (Err(place), _) => self.parts.insert(place, (interval, amount)),
        }
    }

    pub fn is_complete(&self) -> bool {
        self.done == self.work
    }
}

/// Intervals one after the other, and the jobs in them.
#[derive(Default)]
pub(super) struct Flow {
    pub intervals: Vec<FlowInterval>,
    pub members: Vec<Member>,
    unused: Vec<Member>,
    unused_users: Vec<SparseSet>,
}

impl Flow {
    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.unused.append(&mut self.members);
        let intervals = self.intervals.drain(..);
        self.unused_users
            .extend(intervals.map(|interval| interval.users));
    }

    /// A job that has so much to do from the next interval on.
    pub fn add_member(&mut self, job: u32, rate: i64, work: i128, due: i64) -> u32 {
        let Member {
            mut parts,
            mut full,
            ..
        } = self.unused.pop().unwrap_or_default();
        parts.clear();
        full.clear();
        self.members.push(Member {
            job,
            rate,
            due,
            work,
            done: 0,
            first: place(self.intervals.len()),
            end: u32::MAX,
            lags: false,
            parts,
            full,
        });
        place(self.members.len() - 1)
    }

    pub fn add_interval(&mut self, from: i64, to: i64, capacity: i64) -> u32 {
        let mut users = self.unused_users.pop().unwrap_or_default();
        users.clear();
        self.intervals.push(FlowInterval {
            from,
            to,
            left: i128::from(to - from) * i128::from(capacity),
            users,
        });
        place(self.intervals.len() - 1)
    }

    /// The intervals of the member's window so far in which it can do more, by words.
    pub fn room(&self, member: u32) -> impl Iterator<Item = (u32, u64)> {
        let member = &self.members[member as usize];
        let end = member.end.min(place(self.intervals.len()));
        let (first, last) = (member.first / WORD, (end - 1) / WORD);
        let mut full = member.full.words_from(first);
        let (low, high) = (member.first % WORD, (end - 1) % WORD);
        (first..=last).map(move |word| {
            let mut bits = u64::MAX;
            if word == first {
                bits &= u64::MAX << low;
            }
            if word == last {
                bits &= u64::MAX >> (WORD - 1 - high);
            }
            if let Some((place, taken)) = full.first()
                && *place == word
            {
                bits &= !taken;
                full = &full[1..];
            }
            (word, bits)
        })
    }

    /// How much more the member can do in this interval of its window.
    pub fn room_in(&self, member: u32, interval: u32) -> i128 {
        let member = &self.members[member as usize];
        let max = member.max_amount(&self.intervals[interval as usize]);
        max - member.amount(interval, max)
    }

    /// How much the member does in this interval.
    pub fn amount(&self, member: u32, interval: u32) -> i128 {
        let member = &self.members[member as usize];
        let max = member.max_amount(&self.intervals[interval as usize]);
        member.amount(interval, max)
    }

    /// What the member does and need not have done by `now`.
    pub fn spare(&self, member: u32, now: i64) -> i128 {
        let member = &self.members[member as usize];
        member.done - member.owed(now)
    }

    /// Changes what the member does in this interval, and nothing else.
    pub fn shift(&mut self, member: u32, interval: u32, amount: i128) {
        let (name, number) = (member, interval);
        let member = &mut self.members[name as usize];
        let interval = &mut self.intervals[number as usize];
        let max = member.max_amount(interval);
        let before = member.amount(number, max);
        let after = before + amount;
        if (before == 0) != (after == 0) {
            interval.users.set(name, after != 0);
        }
        if (before == max) != (after == max) {
            member.full.set(number, after == max);
        }
        member.set_part(number, if after == max { 0 } else { after });
    }

    /// The member does so much in the interval, which has as much left.
    pub fn give(&mut self, member: u32, interval: u32, amount: i128) {
        self.shift(member, interval, amount);
        self.members[member as usize].done += amount;
        self.intervals[interval as usize].left -= amount;
    }
}

/// The place of this interval, or where it should be.
fn find(parts: &[(u32, i128)], interval: u32) -> Result<usize, usize> {
    match parts.last() {
        Some((last, _)) if *last < interval => Err(parts.len()),
        _ => parts.binary_search_by_key(&interval, |part| part.0),
    }
}

fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
