//! Messages under way, each in a thread of its own: a node that hangs holds up only the message that it is
//! in, for as long as Slurm waits for it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use dfrs_agent::panics::panic_text;

use crate::library;
use crate::node_link::NodeLink;

/// A message that has come to its end.
#[derive(Debug)]
pub(super) struct CompletedMessage {
    /// Which.
    pub(super) id: u64,
    /// The nodes that did not get it.
    pub(super) failed: Vec<String>,
    /// What went wrong in the plugin itself: one line.
    pub(super) problem: Option<String>,
}

/// The messages of one thread, which gets the end of each by `on_completed`.
pub(super) struct InFlight {
    link: Arc<dyn NodeLink>,
    on_completed: Arc<dyn Fn(CompletedMessage) + Send + Sync>,
    threads: BTreeMap<u64, JoinHandle<()>>,
    last: u64,
    /// Messages that are under way at most, in any case: beyond that no other starts.
    max: usize,
}

impl InFlight {
    /// Messages that go by `link`; the end of each is an event, made by `event`.
    pub(super) fn new<Event: Send + 'static>(
        link: &Arc<dyn NodeLink>,
        events: &Sender<Event>,
        event: fn(CompletedMessage) -> Event,
        max: usize,
    ) -> Self {
        let events = events.clone();
        Self {
            link: Arc::clone(link),
            // After the end there is no receiver for what completes.
            on_completed: Arc::new(move |completed| drop(events.send(event(completed)))),
            threads: BTreeMap::new(),
            last: 0,
            max,
        }
    }

    /// Whether one more may start.
    pub(super) fn has_room(&self) -> bool {
        self.threads.len() < self.max
    }

    /// Sends `data` to `address` on each of `nodes`; returns the message's number, none of which is
    /// used twice.
    ///
    /// # Errors
    ///
    /// The system's, if it has no thread to give.
    pub(super) fn start(
        &mut self,
        nodes: Vec<String>,
        address: String,
        data: Vec<u8>,
    ) -> std::io::Result<u64> {
        let id = self.last + 1;
        let (link, on_completed) = (Arc::clone(&self.link), Arc::clone(&self.on_completed));
        let send = move || {
            let push = AssertUnwindSafe(|| link.push(&nodes, &address, &data));
            let (failed, problem) = match catch_unwind(push) {
                Ok(failed) => (failed, None),
                Err(panic) => {
                    let text = panic_text(panic.as_ref()).to_owned();
                    (nodes, Some(text))
                }
            };
            on_completed(CompletedMessage {
                id,
                failed,
                problem,
            });
        };
        let thread = std::thread::Builder::new()
            .name("dfrs_flight".into())
            .spawn(send)?;
        self.last = id;
        self.threads.insert(id, thread);
        Ok(id)
    }

    /// Ends the thread of a message that has completed.
    pub(super) fn join(&mut self, id: u64) {
        if let Some(thread) = self.threads.remove(&id) {
            // The thread's last act was to report its end, and what panics in it is caught.
            let _ = thread.join();
        }
    }

    /// Waits for none of those that are still under way: their threads end by themselves, with the library
    /// in memory. They hold nothing but their own message and the link.
    pub(super) fn abandon(&mut self) {
        let threads = std::mem::take(&mut self.threads).into_values();
        let (ended, running): (Vec<_>, Vec<_>) = threads.partition(JoinHandle::is_finished);
        for thread in ended {
            let _ = thread.join();
        }
        if !running.is_empty() {
            library::keep_loaded();
        }
    }
}
