//! `dfrs reproduce`: the papers' tables and figures, computed again.

mod cells;
mod claims;
mod experiment;
mod figures;
mod measure;
mod moldable;
mod published;
mod report;
mod results;
mod tables;
mod traces;

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::report::CommandOutcome;
use dfrs_lab::runs::Runs;
use experiment::{Experiment, all};
use moldable::Ratios;
use results::Results;
use tables::counted;
use traces::{ALL_TRACES, Traces};

/// Reproduces the tables and figures of the DFRS papers, and of the bi-criteria paper on moldable jobs.
///
/// Generates the papers' synthetic traces, simulates them and the HPC2N trace under the papers'
/// algorithms, and writes to a directory: report.html, which puts published beside reproduced
/// numbers; the charts as SVG; CSV files with what was measured; and runs.jsonl, which keeps every
/// finished run, so that a call that was interrupted goes on where it was. Exit code 2: bad input, or a
/// file that cannot be written.
#[derive(Args)]
pub struct ReproduceArguments {
    /// A tenth of the traces: 10 synthetic ones at each load, every tenth week
    #[arg(long, conflicts_with = "traces")]
    quick: bool,
    /// The directory to write to; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "reproduced")]
    output: PathBuf,
    /// The HPC2N trace, HPC2N-2002-2.1-cln.swf.gz of the Parallel Workloads Archive; without it the
    /// parts on HPC2N are left out
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Seed of the first synthetic trace; the others have the seeds after it
    #[arg(long, value_name = "SEED", default_value = "1")]
    seed: u64,
    /// Only this figure or table, for example ipdps-table-1; may be given many times
    #[arg(long, value_name = "NAME", value_parser = names())]
    only: Vec<String>,
    /// Number of synthetic traces at each load, 1 to 100, and so many hundredths of the weeks
    #[arg(long, value_name = "NUMBER", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=i64::from(ALL_TRACES)))]
    traces: u32,
    /// Number of jobs of a synthetic trace; the papers have 1000
    #[arg(long, value_name = "NUMBER", default_value = "1000", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    jobs: u32,
}

/// The names that `--only` knows.
fn names() -> clap::builder::PossibleValuesParser {
    let moldable = moldable::FIGURES.iter().map(|figure| figure.name);
    all()
        .map(|experiment| experiment.name)
        .chain(moldable)
        .collect::<Vec<_>>()
        .into()
}

/// Runs the experiments and prints where the report is.
pub fn run(arguments: &ReproduceArguments) -> CommandOutcome {
    match try_run(arguments) {
        Ok((output, errors)) => CommandOutcome {
            output,
            errors,
            code: 0,
        },
        Err(error) => CommandOutcome {
            output: String::new(),
            errors: error + "\n",
            code: 2,
        },
    }
}

/// What goes to standard output and to standard error, or one line about why there is no report.
fn try_run(arguments: &ReproduceArguments) -> Result<(String, String), String> {
    let is_chosen =
        |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    let chosen: Vec<&Experiment> = all()
        .filter(|experiment| is_chosen(experiment.name))
        .collect();
    let figures = moldable::FIGURES.iter();
    let figures: Vec<&moldable::Figure> = figures.filter(|figure| is_chosen(figure.name)).collect();
    let count = if arguments.quick {
        ALL_TRACES / 10
    } else {
        arguments.traces
    };
    let jobs = usize::try_from(arguments.jobs).unwrap_or(usize::MAX);
    let traces = Traces::new(arguments.seed, count, jobs, arguments.trace.as_deref())?;
    let directory = &arguments.output;
    fs::create_dir_all(directory).map_err(|error| {
        format!(
            "{}: cannot be made: {error}; name another directory with --output",
            directory.display()
        )
    })?;
    let mut runs = Runs::new(Some(&directory.join("runs.jsonl")))?;
    let results = Results::get(&traces, &chosen, &mut runs)?;
    // The part of the paper's runs is as large as that of the traces.
    let each = (moldable::ALL_RUNS * count).div_ceil(ALL_TRACES);
    let ratios = Ratios::get(&figures, each, arguments.seed, &mut runs)?;
    let settings = settings(arguments, count, &traces);
    let mut output = String::new();
    if !chosen.is_empty() || !figures.is_empty() {
        output +=
            &(report::write(directory, &results, &chosen, (&figures, &ratios), &settings)? + "\n");
    }
    let notes = traces
        .notes()
        .iter()
        .map(|note| format!("{note}\n"))
        .collect::<String>();
    Ok((output, notes + &runs.notes()))
}

/// The settings of this run, in words.
fn settings(arguments: &ReproduceArguments, count: u32, traces: &Traces) -> String {
    let weeks = traces.of(traces::TraceSet::Weeks).len();
    let real = if traces.has_hpc2n() {
        format!("{} of HPC2N", counted(weeks, "week"))
    } else {
        "no HPC2N trace".into()
    };
    format!(
        "{} of {} jobs with seeds from {}, unscaled and at nine loads; {real}; dfrs {}",
        counted(count as usize, "synthetic trace"),
        arguments.jobs,
        arguments.seed,
        env!("CARGO_PKG_VERSION")
    )
}
