//! The life of DFRS inside slurmctld: what becomes of it by each event, and what is done then. No I/O, no clock: the
//! runtime, the scheduler and the breaker notice the events and carry the actions out. `life/transitions.md` beside
//! this is the printed table.

use dfrs_agent::slurm::port::LogLevel;
use dfrs_core::{Span, Time};
use dfrs_proto::conf::Mode;
use dfrs_proto::status::{BreakerState, BreakerStatus};

use restoration::{Handover, Restoration};

mod restoration;

#[cfg(test)]
mod table;

pub use restoration::Attempt;

/// What backfill starts takes the memory that parked jobs need to come back. So its partitions are withheld from it
/// until they are back, but no longer than this: they may be parked on nodes that are down or reserved.
const MAX_WITHHELD_TIME: Span = Span(3_600_000_000);
/// Where the machine may have been the cause, the breaker is reset after this,
const RESET_TIMEOUT: Span = Span(600_000_000);
/// unless it was reset within this: then it was not the machine.
const PROBATION: Span = Span(3_600_000_000);

/// Microseconds.
const MINUTE: i64 = 60_000_000;

/// Where DFRS stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum PluginState {
    /// There is no agent: by dfrs.conf, because of a problem, or not yet.
    #[default]
    Off,
    /// dfrs.conf is looked at, or an agent is started.
    SettingUp(SetUp),
    /// The agent only watches.
    Watching,
    /// The agent schedules.
    Scheduling,
    /// The agent brings back what one before it has parked, and does nothing else.
    GivingBack(Restoration),
    /// It has, and the nodes have confirmed it.
    GivenBack,
    /// The breaker has opened: the agent gives the cluster back. When the breaker is reset, if it is by itself.
    StandingDown(Restoration, Option<Time>),
    /// It has, as far as it can be, or must not touch Slurm's records at all. When the breaker is reset.
    Open(Option<Time>),
    /// The thread ends.
    Stopped,
}

/// How far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SetUp {
    /// What was parked before comes back first, unless DFRS schedules.
    gives_back: bool,
    /// Why DFRS will be off although it is configured.
    problem: Option<String>,
    /// The agent that is started; `None`: dfrs.conf is looked at.
    starts: Option<AgentRole>,
}

/// What an agent is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentRole {
    /// It schedules.
    Schedule,
    /// It only watches.
    Watch,
    /// It brings back what one before it has parked, before dfrs.conf has its way; `None`: that has a problem.
    GiveBack(Option<Mode>),
}

/// What tripped the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// DFRS, or what it was given: would trip it again.
    Defect,
    /// Perhaps only the machine, which had too much to do.
    Machine,
}

/// What happens to DFRS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginEvent {
    /// The start, or `scontrol reconfigure`.
    Reconfigured {
        /// DFRS is what it would become.
        is_same: bool,
    },
    /// Partitions are no more as DFRS needs them, or are again.
    PartitionsChanged,
    /// Partitions that dfrs.conf has lost, or all, are given back.
    GivenBack,
    /// The time at which the breaker is reset is reached.
    ResetDue,
    /// slurmctld ends.
    Stop,
    /// dfrs.conf and slurm.conf were looked at: the mode, or what is wrong.
    Configured(Result<Mode, String>),
    /// The agent was started.
    Started,
    /// It was not: why.
    NotStarted(String),
    /// There is nothing to give back, or no way to.
    NothingToGiveBack,
    /// Slurm could not be looked at.
    PassSkipped(String),
    /// A pass has failed, or was the last one of too many: why, and how many jobs depend on DFRS to come back.
    PassFailed(String, Cause, usize),
    /// Slurm's records are not what the plugin was compiled for.
    LayoutProblem {
        /// What differs.
        problem: String,
        /// There are jobs that cannot be given back.
        has_left_out: bool,
    },
    /// An attempt to give the cluster back is over.
    Attempted(Attempt),
}

/// What is to be done. It is done in the state that is left; the event that it leads to, if any, comes after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginAction {
    /// Writes to slurmctld's log.
    Log(LogLevel, String),
    /// Looks at slurm.conf and the dfrs.conf of now; leads to [`PluginEvent::Configured`].
    ReadConfig,
    /// Looks at slurm.conf and the dfrs.conf as it was; leads to [`PluginEvent::Configured`].
    KeepConfig,
    /// Starts an agent; leads to [`PluginEvent::Started`] or one of the two after it.
    Start(AgentRole),
    /// Has backfill schedule all partitions but the agent's.
    HidePartitions,
    /// Writes the status file from now on, with this problem, and answers questions if there is an agent.
    Report(Option<String>),
    /// Ends the agent, the status file and the answers.
    End,
    /// Has the agent look at Slurm again: what was written to it may be lost.
    Refresh,
    /// Removes what Slurm's own tools show of yields.
    ClearYields,
    /// Has backfill schedule all partitions.
    HandOver,
    /// Has the agent send no more orders: without them the node daemons lift their caps.
    StopOrders,
}

