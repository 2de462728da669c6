//! The plugin's thread inside slurmctld: start, reload, stop.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dfrs_agent::live_journal::Writer;
use dfrs_agent::slurm::{Level, Slurm};
use dfrs_agent::{Agent, Ports};
use dfrs_core::policy::Retry;
use dfrs_core::{Policy, Time};
use dfrs_proto::conf::{Config, Mode};

use crate::breaker::Breaker;
use crate::daemons::{Couriers, Pace};
use crate::journal_file;
use crate::log::Log;
use crate::node_link::NodeLink;
use crate::recorder;
use crate::state_file::{self, StateFile};

/// How often the agent looks whether there is something to do.
const TICK: Duration = Duration::from_millis(100);

/// What the thread needs of its surroundings, made anew at each start and reload.
pub trait Surroundings: Send + 'static {
    /// The calls into Slurm.
    type Slurm: Slurm;
    /// Directory of slurm.conf and dfrs.conf.
    fn conf_directory(&self) -> PathBuf;
    /// Slurm's StateSaveLocation.
    fn state_directory(&self) -> PathBuf;
    /// One line on what in slurm.conf has to change before DFRS can schedule, if anything.
    fn conf_problem(&self, config: &Config) -> Option<String>;
    /// Has Slurm's own backfill schedule all partitions but these.
    fn hide_from_backfill(&self, partitions: &[String]);
    /// The calls into Slurm, for these partitions.
    fn slurm(&self, config: &Config) -> Self::Slurm;
    /// The way to the nodes.
    fn node_link(&self) -> Arc<dyn NodeLink>;
    /// The way to slurmctld's log, for threads.
    fn shared_log(&self) -> Log;
    /// Writes to slurmctld's log.
    fn log(&self, level: Level, message: &str) {
        self.shared_log().write(level, message);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    None,
    Reload,
    Stop,
}

/// The running thread.
pub struct Runtime {
    request: Arc<(Mutex<Request>, Condvar)>,
    thread: JoinHandle<()>,
}

impl Runtime {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// The system's, if it has no thread to give.
    pub fn start(surroundings: impl Surroundings) -> std::io::Result<Self> {
        let request = Arc::new((Mutex::new(Request::None), Condvar::new()));
        let theirs = Arc::clone(&request);
        let thread = std::thread::Builder::new()
            .name("dfrs".into())
            .spawn(move || run(&surroundings, &theirs))?;
        Ok(Self { request, thread })
    }

    /// Has dfrs.conf read again; returns at once, because the caller may hold Slurm's locks.
    pub fn reload(&self) {
        self.ask(Request::Reload);
    }

    /// Ends the thread and waits for it.
    pub fn stop(self) {
        self.ask(Request::Stop);
        // A panic that got past the breaker was reported by the panic hook; there is nobody to tell.
        let _ = self.thread.join();
    }

    fn ask(&self, request: Request) {
        *self
            .request
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = request;
        self.request.1.notify_one();
    }
}

fn run(surroundings: &impl Surroundings, request: &(Mutex<Request>, Condvar)) {
    let mut scheduler = Scheduler::set_up(surroundings);
    loop {
        match serve(scheduler.breaker.as_mut(), request) {
            Request::Stop => break,
            // Slurm calls for it right after the start, too.
            Request::Reload if scheduler.still_fits(surroundings) => scheduler.refresh(),
            Request::Reload => {
                scheduler.finish();
                scheduler = Scheduler::set_up(surroundings);
            }
            Request::None => {}
        }
    }
    scheduler.finish();
}

/// Ticks until something is asked.
fn serve<S: Slurm>(
    mut breaker: Option<&mut Breaker<S, Couriers>>,
    request: &(Mutex<Request>, Condvar),
) -> Request {
    loop {
        let again = breaker.as_mut().is_some_and(|breaker| breaker.tick(now()));
        let guard = request.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut guard = if *guard == Request::None && !again {
            request
                .1
                .wait_timeout(guard, TICK)
                .unwrap_or_else(PoisonError::into_inner)
                .0
        } else {
            guard
        };
        let asked = std::mem::replace(&mut *guard, Request::None);
        if asked != Request::None {
            return asked;
        }
    }
}

/// What one dfrs.conf led to.
struct Scheduler<S> {
    config: Option<Config>,
    breaker: Option<Breaker<S, Couriers>>,
}

impl<S: Slurm> Scheduler<S> {
    /// Reads dfrs.conf and makes an agent, or leaves everything to Slurm's own backfill.
    fn set_up(surroundings: &impl Surroundings<Slurm = S>) -> Self {
        let config = read_config(&surroundings.conf_directory())
            .inspect_err(|problem| {
                let text = format!("{problem}; DFRS is off, backfill schedules all partitions");
                surroundings.log(Level::Error, &text);
            })
            .ok();
        let wanted = config.as_ref().filter(|config| config.mode != Mode::Off);
        let agent = wanted.and_then(|config| make_agent(surroundings, config));
        let hidden = wanted.filter(|config| agent.is_some() && config.mode == Mode::Full);
        let names = hidden.map(Config::partition_names);
        surroundings.hide_from_backfill(&names.unwrap_or_default());
        let schedules = hidden.is_some();
        let left_over = if schedules {
            None
        } else {
            give_back(surroundings)
        };
        Self {
            config,
            breaker: left_over.or_else(|| agent.map(Breaker::new)),
        }
    }

