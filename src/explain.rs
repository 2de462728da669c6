//! Answers to questions about single jobs (`docs/observing.md`): a UNIX socket beside the status
//! file, for all to connect to. A thread of its own serves the clients; their questions are
//! answered between two passes, from the agent's own memory, so that neither slurmctld's locks nor
//! a pass ever wait for a client.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dfrs_agent::slurm::port::LogLevel;
use dfrs_proto::explain::{ExplainRequest, Explanation};

use crate::log::Log;
use crate::watched::Watched;
use queues::Queues;
use server::Server;
use socket::Socket;

mod answer;
mod client;
mod queues;
mod server;
mod socket;
#[cfg(test)]
mod tests;

/// How long the end waits for the thread, which has nothing to finish.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);
/// Questions that are answered at once; the others wait for the next tick.
const MAX_PER_TICK: usize = 8;

/// The user at the other end, by the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Requester {
    user: u32,
    /// Root and SlurmUser see all users' jobs.
    sees_all: bool,
}

/// The way to the thread. Closed when it is dropped.
pub struct Explainer {
    queues: Arc<Queues>,
    thread: Option<Watched>,
}

impl Explainer {
    /// Listens in this directory.
    ///
    /// # Errors
    ///
    /// The socket cannot be made, or the system has no thread to give.
    pub fn start(directory: &Path, log: &Log) -> io::Result<Self> {
        let socket = Socket::bind(directory)?;
        let (queues, woken) = Queues::new()?;
        let slurm_user = rustix::process::geteuid().as_raw();
        let server = Server::new(socket, Arc::clone(&queues), woken, slurm_user);
        let thread = Watched::start("dfrs_explain", log, server, Server::run)?;
        Ok(Self {
            queues,
            thread: Some(thread),
        })
    }

    /// Answers the questions that came since, by `explain`; a few at a time.
    pub fn answer(&self, mut explain: impl FnMut(&ExplainRequest) -> Option<Explanation>) {
        for asked in self.queues.take_questions(MAX_PER_TICK) {
            let found = explain(&asked.question);
            self.queues
                .answer(asked.token, answer::visible_to(asked.requester, found));
        }
    }

    /// As `start()`, but logs a line if it cannot be started.
    pub fn start_or_log(directory: &Path, log: &Log) -> Option<Self> {
        let started = Self::start(directory, log).inspect_err(|problem| {
            let line = format!("'dfrs explain' disabled: {problem}; scheduling continues");
            log.write(LogLevel::Error, &line);
        });
        started.ok()
    }
}

impl Drop for Explainer {
    fn drop(&mut self) {
        self.queues.close();
        if let Some(thread) = self.thread.take() {
            thread.stop(SHUTDOWN_TIMEOUT);
        }
    }
}