/// What happened to this breaker and those before it, since the last start or reconfigure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct BreakerHistory {
    /// When it was tripped last, and why.
    tripped: Option<(Time, String)>,
    trips: u32,
    /// When the breaker was last reset by itself.
    reset: Option<Time>,
}

impl BreakerHistory {
    fn record(&mut self, now: Time, why: &str) {
        self.tripped = Some((now, why.to_owned()));
        self.trips += 1;
    }

    fn is_on_probation(&self, now: Time) -> bool {
        self.reset.is_some_and(|at| now - at < PROBATION)
    }
}

/// What is known of DFRS itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginLife {
    state: PluginState,
    history: BreakerHistory,
    /// Why DFRS is off although it is configured, as was logged.
    problem: Option<String>,
}

impl PluginLife {
    /// Whether there are passes.
    pub fn is_active(&self) -> bool {
        matches!(self.state, PluginState::Watching | PluginState::Scheduling)
    }

    /// When it is next attempted to give the cluster back, if it is.
    pub fn attempt_at(&self) -> Option<Time> {
        match &self.state {
            PluginState::GivingBack(restoration) | PluginState::StandingDown(restoration, _) => {
                Some(restoration.next)
            }
            _ => None,
        }
    }

    /// Whether everything is given back that another agent had parked.
    pub fn is_given_back(&self) -> bool {
        self.state == PluginState::GivenBack
    }

    /// Whether the breaker is to be reset by itself.
    pub fn is_reset_due(&self, now: Time) -> bool {
        self.reset_at().is_some_and(|at| at <= now)
    }

    /// Whether the thread ends.
    pub fn is_stopped(&self) -> bool {
        self.state == PluginState::Stopped
    }

    /// For the status file.
    pub fn status(&self) -> BreakerStatus {
        let state = match self.state {
            PluginState::Off | PluginState::SettingUp(_) | PluginState::Stopped => {
                BreakerState::Off
            }
            PluginState::Watching | PluginState::Scheduling => BreakerState::Closed,
            PluginState::GivingBack(_) | PluginState::StandingDown(..) => {
                BreakerState::StandingDown
            }
            PluginState::GivenBack | PluginState::Open(_) => BreakerState::Open,
        };
        let tripped = self.history.tripped.as_ref();
        BreakerStatus {
            state,
            since: tripped.map(|(at, _)| at.seconds_to_the_millisecond()),
            why: tripped.map(|(_, why)| why.clone()),
            trips: self.history.trips,
            reset_at: self.reset_at().map(Time::seconds_to_the_millisecond),
        }
    }

    fn reset_at(&self) -> Option<Time> {
        match self.state {
            PluginState::StandingDown(_, reset_at) | PluginState::Open(reset_at) => reset_at,
            _ => None,
        }
    }

    /// What becomes of it by this event, and what is to be done first, in this order.
    pub fn after(&self, event: PluginEvent, now: Time) -> (Self, Vec<PluginAction>) {
        let mut next = self.clone();
        let actions = next.on(event, now);
        (next, actions)
    }

