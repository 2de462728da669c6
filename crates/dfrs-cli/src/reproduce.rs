//! `dfrs reproduce`: the papers' tables and figures, computed again.

use std::path::PathBuf;

use clap::Args;
use dfrs_lab::reproduce::{self, ALL_TRACES, Reproduction};

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
    reproduce::names().into()
}

/// Runs the experiments: where the report is, and notes for standard error.
pub fn run(arguments: &ReproduceArguments) -> Result<(String, String), String> {
    let reproduction = Reproduction {
        directory: &arguments.output,
        only: &arguments.only,
        traces: if arguments.quick {
            ALL_TRACES / 10
        } else {
            arguments.traces
        },
        jobs: arguments.jobs,
        seed: arguments.seed,
        hpc2n: arguments.trace.as_deref(),
    };
    let (report, notes) = reproduction.write()?;
    let output = report.map_or(String::new(), |path| path + "\n");
    Ok((output, notes))
}
