//! From a seed to a scenario: a cluster, a workload, and acts and faults at random moments.

use std::collections::BTreeSet;

use dfrs_core::Span;

use super::draw::Draw;
use super::scenario::{NodeGroup, SECOND, TrialScenario};
use crate::model::acts::Act;
use crate::model::{JobSubmission, ModelSettings};
use dfrs_agent::fixtures::job;
use dfrs_agent::slurm::records::ObservedJob;

/// Something that a scenario may have in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Arrays.
    Arrays,
    /// A limit on the jobs that a user may have running.
    Limits,
    /// Jobs that want no other user's jobs on their nodes.
    Owners,
    /// Hold, release, requeue, cancel, comment.
    Operators,
    /// Operators suspend and resume jobs.
    Suspensions,
    /// Nodes are drained, and mostly resumed.
    Drains,
    /// Nodes that stay drained.
    LongDrains,
    /// Nodes are set down.
    Downs,
    /// Nodes are reserved for others.
    Reservations,
    /// Nodes leave their partition, and come back.
    Leaves,
    /// dfrs.conf changes its Mode.
    Modes,
    /// A partition is taken out of dfrs.conf while another stays.
    Drops,
    /// Machines lose their power, and are booted.
    PowerLoss,
    /// Nodes do not answer for a while.
    Hangs,
    /// Nodes are slow for a while.
    Slow,
    /// dfrsd ends, and is started again.
    Dfrsd,
    /// slurmctld is killed.
    Kills,
    /// slurmctld is restarted, or reconfigured, in order.
    Restarts,
    /// The state file is lost.
    LostState,
    /// The disk is full for a while.
    FullDisk,
    /// The clock is set forward.
    ClockForward,
    /// The clock is set back.
    ClockBack,
    /// Messages to nodes are lost.
    LostMessages,
    /// Calls into Slurm are refused.
    Refusals,
    /// Calls into Slurm take so long that things happen between a look and a step.
    SlowCalls,
    /// Nodes have devices, for which jobs ask.
    Devices,
    /// Jobs are carried.
    Carry,
}

/// All kinds, with the names by which they are left out.
pub const KINDS: [(Kind, &str); 27] = [
    (Kind::Arrays, "arrays"),
    (Kind::Limits, "limits"),
    (Kind::Owners, "owners"),
    (Kind::Operators, "operators"),
    (Kind::Suspensions, "suspensions"),
    (Kind::Drains, "drains"),
    (Kind::LongDrains, "long-drains"),
    (Kind::Downs, "downs"),
    (Kind::Reservations, "reservations"),
    (Kind::Leaves, "leaves"),
    (Kind::Modes, "modes"),
    (Kind::Drops, "drops"),
    (Kind::PowerLoss, "power-loss"),
    (Kind::Hangs, "hangs"),
    (Kind::Slow, "slow-nodes"),
    (Kind::Dfrsd, "dfrsd"),
    (Kind::Kills, "kills"),
    (Kind::Restarts, "restarts"),
    (Kind::LostState, "lost-state"),
    (Kind::FullDisk, "full-disk"),
    (Kind::ClockForward, "clock-forward"),
    (Kind::ClockBack, "clock-back"),
    (Kind::LostMessages, "lost-messages"),
    (Kind::Refusals, "refusals"),
    (Kind::SlowCalls, "slow-calls"),
    (Kind::Devices, "devices"),
    (Kind::Carry, "carry"),
];

/// Kinds that the reconciler does not stand yet, and what they do to it.
pub const UNSOUND: [(Kind, &str); 0] = [];

/// Which kinds of things a scenario may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kinds(BTreeSet<Kind>);

impl Kinds {
    /// All of them.
    pub fn all() -> Self {
        Self(KINDS.iter().map(|(kind, _)| *kind).collect())
    }

    /// The faults that the reconciler is known to stand.
    pub fn sound() -> Self {
        let mut kinds = Self::all();
        for (kind, _) in UNSOUND {
            kinds.0.remove(&kind);
        }
        kinds
    }

    /// None of them: jobs come and go, nothing else happens.
    pub fn none() -> Self {
        Self(BTreeSet::new())
    }

    /// These without those of this name.
    ///
    /// # Errors
    ///
    /// There is none of this name.
    pub fn without(mut self, name: &str) -> Result<Self, String> {
        self.0.remove(&by_name(name)?);
        Ok(self)
    }

    /// These and those of this name.
    ///
    /// # Errors
    ///
    /// There is none of this name.
    pub fn with(mut self, name: &str) -> Result<Self, String> {
        self.0.insert(by_name(name)?);
        Ok(self)
    }

    fn has(&self, kind: Kind) -> bool {
        self.0.contains(&kind)
    }
}

