//! More for jobs that lack something, at the cost of jobs that can do it at another time: Dinic's
//! algorithm from a flow that is nearly what it should be.
//!
//! Residual edges lead from a member to the intervals of its window in which it is not full, and from
//! an interval to the members that do something in it. A path ends at an interval with capacity left,
//! or at a member that need not have done all that it does.

use super::bits::{DenseSet, numbers};
use super::flow::Flow;

/// A member, and what it lacks.
pub(super) type Lack = (u32, i128);

/// Members and intervals from which nothing is to be had for those that lack something: a cut.
pub(super) struct Closed {
    pub members: Vec<u32>,
    pub intervals: Vec<u32>,
}

/// Nodes at the same distance from those that lack something.
#[derive(Default)]
struct SearchLevel {
    members: DenseSet,
    /// Reached from these members.
    intervals: DenseSet,
}

/// Where paths end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Interval,
    Member,
}

/// One path, and the memory for finding it.
#[derive(Default)]
pub(super) struct PathSearch {
    levels: Vec<SearchLevel>,
    /// How many of them the last search used.
    depth: usize,
    /// The members and intervals that the search did not reach.
    members_left: DenseSet,
    intervals_left: DenseSet,
    /// A member, an interval, a member and so on, one of each level.
    path: Vec<u32>,
    members: Vec<u32>,
    intervals: Vec<u32>,
}

impl PathSearch {
    /// Makes members do what they lack by `now` in the intervals so far. Those that have to do less
    /// for it are added to `lowered`.
    ///
    /// # Errors
    ///
    /// They cannot do it: what the search reached.
    pub fn satisfy(
        &mut self,
        flow: &mut Flow,
        lacks: &mut Vec<Lack>,
        now: i64,
        lowered: &mut Vec<u32>,
    ) -> Result<(), Closed> {
        while !lacks.is_empty() {
            let Some(end) = self.find_levels(flow, lacks, now) else {
                let levels = &self.levels[..self.depth];
                return Err(Closed {
                    members: levels
                        .iter()
                        .flat_map(|level| level.members.iter())
                        .collect(),
                    intervals: levels
                        .iter()
                        .flat_map(|level| level.intervals.iter())
                        .collect(),
                });
            };
            for (member, lack) in lacks.iter_mut() {
                while *lack > 0 && self.find_path(flow, *member, end, now) {
                    *lack -= self.push(flow, *lack, end, now, lowered);
                }
            }
            lacks.retain(|(_, lack)| *lack > 0);
        }
        Ok(())
    }

    /// Breadth-first search up to the first level at which paths end.
    fn find_levels(&mut self, flow: &Flow, lacks: &[Lack], now: i64) -> Option<End> {
        self.members_left.fill(flow.members.len());
        self.intervals_left.fill(flow.intervals.len());
        self.members.clear();
        self.members.extend(lacks.iter().map(|(member, _)| *member));
        self.depth = 0;
        self.start_level(flow);
        for member in &self.members {
            self.members_left.remove(*member);
            self.levels[0].members.insert(*member);
        }
        while !self.members.is_empty() {
            if self.reach_intervals(flow) {
                return Some(End::Interval);
            }
            self.start_level(flow);
            if self.reach_members(flow, now) {
                return Some(End::Member);
            }
        }
        None
    }

    fn start_level(&mut self, flow: &Flow) {
        self.depth += 1;
        if self.levels.len() < self.depth {
            self.levels.push(SearchLevel::default());
        }
        let level = &mut self.levels[self.depth - 1];
        level.members.clear(flow.members.len());
        level.intervals.clear(flow.intervals.len());
    }

    /// From the members of the last level to intervals. Whether some have capacity left.
    fn reach_intervals(&mut self, flow: &Flow) -> bool {
        let level = &mut self.levels[self.depth - 1];
        let mut is_end = false;
        self.intervals.clear();
        for member in &self.members {
            for (word, room) in flow.room(*member) {
                let bits = room & self.intervals_left.word(word);
                self.intervals_left.remove_all(word, bits);
                level.intervals.insert_all(word, bits);
                for interval in numbers(word, bits) {
                    is_end |= flow.intervals[interval as usize].left > 0;
                    self.intervals.push(interval);
                }
            }
        }
        is_end
    }

    /// From these intervals to members of the next level. Whether some can do less.
    fn reach_members(&mut self, flow: &Flow, now: i64) -> bool {
        let level = &mut self.levels[self.depth - 1];
        let mut is_end = false;
        self.members.clear();
        for interval in &self.intervals {
            for (word, users) in flow.intervals[*interval as usize].users.words() {
                let bits = users & self.members_left.word(word);
                self.members_left.remove_all(word, bits);
                level.members.insert_all(word, bits);
                for member in numbers(word, bits) {
                    is_end |= flow.spare(member, now) > 0;
                    self.members.push(member);
                }
            }
        }
        is_end
    }

    /// Depth-first search from level to level. Nodes that lead nowhere are taken out of theirs.
    fn find_path(&mut self, flow: &Flow, member: u32, end: End, now: i64) -> bool {
        self.path.clear();
        self.path.push(member);
        while let Some(&node) = self.path.last() {
            let level = (self.path.len() - 1) / 2;
            let is_last = level + 1 == self.depth;
            let is_member = self.path.len() % 2 == 1;
            let next = if is_member && end == End::Member && is_last {
                if flow.spare(node, now) > 0 {
                    return true;
                }
                None
            } else if is_member {
                let levels = &self.levels[level];
                first_common(flow.room(node), &levels.intervals)
            } else if is_last {
                if flow.intervals[node as usize].left > 0 {
                    return true;
                }
                None
            } else {
                let users = flow.intervals[node as usize].users.words();
                first_common(users, &self.levels[level + 1].members)
            };
            match next {
                Some(next) => self.path.push(next),
                None => {
                    let levels = &mut self.levels[level];
                    let set = if is_member {
                        &mut levels.members
                    } else {
                        &mut levels.intervals
                    };
                    set.remove(node);
                    self.path.pop();
                }
            }
        }
        false
    }

    /// Moves as much as possible, at most `max`, along the path.
    fn push(&self, flow: &mut Flow, max: i128, end: End, now: i64, lowered: &mut Vec<u32>) -> i128 {
        let Some((&last, before)) = self.path.split_last() else {
            return 0;
        };
        let mut amount = match end {
            End::Interval => max.min(flow.intervals[last as usize].left),
            End::Member => max.min(flow.spare(last, now)),
        };
        for pair in self.path.chunks_exact(2) {
            amount = amount.min(flow.room_in(pair[0], pair[1]));
        }
        for pair in self.path[1..].chunks_exact(2) {
            amount = amount.min(flow.amount(pair[1], pair[0]));
        }
        for pair in self.path.chunks_exact(2) {
            flow.shift(pair[0], pair[1], amount);
        }
        for pair in self.path[1..].chunks_exact(2) {
            flow.shift(pair[1], pair[0], -amount);
        }
        let first = before.first().copied().unwrap_or(last);
        flow.members[first as usize].done += amount;
        match end {
            End::Interval => flow.intervals[last as usize].left -= amount,
            End::Member => {
                flow.members[last as usize].done -= amount;
                lowered.push(last);
            }
        }
        amount
    }
}

/// The first number that is in both sets.
fn first_common(words: impl Iterator<Item = (u32, u64)>, set: &DenseSet) -> Option<u32> {
    words
        .map(|(word, bits)| (word, bits & set.word(word)))
        .find(|(_, bits)| *bits != 0)
        .and_then(|(word, bits)| numbers(word, bits).next())
}
