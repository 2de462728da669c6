//! The papers' traces: synthetic ones by their seeds, and the weeks of the HPC2N workload.

use std::path::{Path, PathBuf};

use dfrs_core::{Span, Time};
use dfrs_sim::generate::Lublin;
use dfrs_sim::trace::{Model, Trace, read_file};
use dfrs_sim::{Batch, Scheduler, never_fits};
use serde::{Deserialize, Serialize};

use crate::runs::digest;

/// Number of nodes of the synthetic traces' machine.
const SYNTHETIC_NODES: u32 = 128;
/// Number of nodes of HPC2N, dual-core ones.
const HPC2N_NODES: u32 = 120;
/// How many jobs the papers' version of the HPC2N trace has.
const HPC2N_JOBS: usize = 202_876;
/// How many synthetic traces the papers have.
pub const ALL_TRACES: u32 = 100;
const WEEK: Span = Span::from_seconds(7 * 24 * 3600);

/// One trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceId {
    /// A trace of the Lublin-Feitelson model as it comes, by its number from 0.
    Unscaled(u32),
    /// The same with its gaps stretched to an offered load in tenths.
    Scaled(u32, u8),
    /// What was submitted to HPC2N in a week, counted from 0.
    Week(u32),
    /// All that was submitted to HPC2N.
    Whole,
}

/// A set of traces over which results are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceSet {
    /// The synthetic traces as the model has them.
    Unscaled,
    /// The synthetic traces at all loads from 0.1 to 0.9.
    Scaled,
    /// Those at one load, in tenths.
    Load(u8),
    /// Those at loads of 0.7 and above.
    Heavy,
    /// The weeks of HPC2N.
    Weeks,
    /// All of HPC2N at once.
    Whole,
}

impl TraceSet {
    /// Name in tables.
    pub fn title(self) -> String {
        match self {
            Self::Unscaled => "unscaled synthetic traces".into(),
            Self::Scaled => "scaled synthetic traces".into(),
            Self::Load(tenths) => format!("synthetic traces at load 0.{tenths}"),
            Self::Heavy => "scaled synthetic traces, load ≥ 0.7".into(),
            Self::Weeks => "HPC2N weeks".into(),
            Self::Whole => "HPC2N, not split".into(),
        }
    }

    /// The same where there is little room.
    pub fn short_title(self) -> String {
        match self {
            Self::Unscaled => "unscaled".into(),
            Self::Scaled => "scaled".into(),
            set => set.title(),
        }
    }

    /// Name in CSV files.
    pub fn name(self) -> String {
        match self {
            Self::Unscaled => "unscaled".into(),
            Self::Scaled => "scaled".into(),
            Self::Load(tenths) => format!("load-0.{tenths}"),
            Self::Heavy => "heavy".into(),
            Self::Weeks => "hpc2n-weeks".into(),
            Self::Whole => "hpc2n-whole".into(),
        }
    }
}

/// All traces of one reproduction.
pub struct Traces {
    model: Lublin,
    seed: u64,
    count: u32,
    real: Option<Real>,
}

/// The HPC2N trace.
struct Real {
    path: PathBuf,
    whole: Trace,
    weeks: Vec<Trace>,
    /// The weeks that are simulated.
    chosen: Vec<u32>,
    digest: String,
    left_out: usize,
}

impl Traces {
    /// So many synthetic traces of so many jobs, beginning with this seed, and as large a part of the
    /// weeks of the HPC2N trace, evenly spread.
    pub fn new(seed: u64, count: u32, jobs: usize, hpc2n: Option<&Path>) -> Result<Self, String> {
        Ok(Self {
            model: Lublin {
                jobs,
                nodes: SYNTHETIC_NODES,
                ..Lublin::default()
            },
            seed,
            count,
            real: hpc2n.map(|path| Real::read(path, count)).transpose()?,
        })
    }

