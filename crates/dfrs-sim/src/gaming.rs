//! Users who submit their work as it is, and one who submits it so as to get more of the machine:
//! what this gains, and what it costs the others.

use dfrs_core::{Bytes, Cores, Mobility, Span, Time};
use dfrs_random::Random;

use crate::error::SimulationError;
use crate::limits::round_limits;
use crate::scheduler::Scheduler;
use crate::settings::SimSettings;
use crate::simulate::simulate;
use crate::trace::{NODE_CPU, NODE_MEMORY, Trace, TraceJob};

/// How many others there are.
const BACKGROUND_USERS: u32 = 20;
/// The one that is looked at.
const SUBJECT: u32 = 0;
/// Others submit jobs for so long, and the subject its work after a quarter of that.
const HORIZON: Span = Span::from_seconds(43_200);
/// Run times below this count as so much in stretches.
const MIN_RUNTIME: Span = Span::from_seconds(10);
/// How long a piece runs: others preempt it from ten seconds more on.
const PIECE: Span = Span::from_seconds(140);
/// Into how many jobs one is split.
const PARTS: u32 = 64;

/// A way to submit work so as to get more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cheat {
    /// A job of four hours is cut into pieces of 140 s, each of which submits the next one when it ends.
    Pieces,
    /// A job of four nodes for an hour is submitted as 64 jobs.
    Split,
    /// A job that can use a tenth of a node's CPU for two hours requests all of it.
    AsksForMore,
}

impl Cheat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Pieces, Self::Split, Self::AsksForMore];

    /// What it is, in a few words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pieces => "pieces that resubmit",
            Self::Split => "one job as 64",
            Self::AsksForMore => "ten times the CPUs",
        }
    }

    /// Whether jobs follow on others: batch schedulers know no such thing here.
    pub const fn resubmits(self) -> bool {
        matches!(self, Self::Pieces)
    }

    /// How long the work takes alone.
    const fn runtime(self) -> Span {
        match self {
            Self::Pieces => Span::from_seconds(14_400),
            Self::Split => Span::from_seconds(3600),
            Self::AsksForMore => Span::from_seconds(7200),
        }
    }

    /// The work as it is.
    fn honest(self) -> TraceJob {
        let (tasks, cpu, memory) = match self {
            Self::Pieces => (1, 1.0, 0.4),
            Self::Split => (4, 1.0, 0.4),
            Self::AsksForMore => (1, 0.1, 0.2),
        };
        job(SUBJECT, Time::ZERO, tasks, (cpu, memory), self.runtime())
    }

    /// The first jobs of the work, and the jobs that follow on them, one after the other.
    fn jobs(self) -> (Vec<TraceJob>, Vec<TraceJob>) {
        let honest = self.honest();
        match self {
            Self::Pieces => {
                let count = honest.runtime.0 / PIECE.0;
                let rest = Span(honest.runtime.0 % PIECE.0);
                let pieces = (0..count).map(|_| PIECE).chain([rest]);
                let piece = |runtime| TraceJob {
                    runtime,
                    ..honest.clone()
                };
                let mut pieces: Vec<TraceJob> = pieces.map(piece).collect();
                let following = pieces.split_off(1);
                (pieces, following)
            }
            Self::Split => {
                let each = PARTS / honest.tasks;
                let part = TraceJob {
                    tasks: 1,
                    cpu: Cores(honest.cpu.0 / u64::from(each)),
                    allocated_cpu: Cores(honest.allocated_cpu.0 / u64::from(each)),
                    memory: Bytes(honest.memory.0 / u64::from(each)),
                    ..honest
                };
                let parts = (0..PARTS).map(|_| part.clone());
                (parts.collect(), Vec::new())
            }
            Self::AsksForMore => {
                let more = TraceJob {
                    cpu: NODE_CPU,
                    allocated_cpu: NODE_CPU,
                    uses: vec![10],
                    ..honest
                };
                (vec![more], Vec::new())
            }
        }
    }
}

/// What is submitted beside the subject's work, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BackgroundLoad {
    /// What the others need of the CPU of all nodes while they submit, as a share.
    pub load: f64,
    /// Whether all jobs, the subject's too, have time limits as users give them ([`round_limits`]).
    pub with_limits: bool,
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GamingOutcome {
    /// Time from the submission of the subject's work until all of it was done, over what it takes alone.
    pub stretch: f64,
    /// CPU that the subject had for its work in the mean, in nodes, until all of it was done.
    pub cpu: f64,
    /// Mean stretch of the others' jobs.
    pub background_stretch: f64,
}

