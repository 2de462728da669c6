//! `dfrs study`: many traces under many policies and settings, in one call.

use std::path::{Path, PathBuf};

use clap::Args;
use dfrs_lab::study::{self, Grid};

/// Simulates many traces under many policies and settings, and compares them trace by trace.
///
/// The study is a file of TOML that names traces, policies, and options of dfrs sim; where an option has
/// several values, all combinations are run, on all cores. Prints means, standard errors, medians and the
/// worst of the chosen measures with paired tests, and writes to a directory: report.html, a page with tables
/// and charts; runs.csv, a line for each run with everything that was measured; summary.csv, what is printed;
/// classes.csv, the same by run time and number of tasks; and runs.jsonl, which keeps every finished run, so
/// that a call that was interrupted goes on where it was. Exit code 2: bad input, or a file
/// that cannot be written.
#[derive(Args)]
pub struct StudyArguments {
    /// What is to be run, for example docs/examples/study.toml
    study: PathBuf,
    /// The directory to write to, made if it is not there; left out: the name of the file without .toml
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Say how many runs there are, and do nothing else
    #[arg(long)]
    dry_run: bool,
}

/// Runs the study and writes its files: the comparison, and notes for standard error.
pub fn run(arguments: &StudyArguments) -> Result<(String, String), String> {
    let study = study::read(&arguments.study)?;
    let directory = match &arguments.output {
        Some(directory) => directory.clone(),
        None => directory_of(&arguments.study)?,
    };
    let grid = Grid::new(&study)?;
    if arguments.dry_run {
        return Ok((grid.size() + "\n", grid.notes().to_owned()));
    }
    study::write(&directory, &study, &grid)
}

/// Beside the file, and named as it is.
fn directory_of(study: &Path) -> Result<PathBuf, String> {
    match study.extension() {
        Some(_) => Ok(study.with_extension("")),
        None => Err(format!(
            "{}: say with --output which directory to write to, or let the file's name end in .toml",
            study.display()
        )),
    }
}
