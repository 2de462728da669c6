//! The plugin's thread inside slurmctld: start, reload, stop.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::host::PluginHost;
use crate::library;
use crate::scheduler::PluginScheduler;

/// How often the agent looks whether there is something to do.
const TICK: Duration = Duration::from_millis(100);
/// How long the end waits for the thread: a pass, and what it waits for at its own end (nodes three seconds,
/// the state file three, the journal two, the status file one).
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RuntimeRequest {
    None,
    Reload,
    /// The breaker is reset after its timeout.
    Reset,
    /// What was to be given back is.
    GivenBack,
    /// Partitions are no more as DFRS needs them, or are again.
    PartitionsChanged,
    Stop,
}

/// The running thread.
pub struct Runtime {
    request: Arc<(Mutex<RuntimeRequest>, Condvar)>,
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
        let request = Arc::new((Mutex::new(RuntimeRequest::None), Condvar::new()));
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
        let ended =
            self.ended.recv_timeout(SHUTDOWN_TIMEOUT) == Err(RecvTimeoutError::Disconnected);
        if ended {
            // A panic that got past the breaker was reported by the panic hook; nothing is left to
            // report.
            let _ = self.thread.join();
        } else {
            library::keep_loaded();
        }
        ended
    }

    fn set_request(&self, request: RuntimeRequest) {
        *self
            .request
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = request;
        self.request.1.notify_one();
    }
}

fn run(host: &impl PluginHost, request: &(Mutex<RuntimeRequest>, Condvar)) {
    let mut scheduler = PluginScheduler::set_up(host, None);
    loop {
        match serve(&mut scheduler, host, request) {
            RuntimeRequest::Stop => break,
            // Slurm calls for it right after the start, too.
            RuntimeRequest::Reload if scheduler.still_fits(host) => scheduler.refresh(),
            RuntimeRequest::Reload => {
                scheduler.show_no_yields();
                let unkept = scheduler.finish(host);
                scheduler = PluginScheduler::set_up(host, unkept);
            }
            RuntimeRequest::Reset => scheduler = scheduler.reset(host),
            RuntimeRequest::PartitionsChanged => {
                scheduler.show_no_yields();
                scheduler = scheduler.with_changed_partitions(host);
            }
            RuntimeRequest::GivenBack => {
                scheduler = scheduler.without_restored_partitions(host);
            }
            RuntimeRequest::None => {}
        }
    }
    // The next process reads the file.
    let _ = scheduler.finish(host);
}

/// Ticks until there is a request.
fn serve<T: PluginHost>(
    scheduler: &mut PluginScheduler<T::Slurm>,
    host: &T,
    request: &(Mutex<RuntimeRequest>, Condvar),
) -> RuntimeRequest {
    loop {
        let again = scheduler.tick();
        scheduler.report(host);
        scheduler.explain(host);
        if scheduler.is_reset_due() {
            return RuntimeRequest::Reset;
        }
        if scheduler.has_given_back() {
            return RuntimeRequest::GivenBack;
        }
        if scheduler.partitions_changed(host) {
            return RuntimeRequest::PartitionsChanged;
        }
        let guard = request.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut guard = if *guard == RuntimeRequest::None && !again {
            request
                .1
                .wait_timeout(guard, TICK)
                .unwrap_or_else(PoisonError::into_inner)
                .0
        } else {
            guard
        };
        let asked = std::mem::replace(&mut *guard, RuntimeRequest::None);
        if asked != RuntimeRequest::None {
            return asked;
        }
    }
}
