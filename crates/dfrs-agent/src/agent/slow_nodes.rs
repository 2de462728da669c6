//! Nodes that could not park a job in time: the next one would most likely lose as much time there, and
//! in vain, too.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};

use super::SECOND;
use crate::placement::Placement;

/// A node is left alone for as long as it had to park the job, for twice as long after each further
/// failure in a row, and never for more than so many times as long.
const MOST_TIMES: i64 = 16;

/// Why a node is left alone.
#[derive(Debug)]
struct Slow {
    times: i64,
    until: Time,
}

/// Nodes on which the last job to be parked was not parked in time.
#[derive(Debug, Default)]
pub(super) struct SlowNodes(BTreeMap<String, Slow>);

impl SlowNodes {
    /// A job here was not parked within `timeout`; which of its nodes was too slow is not known.
    /// Returns a line about it.
    pub(super) fn add(&mut self, placement: &Placement, timeout: Span, now: Time) -> String {
        let mut left_alone = Vec::new();
        for spot in &placement.0 {
            let times = self.0.get(&spot.node).map_or(1, |slow| slow.times * 2);
            let times = times.min(MOST_TIMES);
            let until = Time(now.0 + timeout.0 * times);
            let seconds = timeout.0 * times / SECOND;
            left_alone.push(format!("{} for {seconds} s", spot.node));
            self.0.insert(spot.node.clone(), Slow { times, until });
        }
        let left_alone = left_alone.join(", ");
        format!("parking took too long: no job is parked on {left_alone}")
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A job here was parked in time.
    pub(super) fn forgive(&mut self, placement: &Placement) {
        for spot in &placement.0 {
            self.0.remove(&spot.node);
        }
    }

    /// The nodes of `can_park` on which jobs may be parked now.
    pub(super) fn leave_out(&self, can_park: &BTreeSet<String>, now: Time) -> BTreeSet<String> {
        let is_slow = |node: &str| self.0.get(node).is_some_and(|slow| slow.until > now);
        let others = can_park.iter().filter(|node| !is_slow(node));
        others.cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::Spot;

    #[test]
    fn each_failure_in_a_row_doubles_the_time_up_to_sixteen_times() {
        let node = String::from("n1");
        let here = Placement(vec![Spot {
            node: node.clone(),
            tasks: 1,
        }]);
        let all = BTreeSet::from([node, "n2".into()]);
        let mut slow = SlowNodes::default();
        let left_alone = |slow: &mut SlowNodes| {
            let line = slow.add(&here, Span(10 * SECOND), Time(0));
            let free = (0..).find(|second| slow.leave_out(&all, Time(second * SECOND)) == all);
            assert_eq!(slow.leave_out(&all, Time(0)).len(), 1);
            assert!(line.contains("n1 for "), "{line}");
            free
        };
        for seconds in [10, 20, 40, 80, 160, 160] {
            assert_eq!(left_alone(&mut slow), Some(seconds));
        }
        slow.forgive(&here);
        assert_eq!(left_alone(&mut slow), Some(10));
    }
}
