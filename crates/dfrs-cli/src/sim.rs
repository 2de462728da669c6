//! `dfrs sim`: what would these policies make of this trace?

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dfrs_core::Span;
use dfrs_lab::input::{self, LogFile, LogPurpose, SiteOptions, SwfModel};
use dfrs_lab::options::seconds_above_0;
use dfrs_lab::outputs;
use dfrs_lab::overload;
use dfrs_lab::policy_arg::{self, PolicyArg};
use dfrs_lab::runs::Runs;
use dfrs_lab::sim::{self, LiveOptions, SimOutputs, SimPlan, catalogue, results, sim_options};
use dfrs_sim::Scheduler;
use dfrs_sim::trace::MAX_NODES;

/// Simulates a trace under one or many policies.
///
/// A malformed line of the trace, and a job that can never start on so many nodes, is reported on
/// standard error and left out, the same for all policies. Exit code 2: the trace cannot be read,
/// or a result cannot be written.
#[derive(Args)]
pub struct SimArguments {
    /// The trace: SWF, plain or .gz (a processor is a node), CSV with the columns
    /// id,submit,tasks,cpu,mem,runtime (seconds; cpu and mem of one task as shares of a node) and, where its header
    /// names them, limit, mobility and gpus, or a dump of sacct --parsable2 (a task on each node that a job had)
    #[arg(
        required_unless_present = "list_policies",
        default_value = "none",
        hide_default_value = true
    )]
    trace: PathBuf,
    /// Number of nodes; left out: the MaxProcs of an SWF trace
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_NODES)))]
    nodes: Option<u32>,
    /// A policy, for example EASY or GreedyPM*/per/OPT=MIN/MINVT=600 (see --list-policies); may be
    /// given many times
    #[arg(
        long = "policy",
        value_name = "NAME",
        required_unless_present = "list_policies"
    )]
    policies: Vec<PolicyArg>,
    /// Run the jobs on what those of this trace leave of the same nodes, which come first under EASY/shared, as
    /// if there were no others: DFRS for a partition that shares its nodes with those of batch jobs
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["live", "bound", "results"])]
    beside: Option<PathBuf>,
    #[command(flatten)]
    site: SiteOptions,
    #[command(flatten)]
    sim_options: sim_options::SimOptions,
    #[command(flatten)]
    live: LiveOptions,
    /// Run times below so many seconds count as so many in stretches: 10 in the TPDS 2012 paper, 30
    /// in the IPDPS 2010 paper
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds_above_0)]
    stretch_bound: Span,
    /// What the processors and the memory of an SWF trace are on nodes
    #[arg(long, value_enum, default_value_t = SwfModel::Processors)]
    model: SwfModel,
    /// Compare with the offline lower bound on the maximum stretch
    #[arg(long)]
    bound: bool,
    /// How to print the results
    #[arg(long, value_enum, default_value_t = SimFormat::Table)]
    format: SimFormat,
    /// Write what happens to this file; for one policy only
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Write a line for each job to this file; for one policy only
    #[arg(long, value_name = "FILE")]
    jobs_csv: Option<PathBuf>,
    /// Write how much CPU is demanded and used at what time to this file; for one policy only
    #[arg(long, value_name = "FILE")]
    utilization_csv: Option<PathBuf>,
    /// Draw what ran when and where, with how much of each node, to this file as SVG; for one policy only
    #[arg(long, value_name = "FILE")]
    gantt: Option<PathBuf>,
    /// Keep the result of each policy in this file as soon as it is there, and take from it what an
    /// earlier call, finished or interrupted, has left
    #[arg(long, value_name = "FILE", conflicts_with_all = ["journal", "jobs_csv", "utilization_csv", "gantt"])]
    results: Option<PathBuf>,
    /// Refuse the trace if a line is malformed or a job can never start
    #[arg(long)]
    strict: bool,
    /// Print all policies with a line about each, and do nothing else
    #[arg(long, exclusive = true)]
    list_policies: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SimFormat {
    /// For people
    Table,
    /// An array with an object for each policy
    Json,
    /// A line for each policy
    Csv,
}