    /// Whether nothing that it was set up from has changed.
    fn still_fits(&self, surroundings: &impl Surroundings<Slurm = S>) -> bool {
        let active = self.breaker.as_ref().is_some_and(Breaker::is_active);
        let Some(config) = self.config.as_ref().filter(|_| active) else {
            return false;
        };
        read_config(&surroundings.conf_directory()).as_ref() == Ok(config)
            && surroundings.conf_problem(config).is_none()
    }

    fn refresh(&mut self) {
        if let Some(breaker) = &mut self.breaker {
            breaker.refresh();
        }
    }

    fn finish(&mut self) {
        if let Some(breaker) = &mut self.breaker {
            breaker.finish(now());
        }
    }
}

fn make_agent<T: Surroundings>(
    surroundings: &T,
    config: &Config,
) -> Option<Agent<T::Slurm, Couriers>> {
    let problem = policy_problem(&config.policy).or_else(|| surroundings.conf_problem(config));
    if let Some(problem) = problem {
        surroundings.log(
            Level::Error,
            &format!("{problem}; DFRS is off, backfill schedules all partitions"),
        );
        return None;
    }
    let names = config.partition_list();
    surroundings.log(
        Level::Info,
        &format!(
            "{} schedules partition(s) {names}, mode {:?}",
            config.policy, config.mode
        ),
    );
    start_agent(surroundings, config)
}

/// Why a policy cannot be used on a live cluster, if so.
fn policy_problem(policy: &Policy) -> Option<String> {
    (policy.retry == Retry::Backoff).then(|| {
        format!("dfrs.conf: Policy={policy} tries waiting jobs again by a timer, which only the simulator does; use one with '*' or '/per'")
    })
}

/// A breaker that gives back what was parked before DFRS was switched off, if anything was.
fn give_back<T: Surroundings>(surroundings: &T) -> Option<Breaker<T::Slurm, Couriers>> {
    // A file that cannot be read is reported by whoever schedules next; nothing is known to be parked.
    let state = state_file::load(&state_file::path_in(&surroundings.state_directory())).ok()?;
    if !state.has_parked() {
        return None;
    }
    let lines = state
        .partitions
        .iter()
        .map(|name| format!("Partition={name}\n"));
    let text = format!("Mode=full\n{}", lines.collect::<String>());
    let mut config = Config::parse(&text, "the state file").ok()?;
    config.journal = state.journal;
    surroundings.log(
        Level::Info,
        "DFRS is off and brings back the jobs that it had parked",
    );
    let agent = start_agent(surroundings, &config)?;
    Some(Breaker::giving_back(agent, now()))
}

fn start_agent<T: Surroundings>(
    surroundings: &T,
    config: &Config,
) -> Option<Agent<T::Slurm, Couriers>> {
    let now = now();
    let time_to_live = Duration::from_micros(u64::try_from(config.time_to_live.0).unwrap_or(0));
    let generation = u64::try_from(now.0 / 1000).unwrap_or(0);
    let couriers = Couriers::start(
        &surroundings.node_link(),
        &surroundings.shared_log(),
        Pace::with_time_to_live(time_to_live),
        generation,
    );
    let daemons = couriers
        .inspect_err(|problem| surroundings.log(Level::Error, &format!("DFRS is off: {problem}")))
        .ok()?;
    let path = state_file::path_in(&surroundings.state_directory());
    let (store, state) = StateFile::open(&path, &surroundings.shared_log())
        .inspect_err(|problem| surroundings.log(Level::Error, &format!("DFRS is off: {problem}")))
        .ok()?;
    let ports = Ports {
        slurm: surroundings.slurm(config),
        daemons,
        store: Box::new(store),
        journal: open_journal(surroundings, config),
        recorder: Box::new(recorder::Files::new(&surroundings.state_directory())),
    };
    Some(Agent::new(ports, config.clone(), state, now))
}

fn open_journal(surroundings: &impl Surroundings, config: &Config) -> Option<Writer> {
    let opened = journal_file::open(config.journal.as_deref()?);
    opened
        .inspect_err(|problem| surroundings.log(Level::Error, &format!("no journal: {problem}")))
        .ok()
}

fn read_config(directory: &Path) -> Result<Config, String> {
    let path = directory.join("dfrs.conf");
    let text = std::fs::read_to_string(&path).map_err(|error| {
        format!(
            "{}: {error}; copy slurm-conf/dfrs.conf there",
            path.display()
        )
    })?;
    Config::parse(&text, &path.to_string_lossy()).map_err(|error| error.to_string())
}

/// Microseconds since the UNIX epoch.
fn now() -> Time {
    let elapsed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Time(i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX))
}
