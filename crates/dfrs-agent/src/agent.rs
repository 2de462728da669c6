//! One pass of the scheduler: look, decide, act, tell the nodes. Everything between two looks at
//! Slurm is a function of what was seen, the ledger and the time.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Blocked, Mobility, Span, Time, Trigger, check, decide};
use dfrs_proto::conf::{Config, Mode};
use dfrs_proto::journal::Outcome as JobOutcome;
use dfrs_proto::message::NodeState;

use crate::apply::apply;
use crate::cluster::{Facts, planned};
use crate::daemons::Daemons;
use crate::ledger::{Ledger, Phase, Record};
use crate::live_journal::{LiveJournal, Writer};
use crate::mobility::mobility;
use crate::observation::{Observation, ObservedNode};
use crate::placement::Placement;
use crate::slurm::{Level, Slurm, SlurmError};
use crate::state::{State, Store};

mod act;
mod keep;
mod look;
mod postponed;
mod queue;
mod remaps;
mod share;
mod slow_nodes;
mod tell;

use postponed::Postponed;
use remaps::Remaps;
use slow_nodes::SlowNodes;

const SECOND: i64 = 1_000_000;
/// Slurm is looked at after this time even if nothing seems to have changed (begin times pass,
/// reservations start).
const LONGEST_SLEEP: Span = Span(5 * SECOND);
/// Rounds of steps in one pass: what one step makes possible need not wait for the next pass.
const ROUNDS: usize = 4;

/// What an agent reaches the world by.
pub struct Ports<S, D> {
    /// slurmctld.
    pub slurm: S,
    /// The node daemons.
    pub daemons: D,
    /// Where the state is kept.
    pub store: Box<dyn Store>,
    /// The journal, if there is one.
    pub journal: Option<Writer>,
}

/// The scheduler's state between passes.
pub struct Agent<S, D> {
    slurm: S,
    config: Config,
    daemons: D,
    ledger: Ledger,
    saved: Ledger,
    store: Box<dyn Store>,
    journal: Option<LiveJournal>,
    nodes: Vec<ObservedNode>,
    ready: BTreeSet<u32>,
    blocked: BTreeMap<u32, Blocked>,
    ended: Vec<(u32, Record, JobOutcome)>,
    silent: BTreeSet<String>,
    can_park: BTreeSet<String>,
    looked: Time,
    cores_hidden: Time,
    /// slurmctld was killed, and was not looked at since.
    recovers: bool,
    asked: Time,
    freed: bool,
    postponed: Postponed,
    remaps: Remaps,
    slow_nodes: SlowNodes,
}