fn by_name(name: &str) -> Result<Kind, String> {
    let found = KINDS.iter().find(|(_, known)| *known == name);
    let names = || KINDS.map(|(_, name)| name).join(", ");
    found
        .map(|(kind, _)| *kind)
        .ok_or_else(|| format!("'{name}' is no kind of fault; allowed: {}", names()))
}

/// The scenario of a seed. The same seed and kinds always give the same one.
pub fn generate(seed: u64, kinds: &Kinds) -> TrialScenario {
    let mut generator = ScenarioGenerator {
        draw: Draw::new(seed),
        kinds,
        scenario: TrialScenario::default(),
        labels: 0,
    };
    generator.cluster(seed);
    generator.workload();
    generator.add_faults();
    generator.lost_state(seed);
    let mut scenario = generator.scenario;
    super::moldable::draw(seed, &mut scenario);
    super::uses::draw(seed, &mut scenario);
    super::ceiling::draw(seed, &mut scenario);
    super::hostile::draw(seed, &mut scenario);
    if kinds.has(Kind::Devices) {
        super::devices::draw(seed, &mut scenario);
    }
    if kinds.has(Kind::Carry) {
        super::carry::draw(seed, &mut scenario);
    }
    scenario.acts.sort_by_key(|(at, _)| *at);
    scenario
}

/// Submissions come, and things go wrong, within this.
const BUSY_SECONDS: i64 = 150;

/// What decides: the papers' policy, the default one, or that without reservations. Drawn apart, so
/// that all other draws of a seed stay as they are.
fn policy(seed: u64) -> Vec<String> {
    let mut draw = Draw::new(!seed);
    let own = draw
        .chance(50)
        .then(|| (draw.one_of(&[20, 60, 600]), draw.one_of(&[0, 3, 60])));
    let mut lines = Vec::new();
    if draw.chance(30) {
        lines.push("RunTimeHint=limits".to_owned());
    }
    if draw.chance(25) {
        lines.push("LongestPause=60".to_owned());
    }
    if draw.chance(25) {
        lines.push(format!("ParallelLeastYield={}", draw.one_of(&["0.5", "1"])));
    }
    if let Some((grace, cost)) = own {
        let submission = if draw.chance(60) {
            "GreedyPMCR"
        } else {
            "GreedyPMC"
        };
        lines.push(format!(
            "Policy={submission}*/move-per/OPT=VT/MINVT={grace}"
        ));
        lines.push(format!("MoveCost={cost}"));
    } else {
        lines.push("Policy=GreedyPM*/per/OPT=MIN/MINVT=600".to_owned());
    }
    lines
}

/// How many seeds of a hundred lose the state file, if they may.
const STATE_LOSS_PERCENT: u64 = 15;

struct ScenarioGenerator<'a> {
    draw: Draw,
    kinds: &'a Kinds,
    scenario: TrialScenario,
    labels: u32,
}

