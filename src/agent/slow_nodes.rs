//! Nodes that could not park a job in time: the next one would most likely lose as much time there, and
//! in vain, too.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};

use super::SECOND;
use crate::placement::Placement;

/// A node is asked again after so many times the time that it had: of its jobs' time, at most a tenth
/// is lost.
const TIMES_THE_TIMEOUT: i64 = 10;

/// Nodes, and until when no job is parked there.
#[derive(Debug, Default)]
pub(super) struct SlowNodes(BTreeMap<String, Time>);

impl SlowNodes {
    /// A job here was not parked within `timeout`; which of its nodes was too slow is not known.
    /// Returns a line about it.
    pub(super) fn add(&mut self, placement: &Placement, timeout: Span, now: Time) -> String {
        let pause = Span(timeout.0 * TIMES_THE_TIMEOUT);
        let nodes = || placement.0.iter().map(|spot| spot.node.clone());
        self.0
            .extend(nodes().map(|node| (node, Time(now.0 + pause.0))));
        format!(
            "no job is parked on {} for {} s, parking took too long there",
            nodes().collect::<Vec<_>>().join(","),
            pause.0 / SECOND
        )
    }

    /// The nodes of `can_park` on which jobs may be parked now.
    pub(super) fn leave_out(&mut self, can_park: &BTreeSet<String>, now: Time) -> BTreeSet<String> {
        self.0.retain(|_, until| *until > now);
        let others = can_park.iter().filter(|node| !self.0.contains_key(*node));
        others.cloned().collect()
    }
}
