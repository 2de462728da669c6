//! Reclaiming memory beside the daemon's loop: pushing gigabytes to a disk takes its time, and caps
//! must not wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::cgroup::{CgroupError, Cgroups, JobDirectory, Reclaimed};

/// One job whose memory is to be pushed to swap.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which.
    pub job: JobDirectory,
    /// Set by whoever no longer wants it.
    pub cancel: Arc<AtomicBool>,
}

impl Request {
    /// A request that nobody has cancelled.
    pub fn new(job: JobDirectory) -> Request {
        Request {
            job,
            cancel: Arc::default(),
        }
    }

    /// It is no longer wanted.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Whether it is no longer wanted.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// A request that was carried out.
pub type Outcome = (Request, Result<Reclaimed, CgroupError>);

/// Carries out requests, one after the other: two at once would only share the disk.
pub trait Reclaimer: Send {
    /// Takes a request, and returns at once.
    fn request(&mut self, request: Request);

    /// Requests carried out since the last call; cancelled ones may be among them.
    fn finished(&mut self) -> Vec<Outcome>;
}

/// A reclaimer with a thread of its own, which ends with it.
pub struct ReclaimThread {
    requests: Sender<Request>,
    outcomes: Receiver<Outcome>,
}

impl ReclaimThread {
    /// Starts the thread.
    pub fn new(cgroups: Box<dyn Cgroups>) -> ReclaimThread {
        let (requests, received) = channel::<Request>();
        let (finished, outcomes) = channel();
        thread::spawn(move || {
            for request in received
                .into_iter()
                .filter(|request| !request.is_cancelled())
            {
                let result = cgroups.reclaim(&request.job, &request.cancel);
                if finished.send((request, result)).is_err() {
                    return;
                }
            }
        });
        ReclaimThread { requests, outcomes }
    }
}

impl Reclaimer for ReclaimThread {
    fn request(&mut self, request: Request) {
        // The thread ends only after this sender is gone, or by a panic, which was reported.
        let _ = self.requests.send(request);
    }

    fn finished(&mut self) -> Vec<Outcome> {
        self.outcomes.try_iter().collect()
    }
}