/// What one pass did, for statistics and tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassReport {
    /// Jobs that waited when it began.
    pub queue: u32,
    /// Jobs that decisions were about.
    pub depth: u32,
    /// Jobs that were started or came back.
    pub started: u32,
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// An agent that goes on where `state` says.
    pub fn new(ports: Ports<S, D>, config: Config, state: State, now: Time) -> Self {
        let recovers = !state.in_order;
        let ledger = state.ledger;
        let first_remap = Time(now.0 + config.period.0);
        Self {
            slurm: ports.slurm,
            config,
            daemons: ports.daemons,
            saved: ledger.clone(),
            ledger,
            store: ports.store,
            journal: ports.journal.map(LiveJournal::new),
            nodes: Vec::new(),
            ready: BTreeSet::new(),
            blocked: BTreeMap::new(),
            ended: Vec::new(),
            silent: BTreeSet::new(),
            can_park: BTreeSet::new(),
            looked: Time(0),
            cores_hidden: Time(0),
            recovers,
            asked: Time(0),
            freed: false,
            postponed: Postponed::default(),
            remaps: Remaps::from(first_remap),
            slow_nodes: SlowNodes::default(),
        }
    }

    /// Slurm, for the passive mode and for tests.
    pub fn slurm(&mut self) -> &mut S {
        &mut self.slurm
    }

    /// Slurm was reconfigured: looks at everything again at the next tick.
    pub fn refresh(&mut self) {
        self.looked = Time(0);
        self.cores_hidden = Time(0);
    }

    /// Whether there may be something to do.
    #[must_use]
    pub fn is_due(&self, now: Time) -> bool {
        let changed = self.slurm.last_update() >= self.looked.0 / SECOND;
        let under_way = self
            .ledger
            .jobs
            .values()
            .any(|record| record.phase.is_under_way());
        changed
            || under_way
            || now.0 - self.looked.0 >= LONGEST_SLEEP.0
            || self.remaps.is_due(now)
            || self.postponed.is_due(now)
    }

    /// Looks, decides, acts, and tells the nodes.
    ///
    /// # Errors
    ///
    /// Slurm could not be looked at.
    pub fn pass(&mut self, now: Time) -> Result<PassReport, SlurmError> {
        self.looked = now;
        self.learn_from_nodes(now);
        let mut observation = self.look(now)?;
        let mut report = PassReport {
            queue: self.waiting(&observation),
            ..PassReport::default()
        };
        self.ready = self.find_ready(&observation, now);
        for trigger in self.triggers(&observation, now) {
            report.depth += self.decide(&observation, trigger, now);
        }
        self.save();
        for _ in 0..ROUNDS {
            let (acted, started) = self.act(&mut observation, now);
            report.started += started;
            if !acted {
                break;
            }
            observation = self.look(now)?;
        }
        self.share(&observation, now);
        self.tell(&observation, now);
        self.save();
        Ok(report)
    }

    /// Gives the cluster back: no caps, nothing frozen, parked jobs run on as soon as their memory
    /// fits. Returns how many jobs are still parked; to be called again until it is none.
    ///
    /// # Errors
    ///
    /// Slurm could not be looked at.
    pub fn stand_down(&mut self, now: Time) -> Result<usize, SlurmError> {
        let mut observation = self.slurm.observe()?;
        self.catch_up(&observation, now);
        for record in self.ledger.jobs.values_mut() {
            record.not_before = Time(0);
            record.phase = handed_back(&record.phase, now);
        }
        self.act(&mut observation, now);
        let observation = self.slurm.observe()?;
        self.catch_up(&observation, now);
        self.write_journal(&observation, now);
        let uncapped = observation.nodes.iter().map(|node| {
            (
                node.name.clone(),
                NodeState {
                    cpus: node.cpus,
                    jobs: Vec::new(),
                },
            )
        });
        self.daemons.set(uncapped.collect(), BTreeMap::new());
        self.save();
        Ok(self
            .ledger
            .jobs
            .values()
            .filter(|record| matches!(record.phase, Phase::Unparking { .. }))
            .count())
    }

    /// Stops the pusher and keeps the ledger.
    pub fn finish(&mut self, now: Time) {
        self.count_until(now);
        self.keep(true);
        self.daemons.stop();
    }

    fn facts<'a>(&'a self, now: Time) -> Facts<'a> {
        Facts {
            config: &self.config,
            can_park: &self.can_park,
            ready: &self.ready,
            now,
        }
    }

    /// Decides, checks the plan, and enters it into the ledger. Returns how many jobs it was about.
    fn decide(&mut self, observation: &Observation, trigger: Trigger, now: Time) -> u32 {
        let cluster = planned(observation, &self.ledger, &self.facts(now));
        let plan = decide(&self.config.policy, &cluster, now, trigger);
        if let Some(violation) = check(&cluster, &plan).first() {
            self.slurm.log(
                Level::Error,
                &format!("{trigger:?}: plan dropped, it breaks a rule: {violation}"),
            );
            return 0;
        }
        self.blocked = plan
            .blocked
            .iter()
            .filter_map(|(id, why)| Some((u32::try_from(id.0).ok()?, *why)))
            .collect();
        for planned in &plan.actions {
            self.slurm.log(
                Level::Debug,
                &format!("{trigger:?}: {:?} ({:?})", planned.action, planned.reason),
            );
        }
        if self.config.mode == Mode::Full {
            let config = &self.config;
            let mobility_of = |id: u32| {
                let job = observation.job(id);
                job.map_or(Mobility::Never, |job| mobility(job, config))
            };
            apply(&plan, &mut self.ledger, observation, mobility_of, now);
            if trigger == Trigger::Period {
                self.remaps.carry_out(&plan);
            }
        }
        u32::try_from(cluster.jobs.len()).unwrap_or(u32::MAX)
    }
}

/// The phase of a job that DFRS no longer decides about: what is parked comes back, nothing else is
/// under way.
fn handed_back(phase: &Phase, now: Time) -> Phase {
    match phase {
        Phase::Parked { placement, memory }
        | Phase::Unparking {
            placement, memory, ..
        } => Phase::Unparking {
            placement: placement.clone(),
            memory: memory.clone(),
            since: now,
        },
        Phase::Parking { .. } => Phase::Unparking {
            placement: Placement::default(),
            memory: Vec::new(),
            since: now,
        },
        Phase::Starting { .. } | Phase::Requeued { .. } => Phase::Waiting,
        Phase::Leaving { .. } | Phase::Warned { .. } => Phase::Running,
        Phase::Waiting | Phase::Running | Phase::Paused | Phase::Foreign => phase.clone(),
    }
}

#[cfg(test)]
mod tests;