    fn on(&mut self, event: PluginEvent, now: Time) -> Vec<PluginAction> {
        use PluginAction::{ClearYields, End, KeepConfig, Log, ReadConfig, Refresh, StopOrders};
        let fresh = BreakerHistory::default();
        match (event, self.state.clone()) {
            (_, PluginState::Stopped) => vec![],
            (PluginEvent::Stop, _) => self.becomes(PluginState::Stopped, vec![End]),
            // Slurm calls for it right after the start, too.
            (PluginEvent::Reconfigured { is_same: true }, _) if self.is_active() => vec![Refresh],
            // The next dfrs.conf may not show yields.
            (PluginEvent::Reconfigured { .. }, _) => {
                self.set_up(fresh, true, vec![ClearYields, End, ReadConfig])
            }
            (PluginEvent::PartitionsChanged, _) => {
                self.set_up(fresh, true, vec![ClearYields, End, KeepConfig])
            }
            (PluginEvent::GivenBack, PluginState::Scheduling | PluginState::GivenBack) => {
                self.set_up(fresh, false, vec![End, KeepConfig])
            }
            (PluginEvent::ResetDue, _) if self.reset_at().is_some() => {
                let history = BreakerHistory {
                    reset: Some(now),
                    ..self.history.clone()
                };
                let text = "breaker reset, DFRS enabled again".to_owned();
                let log = Log(LogLevel::Info, text);
                self.set_up(history, true, vec![End, log, KeepConfig])
            }
            (PluginEvent::Configured(found), PluginState::SettingUp(set_up))
                if set_up.starts.is_none() =>
            {
                self.configured(set_up, found)
            }
            (event, PluginState::SettingUp(set_up)) => self.answered(event, set_up, now),
            (PluginEvent::PassSkipped(problem), _) if self.is_active() => {
                vec![error(format!("pass skipped: {problem}"))]
            }
            (PluginEvent::PassFailed(why, cause, parked), _) if self.is_active() => {
                self.trip(&why, cause, parked, now)
            }
            (
                PluginEvent::LayoutProblem {
                    problem,
                    has_left_out,
                },
                state,
            ) if self.is_active() || self.attempt_at().is_some() => {
                self.history.record(now, &problem);
                let is_given_back = !has_left_out
                    && matches!(state, PluginState::GivingBack(last) if last.is_handed_over());
                let text = format!(
                    "this plugin does not fit this slurmctld ({problem}): it does nothing; install the one built for this Slurm version"
                );
                let next = match is_given_back {
                    true => PluginState::GivenBack,
                    false => PluginState::Open(None),
                };
                self.becomes(next, vec![error(text), StopOrders])
            }
            (PluginEvent::Attempted(attempt), PluginState::GivingBack(restoration)) => {
                let is_over = attempt.is_thaw_confirmed;
                let (next, actions) = restoration.after(&attempt, is_over, now);
                let end = match attempt.has_left_out {
                    // They may be parked: nothing else knows what to do about them either.
                    true => PluginState::Open(None),
                    false => PluginState::GivenBack,
                };
                self.becomes(next.map_or(end, PluginState::GivingBack), actions)
            }
            (PluginEvent::Attempted(attempt), PluginState::StandingDown(restoration, reset_at)) => {
                let (next, actions) = restoration.after(&attempt, true, now);
                // Otherwise the machine was not the only cause.
                let is_sound = !attempt.has_left_out && !attempt.has_panicked;
                let reset_at = reset_at.filter(|_| is_sound);
                let stands_down = |next| PluginState::StandingDown(next, reset_at);
                self.becomes(
                    next.map_or(PluginState::Open(reset_at), stands_down),
                    actions,
                )
            }
            _ => vec![],
        }
    }

    fn becomes(&mut self, next: PluginState, actions: Vec<PluginAction>) -> Vec<PluginAction> {
        self.state = next;
        actions
    }

    fn set_up(
        &mut self,
        history: BreakerHistory,
        gives_back: bool,
        actions: Vec<PluginAction>,
    ) -> Vec<PluginAction> {
        self.history = history;
        // One that was logged is not logged again when all is given back.
        self.problem = self.problem.take().filter(|_| !gives_back);
        let set_up = SetUp {
            gives_back,
            problem: None,
            starts: None,
        };
        self.becomes(PluginState::SettingUp(set_up), actions)
    }

    fn configured(&mut self, mut set_up: SetUp, found: Result<Mode, String>) -> Vec<PluginAction> {
        let mode = found.map_err(|problem| set_up.problem = Some(problem)).ok();
        match mode {
            Some(Mode::Full) => self.start(set_up, AgentRole::Schedule, vec![]),
            mode => self.give_back_first(set_up, mode),
        }
    }

    /// One agent at a time: both would write the same files.
    fn give_back_first(&mut self, set_up: SetUp, mode: Option<Mode>) -> Vec<PluginAction> {
        match set_up.gives_back {
            true => self.start(set_up, AgentRole::GiveBack(mode), vec![]),
            false => self.withhold_nothing(set_up, mode),
        }
    }

    fn withhold_nothing(&mut self, set_up: SetUp, mode: Option<Mode>) -> Vec<PluginAction> {
        let actions = vec![PluginAction::HidePartitions];
        match mode {
            Some(Mode::Shadow) => self.start(set_up, AgentRole::Watch, actions),
            _ => self.is_set_up(set_up, PluginState::Off, actions),
        }
    }

