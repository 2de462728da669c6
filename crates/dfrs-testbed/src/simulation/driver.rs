//! What the plugin's runtime does around an agent, without waiting: from one event of the model, or
//! one moment at which the agent has something to do, to the next.

use std::cell::RefCell;
use std::rc::Rc;

use dfrs_core::{Span, Time};
use dfrs_proto::conf::{Config, Mode};
use dfrs_proto::journal::{JournalEvent, JournalWriter};

use super::journal::MemoryJournal;
use crate::model::acts::Act;
use crate::model::{ClusterModel, DaemonsPort, SharedModel, SlurmPort, StorePort};
use dfrs_agent::clock::MonotonicClock;
use dfrs_agent::fixtures::{NoProbe, NoRecorder};
use dfrs_agent::publish::live_journal::Writer;
use dfrs_agent::publish::state::State;
use dfrs_agent::{Agent, Ports};

/// How often the plugin looks whether there is something to do.
const TICK: i64 = 100_000;
/// How often it looks while steps are under way and nothing has changed, for a driver that spares
/// the agent looks.
const IDLE_TICK: i64 = 1_000_000;
/// Between two attempts to give back what is parked.
const GIVE_BACK_INTERVAL: i64 = 2_000_000;
const SECOND: i64 = 1_000_000;

/// Whether a journal is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Journaling {
    /// It is.
    On,
    /// It is not.
    Off,
}

/// An agent, the model that it acts on, and the plugin's runtime between the two.
pub struct Driver {
    model: SharedModel,
    conf: String,
    config: Option<Config>,
    agent: Option<Agent<SlurmPort, DaemonsPort>>,
    clock: MonotonicClock,
    /// The agent only gives back what was parked, next at this time.
    gives_back_at: Option<Time>,
    /// slurmctld is away until then.
    away_until: Option<Time>,
    /// When the last tick was, and what version Slurm's records had then.
    last_tick: (Time, u64),
    max_sleep: Option<Span>,
    journal: Option<MemoryJournal>,
    passes: u64,
}

impl Driver {
    /// Starts slurmctld on this model, with this text as its dfrs.conf.
    pub fn new(model: ClusterModel, conf: &str, journaling: Journaling) -> Self {
        let mut driver = Self {
            last_tick: (Time(model.now().0 - TICK), u64::MAX),
            model: Rc::new(RefCell::new(model)),
            conf: conf.to_owned(),
            config: None,
            agent: None,
            clock: MonotonicClock::default(),
            gives_back_at: None,
            away_until: None,
            max_sleep: None,
            journal: (journaling == Journaling::On).then(MemoryJournal::default),
            passes: 0,
        };
        driver.set_up(None, true);
        driver
    }

    /// Spares the agent the looks that show nothing new: the plugin looks for the rest of each
    /// second in which something changed, and every few seconds anyway. Steps that wait for nothing
    /// but time go on within a second and not within a tenth of one.
    pub fn look_at_changes_only(&mut self) {
        self.model.borrow_mut().report_changes_only();
        self.set_max_sleep(Span(i64::MAX / 4));
    }

    /// Looks at Slurm only so often while nothing seems to have changed.
    fn set_max_sleep(&mut self, longest: Span) {
        self.max_sleep = Some(longest);
        if let Some(agent) = &mut self.agent {
            agent.set_max_sleep(longest);
        }
    }

    /// The model, which the agent does not use until the next call of this driver.
    pub fn model(&self) -> &SharedModel {
        &self.model
    }

    /// Passes so far.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    /// Events that were written to the journal since the last call, with their lines.
    #[must_use]
    pub fn take_journal(&self) -> Vec<(usize, JournalEvent)> {
        self.journal
            .as_ref()
            .map(MemoryJournal::take)
            .unwrap_or_default()
    }

    /// Whether DFRS schedules, or has still to give back what it parked.
    pub fn is_active(&self) -> bool {
        self.agent.is_some()
    }

    /// Whether DFRS schedules.
    pub fn schedules(&self) -> bool {
        let full = self.config.as_ref().map(|config| config.mode) == Some(Mode::Full);
        full && self.is_active() && self.gives_back_at.is_none()
    }

    /// Whether DFRS looks, and does nothing: not while it has still to give back what it parked.
    pub fn is_shadow(&self) -> bool {
        self.is_shadow_configured() && self.gives_back_at.is_none()
    }

    /// Whether DFRS is to look and to do nothing, perhaps when it has given back what it parked.
    pub fn is_shadow_configured(&self) -> bool {
        self.config.as_ref().map(|config| config.mode) == Some(Mode::Shadow)
    }

    /// The dfrs.conf in force, if it can be read.
    pub fn config(&self) -> Option<&Config> {
        self.config.as_ref()
    }

