//! Carries out what [`crate::life`] says: an agent behind a breaker, or nothing but Slurm's own backfill, by one
//! dfrs.conf after the other; and the status file, which shows it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use dfrs_agent::clock::MonotonicClock;
use dfrs_agent::panics::caught;
use dfrs_agent::publish::delivery::SendTiming;
use dfrs_agent::publish::live_journal::Writer;
use dfrs_agent::publish::state::State;
use dfrs_agent::slurm::port::{LogLevel, Slurm};
use dfrs_agent::{Agent, Ports};
use dfrs_core::{Bytes, Time};
use dfrs_proto::conf::{Config, Mode, NeedsSource};
use dfrs_proto::slurm_conf::no_delivery_report;

use crate::breaker::CircuitBreaker;
use crate::daemons::{NodeDaemons, Traffic};
use crate::explain::Explainer;
use crate::host::PluginHost;
use crate::journal_file;
use crate::life::{AgentRole, PluginAction, PluginEvent, PluginLife};
use crate::recorder;
use crate::state_file::{self, StateFile};
use crate::status::{Reporter, StatusFacts};
use crate::stopwatch::Stopwatch;

const NO_CONFIG: &str = "there is no dfrs.conf";

/// What there is of DFRS.
pub(crate) struct PluginScheduler<S> {
    life: PluginLife,
    config: Option<Config>,
    core: Option<Core<S>>,
    /// The state of the agent before, where it is newer than the file, until the next one is set up.
    unkept: Option<State>,
    slurm_conf: SlurmConf,
    /// None: it has panicked; scheduling goes on without.
    reporter: Option<Reporter>,
    explainer: ExplainerState,
}

/// What was found when slurm.conf and the partitions were last looked at.
struct SlurmConf {
    /// slurm.conf and the partitions are as DFRS needs them.
    fits: bool,
    /// The partitions were changed then, in UNIX seconds; `None`: they may have been again in the same second.
    changed_at: Option<i64>,
}

impl SlurmConf {
    fn new(fits: bool, changed_at: i64) -> Self {
        let is_over = changed_at != wall().whole_seconds();
        Self {
            fits,
            changed_at: is_over.then_some(changed_at),
        }
    }
}

/// Whether questions about jobs are answered.
enum ExplainerState {
    /// Not before this slurmctld is the one that controls the cluster.
    NotYet,
    Yes(Explainer),
    /// There is nothing to answer, or it does not work.
    No,
}

/// A scheduler that does something: the breaker, its clock, and what of it the status file shows.
struct Core<S> {
    breaker: CircuitBreaker<S, NodeDaemons>,
    clock: MonotonicClock,
    gauges: Gauges,
}

/// What is read while the agent has the rest.
struct Gauges {
    stopwatch: Stopwatch,
    traffic: Arc<Traffic>,
    state_file: state_file::StateFileGauge,
    journal: Option<journal_file::JournalGauge>,
}

impl<S: Slurm> PluginScheduler<S> {
    /// Reads dfrs.conf and starts an agent, or leaves everything to Slurm's own backfill.
    pub(crate) fn set_up(host: &impl PluginHost<Slurm = S>) -> Self {
        let mut scheduler = Self {
            life: PluginLife::default(),
            config: None,
            core: None,
            unkept: None,
            slurm_conf: SlurmConf::new(true, 0),
            reporter: None,
            explainer: ExplainerState::No,
        };
        scheduler.happen(PluginEvent::Reconfigured { is_same: false }, host);
        scheduler
    }

    /// Does what follows from this event, and from what that leads to.
    pub(crate) fn happen(&mut self, event: PluginEvent, host: &impl PluginHost<Slurm = S>) {
        let mut event = Some(event);
        while let Some(happened) = event.take() {
            let now = self.now();
            let (life, actions) = self.life.after(happened, now);
            for action in actions {
                event = self.perform(action, host, now).or(event);
            }
            self.life = life;
        }
    }

