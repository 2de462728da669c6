//! Developer tasks of slurm-dfrs: `cargo xtask TASK`.
//!
//! Each task is a module with its `Arguments` and `run(&Arguments) -> Result<(), String>`; the error
//! is one line for each thing to mend.

#[cfg(feature = "bindings")]
mod bindings;
mod book;
mod defects;
mod files;
mod licences;
mod man;
mod package;
mod pictures;
mod simulate;
mod style;
mod symbols;

use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer tasks of slurm-dfrs")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Generate src/shim/bindings.rs from c_shim/dfrs_shim.h (needs libclang)
    #[cfg(feature = "bindings")]
    Bindings(bindings::Arguments),
    /// Build the documentation as a site (needs mdbook)
    Book(book::Arguments),
    /// Plant defects, one after the other, and see whether simulation finds them
    Defects(defects::Arguments),
    /// Check that everything that is linked together may be distributed together
    Licences(licences::LicencesArguments),
    /// Write manual pages and completions for shells, from the programs' own help
    Man(man::Arguments),
    /// Make packages of what was built, .deb or .rpm
    Package(package::Arguments),
    /// Draw the documents' charts
    Pictures(pictures::Arguments),
    /// Try the reconciler with faults that follow from seeds
    Simulate(simulate::Arguments),
    /// Check licence markers in C and shell files, links and lines of Markdown files, and the site's contents
    Style(style::Arguments),
    /// Check a plugin's symbols against what Slurm installations provide
    Symbols(symbols::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        #[cfg(feature = "bindings")]
        Task::Bindings(arguments) => bindings::run(&arguments),
        Task::Book(arguments) => book::run(&arguments),
        Task::Defects(arguments) => defects::run(&arguments),
        Task::Licences(arguments) => licences::run(&arguments),
        Task::Man(arguments) => man::run(&arguments),
        Task::Package(arguments) => package::run(&arguments),
        Task::Pictures(arguments) => pictures::run(&arguments),
        Task::Simulate(arguments) => simulate::run(&arguments),
        Task::Style(arguments) => style::run(&arguments),
        Task::Symbols(arguments) => symbols::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{}", message.trim_end());
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