    /// A user or an operator does this, or this goes wrong, now.
    pub fn act(&mut self, act: &Act) {
        let served = self.model.borrow().serves();
        match act {
            Act::Restart(_) | Act::LoseState(_) if served => drop(self.finish()),
            Act::Kill(_) => self.drop_agent(),
            _ => {}
        }
        self.model.borrow_mut().act(act);
        match act {
            Act::Restart(away) | Act::LoseState(away) | Act::Kill(away) if served => {
                let now = self.model.borrow().now();
                self.away_until = Some(Time(now.0 + away * SECOND));
            }
            Act::Configure(conf) => {
                self.conf.clone_from(conf);
                self.reconfigure();
            }
            Act::Reconfigure => self.reconfigure(),
            Act::MoveClock(_) => drop(self.read_clock()),
            _ => {}
        }
    }

    /// DFRS's time.
    fn read_clock(&mut self) -> Time {
        let now = self.clock.read(self.model.borrow().clock());
        if let Some(agent) = &mut self.agent {
            agent.set_ahead(self.clock.ahead());
        }
        now
    }

    /// Goes on to the next moment at which something happens, but not beyond `until`. Returns
    /// whether it is `until`.
    pub fn step(&mut self, until: Time) -> bool {
        let tick = self.tick_at();
        let event = self.model.borrow().next_event();
        let next = [event, tick, self.away_until, Some(until)];
        let next = next.into_iter().flatten().min().unwrap_or(until);
        // An agent that was made just now has been due for ever.
        let next = next.max(self.model.borrow().now());
        self.model.borrow_mut().advance(next);
        if self.away_until.is_some_and(|at| at <= next) {
            self.away_until = None;
            self.model.borrow_mut().start_slurmctld();
            self.set_up(None, true);
        }
        if self.tick_at().is_some_and(|at| at <= next) {
            self.tick(next);
        }
        next >= until
    }

    /// Goes on until this time.
    pub fn run(&mut self, until: Time) {
        while !self.step(until) {}
    }

    /// When the agent has something to do, at the plugin's next look.
    fn tick_at(&self) -> Option<Time> {
        let agent = self.agent.as_ref().filter(|_| self.away_until.is_none())?;
        let due = self.gives_back_at.unwrap_or_else(|| agent.due_at());
        let model = self.model.borrow();
        let behind = self.clock.ahead().time(model.clock()).0 - model.now().0;
        let (last, version) = self.last_tick;
        let idle = self.max_sleep.is_some() && version == model.version();
        let earliest = last.0 + if idle { IDLE_TICK } else { TICK };
        let at = (due.0 - behind).max(earliest);
        Some(Time((at + TICK - 1).div_euclid(TICK) * TICK))
    }

    fn tick(&mut self, now: Time) {
        self.last_tick = (now, self.model.borrow().version());
        let clock = self.read_clock();
        let Some(agent) = &mut self.agent else {
            return;
        };
        self.passes += 1;
        if self.gives_back_at.is_none() {
            let passed = agent.pass(clock);
            assert!(passed.is_ok(), "the model can always be looked at");
            if agent.has_given_back() {
                let unkept = self.finish();
                self.set_up(unkept, false);
            }
            return;
        }
        let parked = agent.give_back(clock);
        let confirmed = agent.is_thaw_confirmed();
        self.gives_back_at = Some(Time(clock.0 + GIVE_BACK_INTERVAL));
        if parked != Ok(0) {
            return;
        }
        self.model.borrow_mut().hide_from_backfill(Vec::new());
        if confirmed {
            let unkept = self.finish();
            self.set_up(unkept, false);
        }
    }

    fn drop_agent(&mut self) {
        self.agent = None;
        self.gives_back_at = None;
    }

    /// Ends the agent. Returns its state, if that could not be kept.
    fn finish(&mut self) -> Option<State> {
        let now = self.read_clock();
        let unkept = self.agent.as_mut().and_then(|agent| agent.finish(now));
        self.drop_agent();
        unkept
    }

    /// `sched_p_reconfig()`.
    fn reconfigure(&mut self) {
        if self.away_until.is_some() {
            return;
        }
        let config = Config::parse(&self.conf, "dfrs.conf").ok();
        let active = self.gives_back_at.is_none();
        match &mut self.agent {
            Some(agent) if active && config == self.config => agent.refresh(),
            _ => {
                let unkept = self.finish();
                self.set_up(unkept, true);
            }
        }
    }

    /// Reads dfrs.conf and makes an agent, or, if it `may_give_back`, one that gives back what was
    /// parked. `unkept`: the state, where it is newer than what is kept.
    fn set_up(&mut self, unkept: Option<State>, may_give_back: bool) {
        let state = unkept.unwrap_or_else(|| self.model.borrow().kept().clone());
        self.config = Config::parse(&self.conf, "dfrs.conf").ok();
        let wanted = self
            .config
            .clone()
            .filter(|config| config.mode != Mode::Off);
        let full = wanted.as_ref().filter(|config| config.mode == Mode::Full);
        let left_over = if full.is_none() && may_give_back {
            state.left_over(self.config.as_ref())
        } else {
            None
        };
        let journal = self.journal.as_ref().map(MemoryJournal::writer);
        let written = journal.as_ref().and_then(JournalWriter::earliest);
        self.clock = state.clock(written);
        let now = self.read_clock();
        self.gives_back_at = left_over.is_some().then_some(now);
        let schedules = full.is_some() || left_over.is_some();
        let config = left_over.or(wanted);
        let partitions = config.as_ref().map(|config| partitions(config, &state));
        let partitions = partitions.unwrap_or_default();
        let hidden = if schedules {
            partitions.clone()
        } else {
            Vec::new()
        };
        self.model.borrow_mut().hide_from_backfill(hidden);
        self.agent = config.map(|config| self.make_agent(config, state, partitions, journal, now));
    }

