//! `dfrs generate`: synthetic traces, and traces at another load.

mod files;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dfrs_lab::generate::{self, TraceChange};
use dfrs_lab::input::SwfModel;
use dfrs_lab::outputs;
use dfrs_sim::generate::Lublin;
use dfrs_sim::trace::{MAX_NODES, Model};

use files::OutputTarget;

/// The most jobs of a trace: with its gaps it takes some thirty years.
const MAX_JOBS: i64 = 1_000_000;

/// Generates traces with the workload model of Lublin and Feitelson, with the CPU needs and memory
/// requirements of the papers' synthetic traces.
///
/// The same seed gives the same trace on every machine. Exit code 2: nothing can be generated, or it
/// cannot be written.
#[derive(Args)]
pub struct GenerateArguments {
    /// Number of jobs
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=MAX_JOBS))]
    jobs: u32,
    /// Number of nodes of the machine: the largest job has so many tasks, and the load is that of so
    /// many; left out: 128, or with --from the MaxProcs of an SWF trace
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_NODES)))]
    nodes: Option<u32>,
    /// What the random numbers begin with
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stretch or shrink the time between submissions so that the offered load (tasks times run time,
    /// over nodes times the time from the first to the last submission) is this; the papers have 0.1 to 0.9
    #[arg(long)]
    load: Option<f64>,
    /// Interactive and batch jobs, each with parameters of their own (the papers' traces), or one kind
    #[arg(long, value_enum, default_value_t = Switch::On)]
    job_types: Switch,
    /// csv: the columns id,submit,tasks,cpu,mem,runtime, and limit, mobility and gpus where the trace of --from has them;
    /// swf: the Standard Workload Format, which holds no CPU needs and no memory requirements
    #[arg(long, value_enum, default_value_t = GenerateFormat::Csv)]
    format: GenerateFormat,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Generate so many traces, with this seed and those after it; the seed is put into the file's name:
    /// trace.csv becomes trace-1.csv and so on
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,
    /// Take the jobs of this trace (SWF or CSV) instead of the model's, to give it another load or the
    /// annotations
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["jobs", "job_types", "count"])]
    from: Option<PathBuf>,
    /// With --from: what the processors and the memory of an SWF trace are on nodes
    #[arg(long, value_enum, requires = "from")]
    model: Option<SwfModel>,
    /// With --from: give its jobs the CPU needs and memory requirements of the papers' synthetic traces
    #[arg(long, requires = "from", conflicts_with = "model")]
    annotate: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GenerateFormat {
    /// The project's own
    Csv,
    /// The format of the Parallel Workloads Archive
    Swf,
}

/// Generates the traces and writes them: what goes to standard output and to standard error.
pub fn run(arguments: &GenerateArguments) -> Result<(String, String), String> {
    let written = match &arguments.from {
        None => generated(arguments),
        Some(path) => changed(arguments, path),
    };
    written.map_err(|error| format!("dfrs generate: {error}"))
}

/// Traces of the model: what goes to standard output, and nothing to standard error.
fn generated(arguments: &GenerateArguments) -> Result<(String, String), String> {
    let model = Lublin {
        jobs: arguments.jobs as usize,
        nodes: arguments.nodes.unwrap_or(Lublin::default().nodes),
        job_types: arguments.job_types == Switch::On,
    };
    let target = OutputTarget::new(arguments.output.as_deref(), arguments.count)?;
    let last = u64::from(arguments.count) - 1;
    let last = arguments
        .seed
        .checked_add(last)
        .ok_or("the seeds end at 2^64 - 1; use a smaller --seed or --count")?;
    let mut output = String::new();
    for seed in arguments.seed..=last {
        let text = match arguments.format {
            GenerateFormat::Csv => generate::csv_of(&model, seed, arguments.load)?,
            GenerateFormat::Swf => generate::swf_of(&model, seed, arguments.load)?,
        };
        output += &target.put(seed, text)?;
    }
    Ok((output, String::new()))
}

/// A trace from a file, annotated or at another load.
fn changed(
    arguments: &GenerateArguments,
    path: &std::path::Path,
) -> Result<(String, String), String> {
    if arguments.format == GenerateFormat::Swf {
        return Err(
            "--from writes CSV, because SWF holds no CPU needs; leave out --format swf".into(),
        );
    }
    outputs::check(Some(path), &[("--output", arguments.output.as_deref())])?;
    let change = TraceChange {
        model: arguments.model.map_or(Model::default(), Model::from),
        annotations: arguments.annotate.then_some(arguments.seed),
        load: arguments.load,
        nodes: arguments.nodes,
    };
    let (text, notes) = generate::changed(path, &change)?;
    let target = OutputTarget::new(arguments.output.as_deref(), 1)?;
    Ok((target.put(arguments.seed, text)?, notes))
}