    /// Returns the event that this leads to, if any.
    fn perform(
        &mut self,
        action: PluginAction,
        host: &impl PluginHost<Slurm = S>,
        now: Time,
    ) -> Option<PluginEvent> {
        match action {
            PluginAction::Log(level, text) => host.log(level, &text),
            PluginAction::ReadConfig => {
                return Some(self.configure(read_config(&host.conf_directory()), host));
            }
            PluginAction::KeepConfig => {
                let config = self.config.take().ok_or_else(|| NO_CONFIG.to_owned());
                return Some(self.configure(config, host));
            }
            PluginAction::Start(role) => return Some(self.start(role, host)),
            PluginAction::HidePartitions => {
                let core = self.core.as_ref();
                let partitions = core.map(|core| core.breaker.agent().partitions());
                host.hide_from_backfill(&partitions.unwrap_or_default());
            }
            PluginAction::Report(problem) => {
                self.unkept = None;
                let core = self.core.as_ref();
                self.explainer = core.map_or(ExplainerState::No, |_| ExplainerState::NotYet);
                self.reporter = Some(start_reporter(host, self.config.as_ref(), problem));
            }
            PluginAction::End => {
                let core = self.core.as_mut();
                self.unkept = core.and_then(|core| core.breaker.finish(now));
                self.explainer = ExplainerState::No;
                if let Some(mut reporter) = self.reporter.take() {
                    reporter.finish(self.facts(host), wall());
                }
                // With what it has open: the next one opens the same files.
                self.core = None;
            }
            of_agent => {
                if let Some(core) = &mut self.core {
                    core.breaker.perform(&of_agent, now);
                }
            }
        }
        None
    }

    /// Looks whether slurm.conf and the partitions are as this dfrs.conf needs them.
    fn configure(
        &mut self,
        config: Result<Config, String>,
        host: &impl PluginHost<Slurm = S>,
    ) -> PluginEvent {
        let changed_at = host.partitions_changed_at();
        let wanted = config.as_ref().ok();
        let wanted = wanted.filter(|config| config.mode != Mode::Off);
        let misfit = wanted.and_then(|config| host.conf_problem(config));
        self.slurm_conf = SlurmConf::new(misfit.is_none(), changed_at);
        let mode = config.as_ref().map(|config| config.mode);
        let mode = misfit.map_or_else(|| mode.map_err(Clone::clone), Err);
        self.config = config.ok();
        PluginEvent::Configured(mode)
    }

    fn start(&mut self, role: AgentRole, host: &impl PluginHost<Slurm = S>) -> PluginEvent {
        let (config, unkept) = (self.config.as_ref(), self.unkept.clone());
        let core = match role {
            AgentRole::GiveBack(mode) => {
                let next = config.filter(|_| mode.is_some());
                give_back(host, unkept, next).ok_or(PluginEvent::NothingToGiveBack)
            }
            AgentRole::Schedule | AgentRole::Watch => config
                .ok_or_else(|| NO_CONFIG.to_owned())
                .and_then(|config| make_core(host, config, unkept))
                .map_err(PluginEvent::NotStarted),
        };
        core.map_or_else(
            |event| event,
            |core| {
                self.core = Some(core);
                PluginEvent::Started
            },
        )
    }

    /// What has happened by itself, if anything.
    pub(crate) fn notice(&mut self, host: &impl PluginHost<Slurm = S>) -> Option<PluginEvent> {
        let core = self.core.as_ref();
        let is_reset_due = |core: &Core<S>| self.life.is_reset_due(core.clock.ahead().time(wall()));
        let has_given_back = |core: &Core<S>| core.breaker.agent().has_given_back();
        if core.is_some_and(is_reset_due) {
            Some(PluginEvent::ResetDue)
        } else if self.life.is_given_back()
            || self.life.is_active() && core.is_some_and(has_given_back)
        {
            Some(PluginEvent::GivenBack)
        } else {
            let is_changed = self.partitions_changed(host);
            is_changed.then_some(PluginEvent::PartitionsChanged)
        }
    }