    fn start(
        &mut self,
        mut set_up: SetUp,
        role: AgentRole,
        mut actions: Vec<PluginAction>,
    ) -> Vec<PluginAction> {
        set_up.starts = Some(role);
        actions.push(PluginAction::Start(role));
        self.becomes(PluginState::SettingUp(set_up), actions)
    }

    /// Whether there is the agent that was to start.
    fn answered(&mut self, event: PluginEvent, mut set_up: SetUp, now: Time) -> Vec<PluginAction> {
        let hide = vec![PluginAction::HidePartitions];
        match (set_up.starts, event) {
            (Some(AgentRole::Schedule), PluginEvent::Started) => {
                self.is_set_up(set_up, PluginState::Scheduling, hide)
            }
            (Some(AgentRole::Schedule), PluginEvent::NotStarted(why)) => {
                set_up.problem = Some(why);
                self.give_back_first(set_up, None)
            }
            (Some(AgentRole::Watch), PluginEvent::Started) => {
                self.is_set_up(set_up, PluginState::Watching, vec![])
            }
            (Some(AgentRole::Watch), PluginEvent::NotStarted(why)) => {
                set_up.problem = Some(why);
                self.is_set_up(set_up, PluginState::Off, vec![])
            }
            (Some(AgentRole::GiveBack(_)), PluginEvent::Started) => {
                let restoration = Restoration::new(Handover::WhenBack, now);
                self.is_set_up(set_up, PluginState::GivingBack(restoration), hide)
            }
            (Some(AgentRole::GiveBack(mode)), PluginEvent::NothingToGiveBack) => {
                self.withhold_nothing(set_up, mode)
            }
            _ => vec![],
        }
    }

    fn is_set_up(
        &mut self,
        set_up: SetUp,
        next: PluginState,
        mut actions: Vec<PluginAction>,
    ) -> Vec<PluginAction> {
        if next == PluginState::Off {
            self.history = BreakerHistory::default();
        }
        if let Some(problem) = set_up
            .problem
            .as_ref()
            .filter(|_| set_up.problem != self.problem)
        {
            actions.push(error(format!(
                "{problem}; DFRS is off, backfill schedules all partitions"
            )));
        }
        self.problem.clone_from(&set_up.problem);
        actions.push(PluginAction::Report(set_up.problem));
        self.becomes(next, actions)
    }

    fn trip(&mut self, why: &str, cause: Cause, parked: usize, now: Time) -> Vec<PluginAction> {
        let rests = cause == Cause::Machine && !self.history.is_on_probation(now);
        self.history.record(now, why);
        let until = match rests {
            true => format!("for {} minutes; then one retry", RESET_TIMEOUT.0 / MINUTE),
            false => "until the next 'scontrol reconfigure'".to_owned(),
        };
        let (handover, when) = match parked {
            0 => (Handover::Done, String::new()),
            _ => (
                Handover::By(now + MAX_WITHHELD_TIME),
                format!(
                    "once parked jobs are back ({parked}), in {} minutes at the latest, ",
                    MAX_WITHHELD_TIME.0 / MINUTE
                ),
            ),
        };
        let mut actions = vec![error(format!(
            "{why}; breaker open, DFRS disabled: paused jobs come back, caps are lifted, {when}backfill schedules all partitions {until}"
        ))];
        actions.extend((handover == Handover::Done).then_some(PluginAction::HandOver));
        let restoration = Restoration::new(handover, now);
        let reset_at = rests.then_some(now + RESET_TIMEOUT);
        self.becomes(PluginState::StandingDown(restoration, reset_at), actions)
    }
}

fn error(text: String) -> PluginAction {
    PluginAction::Log(LogLevel::Error, text)
}

#[cfg(test)]
impl PluginLife {
    /// After these events, one after the other.
    pub(crate) fn through<const N: usize>(self, events: [PluginEvent; N], now: Time) -> Self {
        let after = |life: Self, event| life.after(event, now).0;
        events.into_iter().fold(self, after)
    }

    /// A new one, which an agent was started for by a dfrs.conf with this mode.
    pub(crate) fn begun(mode: Mode, now: Time) -> Self {
        let events = [
            PluginEvent::Reconfigured { is_same: false },
            PluginEvent::Configured(Ok(mode)),
            PluginEvent::Started,
        ];
        Self::default().through(events, now)
    }
}
