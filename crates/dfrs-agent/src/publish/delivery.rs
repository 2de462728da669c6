//! Rules by which orders get to the nodes and facts come back: which node is sent its orders when
//! and with which others (`send_queue`), what nodes are polled for and when (`polls`), and what the
//! answers mean (`facts`). No I/O, threads and clock here: the carrier of the messages says when
//! each has come to its end and which nodes it did not reach.

mod carry;
mod facts;
mod needs;
mod parked;
mod polls;
mod send_queue;
mod swap;

use dfrs_core::Span;

pub use facts::DeliveryFacts;
pub use polls::{DaemonQuery, PollSchedule, PolledChanges};
pub use send_queue::{Answers, OrderBatch, SendQueue};

/// A query to nodes of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Query<About> {
    nodes: Vec<String>,
    /// What is polled.
    about: About,
}

/// How long what may take.
#[derive(Clone, Copy, Debug)]
pub struct SendTiming {
    /// How long daemons keep their caps without orders; they get some three times as often.
    pub time_to_live: Span,
    /// A message that is under way for longer has met a node that is slow or hangs: others no
    /// longer wait for it, and new orders for its nodes are sent to each of them alone until it
    /// completes.
    pub late: Span,
    /// A node that got no message is retried after this, and after twice as long each time, up to a
    /// minute.
    pub retry: Span,
}

impl SendTiming {
    /// With this time to live, and all else as nodes have it: slurmd starts a process for each message, which
    /// takes milliseconds.
    #[must_use]
    pub const fn with_time_to_live(time_to_live: Span) -> Self {
        Self {
            time_to_live,
            late: Span::from_seconds(1),
            retry: Span::from_seconds(2),
        }
    }
}
