//! `dfrs bound`: how small can the maximum stretch be at best?

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dfrs_core::Span;
use dfrs_lab::bound;
use dfrs_lab::input::{LogFile, LogPurpose, SiteOptions, SwfModel};
use dfrs_lab::options::seconds_above_0;
use dfrs_sim::trace::MAX_NODES;

/// Computes a lower bound on the maximum stretch of any schedule of a trace.
///
/// It holds for a scheduler that knows all jobs beforehand, on nodes with infinite memory between
/// which tasks move at no cost (Theorem 1 of the TPDS 2012 paper). A malformed line of the trace is
/// reported on standard error and left out. Exit code 2: the trace cannot be read.
#[derive(Args)]
pub struct BoundArguments {
    /// The trace, in any format that dfrs sim reads
    trace: PathBuf,
    /// Number of nodes; left out: the MaxProcs of an SWF trace
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_NODES)))]
    nodes: Option<u32>,
    #[command(flatten)]
    site: SiteOptions,
    /// Run times below so many seconds count as so many in stretches: 10 in the TPDS 2012 paper, 30
    /// in the IPDPS 2010 paper
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds_above_0)]
    stretch_bound: Span,
    /// What the processors and the memory of an SWF trace are on nodes
    #[arg(long, value_enum, default_value_t = SwfModel::Processors)]
    model: SwfModel,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = BoundFormat::Table)]
    format: BoundFormat,
    /// Refuse the trace if a line is malformed
    #[arg(long)]
    strict: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BoundFormat {
    /// For people
    Table,
    /// An object
    Json,
}

/// The bound, and notes for standard error.
pub fn run(arguments: &BoundArguments) -> Result<(String, String), String> {
    let log = LogFile {
        file: &arguments.trace,
        earlier: &[],
        purpose: LogPurpose::Simulation,
        nodes: arguments.nodes,
        node_cpus: None,
        model: arguments.model,
        site: &arguments.site,
        strict: arguments.strict,
    };
    let (answer, notes) = bound::of(&log, arguments.stretch_bound)?;
    let output = match arguments.format {
        BoundFormat::Json => {
            serde_json::to_string(&answer).map_err(|error| error.to_string())? + "\n"
        }
        BoundFormat::Table => format!(
            "jobs   {}\nnodes  {}\nbound  {:.4}\n",
            answer.jobs, answer.nodes, answer.bound
        ),
    };
    Ok((output, notes))
}
