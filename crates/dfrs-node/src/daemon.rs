//! The shell around the reconciler: socket, signals, time.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use dfrs_node_proto::framing::Frame;
use dfrs_proto::message::{DesiredState, Message};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::carry::{CarryThreads, Criu, ImageSettings, Images};
use crate::cgroup::trust::is_trusted;
use crate::deadline::Deadline;
use crate::facts::FactsDirectory;
use crate::log;
use crate::measure::MeasurementFile;
use crate::options::ServeOptions;
use crate::orders::{Desired, Orders, OrdersVerdict};
use crate::peer::{self, Authorized};
use crate::reclaimer::ReclaimThread;
use crate::reconciler::{Reconciler, ReconcilerSettings};
use crate::{Now, cgroup, panics};

/// All users may pass through to a name that is known, none sees which there are.
const DIRECTORY_MODE: u32 = 0o711;

/// How long a sender may take for its whole message, and a receiver for its whole answer.
const PEER_TIMEOUT: Duration = Duration::from_secs(5);

/// What wakes the daemon besides its clock.
enum WakeEvent {
    State(DesiredState),
    Status(UnixStream),
    Stop,
}

/// Serves until a signal ends it, then undoes everything.
///
/// # Errors
///
/// One line, if it cannot start.
pub fn serve(options: &ServeOptions) -> Result<(), String> {
    panics::end_the_process();
    let node = options.address.node_name();
    let directory = options.address.directory();
    let controller = peer::user_id(&options.controller_user)?;
    let cgroups = cgroup::open(&options.cgroup_root, &node)?;
    let measurements = MeasurementFile::open(options.measurements.as_deref())?;
    make_directory(&directory)?;
    let socket = options.address.socket();
    let listener = bind(&socket, controller)?;
    let facts = FactsDirectory::new(&directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    let settings = ReconcilerSettings {
        node: node.clone(),
        capacity: options.capacity(),
        measure_period: Duration::from_secs(options.measure_interval),
        swaps: "/proc/swaps".into(),
        meminfo: "/proc/meminfo".into(),
        zswap: "/sys/module/zswap/parameters/enabled".into(),
        processes: "/proc".into(),
        processors: "/sys/devices/system/cpu".into(),
        max_resident_bytes: options.parked_resident << 20,
        jobs_may_swap: options.jobs_may_swap,
    };
    log::line(format_args!(
        "serving node {node} at {} with cgroup {}",
        socket.display(),
        cgroups.version()
    ));
    let reclaimer = ReclaimThread::new(cgroups.share())
        .map_err(|error| format!("cannot handle signals: {error}"))?;
    let (sender, events) = channel();
    watch_signals(sender.clone())?;
    thread::spawn(move || receive_all(&listener, &Authorized::new(controller), &sender));
    let mut reconciler =
        Reconciler::new(settings, cgroups, facts, Box::new(reclaimer), measurements);
    if let Some(images) = images(options, &node)? {
        reconciler = reconciler.with_images(Box::new(CarryThreads::new(&images)));
    }
    Daemon {
        reconciler,
        clock: Clock::start(),
        node,
        orders: Orders::new(Duration::ZERO, Duration::from_secs(options.message_timeout)),
        uncapped: false,
    }
    .run(&events, options.interval());
    let _ = fs::remove_file(&socket);
    Ok(())
}

/// Where images are, if jobs are carried here.
fn images(options: &ServeOptions, node: &str) -> Result<Option<ImageSettings>, String> {
    let Some(directory) = &options.images else {
        return Ok(None);
    };
    let quota_bytes = options.image_quota.map(|mib| mib.saturating_mul(1 << 20));
    // What is wrong with them is said now, and not with the first job.
    Images::open(directory, quota_bytes)?;
    Criu::new(&options.criu)?;
    Ok(Some(ImageSettings {
        directory: directory.clone(),
        quota_bytes,
        criu: options.criu.clone(),
        node: node.to_owned(),
    }))
}

struct Daemon {
    reconciler: Reconciler,
    clock: Clock,
    node: String,
    orders: Orders,
    /// Caps are lifted because no orders arrived; remembered to log it once.
    uncapped: bool,
}

impl Daemon {
    fn run(mut self, events: &Receiver<WakeEvent>, interval: Duration) {
        let mut next_tick = Duration::ZERO;
        loop {
            let wait = next_tick.saturating_sub(self.clock.now().monotonic);
            match events.recv_timeout(wait) {
                Ok(WakeEvent::State(state)) => self.accept_orders(&state),
                Ok(WakeEvent::Status(stream)) => {
                    self.answer(stream);
                    continue;
                }
                Ok(WakeEvent::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = self.clock.now();
            self.log_expiry(now);
            self.reconciler
                .tick(&self.orders.desired(now.monotonic), now);
            next_tick = now.monotonic + interval;
        }
        self.reconciler.release(self.clock.now());
        log::line("stopped: caps lifted");
    }

    fn accept_orders(&mut self, state: &DesiredState) {
        let first = self.orders.generation().is_none();
        match self
            .orders
            .receive(state, &self.node, self.clock.now().monotonic)
        {
            OrdersVerdict::Accepted if first => {
                log::line(format_args!(
                    "first orders received, generation {}",
                    state.generation
                ));
            }
            OrdersVerdict::Stale { newest } => {
                let generation = state.generation;
                log::line(format_args!(
                    "orders of generation {generation} ignored: generation {newest} was received before"
                ));
            }
            OrdersVerdict::Accepted | OrdersVerdict::Confirmed | OrdersVerdict::NotNamed => {}
        }
    }

    fn log_expiry(&mut self, now: Now) {
        let uncapped = self.orders.desired(now.monotonic) == Desired::Uncap;
        if uncapped != self.uncapped {
            self.uncapped = uncapped;
            if uncapped {
                let silence = self.orders.silence(now.monotonic).as_secs();
                log::line(format_args!(
                    "no valid orders from slurmctld for {silence} s: CPU caps lifted, frozen jobs stay frozen"
                ));
            } else {
                log::line("receiving orders from slurmctld again");
            }
        }
    }

    fn answer(&self, stream: UnixStream) {
        let status = self.reconciler.status(&self.orders, self.clock.now());
        let result = serde_json::to_vec(&status)
            .map_err(|error| error.to_string())
            .and_then(|data| {
                let frame = Frame {
                    uid: rustix::process::geteuid().as_raw(),
                    data,
                };
                frame
                    .write_to(&mut Deadline::new(&stream, PEER_TIMEOUT))
                    .map_err(|error| error.to_string())
            });
        if let Err(error) = result {
            log::line(format_args!("status not delivered: {error}"));
        }
    }
}

struct Clock {
    started: Instant,
}

impl Clock {
    fn start() -> Clock {
        Clock {
            started: Instant::now(),
        }
    }

    fn now(&self) -> Now {
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Now {
            monotonic: self.started.elapsed(),
            unix: unix.as_secs_f64(),
        }
    }
}

/// The directory of the socket and of what stands beside it. What others could write there would be
/// taken for this daemon's own notes.
fn make_directory(directory: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot make {}: {error}", directory.display());
    let missing: Vec<&Path> = directory
        .ancestors()
        .take_while(|above| !above.as_os_str().is_empty() && !above.exists())
        .collect();
    // One after the other: of all that are made the umask would take what the controller's user needs.
    for directory in missing.into_iter().rev() {
        match fs::DirBuilder::new().mode(DIRECTORY_MODE).create(directory) {
            Ok(()) => open_to_all(directory).map_err(failed)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
    }
    if !is_trusted(directory).map_err(failed)? {
        return Err(format!(
            "{} can be written by others: make it root's own, or give --socket-dir",
            directory.display()
        ));
    }
    open_to_all(directory).map_err(failed)
}

/// A user that knows a name in there can reach it.
fn open_to_all(directory: &Path) -> std::io::Result<()> {
    fs::set_permissions(directory, fs::Permissions::from_mode(DIRECTORY_MODE))
}

/// Listens on a fresh socket that only root and the controller's user can connect to.
fn bind(socket: &Path, controller: u32) -> Result<UnixListener, String> {
    let failed = |error: std::io::Error| format!("cannot listen on {}: {error}", socket.display());
    if UnixStream::connect(socket).is_ok() {
        return Err(format!(
            "another dfrsd serves {}: stop it first",
            socket.display()
        ));
    }
    if socket.exists() {
        fs::remove_file(socket).map_err(failed)?;
    }
    let listener = UnixListener::bind(socket).map_err(failed)?;
    fs::set_permissions(socket, fs::Permissions::from_mode(0o600)).map_err(failed)?;
    std::os::unix::fs::chown(socket, Some(controller), None).map_err(failed)?;
    Ok(listener)
}

fn watch_signals(sender: Sender<WakeEvent>) -> Result<(), String> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])
        .map_err(|error| format!("cannot watch for signals: {error}"))?;
    thread::spawn(move || {
        for _ in signals.forever() {
            if sender.send(WakeEvent::Stop).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Receives messages for as long as the daemon runs, one at a time: they are small, and only root and
/// the controller can make us wait.
fn receive_all(listener: &UnixListener, authorized: &Authorized, sender: &Sender<WakeEvent>) {
    for connection in listener.incoming() {
        match connection
            .map_err(|error| error.to_string())
            .and_then(|stream| receive(stream, authorized))
        {
            Ok(Some(event)) => {
                if sender.send(event).is_err() {
                    return;
                }
            }
            Ok(None) => {}
            Err(error) => log::line(error),
        }
    }
}

/// One message; none if there is nothing to do about it.
fn receive(stream: UnixStream, authorized: &Authorized) -> Result<Option<WakeEvent>, String> {
    let peer = rustix::net::sockopt::socket_peercred(&stream)
        .map_err(|error| format!("the peer is not known: {error}"))?;
    authorized
        .check_process(peer.uid.as_raw())
        .map_err(|refusal| refusal.to_string())?;
    let frame = Frame::read_from(&mut Deadline::new(&stream, PEER_TIMEOUT))
        .map_err(|error| error.to_string())?;
    authorized
        .check_sender(frame.uid)
        .map_err(|refusal| refusal.to_string())?;
    match Message::decode(&frame.data).map_err(|error| error.to_string())? {
        Message::State(state) => Ok(Some(WakeEvent::State(state))),
        Message::Status => Ok(Some(WakeEvent::Status(stream))),
        Message::Probe => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn receive_frame(frame: &Frame, controller: u32) -> Result<Option<WakeEvent>, String> {
        let (mut near, far) = UnixStream::pair().unwrap();
        frame.write_to(&mut near).unwrap();
        receive(far, &Authorized::new(controller))
    }

    fn own_uid() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[test]
    fn message_of_slurm_user_is_accepted() {
        let data = br#"{"v":1,"generation":3,"time_to_live":9,"nodes":{}}"#.to_vec();
        let event = receive_frame(
            &Frame {
                uid: own_uid(),
                data,
            },
            own_uid(),
        )
        .unwrap();
        assert!(matches!(event, Some(WakeEvent::State(state)) if state.generation == 3));
    }

    #[test]
    fn a_probe_needs_no_answer() {
        let data = Message::Probe.encode().unwrap();
        assert!(
            receive_frame(
                &Frame {
                    uid: own_uid(),
                    data
                },
                own_uid()
            )
            .unwrap()
            .is_none()
        );
    }

    #[test]
    fn message_of_another_user_is_refused() {
        let data = Message::Status.encode().unwrap();
        let error = receive_frame(
            &Frame {
                uid: own_uid() + 4711,
                data,
            },
            own_uid(),
        )
        .err()
        .unwrap();
        assert!(error.contains("refused a message from uid="), "{error}");
    }

    #[test]
    fn malformed_message_is_a_one_line_error() {
        let error = receive_frame(
            &Frame {
                uid: own_uid(),
                data: b"{\n".to_vec(),
            },
            own_uid(),
        )
        .err()
        .unwrap();
        assert!(
            error.contains("not understood") && !error.contains('\n'),
            "{error}"
        );
    }

    #[test]
    fn the_directory_is_read_by_its_owner_only_and_not_shared() {
        let scratch = Scratch::new();
        let directory = scratch.path().join("run/n1");
        make_directory(&directory).unwrap();
        let mode = || fs::metadata(&directory).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), DIRECTORY_MODE);
        let above = fs::metadata(scratch.path().join("run")).unwrap();
        assert_eq!(above.permissions().mode() & 0o777, DIRECTORY_MODE);
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
        let error = make_directory(&directory).unwrap_err();
        assert!(error.contains("can be written by others"), "{error}");
    }

    #[test]
    fn the_socket_is_for_its_owner_only_and_a_second_daemon_is_refused() {
        let scratch = Scratch::new();
        let socket = scratch.path().join("dfrsd.sock");
        let listener = bind(&socket, own_uid()).unwrap();
        assert_eq!(
            fs::metadata(&socket).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert!(
            bind(&socket, own_uid())
                .unwrap_err()
                .contains("another dfrsd")
        );
        drop(listener);
        bind(&socket, own_uid()).unwrap();
    }
}
