//! The traces of a study.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dfrs_sim::Scheduler;
use dfrs_sim::generate::{Lublin, scale_to_load};
use dfrs_sim::trace::Trace;

use super::file::Study;
use super::options::Options;
use crate::input::{self, Input, SwfModel};
use crate::runs::digest;
use crate::weeks;

/// Traces that belong together: averages are taken over them.
#[derive(Clone, Debug)]
pub struct Block {
    pub name: String,
    pub origin: Origin,
    /// To which loads they are brought; none: as they are.
    pub loads: Vec<f64>,
}

/// Where they come from.
#[derive(Clone, Debug)]
pub enum Origin {
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
pub struct Source<'a> {
    pub block: &'a Block,
    /// What it is called among those of its block and load.
    pub name: String,
    pub load: Option<f64>,
    which: Which<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Which<'a> {
    Seed(u64),
    File(&'a Path),
    Week(&'a Path, u64),
}

/// The traces of a study, load by load.
pub fn all(study: &Study) -> Vec<Source<'_>> {
    let mut all = Vec::new();
    for block in &study.blocks {
        let loads: Vec<Option<f64>> = match block.loads.as_slice() {
            [] => vec![None],
            loads => loads.iter().copied().map(Some).collect(),
        };
        for load in loads {
            all.extend(block.which().into_iter().map(|which| Source {
                block,
                name: which.name(),
                load,
                which,
            }));
        }
    }
    all
}

impl Block {
    fn which(&self) -> Vec<Which<'_>> {
        match &self.origin {
            Origin::Lublin { seeds, .. } => seeds.iter().copied().map(Which::Seed).collect(),
            Origin::Files { paths, weeks, .. } => {
                let mut found = Vec::new();
                for path in paths {
                    match weeks {
                        None => found.push(Which::File(path)),
                        Some(weeks) => {
                            found.extend(weeks.iter().map(|week| Which::Week(path, *week)));
                        }
                    }
                }
                found
            }
        }
    }
}

impl Which<'_> {
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
pub struct Files(BTreeMap<String, Read>);

struct Read {
    input: Input,
    weeks: Vec<Trace>,
    digest: String,
}

impl Read {
    /// What of the file the source is.
    fn trace_of(&self, source: &Source) -> Result<&Trace, String> {
        let Which::Week(path, week) = source.which else {
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

    /// Whether it has what the source asks for.
    fn check(&self, source: &Source) -> Result<(), String> {
        self.trace_of(source).map(|_| ())
    }
}

impl Files {
    /// Reads what the source needs with these options, unless it is there.
    pub fn prepare(
        &mut self,
        study: &Study,
        source: &Source,
        options: &Options,
    ) -> Result<(), String> {
        let (Some(path), Origin::Files { model, nodes, .. }) =
            (source.path(), &source.block.origin)
        else {
            return Ok(());
        };
        let key = source.key(options);
        if let Some(read) = self.0.get(&key) {
            return read.check(source);
        }
        let wanted = input::Source {
            trace: path,
            nodes: *nodes,
            model: *model,
            site: &options.site,
            strict: false,
            period: options.world.period(),
            node_cpus: options.world.node_cpus(),
        };
        let policies: Vec<Scheduler> = study
            .policies
            .iter()
            .map(|asked| asked.policy.clone())
            .collect();
        let input = input::read(&wanted, &policies)?;
        let weeks = match source.which {
            Which::Week(..) => weeks::split(&input.trace),
            _ => Vec::new(),
        };
        let digest = digest(&input.trace);
        let read = Read {
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
        for line in self.0.values().flat_map(|read| read.input.notes.lines()) {
            if !notes.contains(&line) {
                notes.push(line);
            }
        }
        notes.iter().map(|line| format!("{line}\n")).collect()
    }

    /// All that the content of a source's trace depends on, and its number of nodes.
    pub fn identity(&self, source: &Source, options: &Options) -> Result<(String, u32), String> {
        let load = source
            .load
            .map_or(String::new(), |load| format!(" load {load}"));
        if let (Which::Seed(seed), Origin::Lublin { jobs, nodes, .. }) =
            (source.which, &source.block.origin)
        {
            let cpus = options.world.node_cpus();
            let what = format!("lublin seed {seed} jobs {jobs} nodes {nodes} cpus {cpus}{load}");
            return Ok((what, *nodes));
        }
        let read = self.read(source, options)?;
        let part = match source.which {
            Which::Week(_, week) => format!(" week {week}"),
            _ => String::new(),
        };
        Ok((format!("{}{part}{load}", read.digest), read.input.nodes))
    }

    /// The trace of a source that was prepared, and its number of nodes.
    pub fn get(&self, source: &Source, options: &Options) -> Result<(Trace, u32), String> {
        if let (Which::Seed(seed), Origin::Lublin { jobs, nodes, .. }) =
            (source.which, &source.block.origin)
        {
            let mut trace = lublin(seed, *jobs, *nodes, source.load)?;
            trace.count_cpus(options.world.node_cpus());
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

    fn read(&self, source: &Source, options: &Options) -> Result<&Read, String> {
        let read = self.0.get(&source.key(options));
        read.ok_or_else(|| format!("{}: was not read", source.name))
    }
}

impl Source<'_> {
    fn path(&self) -> Option<&Path> {
        match self.which {
            Which::Seed(_) => None,
            Which::File(path) | Which::Week(path, _) => Some(path),
        }
    }

    fn key(&self, options: &Options) -> String {
        let (origin, cpus) = (&self.block.name, options.world.node_cpus());
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