    /// Whether the thread is to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.life.is_stopped()
    }

    /// Whether partitions were changed (`scontrol update partition`) in such a way that slurm.conf is no more
    /// as DFRS needs it, or is again. Looks only if they were changed since it last looked.
    fn partitions_changed(&mut self, host: &impl PluginHost<Slurm = S>) -> bool {
        let changed_at = host.partitions_changed_at();
        let is_news = self.slurm_conf.changed_at != Some(changed_at);
        let config = self.config.as_ref().filter(|_| is_news);
        let Some(config) = config.filter(|config| config.mode != Mode::Off) else {
            return false;
        };
        let before = self.slurm_conf.fits;
        let fits = host.conf_problem(config).is_none();
        self.slurm_conf = SlurmConf::new(fits, changed_at);
        fits != before
    }

    /// Does what is due. Returns whether the next tick need not wait.
    pub(crate) fn tick(&mut self) -> bool {
        let core = self.core.as_mut();
        core.is_some_and(|core| {
            let now = core.now();
            core.breaker.tick(&mut self.life, now)
        })
    }

    /// Writes the status file, if that is due and this slurmctld is the one that controls the cluster.
    pub(crate) fn report(&mut self, host: &impl PluginHost<Slurm = S>) {
        let Some(mut reporter) = self.reporter.take() else {
            return;
        };
        let report = || {
            let happened = self.change_count();
            if reporter.is_due(happened, Instant::now()) && host.is_primary() {
                reporter.report(self.facts(host), happened, wall());
            }
            reporter
        };
        self.reporter = caught(report)
            .inspect_err(|problem| {
                let text = format!("status file disabled: {problem}");
                host.log(LogLevel::Error, &text);
            })
            .ok();
    }

    /// Answers questions about jobs, if there are any.
    pub(crate) fn explain(&mut self, host: &impl PluginHost<Slurm = S>) {
        let explaining = std::mem::replace(&mut self.explainer, ExplainerState::No);
        let next = || self.explain_by(explaining, host);
        self.explainer = caught(next).unwrap_or_else(|problem| {
            let text = format!("'dfrs explain' disabled: {problem}");
            host.log(LogLevel::Error, &text);
            ExplainerState::No
        });
    }

    fn explain_by(
        &self,
        explaining: ExplainerState,
        host: &impl PluginHost<Slurm = S>,
    ) -> ExplainerState {
        match explaining {
            ExplainerState::NotYet if host.is_primary() => {
                let directory = status_directory(host, self.config.as_ref());
                let log = host.shared_log();
                Explainer::start_or_log(&directory, &log)
                    .map_or(ExplainerState::No, ExplainerState::Yes)
            }
            ExplainerState::Yes(explainer) => {
                explainer.answer(|question| {
                    let core = self.core.as_ref()?;
                    let now = core.clock.ahead().time(wall());
                    core.breaker
                        .agent()
                        .explanation(question.job, question.task, now)
                });
                ExplainerState::Yes(explainer)
            }
            other => other,
        }
    }

    /// Grows with what a reader of the status file may want to know at once.
    fn change_count(&self) -> u64 {
        let passes = |core: &Core<S>| core.gauges.stopwatch.passes();
        self.core.as_ref().map_or(0, passes) + u64::from(self.life.status().trips)
    }

    fn facts(&self, host: &impl PluginHost<Slurm = S>) -> StatusFacts {
        let facts = self.core.as_ref().map(Core::facts).unwrap_or_default();
        StatusFacts {
            breaker: self.life.status(),
            locks: host.lock_times(),
            ..facts
        }
    }

    /// DFRS's time, by the agent's clock if there is one.
    fn now(&mut self) -> Time {
        self.core.as_mut().map_or_else(wall, Core::now)
    }

    /// Whether there is an agent, and nothing that it was set up from has changed.
    pub(crate) fn still_fits(&self, host: &impl PluginHost<Slurm = S>) -> bool {
        let config = self.config.as_ref().filter(|_| self.life.is_active());
        config.is_some_and(|config| {
            read_config(&host.conf_directory()).as_ref() == Ok(config)
                && host.conf_problem(config).is_none()
        })
    }
}

impl<S: Slurm> Core<S> {
    /// DFRS's time.
    fn now(&mut self) -> Time {
        let now = self.clock.read(wall());
        self.breaker.set_ahead(self.clock.ahead());
        now
    }

    fn facts(&self) -> StatusFacts {
        let agent = self.breaker.agent();
        StatusFacts {
            counts: agent.counts(),
            job_metrics: agent.job_metrics(self.clock.ahead().time(wall())),
            done: agent.done(),
            silent: agent.silent_nodes().map(str::to_owned).collect(),
            messages: self.gauges.traffic.report(),
            passes: self.gauges.stopwatch.times(),
            state_file: self.gauges.state_file.lag(),
            journal: self
                .gauges
                .journal
                .as_ref()
                .map(journal_file::JournalGauge::report),
            ..StatusFacts::default()
        }
    }
}

fn start_reporter(
    host: &impl PluginHost,
    config: Option<&Config>,
    problem: Option<String>,
) -> Reporter {
    Reporter::start(
        &status_directory(host, config),
        config,
        problem,
        &host.shared_log(),
        wall(),
    )
}

/// Where the status file is, and the socket for questions.
fn status_directory(host: &impl PluginHost, config: Option<&Config>) -> PathBuf {
    let asked = config.and_then(|config| config.status_directory.clone());
    asked.unwrap_or_else(|| host.state_directory())
}

/// # Errors
///
/// One line on why there is none.
fn make_core<T: PluginHost>(
    host: &T,
    config: &Config,
    unkept: Option<State>,
) -> Result<Core<T::Slurm>, String> {
    let config = &without_unacknowledged_features(host, config);
    let names = config.partition_list();
    host.log(
        LogLevel::Info,
        &format!(
            "schedules partition(s) {names}: Mode={} Policy={}",
            config.mode.word(),
            config.policy
        ),
    );
    start_agent(host, config, unkept)
}

