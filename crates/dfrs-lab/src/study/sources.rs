//! The traces of a study.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dfrs_sim::Scheduler;
use dfrs_sim::generate::{Lublin, scale_to_load};
use dfrs_sim::trace::Trace;

use super::file::Study;
use super::options::StudyOptions;
use crate::input::{self, LogFile, LogJobs, LogPurpose, SwfModel};
use crate::runs::digest;
use crate::weeks;

/// Traces that belong together: averages are taken over them.
#[derive(Clone, Debug)]
pub struct Block {
    pub name: String,
    pub origin: TraceOrigin,
    /// To which loads they are brought; none: as they are.
    pub loads: Vec<f64>,
}

/// Where they come from.
#[derive(Clone, Debug)]
pub enum TraceOrigin {
    /// The Lublin-Feitelson model.
    Lublin {
        jobs: u32,
        nodes: u32,
        seeds: Vec<u64>,
    },
    /// Files, as a whole or these of their weeks, counted from 0.
    Files {
        paths: Vec<PathBuf>,
        model: SwfModel,
        nodes: Option<u32>,
        weeks: Option<Vec<u64>>,
    },
}

/// One trace.
#[derive(Clone, Debug)]
pub struct StudyTrace<'a> {
    pub block: &'a Block,
    /// What it is called among those of its block and load.
    pub name: String,
    pub load: Option<f64>,
    trace_ref: TraceRef<'a>,
}

#[derive(Clone, Copy, Debug)]
enum TraceRef<'a> {
    Seed(u64),
    File(&'a Path),
    Week(&'a Path, u64),
}

/// The traces of a study, load by load.
pub fn all(study: &Study) -> Vec<StudyTrace<'_>> {
    let mut all = Vec::new();
    for block in &study.blocks {
        let loads: Vec<Option<f64>> = match block.loads.as_slice() {
            [] => vec![None],
            loads => loads.iter().copied().map(Some).collect(),
        };
        for load in loads {
            all.extend(block.trace_refs().into_iter().map(|trace_ref| StudyTrace {
                block,
                name: trace_ref.name(),
                load,
                trace_ref,
            }));
        }
    }
    all
}

impl Block {
    fn trace_refs(&self) -> Vec<TraceRef<'_>> {
        match &self.origin {
            TraceOrigin::Lublin { seeds, .. } => {
                seeds.iter().copied().map(TraceRef::Seed).collect()
            }
            TraceOrigin::Files { paths, weeks, .. } => {
                let mut found = Vec::new();
                for path in paths {
                    match weeks {
                        None => found.push(TraceRef::File(path)),
                        Some(weeks) => {
                            found.extend(weeks.iter().map(|week| TraceRef::Week(path, *week)));
                        }
                    }
                }
                found
            }
        }
    }
}

impl TraceRef<'_> {
    fn name(&self) -> String {
        match self {
            Self::Seed(seed) => format!("seed {seed}"),
            Self::File(path) => path.display().to_string(),
            Self::Week(path, week) => format!("{} week {week}", path.display()),
        }
    }
}

/// Files that were read, by all that their content depends on.
#[derive(Default)]
pub struct TraceFiles(BTreeMap<String, ReadTrace>);

struct ReadTrace {
    input: LogJobs,
    weeks: Vec<Trace>,
    digest: String,
}

impl ReadTrace {
    /// What of the file the source is.
    fn trace_of(&self, source: &StudyTrace) -> Result<&Trace, String> {
        let TraceRef::Week(path, week) = source.trace_ref else {
            return Ok(&self.input.trace);
        };
        let found = usize::try_from(week)
            .ok()
            .and_then(|week| self.weeks.get(week));
        found.ok_or_else(|| {
            let (path, last) = (path.display(), self.weeks.len().saturating_sub(1));
            format!("{path}: has no week {week}; its weeks are 0 to {last}")
        })
    }

    /// Whether the trace has what the source requires.
    fn check(&self, source: &StudyTrace) -> Result<(), String> {
        self.trace_of(source).map(|_| ())
    }
}

