//! The plugin's thread inside slurmctld: start, reload, stop.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::host::PluginHost;
use crate::library;
use crate::life::PluginEvent;
use crate::scheduler::PluginScheduler;

/// How often the agent looks whether there is something to do.
const TICK: Duration = Duration::from_millis(100);
/// How often it is looked whether a warned job has ended, where one is likely to: while it completes nothing follows
/// from its end, and that takes some tens of milliseconds.
const SHORT_TICK: Duration = Duration::from_millis(20);
/// How long the end waits for the thread: a pass, and what it waits for at its own end (nodes three seconds,
/// the state file three, the journal two, the status file one).
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Clone, Copy, Debug)]
enum RuntimeRequest {
    Reload,
    Stop,
}

/// The last one that was not served yet.
type LastRequest = (Mutex<Option<RuntimeRequest>>, Condvar);

/// The running thread.
pub struct Runtime {
    request: Arc<LastRequest>,
    thread: JoinHandle<()>,
    /// Closed when the thread ends, however it does.
    ended: Receiver<()>,
}

impl Runtime {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// The system's, if it has no thread to give.
    pub fn start(host: impl PluginHost) -> std::io::Result<Self> {
        let request = Arc::new(LastRequest::default());
        let shared = Arc::clone(&request);
        let (end, ended) = channel();
        let thread = std::thread::Builder::new()
            .name("dfrs".into())
            .spawn(move || {
                let _end = end;
                host.enter();
                run(&host, &shared);
            })?;
        Ok(Self {
            request,
            thread,
            ended,
        })
    }

    /// Has dfrs.conf read again; returns at once, because the caller may hold Slurm's locks.
    pub fn reload(&self) {
        self.set_request(RuntimeRequest::Reload);
    }

    /// Ends the thread and waits for it, for a bounded time: then it is left alone, with the library in
    /// memory, as its code still runs. Returns whether it has ended. The caller has to keep one that has not
    /// away from Slurm.
    #[must_use]
    pub fn stop(self) -> bool {
        self.set_request(RuntimeRequest::Stop);
        library::join_within(SHUTDOWN_TIMEOUT, self.thread, &self.ended)
    }

    fn set_request(&self, request: RuntimeRequest) {
        *self
            .request
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(request);
        self.request.1.notify_one();
    }
}

fn run(host: &impl PluginHost, request: &LastRequest) {
    let mut scheduler = PluginScheduler::set_up(host);
    while !scheduler.is_stopped() {
        let event = serve(&mut scheduler, host, request);
        scheduler.happen(event, host);
    }
}

/// Ticks until something happens.
fn serve<T: PluginHost>(
    scheduler: &mut PluginScheduler<T::Slurm>,
    host: &T,
    last: &LastRequest,
) -> PluginEvent {
    loop {
        let again = scheduler.tick();
        scheduler.report(host);
        scheduler.explain(host);
        if let Some(event) = scheduler.notice(host) {
            return event;
        }
        let longest = if again { Duration::ZERO } else { TICK };
        match next_request(host, last, longest) {
            Some(RuntimeRequest::Stop) => return PluginEvent::Stop,
            Some(RuntimeRequest::Reload) => {
                let is_same = scheduler.still_fits(host);
                return PluginEvent::Reconfigured { is_same };
            }
            None => {}
        }
    }
}

/// The request that is there, or that comes in this time.
fn next_request(
    host: &impl PluginHost,
    (request, requested): &LastRequest,
    longest: Duration,
) -> Option<RuntimeRequest> {
    let mut left = longest;
    loop {
        let step = if host.requeue_saved() {
            left.min(SHORT_TICK)
        } else {
            left
        };
        let guard = request.lock().unwrap_or_else(PoisonError::into_inner);
        let mut guard = requested
            .wait_timeout_while(guard, step, |request| request.is_none())
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        left = left.saturating_sub(step);
        if guard.is_some() || left.is_zero() {
            return guard.take();
        }
    }
}