/// Where slurmctld does not learn which nodes a message has not reached, their acknowledgements are
/// worth nothing, and memory would be given to others while it is still in use: nothing is parked
/// then, and no job counts with less than it requested.
fn without_unacknowledged_features(host: &impl PluginHost, config: &Config) -> Config {
    let mut config = config.clone();
    if host.delivery_known() {
        return config;
    }
    let why = no_delivery_report(host.slurm_version());
    if config.needs == NeedsSource::Measured {
        host.log(
            LogLevel::Error,
            &format!("dfrs.conf: Needs counts as requested: {why}"),
        );
        config.needs = NeedsSource::Requested;
    }
    if config.swap_per_node != Bytes(0) {
        host.log(
            LogLevel::Error,
            &format!("dfrs.conf: SwapPerNode counts as 0 and no job is parked: {why}"),
        );
        config.swap_per_node = Bytes(0);
    }
    config
}

/// What gives back what was parked before DFRS was switched off, if there may be anything. `next`: the dfrs.conf by
/// which it does nothing else, or watches then. The next agent sends the nodes nothing about it, so the nodes have to
/// confirm all of it before this one ends.
fn give_back<T: PluginHost>(
    host: &T,
    unkept: Option<State>,
    next: Option<&Config>,
) -> Option<Core<T::Slurm>> {
    // A file that cannot be read is reported when a scheduler starts next; nothing is known to be
    // parked.
    let path = state_file::path_in(&host.state_directory());
    let state = unkept
        .clone()
        .map_or_else(|| state_file::load(&path), Ok)
        .ok()?;
    let config = state.left_over(next)?;
    if state.has_parked() {
        let watches = next.is_some_and(|config| config.mode == Mode::Shadow);
        let text = if watches {
            "DFRS resumes the jobs that it had parked; then it only watches"
        } else {
            "DFRS is off and resumes the jobs that it had parked"
        };
        host.log(LogLevel::Info, text);
    }
    start_agent(host, &config, unkept)
        .inspect_err(|problem| {
            let text = format!("jobs that DFRS parked have not resumed: {problem}");
            host.log(LogLevel::Error, &text);
        })
        .ok()
}

fn start_agent<T: PluginHost>(
    host: &T,
    config: &Config,
    unkept: Option<State>,
) -> Result<Core<T::Slurm>, String> {
    let no_thread = |problem: std::io::Error| format!("no thread: {problem}");
    let path = state_file::path_in(&host.state_directory());
    let (journal, gauge) = open_journal(host, config).unzip();
    // A state that refers to the journal is kept after the journal is.
    let before: state_file::PreWriteHook = match gauge.clone() {
        Some(gauge) => Box::new(move || gauge.settle()),
        None => Box::new(|| {}),
    };
    let (store, state) =
        StateFile::open(&path, unkept, before, &host.shared_log()).map_err(no_thread)?;
    let mut clock = state.clock(journal.as_ref().and_then(Writer::earliest));
    let now = clock.read(wall());
    let daemons = NodeDaemons::start(
        &host.node_link(),
        &host.shared_log(),
        SendTiming::with_time_to_live(config.time_to_live),
        // Nodes ignore orders that are older than others that they have received.
        u64::try_from(now.0 / 1000).unwrap_or(0),
    )
    .map_err(no_thread)?;
    let gauges = Gauges {
        stopwatch: Stopwatch::default(),
        traffic: daemons.traffic(),
        state_file: store.gauge(),
        journal: gauge,
    };
    let given_back = state.dropped_partitions(config);
    let ports = Ports {
        slurm: host.slurm(config, &given_back),
        daemons,
        store: Box::new(store),
        journal,
        recorder: Box::new(recorder::Files::new(&host.state_directory())),
        probe: Box::new(gauges.stopwatch.clone()),
    };
    let mut agent = Agent::new(ports, config.clone(), state, now);
    agent.set_ahead(clock.ahead());
    Ok(Core {
        breaker: CircuitBreaker::new(agent, gauges.stopwatch.clone()),
        clock,
        gauges,
    })
}

fn open_journal(
    host: &impl PluginHost,
    config: &Config,
) -> Option<(Writer, journal_file::JournalGauge)> {
    let opened = journal_file::open(config.journal.as_deref()?, &host.shared_log());
    opened
        .inspect_err(|problem| host.log(LogLevel::Error, &format!("no journal: {problem}")))
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

/// The wall clock: microseconds since the UNIX epoch.
fn wall() -> Time {
    let elapsed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Time(i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX))
}
