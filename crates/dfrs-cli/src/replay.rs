//! `dfrs replay`: what would a site's own month have been under DFRS?

use std::path::PathBuf;

use clap::Args;
use dfrs_lab::outputs;
use dfrs_lab::replay::{Replay, ReplayOptions, beside};
use dfrs_sim::trace::sacct::COMMAND;

/// Replays what a site's jobs did: as it was, under EASY backfilling, and under DFRS.
///
/// DUMP comes from Slurm's accounting; the command is below.
///
/// It prints a short table, and with --output writes a page of HTML for people. Lines that are
/// malformed, and jobs that could not have run on such nodes, are reported on standard error and
/// left out. Exit code 2: the file cannot be read, or the page cannot be written.
#[derive(Args)]
#[command(after_long_help = dump_help())]
// A site at which nothing is prepared can park jobs, where nodes have swap.
#[command(mut_arg("mobility", |mobility| mobility.default_value("park=1")))]
pub struct ReplayArguments {
    /// A dump of sacct, a journal of slurm-dfrs, or a trace (SWF, CSV); each plain or .gz
    #[arg(value_name = "DUMP")]
    file: PathBuf,
    #[command(flatten)]
    options: ReplayOptions,
    /// Write a page for people to this file
    #[arg(long, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// Run the jobs of this trace or dump, under DFRS alone, on what those of DUMP left of their nodes as they ran: what
    /// would have run for nothing on idle cores
    #[arg(long, value_name = "TRACE", conflicts_with = "output")]
    beside: Option<PathBuf>,
    /// Refuse the file if a line is malformed or a job could not have run on such nodes
    #[arg(long)]
    strict: bool,
}

/// How a dump is made, for the end of a command's help.
pub fn dump_help() -> String {
    format!("The command that makes a dump of a month (docs/replay.md):\n  {COMMAND}")
}

/// Replays the file: what goes to standard output and to standard error.
pub fn run(arguments: &ReplayArguments) -> Result<(String, String), String> {
    let options = &arguments.options;
    options
        .check()
        .map_err(|error| format!("dfrs replay: {error}"))?;
    if let Some(own) = &arguments.beside {
        return beside::run(&arguments.file, own, arguments.strict, options);
    }
    let page = [("--output", arguments.output.as_deref())];
    outputs::check(Some(&arguments.file), &page)?;
    let replay = Replay::new(&arguments.file, arguments.strict, options)?;
    let mut output = replay.table();
    if let Some(path) = &arguments.output {
        outputs::write(path, &replay.page(options))?;
        output += &format!("\nThe page for people is {}\n", path.display());
    }
    Ok((output, replay.warnings().to_owned()))
}