    /// The traces of a set; none of HPC2N without its trace. The whole of HPC2N belongs to a full
    /// reproduction only.
    pub fn of(&self, set: TraceSet) -> Vec<TraceId> {
        let scaled = |loads: std::ops::RangeInclusive<u8>| {
            let numbers = 0..self.count;
            numbers
                .flat_map(|number| loads.clone().map(move |load| TraceId::Scaled(number, load)))
                .collect()
        };
        match (set, &self.real) {
            (TraceSet::Unscaled, _) => (0..self.count).map(TraceId::Unscaled).collect(),
            (TraceSet::Scaled, _) => scaled(1..=9),
            (TraceSet::Load(tenths), _) => scaled(tenths..=tenths),
            (TraceSet::Heavy, _) => scaled(7..=9),
            (TraceSet::Weeks, Some(real)) => {
                real.chosen.iter().copied().map(TraceId::Week).collect()
            }
            (TraceSet::Whole, Some(_)) if self.is_full() => vec![TraceId::Whole],
            (TraceSet::Weeks | TraceSet::Whole, _) => Vec::new(),
        }
    }

    /// Whether as many traces are simulated as in the papers.
    pub const fn is_full(&self) -> bool {
        self.count >= ALL_TRACES
    }

    /// Whether there is a HPC2N trace.
    pub const fn has_real(&self) -> bool {
        self.real.is_some()
    }

    /// The trace and its number of nodes.
    pub fn get(&self, id: TraceId) -> Result<(Trace, u32), String> {
        let seed = |number: u32| self.seed.wrapping_add(u64::from(number));
        let synthetic = match (id, &self.real) {
            (TraceId::Unscaled(number), _) => self.model.trace(seed(number)),
            (TraceId::Scaled(number, tenths), _) => self
                .model
                .trace_at_load(seed(number), f64::from(tenths) / 10.0)
                .map_err(|error| format!("synthetic trace {number} at load 0.{tenths}: {error}"))?,
            (TraceId::Week(week), Some(real)) => return Ok((real.week(week)?, HPC2N_NODES)),
            (TraceId::Whole, Some(real)) => return Ok((real.whole.clone(), HPC2N_NODES)),
            (TraceId::Week(_) | TraceId::Whole, None) => {
                return Err("no HPC2N trace is given".into());
            }
        };
        Ok((synthetic, SYNTHETIC_NODES))
    }

    /// What a trace is made from: everything that its content depends on beside its id.
    pub fn source(&self, id: TraceId) -> String {
        match (id, &self.real) {
            (TraceId::Unscaled(_) | TraceId::Scaled(..), _) => {
                format!("seed {}, {} jobs", self.seed, self.model.jobs)
            }
            (_, Some(real)) => real.digest.clone(),
            (_, None) => String::new(),
        }
    }

    /// What people should know about the traces, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let Some(real) = &self.real else {
            return vec![
                "The parts on HPC2N are left out: its trace may not be redistributed. Get \
                 HPC2N-2002-2.1-cln.swf.gz from the Parallel Workloads Archive \
                 (www.cs.huji.ac.il/labs/parallel/workload) and give it with --trace."
                    .into(),
            ];
        };
        let mut notes = Vec::new();
        let path = real.path.display();
        let jobs = real.whole.jobs.len() + real.left_out;
        if jobs != HPC2N_JOBS {
            notes.push(format!(
                "{path} has {jobs} jobs; the papers' trace has {HPC2N_JOBS}: what follows is not comparable with them."
            ));
        }
        if real.left_out > 0 {
            notes.push(format!(
                "{} jobs of HPC2N are left out for all policies: they have more tasks than there are nodes, and batch \
                 schedulers give each task a node.",
                real.left_out
            ));
        }
        notes
    }
}

impl Real {
    fn read(path: &Path, count: u32) -> Result<Self, String> {
        let told = |what: String| format!("{}: {what}", path.display());
        let reading =
            read_file(path, Model::Hpc2n, false).map_err(|error| told(error.to_string()))?;
        let mut whole = reading.trace;
        let before = whole.jobs.len();
        let batch = Scheduler::Batch(Batch::ALL[0]);
        let shared = Scheduler::Dfrs(dfrs_core::Policy::recommended());
        whole.jobs.retain(|job| {
            [&batch, &shared]
                .iter()
                .all(|scheduler| never_fits(job, scheduler, HPC2N_NODES).is_none())
        });
        let left_out = before - whole.jobs.len();
        let weeks = split(&whole);
        if weeks.is_empty() {
            return Err(told("has no job that fits; give the HPC2N trace".into()));
        }
        let all = u64::try_from(weeks.len()).unwrap_or(u64::MAX);
        let wanted = (all * u64::from(count))
            .div_ceil(u64::from(ALL_TRACES))
            .clamp(1, all);
        let chosen = (0..wanted)
            .filter_map(|place| u32::try_from(place * all / wanted).ok())
            .collect();
        Ok(Self {
            path: path.into(),
            digest: digest(&whole),
            whole,
            weeks,
            chosen,
            left_out,
        })
    }