impl TraceFiles {
    /// Reads what the source needs with these options, unless it is there.
    pub fn prepare(
        &mut self,
        study: &Study,
        source: &StudyTrace,
        options: &StudyOptions,
    ) -> Result<(), String> {
        let (Some(path), TraceOrigin::Files { model, nodes, .. }) =
            (source.path(), &source.block.origin)
        else {
            return Ok(());
        };
        let key = source.key(options);
        if let Some(read) = self.0.get(&key) {
            return read.check(source);
        }
        let log = LogFile {
            file: path,
            earlier: &[],
            purpose: LogPurpose::Simulation,
            nodes: *nodes,
            node_cpus: Some(options.sim_options.node_cpus()),
            model: *model,
            site: &options.site,
            strict: false,
        };
        let period = options.sim_options.period();
        let policies: Vec<Scheduler> = study
            .policies
            .iter()
            .map(|asked| asked.at(period))
            .collect();
        let input = input::read(&log, &policies)?;
        let weeks = match source.trace_ref {
            TraceRef::Week(..) => weeks::split(&input.trace),
            _ => Vec::new(),
        };
        let digest = digest(&input.trace);
        let read = ReadTrace {
            input,
            weeks,
            digest,
        };
        // Now: hours of runs may come before this one.
        read.check(source)?;
        self.0.insert(key, read);
        Ok(())
    }

    /// What people should know about them.
    pub fn notes(&self) -> String {
        let mut notes: Vec<&str> = Vec::new();
        for line in self.0.values().flat_map(|read| read.input.warnings.lines()) {
            if !notes.contains(&line) {
                notes.push(line);
            }
        }
        notes.iter().map(|line| format!("{line}\n")).collect()
    }

    /// All that the content of a source's trace depends on, and its number of nodes.
    pub fn identity(
        &self,
        source: &StudyTrace,
        options: &StudyOptions,
    ) -> Result<(String, u32), String> {
        let load = source
            .load
            .map_or(String::new(), |load| format!(" load {load}"));
        if let (TraceRef::Seed(seed), TraceOrigin::Lublin { jobs, nodes, .. }) =
            (source.trace_ref, &source.block.origin)
        {
            let cpus = options.sim_options.node_cpus();
            let what = format!("lublin seed {seed} jobs {jobs} nodes {nodes} cpus {cpus}{load}");
            return Ok((what, *nodes));
        }
        let read = self.read(source, options)?;
        let part = match source.trace_ref {
            TraceRef::Week(_, week) => format!(" week {week}"),
            _ => String::new(),
        };
        Ok((format!("{}{part}{load}", read.digest), read.input.nodes))
    }

    /// The trace of a source that was prepared, and its number of nodes.
    pub fn get(&self, source: &StudyTrace, options: &StudyOptions) -> Result<(Trace, u32), String> {
        if let (TraceRef::Seed(seed), TraceOrigin::Lublin { jobs, nodes, .. }) =
            (source.trace_ref, &source.block.origin)
        {
            let mut trace = lublin(seed, *jobs, *nodes, source.load)?;
            trace.count_cpus(options.sim_options.node_cpus());
            return Ok((trace, *nodes));
        }
        let read = self.read(source, options)?;
        let mut trace = read.trace_of(source)?.clone();
        if let Some(load) = source.load {
            scale_to_load(&mut trace, read.input.nodes, load)
                .map_err(|error| format!("{}: {error}", source.name))?;
        }
        Ok((trace, read.input.nodes))
    }

    fn read(&self, source: &StudyTrace, options: &StudyOptions) -> Result<&ReadTrace, String> {
        let read = self.0.get(&source.key(options));
        read.ok_or_else(|| format!("{}: was not read", source.name))
    }
}

impl StudyTrace<'_> {
    fn path(&self) -> Option<&Path> {
        match self.trace_ref {
            TraceRef::Seed(_) => None,
            TraceRef::File(path) | TraceRef::Week(path, _) => Some(path),
        }
    }

    fn key(&self, options: &StudyOptions) -> String {
        let (origin, cpus) = (&self.block.name, options.sim_options.node_cpus());
        format!("{origin} {:?} {:?} {cpus}", self.path(), options.site)
    }
}

fn lublin(seed: u64, jobs: u32, nodes: u32, load: Option<f64>) -> Result<Trace, String> {
    let model = Lublin {
        jobs: jobs as usize,
        nodes,
        ..Lublin::default()
    };
    match load {
        None => Ok(model.trace(seed)),
        Some(load) => model
            .trace_at_load(seed, load)
            .map_err(|error| format!("seed {seed} at load {load}: {error}")),
    }
}
