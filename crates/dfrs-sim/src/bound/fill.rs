//! Who gets what of one interval, as long as nothing that was given before has to change.

use super::flow::{Flow, Member};

/// What each of the members gets in an interval.
#[derive(Default)]
pub(super) struct Fill {
    given: Vec<i128>,
    /// Members, by their place among those that are not complete, and their laxities.
    order: Vec<(f64, usize)>,
}

impl Fill {
    /// Gives the members what they would otherwise be late for, then what is left by least laxity:
    /// the time until the deadline less the time that the rest takes at full rate. Whether somebody
    /// still lacks something. O(n log n).
    pub fn give(&mut self, flow: &mut Flow, interval: u32, alive: &[u32]) -> bool {
        let (from, to, mut left) = {
            let interval = &flow.intervals[interval as usize];
            (interval.from, interval.to, interval.left)
        };
        let mut is_short = false;
        self.given.clear();
        for member in alive {
            let member = &flow.members[*member as usize];
            let owed = (member.owed(to) - member.done).max(0);
            let gets = owed.min(left);
            is_short |= gets < owed;
            left -= gets;
            self.given.push(gets);
        }
        self.order.clear();
        let members = alive.iter().map(|member| &flow.members[*member as usize]);
        let laxities = members.map(|member| laxity(member, from));
        self.order.extend(laxities.zip(0..));
        self.order
            .sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        for (_, place) in &self.order {
            let member = &mut flow.members[alive[*place] as usize];
            let most = i128::from(to - from) * i128::from(member.rate);
            let wanted = (member.work - member.done).min(most);
            let given = &mut self.given[*place];
            let more = (wanted - *given).min(left);
            *given += more;
            left -= more;
            member.lags |= *given < wanted;
        }
        for (member, given) in alive.iter().zip(&self.given) {
            if *given > 0 {
                flow.give(*member, interval, *given);
            }
        }
        is_short
    }
}

/// In microseconds. Only the order of jobs depends on it, so that it need not be exact.
#[allow(clippy::cast_precision_loss)]
fn laxity(member: &Member, now: i64) -> f64 {
    (member.due - now) as f64 - (member.work - member.done) as f64 / member.rate as f64
}
