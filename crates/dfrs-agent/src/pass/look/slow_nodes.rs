//! Nodes that could not park jobs in time: the next job would most likely lose as much time there,
//! too, for nothing.
//!
//! The cause may be the job itself: only a second job shows that it is the node.

use std::collections::BTreeMap;

use dfrs_core::{Span, Time};

use crate::daemons::{NodeFacts, SwapEighths};
use crate::job::placement::NamedPlacement;

/// A node is left alone for as long as it had to park the job, for twice as long after each further
/// failure in a row, and never for more than so many times as long.
const MAX_FACTOR: i64 = 16;

/// A node on which jobs were not parked in time.
#[derive(Debug)]
struct SlowNode {
    /// The last of them.
    job: u32,
    /// For how many times as long it was left alone last; 0: not yet.
    times: i64,
    until: Time,
}

/// Nodes on which the last job to be parked was not parked in time.
#[derive(Debug, Default)]
pub(in crate::pass) struct SlowNodes(BTreeMap<String, SlowNode>);

impl SlowNodes {
    /// Notes that this job was not parked here within `timeout`; which of its nodes was too slow,
    /// or whether the cause is the job, is not known. Returns a line about the nodes that are left
    /// alone for it.
    pub(in crate::pass) fn add(
        &mut self,
        job: u32,
        placement: &NamedPlacement,
        timeout: Span,
        now: Time,
    ) -> Option<String> {
        let mut left_alone = Vec::new();
        for spot in &placement.0 {
            let Some(slow) = self.0.get_mut(&spot.node) else {
                let first = SlowNode {
                    job,
                    times: 0,
                    until: now,
                };
                self.0.insert(spot.node.clone(), first);
                continue;
            };
            if slow.job == job {
                continue;
            }
            slow.job = job;
            slow.times = (slow.times * 2).clamp(1, MAX_FACTOR);
            let pause = Span(timeout.0 * slow.times);
            slow.until = now + pause;
            let seconds = pause.whole_seconds();
            left_alone.push(format!("{} for {seconds} s", spot.node));
        }
        let left_alone = left_alone.join(", ");
        (!left_alone.is_empty())
            .then(|| format!("parking timeout for two jobs: no job is parked on {left_alone}"))
    }

    /// Whether there is none.
    pub(in crate::pass) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A job here was parked in time.
    pub(in crate::pass) fn clear(&mut self, placement: &NamedPlacement) {
        for spot in &placement.0 {
            self.0.remove(&spot.node);
        }
    }

    /// The nodes on which jobs may be parked now, and what they have for that. O(nodes log nodes).
    pub(in crate::pass) fn leave_out(&self, facts: &NodeFacts, now: Time) -> SwapEighths {
        let is_slow = |node: &str| self.0.get(node).is_some_and(|slow| slow.until > now);
        let others = facts.can_park.iter().filter(|node| !is_slow(node));
        let swap = others.filter_map(|node| Some((node.clone(), facts.swap_eighths(node)?)));
        swap.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::placement::NodeTasks;

    fn here() -> NamedPlacement {
        NamedPlacement(vec![NodeTasks {
            node: "n1".into(),
            tasks: 1,
        }])
    }

    fn facts() -> NodeFacts {
        let mut facts = NodeFacts::default();
        facts.set_swap_eighths("n1", Some(8));
        facts.set_swap_eighths("n2", Some(3));
        facts
    }

    /// How many seconds n1 is left alone, after a failure of this job at 0.
    fn left_alone(slow: &mut SlowNodes, job: u32) -> Option<i64> {
        slow.add(job, &here(), Span::from_seconds(10), Time(0));
        let is_free = |second: &i64| {
            let swap = slow.leave_out(&facts(), Time::from_seconds(*second));
            assert_eq!(swap.get("n2"), Some(&3));
            swap.get("n1") == Some(&8)
        };
        (0..1000).find(is_free)
    }

    #[test]
    fn exclusion_time_doubles_with_each_failing_job_up_to_16_times() {
        let mut slow = SlowNodes::default();
        assert_eq!(left_alone(&mut slow, 0), Some(0), "it may be the job");
        for (job, seconds) in (1..).zip([10, 20, 40, 80, 160, 160]) {
            assert_eq!(left_alone(&mut slow, job), Some(seconds));
        }
        slow.clear(&here());
        assert_eq!(left_alone(&mut slow, 8), Some(0));
        assert_eq!(left_alone(&mut slow, 9), Some(10));
    }

    #[test]
    fn node_is_not_excluded_when_only_one_job_fails() {
        let mut slow = SlowNodes::default();
        for _ in 0..5 {
            assert_eq!(left_alone(&mut slow, 7), Some(0));
        }
    }

    #[test]
    fn log_line_names_excluded_nodes() {
        let mut slow = SlowNodes::default();
        let timeout = Span::from_seconds(60);
        assert_eq!(slow.add(1, &here(), timeout, Time(0)), None);
        let line = slow.add(2, &here(), timeout, Time(0)).unwrap();
        assert!(line.ends_with("no job is parked on n1 for 60 s"), "{line}");
    }
}