    fn make_agent(
        &self,
        config: Config,
        state: State,
        partitions: Vec<String>,
        journal: Option<Writer>,
        now: Time,
    ) -> Agent<SlurmPort, DaemonsPort> {
        let ports = Ports {
            slurm: SlurmPort::new(&self.model, partitions),
            daemons: DaemonsPort(Rc::clone(&self.model)),
            store: Box::new(StorePort(Rc::clone(&self.model))),
            journal,
            recorder: Box::new(NoRecorder),
            probe: Box::new(NoProbe),
        };
        let mut agent = Agent::new(ports, config, state, now);
        agent.set_ahead(self.clock.ahead());
        if let Some(longest) = self.max_sleep {
            agent.set_max_sleep(longest);
        }
        agent
    }
}

/// The partitions that this configuration schedules, and those that have still to be given back.
fn partitions(config: &Config, state: &State) -> Vec<String> {
    let mut partitions = config.partition_names();
    partitions.extend(state.dropped_partitions(config));
    partitions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobSubmission, ModelSettings, ProgramOutcome};
    use dfrs_agent::fixtures::{job, nodes};

    fn driver(node_count: u32) -> Driver {
        let nodes = nodes(node_count).into_iter();
        let model = ClusterModel::new(
            nodes.map(|node| (node, "dfrs".to_owned())).collect(),
            ModelSettings::default(),
            Time(1_000_000 * SECOND),
        );
        let conf = "Mode=full\nPolicy=GreedyPM*/per/OPT=MIN/MINVT=600\nSwapPerNode=10000\nPartition=dfrs\n";
        Driver::new(model, conf, Journaling::On)
    }

    fn submit(driver: &mut Driver, label: u32, memory: u64, work: i64) {
        let job = job(0, 1).requesting(|request| request.memory = memory);
        let submission = JobSubmission::new(label, job, Span(work * SECOND));
        driver.act(&Act::Submit(Box::new(submission)));
    }

    fn pass(driver: &mut Driver, seconds: i64) {
        let now = driver.model().borrow().now();
        driver.run(Time(now.0 + seconds * SECOND));
    }

    /// A job runs, and another that needs its memory was submitted just now.
    fn job_about_to_be_preempted() -> Driver {
        let mut driver = driver(1);
        submit(&mut driver, 1, 900, 60);
        pass(&mut driver, 20);
        submit(&mut driver, 2, 900, 30);
        driver
    }

    #[test]
    fn jobs_end_when_their_work_is_done_at_their_share() {
        let mut driver = driver(1);
        for label in 1..=8 {
            submit(&mut driver, label, 100, 60);
        }
        pass(&mut driver, 110);
        assert!(!driver.model().borrow().is_idle());
        pass(&mut driver, 15);
        let model = driver.model().borrow();
        assert!(
            model.is_idle(),
            "8 one-CPU jobs of a minute on 4 CPUs take two"
        );
    }

    #[test]
    fn parked_job_resumes_and_finishes_its_work() {
        let mut driver = job_about_to_be_preempted();
        pass(&mut driver, 20);
        let history = driver.model().borrow_mut().take_history().join(", ");
        assert!(
            history.contains("suspend 1, release 1, start 2"),
            "{history}"
        );
        pass(&mut driver, 60);
        let model = driver.model().borrow();
        assert!(
            model
                .programs()
                .values()
                .all(|program| program.outcome == ProgramOutcome::Finished)
        );
    }

    #[test]
    fn journal_gives_the_reason_of_each_change() {
        let mut driver = job_about_to_be_preempted();
        pass(&mut driver, 40);
        driver.act(&Act::Requeue(1));
        pass(&mut driver, 1);
        let events = driver.take_journal().into_iter();
        let reasons: Vec<String> = events.filter_map(|(_, event)| event.reason).collect();
        let fits = "its memory fits now";
        assert_eq!(
            reasons,
            [
                fits,
                "preempted by the new job 2",
                fits,
                fits,
                "not by DFRS"
            ]
        );
    }

    #[test]
    fn no_job_ends_when_slurmctld_is_killed() {
        let mut driver = driver(2);
        submit(&mut driver, 1, 400, 60);
        pass(&mut driver, 2);
        driver.act(&Act::Kill(3));
        pass(&mut driver, 200);
        assert!(driver.model().borrow().is_idle());
    }
}
