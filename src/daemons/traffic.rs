//! How busy order sender and node poller are, for the status file.

use std::sync::atomic::{AtomicUsize, Ordering};

use dfrs_proto::status;

/// Written by their threads, read by any.
#[derive(Debug, Default)]
pub struct Traffic {
    due: AtomicUsize,
    under_way: AtomicUsize,
    late: AtomicUsize,
    queries: AtomicUsize,
}

impl Traffic {
    /// Nodes that wait for a message with orders, such messages under way, and those of them that are late.
    pub(super) fn set_orders(&self, due: usize, under_way: usize, late: usize) {
        self.due.store(due, Ordering::Relaxed);
        self.under_way.store(under_way, Ordering::Relaxed);
        self.late.store(late, Ordering::Relaxed);
    }

    /// Queries under way.
    pub(super) fn set_queries(&self, queries: usize) {
        self.queries.store(queries, Ordering::Relaxed);
    }

    /// For the status file.
    pub fn report(&self) -> status::MessageCounts {
        let read = |number: &AtomicUsize| {
            u32::try_from(number.load(Ordering::Relaxed)).unwrap_or(u32::MAX)
        };
        status::MessageCounts {
            due: read(&self.due),
            under_way: read(&self.under_way),
            late: read(&self.late),
            queries: read(&self.queries),
        }
    }
}