impl ScenarioGenerator<'_> {
    fn cluster(&mut self, seed: u64) {
        let two = self.kinds.has(Kind::Drops) && self.draw.chance(50);
        for partition in ["a", "b"].iter().take(1 + usize::from(two)) {
            let nodes = NodeGroup {
                count: 2 + self.draw.small(3),
                cpus: self.draw.one_of(&[2, 4, 4, 8]),
                memory_mib: self.draw.one_of(&[1000, 1000, 2000]),
                partition: (*partition).to_owned(),
                devices: Vec::new(),
            };
            self.scenario.nodes.push(nodes);
        }
        self.scenario.settings = ModelSettings {
            swap_mib: self.draw.one_of(&[0, 1500, 10_000, 10_000]),
            swap_mib_per_second: self.draw.one_of(&[20, 100, 500, 500]),
            // Not drawn: what other seeds draw stays as it is.
            keeps_swap: seed % 4 == 1,
            user_limit: (self.kinds.has(Kind::Limits) && self.draw.chance(20))
                .then(|| 2 + self.draw.small(4)),
            call: if self.kinds.has(Kind::SlowCalls) && self.draw.chance(30) {
                Span(30_000)
            } else {
                Span(0)
            },
            jitter: self.draw.chance(70).then_some(seed),
            ..ModelSettings::default()
        };
        self.scenario.conf = self.conf(seed);
        self.scenario.heal = Span((BUSY_SECONDS + 60) * SECOND);
    }

    /// The lines of partitions come last: one may be taken out.
    fn conf(&mut self, seed: u64) -> Vec<String> {
        let mut lines = vec![
            "Mode=full".to_owned(),
            "SwapPerNode=10000".to_owned(),
            format!("Period={}", self.draw.one_of(&[30, 60, 600])),
            format!("ParkTimeout={}", self.draw.one_of(&[10, 60])),
            format!("CheckpointWait={}", self.draw.one_of(&[2, 5])),
            format!("SettleTime={}", self.draw.one_of(&[0, 3, 10])),
            format!("MovesPerHour={}", self.draw.one_of(&[2, 6])),
        ];
        lines.extend(policy(seed));
        for nodes in &self.scenario.nodes {
            let mobility = self.draw.one_of(&["park", "park", "checkpoint", "restart"]);
            lines.push(format!("Partition={} Mobility={mobility}", nodes.partition));
        }
        lines
    }

    fn workload(&mut self) {
        for _ in 0..4 + self.draw.below(14) {
            let at = self.random_time();
            let submission = self.submission();
            self.add(at, Act::Submit(Box::new(submission)));
        }
    }

    fn random_time(&mut self) -> Span {
        Span(self.draw.between(0, BUSY_SECONDS * 1000) * 1000)
    }

    fn add(&mut self, at: Span, act: Act) {
        self.scenario.acts.push((at, act));
    }

    /// A job that fits on all nodes of its partition but one.
    fn submission(&mut self) -> JobSubmission {
        let nodes = self.draw.one_of(&self.scenario.nodes.clone());
        let memory = self.draw.one_of(&[50, 100, 200, 300, 450, 600, 900]);
        let fit = u32::try_from(nodes.memory_mib / memory).unwrap_or(1).max(1);
        let max = (fit * nodes.count.saturating_sub(1).max(1)).min(6);
        let comments = [
            "",
            "",
            "",
            "dfrs:checkpoint",
            "dfrs:restart",
            "dfrs:never",
            "dfrs:park",
        ];
        let job = ObservedJob {
            partition: nodes.partition.clone(),
            comment: self.draw.one_of(&comments).to_owned(),
            submit_seconds: 0,
            requeue: !self.draw.chance(10),
            batch: !self.draw.chance(10),
            priority: self.draw.one_of(&[1000, 1000, 500, 4000]),
            ..job(0, 1)
        }
        .requesting(|request| {
            request.tasks = 1 + self.draw.small(max);
            request.memory = memory;
        });
        let longest = self.draw.one_of(&[20, 80, 80, 600]);
        let work = Span(self.draw.between(3, longest) * SECOND);
        let array = if self.kinds.has(Kind::Arrays) && self.draw.chance(15) {
            2 + self.draw.small(6)
        } else {
            1
        };
        let label = self.labels + 1;
        self.labels += array;
        let user = 1000 + self.draw.small(3);
        let minutes = u32::try_from(3 + work.0 / SECOND / 60).unwrap_or(u32::MAX);
        let has_limit = self.draw.chance(25);
        let job = ObservedJob {
            limit_minutes: if has_limit { minutes } else { 0 },
            ..job
        }
        .requesting(|request| {
            // Not drawn: what other seeds draw stays as it is.
            request.exclusive = label.is_multiple_of(11);
        });
        let asks = job.comment == "dfrs:checkpoint";
        JobSubmission {
            user,
            begin_seconds: if self.draw.chance(10) { 20 } else { 0 },
            owner: self.kinds.has(Kind::Owners) && self.draw.chance(15),
            stubborn: self.draw.chance(15),
            // Not drawn: what other seeds draw stays as it is.
            untrapped: asks && label.is_multiple_of(3),
            pinned: label.is_multiple_of(13),
            ends_when_warned: asks && label % 3 == 1,
            array,
            ..JobSubmission::new(label, job, work)
        }
    }

    fn add_faults(&mut self) {
        let kinds = self.kinds.0.iter().copied();
        // Of these it is drawn apart.
        let is_drawn = |kind: &Kind| !matches!(kind, Kind::LostState | Kind::Devices | Kind::Carry);
        let kinds: Vec<Kind> = kinds.filter(is_drawn).collect();
        for _ in 0..self.draw.below(10) {
            if !kinds.is_empty() {
                let kind = self.draw.one_of(&kinds);
                self.add_fault(kind);
            }
        }
    }

    /// Drawn apart, so that all other draws of a seed stay as they are.
    fn lost_state(&mut self, seed: u64) {
        let mut draw = Draw::new(seed.rotate_left(32));
        if self.kinds.has(Kind::LostState) && draw.chance(STATE_LOSS_PERCENT) {
            let at = Span(draw.between(1, BUSY_SECONDS) * SECOND);
            let away = draw.between(1, 20);
            self.add(at, Act::LoseState(away));
        }
    }

    fn add_fault(&mut self, kind: Kind) {
        let at = self.random_time();
        let later = Span(at.0 + self.draw.between(1, 60) * SECOND);
        let label = 1 + self.draw.small(self.labels);
        let count = self.scenario.nodes.iter().map(|nodes| nodes.count).sum();
        let node = self.draw.small(count);
        let away = self.draw.between(1, 20);
        match kind {
            Kind::Arrays
            | Kind::Limits
            | Kind::LostState
            | Kind::Owners
            | Kind::SlowCalls
            | Kind::Devices
            | Kind::Carry => {}
            Kind::Operators => self.operate(at, later, label),
            Kind::Suspensions => self.suspend(at, later, label),
            Kind::Drains => self.pair(at, Act::Drain(node), later, Act::Undrain(node)),
            Kind::LongDrains => {
                self.add(at, Act::Drain(node));
                if self.scenario.keep_drained.is_empty() {
                    self.scenario.keep_drained.push(node);
                }
            }
            Kind::Downs => self.pair(at, Act::Down(node), later, Act::Undrain(node)),
            Kind::Reservations => {
                let (starts, lasts) = (self.draw.between(5, 600), self.draw.between(60, 900));
                self.add(at, Act::Reserve(node, starts, lasts));
            }
            Kind::Leaves => self.pair(at, Act::Leave(node), later, Act::Join(node)),
            Kind::Modes => self.change_mode(at, later),
            Kind::Drops => self.drop_partition(at, later),
            Kind::PowerLoss => self.pair(at, Act::PowerOff(node), later, Act::PowerOn(node)),
            Kind::Hangs => self.pair(at, Act::Hang(node), later, Act::Unhang(node)),
            Kind::Slow => {
                let times = 2 + self.draw.small(18);
                self.pair(at, Act::Slow(node, times), later, Act::Slow(node, 1));
            }
            Kind::Dfrsd => self.pair(at, Act::StopDfrsd(node), later, Act::StartDfrsd(node)),
            Kind::Kills => self.add(at, Act::Kill(away)),
            Kind::Restarts if self.draw.chance(50) => self.add(at, Act::Reconfigure),
            Kind::Restarts => self.add(at, Act::Restart(away)),
            Kind::FullDisk => self.pair(at, Act::DiskFull(true), later, Act::DiskFull(false)),
            Kind::ClockForward => {
                let by = self.draw.one_of(&[5, 100, 4000]);
                self.add(at, Act::MoveClock(by));
            }
            Kind::ClockBack => {
                let by = self.draw.one_of(&[5, 100, 4000]);
                self.add(at, Act::MoveClock(-by));
            }
            Kind::LostMessages => {
                let count = 1 + self.draw.small(5);
                self.add(at, Act::LoseMessages(count));
            }
            Kind::Refusals => {
                let (count, again) = (1 + self.draw.small(12), self.draw.chance(50));
                self.add(at, Act::Refuse(count, again));
            }
        }
    }

    fn pair(&mut self, at: Span, act: Act, later: Span, undo: Act) {
        self.add(at, act);
        self.add(later, undo);
    }

    fn operate(&mut self, at: Span, later: Span, label: u32) {
        match self.draw.below(4) {
            0 => self.pair(at, Act::Hold(label), later, Act::Release(label)),
            1 => self.add(at, Act::Requeue(label)),
            2 => self.add(at, Act::Cancel(label)),
            _ => {
                let word = self
                    .draw
                    .one_of(&["dfrs:never", "dfrs:park", "dfrs:checkpoint"]);
                self.add(at, Act::Comment(label, word.to_owned()));
            }
        }
    }

    fn suspend(&mut self, at: Span, later: Span, label: u32) {
        if self.draw.chance(30) {
            self.add(at, Act::Resume(label));
        } else {
            self.pair(at, Act::Suspend(label), later, Act::Resume(label));
        }
    }

    fn change_mode(&mut self, at: Span, later: Span) {
        let mode = self.draw.one_of(&["Mode=off", "Mode=shadow"]);
        let mut changed = self.scenario.conf.clone();
        mode.clone_into(&mut changed[0]);
        self.configure(at, later, &changed);
    }

    fn drop_partition(&mut self, at: Span, later: Span) {
        let mut changed = self.scenario.conf.clone();
        if self.scenario.nodes.len() > 1 {
            let gone = changed.len() - 1 - usize::from(self.draw.chance(50));
            changed.remove(gone);
            self.configure(at, later, &changed);
        }
    }

    /// In half of the cases for good.
    fn configure(&mut self, at: Span, later: Span, changed: &[String]) {
        self.add(at, Act::Configure(changed.join("\n")));
        if self.draw.chance(50) {
            let before = self.scenario.conf.join("\n");
            self.add(later, Act::Configure(before));
        }
    }
}
