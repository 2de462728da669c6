//! `dfrs`, the command line of slurm-dfrs.
//!
//! Exit codes, the same for every command: 0 done, 1 a check failed, 2 bad input or usage (`doctor`:
//! 1 warnings, 2 errors). Every failure is one line that says where and what to do.

mod asked;
mod bound;
mod check;
mod decide;
mod doctor;
mod explain;
mod exporter;
mod gaming;
mod generate;
mod input;
mod moldable;
mod options;
mod outputs;
mod overload;
mod paired;
mod program;
mod replay;
mod report;
mod reproduce;
mod runs;
mod sim;
mod status;
mod study;
mod summary;
mod top;
mod usage;
mod weeks;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};

/// Works with the files of slurm-dfrs, dynamic fractional resource scheduling for Slurm.
#[derive(Parser)]
#[command(name = "dfrs", version, arg_required_else_help = true)]
enum Command {
    Bound(bound::Arguments),
    Check(check::Arguments),
    Decide(decide::Arguments),
    Doctor(doctor::Arguments),
    Explain(explain::Arguments),
    Exporter(exporter::Arguments),
    Gaming(gaming::Arguments),
    Generate(generate::Arguments),
    Moldable(moldable::Arguments),
    Replay(replay::Arguments),
    Reproduce(reproduce::Arguments),
    Sim(Box<sim::Arguments>),
    Status(status::Arguments),
    Study(study::Arguments),
    Top(top::Arguments),
}

pub use doctor::library::release as plugin_release;

/// The command line as clap knows it, for manual pages and completions.
#[must_use]
pub fn command() -> clap::Command {
    usage::with_negative_numbers(Command::command())
}

/// Does what the process was called for.
#[must_use]
pub fn run() -> ExitCode {
    let outcome = match command()
        .try_get_matches()
        .and_then(|matches| Command::from_arg_matches(&matches))
    {
        Ok(Command::Bound(arguments)) => bound::run(&arguments),
        Ok(Command::Check(arguments)) => check::run(&arguments),
        Ok(Command::Decide(arguments)) => decide::run(&arguments),
        Ok(Command::Doctor(arguments)) => doctor::run(&arguments),
        Ok(Command::Explain(arguments)) => explain::run(&arguments),
        Ok(Command::Exporter(arguments)) => exporter::run(&arguments),
        Ok(Command::Gaming(arguments)) => gaming::run(&arguments),
        Ok(Command::Generate(arguments)) => generate::run(&arguments),
        Ok(Command::Moldable(arguments)) => moldable::run(&arguments),
        Ok(Command::Replay(arguments)) => replay::run(&arguments),
        Ok(Command::Reproduce(arguments)) => reproduce::run(&arguments),
        Ok(Command::Sim(arguments)) => sim::run(&arguments),
        Ok(Command::Status(arguments)) => status::run(&arguments),
        Ok(Command::Study(arguments)) => study::run(&arguments),
        Ok(Command::Top(arguments)) => top::run(&arguments),
        Err(error) => usage::outcome(&error),
    };
    let written = io::stdout()
        .write_all(outcome.output.as_bytes())
        .and_then(|()| io::stderr().write_all(outcome.errors.as_bytes()));
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("dfrs: the result cannot be written: {error}");
            ExitCode::from(2)
        }
        _ => ExitCode::from(outcome.code),
    }
}