    fn week(&self, week: u32) -> Result<Trace, String> {
        usize::try_from(week)
            .ok()
            .and_then(|week| self.weeks.get(week))
            .cloned()
            .ok_or_else(|| format!("{}: has no week {week}", self.path.display()))
    }
}

/// The jobs of each week, which begins at time 0. Weeks without jobs are left out.
fn split(whole: &Trace) -> Vec<Trace> {
    let mut weeks: Vec<(i64, Trace)> = Vec::new();
    for job in &whole.jobs {
        let week = job.submit.0.div_euclid(WEEK.0);
        if weeks.last().is_none_or(|(last, _)| *last != week) {
            let empty = Trace {
                jobs: Vec::new(),
                nodes: whole.nodes,
                has_memory: whole.has_memory,
            };
            weeks.push((week, empty));
        }
        if let Some((_, trace)) = weeks.last_mut() {
            let mut job = job.clone();
            job.submit = Time(job.submit.0.rem_euclid(WEEK.0));
            trace.jobs.push(job);
        }
    }
    weeks.into_iter().map(|(_, trace)| trace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_core::{Bytes, Cores};
    use dfrs_sim::trace::TraceJob;

    #[test]
    fn weeks_begin_at_0() {
        let job = |id: &str, seconds: i64| {
            let runtime = Span::from_seconds(60);
            TraceJob::new(
                id,
                Time(seconds * 1_000_000),
                1,
                Cores(1),
                Bytes::ZERO,
                runtime,
            )
        };
        let whole = Trace {
            jobs: vec![
                job("a", 5),
                job("b", 604_799),
                job("c", 604_800),
                job("d", 3 * 604_800 + 7),
            ],
            nodes: Some(120),
            has_memory: true,
        };
        let weeks = split(&whole);
        let found: Vec<Vec<(&str, i64)>> = weeks
            .iter()
            .map(|week| {
                let jobs = week.jobs.iter();
                jobs.map(|job| (job.id.as_str(), job.submit.0 / 1_000_000))
                    .collect()
            })
            .collect();
        assert_eq!(
            found,
            [
                vec![("a", 5), ("b", 604_799)],
                vec![("c", 0)],
                vec![("d", 7)]
            ]
        );
        assert!(
            weeks
                .iter()
                .all(|week| week.has_memory && week.nodes == Some(120))
        );
    }

    #[test]
    fn sets_are_the_papers() {
        let traces = Traces::new(1, 100, 1000, None).expect("no file");
        assert_eq!(traces.of(TraceSet::Unscaled).len(), 100);
        assert_eq!(traces.of(TraceSet::Scaled).len(), 900);
        assert_eq!(traces.of(TraceSet::Heavy).len(), 300);
        assert_eq!(traces.of(TraceSet::Load(4)).len(), 100);
        assert!(traces.of(TraceSet::Weeks).is_empty());
        assert!(traces.is_full() && traces.notes()[0].contains("--trace"));
    }

    #[test]
    fn loads_are_offered() {
        let traces = Traces::new(3, 2, 300, None).expect("no file");
        for tenths in [1, 9] {
            let (trace, nodes) = traces.get(TraceId::Scaled(1, tenths)).expect("a trace");
            let load = dfrs_sim::generate::offered_load(&trace, nodes).expect("a load");
            assert!((load - f64::from(tenths) / 10.0).abs() < 0.001, "{load}");
        }
        let (first, _) = traces.get(TraceId::Unscaled(1)).expect("a trace");
        let again = Traces::new(4, 1, 300, None).expect("no file");
        assert_eq!(again.get(TraceId::Unscaled(0)).expect("a trace").0, first);
    }
}
