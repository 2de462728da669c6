//! Developer tasks of slurm-dfrs: `cargo xtask TASK`.
//!
//! Each task is a module with its arguments and `run(&arguments) -> Result<(), String>`; the error
//! is one line for each thing to mend.

#[cfg(feature = "bindings")]
mod bindings;
mod book;
mod defects;
mod files;
mod man;
mod pictures;
mod program;
mod release;
mod simulate;
mod style;

use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer tasks of slurm-dfrs")]
struct XtaskArguments {
    #[command(subcommand)]
    task: XtaskCommand,
}

#[derive(Subcommand)]
enum XtaskCommand {
    /// Generate src/shim/bindings.rs from c_shim/dfrs_shim.h (needs libclang)
    #[cfg(feature = "bindings")]
    Bindings(bindings::BindingsArguments),
    /// Build the documentation as a site (needs mdbook)
    Book(book::BookArguments),
    /// Plant defects, one after the other, and see whether simulation finds them
    Defects(defects::DefectsArguments),
    /// Write manual pages and completions for shells, from the programs' own help and from documents (needs pandoc)
    Man(man::ManArguments),
    /// Draw the documents' charts
    Pictures(pictures::PicturesArguments),
    /// Make everything that is published of a version, the same from every clone
    Release(release::ReleaseArguments),
    /// Try the reconciler with faults that follow from seeds
    Simulate(simulate::SimulateArguments),
    /// Check licence markers in C and shell files, links and lines of Markdown files, and the site's contents
    Style(style::StyleArguments),
}

fn main() -> ExitCode {
    let result = match XtaskArguments::parse().task {
        #[cfg(feature = "bindings")]
        XtaskCommand::Bindings(arguments) => bindings::run(&arguments),
        XtaskCommand::Book(arguments) => book::run(&arguments),
        XtaskCommand::Defects(arguments) => defects::run(&arguments),
        XtaskCommand::Man(arguments) => man::run(&arguments),
        XtaskCommand::Pictures(arguments) => pictures::run(&arguments),
        XtaskCommand::Release(arguments) => release::run(&arguments),
        XtaskCommand::Simulate(arguments) => simulate::run(&arguments),
        XtaskCommand::Style(arguments) => style::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{}", message.trim_end());
            ExitCode::FAILURE
        }
    }
}

/// One line for each problem, unless there are none.
fn refuse(problems: &[String]) -> Result<(), String> {
    match problems {
        [] => Ok(()),
        some => Err(some.join("\n")),
    }
}

/// The root of the repository.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
