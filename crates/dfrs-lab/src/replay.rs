//! Replays: what would a site's own month have been under DFRS?

pub mod beside;
pub(crate) mod compare;
mod page;
pub(crate) mod schedule;
pub mod shadow;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod timeline;

use std::path::Path;

use clap::Args;
use dfrs_core::{Mobility, Policy, RunTimeHint, Span};
use dfrs_proto::conf::DEFAULT_POLICY;
use dfrs_sim::trace::sacct::{Site, SiteGpus};
use dfrs_sim::trace::{MAX_NODES, Trace};
use dfrs_sim::{Batch, Cost, Estimates, MobilityShares, Scheduler, SimSettings};

use crate::input::{self, LogFile, LogJobs, LogPurpose, SiteOptions, SwfModel};
use crate::policy_arg::PolicyArg;
use crate::run_options::RunOptions;
use schedule::ReplaySchedule;

/// In which a job that was paused or moved makes no progress, by the papers.
const PENALTY: Span = Span::from_seconds(300);

/// How a file is read, and under what its jobs are simulated.
#[derive(Args)]
// A site at which nothing is prepared can park jobs, where nodes have swap.
#[command(mut_arg("mobility", |mobility| mobility.default_value("park=1")))]
pub struct ReplayOptions {
    /// Number of nodes; left out: what a journal or the MaxProcs of SWF says
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_NODES)))]
    nodes: Option<u32>,
    #[command(flatten)]
    site: SiteOptions,
    /// A policy of DFRS (see dfrs sim --list-policies); may be given many times: the page looks closely at the
    /// first
    #[arg(long = "policy", value_name = "NAME", default_value = DEFAULT_POLICY)]
    policies: Vec<PolicyArg>,
    #[command(flatten)]
    pub(crate) run: RunOptions,
    /// What the processors and the memory of an SWF trace are on nodes
    #[arg(long, value_enum, default_value_t = SwfModel::Processors)]
    model: SwfModel,
}

impl ReplayOptions {
    /// What `dfrs replay` has by default, for a journal, under the policy and with the swap of a dfrs.conf.
    /// `mobility`: what its jobs can do.
    fn of_journal(policy: &Policy, mobility: Mobility) -> Result<Self, String> {
        let mobility = format!("{mobility}=1").to_lowercase();
        let mut policy = policy.clone();
        // A journal does not know time limits.
        policy.settings.run_time_hint = RunTimeHint::Nothing;
        Ok(Self {
            nodes: None,
            site: SiteOptions::none(),
            policies: vec![Scheduler::Dfrs(policy).into()],
            run: RunOptions {
                mobility: mobility.parse()?,
                seed: 1,
                penalty: PENALTY,
                ..RunOptions::none()
            },
            model: SwfModel::Processors,
        })
    }

    /// Takes a site's nodes for what is not given. Returns their GPUs if they are taken.
    pub(crate) fn assume_nodes(&mut self, site: &Site) -> Option<SiteGpus> {
        let nodes = *self.nodes.get_or_insert(site.nodes);
        self.site.assume(site, nodes)
    }

    /// The policies as they run.
    pub(crate) fn policies(&self) -> Vec<Scheduler> {
        let complete = |asked: &PolicyArg| self.run.complete(&asked.policy, true);
        self.policies.iter().map(complete).collect()
    }

    /// The file, read with these options.
    pub(crate) fn file<'a>(&'a self, file: &'a Path, strict: bool) -> LogFile<'a> {
        LogFile {
            file,
            earlier: &[],
            purpose: LogPurpose::Replay,
            nodes: self.nodes,
            node_cpus: None,
            model: self.model,
            site: &self.site,
            strict,
        }
    }

    /// Reads the jobs that the policies can start, and EASY on whole and on shared nodes, with which
    /// they are compared.
    pub(crate) fn read(&self, log: &LogFile) -> Result<LogJobs, String> {
        let mut schedulers = self.policies();
        schedulers.extend([Batch::Easy, Batch::EasyShared].map(Scheduler::Batch));
        input::read(log, &schedulers)
    }

    /// Draws how jobs can move of which the file does not say it.
    pub(crate) fn draw(&self, mobility: &MobilityShares, trace: &mut Trace) {
        mobility.draw(self.run.seed, trace);
    }

    /// Refuses policies that cannot run so, and such as have nothing of DFRS.
    ///
    /// # Errors
    ///
    /// One line.
    pub fn check(&self) -> Result<(), String> {
        let mut asked = self.policies.iter();
        asked.try_for_each(|asked| asked.check(self.run.period))?;
        match self.policies().iter().any(is_dfrs) {
            true => Ok(()),
            false => Err(format!(
                "no --policy is one of DFRS; add for example {DEFAULT_POLICY}, or use dfrs sim"
            )),
        }
    }

    /// What simulations of this source depend on.
    pub(crate) fn settings(&self, source: &LogJobs) -> SimSettings {
        let cost = |cost: Option<Cost>| cost.map(|cost| source.in_real_gigabytes(cost));
        SimSettings {
            park_cost: cost(self.run.park_cost),
            checkpoint_cost: cost(self.run.checkpoint_cost),
            carry_cost: cost(Some(self.run.carry_cost)),
            estimates: Estimates::User,
            ..self.run.settings(source.nodes)
        }
    }
}

/// Everything that the table and the page are made of.
pub struct Replay {
    source: LogJobs,
    /// The recorded schedule (where it is known), EASY, then the policies as they were requested.
    schedules: Vec<ReplaySchedule>,
    /// Position of what the others are compared with: as it was or, if that is not known, EASY.
    before: usize,
    /// Position of the policy that is looked at closely.
    after: usize,
}

impl Replay {
    /// Reads the file, and simulates its jobs under EASY, whole and shared nodes, and under the policies.
    /// `strict`: nothing is left out, but refused.
    ///
    /// # Errors
    ///
    /// One line: what [`ReplayOptions::check`] refuses, the file cannot be read, or a simulation fails.
    pub fn new(file: &Path, strict: bool, options: &ReplayOptions) -> Result<Self, String> {
        options.check()?;
        let mut source = options.read(&options.file(file, strict))?;
        options.draw(&options.run.mobility, &mut source.trace);
        let schedules = schedule::all(file, options, &source)?;
        let first = schedules.iter().position(ReplaySchedule::is_dfrs);
        Ok(Self {
            before: 0,
            after: first.unwrap_or(schedules.len() - 1),
            source,
            schedules,
        })
    }

    /// The short table for a terminal.
    pub fn table(&self) -> String {
        table::table(self)
    }

    /// The page for people, as HTML. `options`: those of this replay.
    pub fn page(&self, options: &ReplayOptions) -> String {
        page::page(options, self)
    }

    /// What was left out, lowered or assumed, a line each.
    pub fn warnings(&self) -> &str {
        &self.source.warnings
    }

    /// Position of this batch scheduler.
    fn position(&self, batch: Batch) -> Option<usize> {
        let wanted = Some(Scheduler::Batch(batch));
        let mut schedules = self.schedules.iter();
        schedules.position(|schedule| schedule.scheduler == wanted)
    }

    /// Positions of what DFRS is compared with: the recorded schedule, where it is known, and what
    /// most sites run in the same simulation.
    fn opponents(&self) -> Vec<usize> {
        let shared = self.position(Batch::EasyShared);
        let mut opponents = vec![self.before];
        opponents.extend(shared.filter(|shared| *shared != self.before));
        opponents
    }
}

fn is_dfrs(policy: &Scheduler) -> bool {
    matches!(policy, Scheduler::Dfrs(_))
}
