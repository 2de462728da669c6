//! `dfrs`, the command line of slurm-dfrs.
//!
//! Exit codes, the same for every command: 0 done, 1 a check failed, 2 bad input or usage (`doctor`:
//! 1 warnings, 2 errors). Every failure is one line that says where and what to do.

mod bound;
mod check;
mod decide;
mod doctor;
mod explain;
mod exporter;
mod gaming;
mod generate;
mod moldable;
mod program;
mod replay;
mod report;
mod reproduce;
mod sim;
mod site;
mod status;
mod study;
mod top;
mod trial;
mod usage;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};

use report::CommandOutcome;

/// Works with the files of slurm-dfrs, dynamic fractional resource scheduling for Slurm.
#[derive(Parser)]
#[command(name = "dfrs", version, arg_required_else_help = true)]
enum DfrsCommand {
    Bound(bound::BoundArguments),
    Check(check::CheckArguments),
    Decide(decide::DecideArguments),
    Doctor(doctor::DoctorArguments),
    Explain(explain::ExplainArguments),
    Exporter(exporter::ExporterArguments),
    Gaming(gaming::GamingArguments),
    Generate(generate::GenerateArguments),
    Moldable(moldable::MoldableArguments),
    Replay(Box<replay::ReplayArguments>),
    Reproduce(reproduce::ReproduceArguments),
    Sim(Box<sim::SimArguments>),
    Status(status::StatusArguments),
    Study(study::StudyArguments),
    Top(top::TopArguments),
    Trial(Box<trial::TrialArguments>),
}

/// The command line as clap knows it, for manual pages and completions.
pub fn command() -> clap::Command {
    dfrs_lab::usage::with_negative_numbers(DfrsCommand::command())
}

/// Does what the process was called for.
#[must_use]
pub fn run() -> ExitCode {
    let outcome = match command()
        .try_get_matches()
        .and_then(|matches| DfrsCommand::from_arg_matches(&matches))
    {
        Ok(DfrsCommand::Bound(arguments)) => CommandOutcome::of(bound::run(&arguments)),
        Ok(DfrsCommand::Check(arguments)) => check::run(&arguments),
        Ok(DfrsCommand::Decide(arguments)) => CommandOutcome::of(decide::run(&arguments)),
        Ok(DfrsCommand::Doctor(arguments)) => doctor::run(&arguments),
        Ok(DfrsCommand::Explain(arguments)) => CommandOutcome::of(explain::run(&arguments)),
        Ok(DfrsCommand::Exporter(arguments)) => CommandOutcome::of(exporter::run(&arguments)),
        Ok(DfrsCommand::Gaming(arguments)) => CommandOutcome::of(gaming::run(&arguments)),
        Ok(DfrsCommand::Generate(arguments)) => CommandOutcome::of(generate::run(&arguments)),
        Ok(DfrsCommand::Moldable(arguments)) => CommandOutcome::of(moldable::run(&arguments)),
        Ok(DfrsCommand::Replay(arguments)) => CommandOutcome::of(replay::run(&arguments)),
        Ok(DfrsCommand::Reproduce(arguments)) => CommandOutcome::of(reproduce::run(&arguments)),
        Ok(DfrsCommand::Sim(arguments)) => CommandOutcome::of(sim::run(&arguments)),
        Ok(DfrsCommand::Status(arguments)) => CommandOutcome::of(status::run(&arguments)),
        Ok(DfrsCommand::Study(arguments)) => CommandOutcome::of(study::run(&arguments)),
        Ok(DfrsCommand::Top(arguments)) => CommandOutcome::of(top::run(&arguments)),
        Ok(DfrsCommand::Trial(arguments)) => CommandOutcome::of(trial::run(*arguments)),
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
