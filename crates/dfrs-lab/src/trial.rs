//! Trials: what would last month have been with DFRS on top of the site's own queue, and with all jobs handed over
//! to it?

mod advice;
mod groups;
mod idle;
mod next_steps;
mod page;
mod rows;
mod verdict;
mod worlds;

use std::path::Path;

use clap::Args;
use dfrs_core::Policy;
use dfrs_sim::trace::Trace;
use dfrs_sim::trace::sacct::{Site, SiteGpus};
use dfrs_sim::{MobilityShares, Scheduler};
use serde::Serialize;

use crate::input::{LogFile, LogJobs};
use crate::replay::ReplayOptions;
use groups::TrialGroup;
use rows::TrialGroupRows;
use verdict::TrialVerdict;
use worlds::{TrialWorld, Worlds};

/// Characters of a line of the page.
const MAX_WIDTH: usize = 80;

/// What the worlds are called.
const AS_IT_WAS: &str = "as it was";
const BACKFILL: &str = "backfill";
const ON_TOP: &str = "DFRS on top";
const HANDED_OVER: &str = "handed over";

/// How a file is read, and under what its jobs are simulated.
#[derive(Args)]
// As for a replay.
#[command(mut_arg("mobility", |mobility| mobility.default_value("park=1")))]
#[command(mut_arg("policies", |policy| policy.help("The policy of DFRS (see dfrs sim --list-policies)")))]
pub struct TrialOptions {
    #[command(flatten)]
    replay: ReplayOptions,
    /// How short jobs can move in the world in which DFRS is on top, as --mobility: a parked job would wait for the one
    /// node where its memory is, however long others have it
    #[arg(long, value_name = "KIND=SHARE,…", default_value = "restart=1")]
    mobility_on_top: MobilityShares,
    /// CPUs of a node, for a trace in CSV: under backfill a task has as many whole ones as its CPU need is (4). In a
    /// dump of sacct --cpus-per-node says it
    #[arg(long, value_name = "NUMBER", conflicts_with = "cpus_per_node", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    node_cpus: Option<u32>,
}

impl TrialOptions {
    /// The policy of DFRS.
    ///
    /// # Errors
    ///
    /// One line: it cannot run so, is none of DFRS, or there are many.
    fn policy(&self) -> Result<Policy, String> {
        self.replay.check()?;
        match self.replay.policies().as_slice() {
            [Scheduler::Dfrs(policy)] => Ok(policy.clone()),
            _ => Err("takes one --policy; dfrs replay compares many".into()),
        }
    }

    /// Takes the nodes of a site for options that are not given; for a dump of sacct. Returns their GPUs if they are
    /// taken: not where options say the GPUs of a node, and on no more nodes than these say.
    #[must_use]
    pub fn assume_nodes(&mut self, site: &Site) -> Option<SiteGpus> {
        self.replay.assume_nodes(site)
    }

    /// Refuses what cannot run.
    ///
    /// # Errors
    ///
    /// One line without the command's name.
    pub fn check(&self) -> Result<(), String> {
        self.policy().map(|_| ())
    }
}

/// What the month was, and what it would have been.
pub struct SiteTrial {
    source: LogJobs,
    worlds: Worlds,
    groups: Vec<TrialGroupRows>,
    verdicts: Vec<TrialVerdict>,
}

impl SiteTrial {
    /// Reads the file, and simulates its jobs in all worlds. `strict`: nothing is left out, but refused.
    ///
    /// # Errors
    ///
    /// One line: what [`TrialOptions::check`] refuses, the file cannot be read, or a simulation fails.
    pub fn new(file: &Path, strict: bool, options: &TrialOptions) -> Result<Self, String> {
        let policy = options.policy()?;
        let replay = &options.replay;
        let mut source = replay.read(&LogFile {
            node_cpus: options.node_cpus,
            ..replay.file(file, strict)
        })?;
        if options.node_cpus.is_some() && source.is_dump() {
            return Err(format!(
                "{}: is {}, of which --cpus-per-node or --slurm-conf says the CPUs of a node; leave out \
                 --node-cpus",
                file.display(),
                source.kind
            ));
        }
        replay.draw(&replay.run.mobility, &mut source.trace);
        let on_top = |trace: &mut Trace| replay.draw(&options.mobility_on_top, trace);
        let settings = replay.settings(&source);
        let worlds = worlds::simulate(file, &source, (&policy, settings), &on_top)?;
        let groups = rows::all(&source, &worlds);
        let on_top = worlds.on_top.as_ref().map_or(0, TrialWorld::pauses);
        let handed_over = worlds.handed_over.pauses();
        let verdicts = vec![
            verdict::on_world(&groups, ON_TOP, TrialGroup::Short, on_top),
            verdict::on_world(&groups, HANDED_OVER, TrialGroup::All, handed_over),
        ];
        Ok(Self {
            source,
            worlds,
            groups,
            verdicts,
        })
    }

    /// The page of text. `arguments`: the words of the command line that say what is read and how, for the commands of
    /// the next steps.
    pub fn page(&self, arguments: &[String]) -> String {
        page::page(self) + "\n" + &next_steps::text(&self.verdicts, arguments)
    }

    /// One object for programs.
    ///
    /// # Errors
    ///
    /// One line, if a number cannot be written.
    pub fn json(&self) -> Result<String, String> {
        let report = TrialReport {
            version: 1,
            jobs: self.source.trace.jobs.len(),
            nodes: self.source.nodes,
            pauses_on_top: self.worlds.on_top.as_ref().map(TrialWorld::pauses),
            pauses_handed_over: self.worlds.handed_over.pauses(),
            idle: self.worlds.idle.as_ref(),
            groups: &self.groups,
            verdicts: &self.verdicts,
        };
        serde_json::to_string_pretty(&report)
            .map(|text| text + "\n")
            .map_err(|error| error.to_string())
    }

    /// What was left out, lowered or assumed, a line each.
    pub fn warnings(&self) -> &str {
        &self.source.warnings
    }
}

/// What is printed for programs.
#[derive(Serialize)]
struct TrialReport<'a> {
    /// Of this format.
    version: u32,
    /// How many jobs were simulated.
    jobs: usize,
    /// On so many nodes.
    nodes: u32,
    /// How often jobs of the DFRS partition gave up their places.
    pauses_on_top: Option<u64>,
    /// How often jobs gave up their places when DFRS had all.
    pauses_handed_over: u64,
    idle: Option<&'a idle::IdleCpu>,
    groups: &'a [TrialGroupRows],
    verdicts: &'a [TrialVerdict],
}