/// Simulates the others of this seed and the subject with its work, submitted in this way or (`None`) as it is.
///
/// # Errors
///
/// See [`simulate`]: a job that never fits on so few nodes, or a scheduler that never starts one.
pub fn play(
    work: Cheat,
    cheat: Option<Cheat>,
    seed: u64,
    background: BackgroundLoad,
    scheduler: &Scheduler,
    settings: &SimSettings,
) -> Result<GamingOutcome, SimulationError> {
    let submit = Time(HORIZON.0 / 4);
    let (first, following) = cheat.map_or_else(|| (vec![work.honest()], Vec::new()), Cheat::jobs);
    let mut jobs = background_jobs(seed, settings.nodes, background.load);
    jobs.extend(first.into_iter().map(|job| TraceJob { submit, ..job }));
    jobs.sort_by_key(|job| job.submit);
    let last = jobs.iter().rposition(|job| job.user == Some(SUBJECT));
    let mut before = last;
    for job in following {
        let place = jobs.len();
        jobs.push(TraceJob {
            submit,
            follows: before,
            ..job
        });
        before = Some(place);
    }
    for (place, job) in jobs.iter_mut().enumerate() {
        job.id = place.to_string();
    }
    let mut trace = Trace {
        jobs,
        has_memory: true,
        ..Trace::default()
    };
    if background.with_limits {
        round_limits(seed, &mut trace);
    }
    let outcome = simulate(&trace, scheduler, settings, None)?;
    let mut done = submit;
    let mut stretches = Vec::new();
    for (job, record) in trace.jobs.iter().zip(&outcome.jobs) {
        if job.user == Some(SUBJECT) {
            done = done.max(record.finish);
        } else {
            let runtime = job.runtime.max(MIN_RUNTIME);
            stretches
                .push(record.finish.since(job.submit).max(runtime).seconds() / runtime.seconds());
        }
    }
    let honest = work.honest();
    let took = done.since(submit).seconds();
    // Precise enough: a number of jobs.
    let count = stretches.len().max(1) as f64;
    Ok(GamingOutcome {
        stretch: took / honest.runtime.seconds(),
        cpu: honest.nodes_needed() * honest.runtime.seconds() / took,
        background_stretch: stretches.iter().sum::<f64>() / count,
    })
}

/// How the subject and the others fared over many seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Means where the work is submitted as it is.
    pub honest: GamingOutcome,
    /// Means where it is submitted so as to get more.
    pub cheat: GamingOutcome,
    /// How many times as soon the subject's work is done by that: the geometric mean over the seeds.
    pub gain: f64,
}

/// Both ways of submitting this work, with the others of each of these seeds.
///
/// # Errors
///
/// See [`play`].
pub fn compare(
    cheat: Cheat,
    seeds: std::ops::Range<u64>,
    background: BackgroundLoad,
    scheduler: &Scheduler,
    settings: &SimSettings,
) -> Result<Comparison, SimulationError> {
    let none = GamingOutcome {
        stretch: 0.0,
        cpu: 0.0,
        background_stretch: 0.0,
    };
    let (mut honest, mut cheating, mut gain, mut count) = (none, none, 0.0, 0.0);
    for seed in seeds {
        let one = play(cheat, None, seed, background, scheduler, settings)?;
        let other = play(cheat, Some(cheat), seed, background, scheduler, settings)?;
        gain += (one.stretch / other.stretch).ln();
        honest = honest.plus(one);
        cheating = cheating.plus(other);
        count += 1.0;
    }
    let part = 1.0 / f64::max(count, 1.0);
    Ok(Comparison {
        honest: honest.times(part),
        cheat: cheating.times(part),
        gain: (gain * part).exp(),
    })
}

impl GamingOutcome {
    fn plus(self, other: Self) -> Self {
        Self {
            stretch: self.stretch + other.stretch,
            cpu: self.cpu + other.cpu,
            background_stretch: self.background_stretch + other.background_stretch,
        }
    }

    fn times(self, factor: f64) -> Self {
        Self {
            stretch: self.stretch * factor,
            cpu: self.cpu * factor,
            background_stretch: self.background_stretch * factor,
        }
    }
}

/// The jobs of the others, which need so much of the CPU of all nodes.
fn background_jobs(seed: u64, nodes: u32, load: f64) -> Vec<TraceJob> {
    let mut random = Random::new(seed, 0);
    let mut left = load * f64::from(nodes) * HORIZON.seconds();
    let mut jobs = Vec::new();
    while left > 0.0 {
        let seconds = (6.5 + 1.3 * random.normal()).exp().clamp(10.0, 36_000.0);
        #[expect(clippy::cast_possible_truncation, reason = "at most ten hours")]
        let runtime = Span::from_seconds(seconds as i64);
        let submit = HORIZON.seconds() * random.uniform();
        #[expect(clippy::cast_possible_truncation, reason = "at most twelve hours")]
        let submit = Time::from_seconds(submit as i64);
        let user = 1 + random.one_of(BACKGROUND_USERS);
        let tasks = (1 + random.one_of(3)).min(nodes);
        let (cpu, memory) = (random.between(0.25, 1.0), random.between(0.1, 0.7));
        let job = job(user, submit, tasks, (cpu, memory), runtime);
        left -= job.nodes_needed() * runtime.seconds();
        jobs.push(job);
    }
    jobs
}

/// A job that parks, of tasks that need these parts of a node's CPU and memory.
fn job(user: u32, submit: Time, tasks: u32, (cpu, memory): (f64, f64), runtime: Span) -> TraceJob {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of a node"
    )]
    let part = |part: f64, all: u64| (part * all as f64) as u64;
    TraceJob {
        mobility: Mobility::Park,
        user: Some(user),
        ..TraceJob::new(
            String::new(),
            submit,
            tasks,
            Cores(part(cpu, NODE_CPU.0)),
            Bytes(part(memory, NODE_MEMORY.0)),
            runtime,
        )
    }
}