/// Simulates: what goes to standard output and to standard error.
pub fn run(arguments: &SimArguments) -> Result<(String, String), String> {
    if arguments.list_policies {
        return Ok((catalogue::list(), String::new()));
    }
    let for_one = [
        ("--journal", &arguments.journal),
        ("--jobs-csv", &arguments.jobs_csv),
        ("--utilization-csv", &arguments.utilization_csv),
        ("--gantt", &arguments.gantt),
    ];
    let asked_for = for_one.iter().find(|(_, file)| file.is_some());
    if let Some((option, _)) = asked_for
        && arguments.policies.len() > 1
    {
        return Err(format!(
            "dfrs sim: {option} is for one policy; give one --policy, or leave it out"
        ));
    }
    outputs::check(
        Some(&arguments.trace),
        &for_one.map(|(option, file)| (option, file.as_deref())),
    )?;
    let policies = policy_arg::at_period(&arguments.policies, arguments.sim_options.period())
        .map_err(|error| format!("dfrs sim: {error}"))?;
    arguments
        .sim_options
        .check(&policies)
        .map_err(|error| format!("dfrs sim: {error}"))?;
    let complete = |scheduler| arguments.sim_options.complete(scheduler);
    let policies: Vec<Scheduler> = policies.iter().map(complete).collect();
    let runs_live = |scheduler: &Scheduler| matches!(scheduler, Scheduler::Dfrs(_));
    if let Some((option, _)) = asked_for
        && arguments.live.live
        && !policies.iter().any(runs_live)
    {
        return Err(format!(
            "dfrs sim: {option} is of the live run, and only policies of DFRS run live; leave out --live"
        ));
    }
    let site = match &arguments.beside {
        Some(_) => arguments.site.for_others(),
        None => arguments.site.clone(),
    };
    let log = LogFile {
        file: &arguments.trace,
        earlier: &[],
        purpose: LogPurpose::Simulation,
        nodes: arguments.nodes,
        node_cpus: Some(arguments.sim_options.node_cpus()),
        model: arguments.model,
        site: &site,
        strict: arguments.strict,
    };
    let mut input = input::read(&log, &policies)?;
    if arguments.sim_options.uses_less() && (arguments.bound || arguments.live.live) {
        return Err(
            "dfrs sim: --bound and --live take it that jobs use all that they asked for; leave them out, or --least-use"
                .into(),
        );
    }
    if arguments.sim_options.loses_by_coupling() && arguments.live.live {
        return Err(
            "dfrs sim: --live takes the yield as a job's speed; leave out --live or --coupling-loss"
                .into(),
        );
    }
    if input.trace.has_gpus() && arguments.live.live {
        return Err("dfrs sim: --live knows no GPUs; leave out --live or the column gpus".into());
    }
    if arguments.bound {
        overload::refuse_bound(&arguments.trace, &input.trace, input.nodes)?;
    }
    arguments.sim_options.draw(&mut input.trace);
    let file = arguments.trace.display().to_string();
    input.warnings += &arguments.sim_options.notes(&file, &input.trace);
    let settings = arguments.sim_options.settings(input.nodes);
    let others = match &arguments.beside {
        Some(file) => {
            let others_log = LogFile {
                file,
                nodes: Some(input.nodes),
                ..log
            };
            let own = (&input, policies.as_slice());
            let (others, notes) = sim::beside::read(&others_log, &settings, own, &arguments.site)?;
            input.warnings += &notes;
            Some(others)
        }
        None => None,
    };
    let mut runs = Runs::new(arguments.results.as_deref())?;
    let plan = SimPlan {
        trace: &input.trace,
        file: &arguments.trace,
        policies: &policies,
        settings: &settings,
        live: &arguments.live,
        others: others.as_ref(),
        seed: arguments.sim_options.seed(),
        stretch_bound: arguments.stretch_bound,
        with_bound: arguments.bound,
        outputs: SimOutputs {
            journal: arguments.journal.as_deref(),
            jobs: arguments.jobs_csv.as_deref(),
            utilization: arguments.utilization_csv.as_deref(),
            gantt: arguments.gantt.as_deref(),
        },
    };
    let results = sim::all(&mut runs, &plan)?;
    let output = match arguments.format {
        SimFormat::Table => results::table(&results),
        SimFormat::Json => results::json(&results)?,
        SimFormat::Csv => results::csv(&results)?,
    };
    Ok((output, input.warnings + &runs.notes()))
}
