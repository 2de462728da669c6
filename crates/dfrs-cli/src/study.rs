//! `dfrs study`: many traces under many policies and settings, in one call.

pub mod compare;
mod document;
pub mod file;
pub mod grid;
pub mod options;
mod page;
pub mod rows;
pub mod sources;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use dfrs_sim::metrics::CLASSES;

use crate::report::CommandOutcome;
use crate::sim::results::MEASURES;
use dfrs_lab::outputs::save;
use dfrs_lab::runs::Runs;
use grid::Grid;

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

/// Runs the study, writes its files and prints the comparison.
pub fn run(arguments: &StudyArguments) -> CommandOutcome {
    CommandOutcome::of(try_run(arguments))
}

/// What goes to standard output and to standard error, or one line about why there is no result.
fn try_run(arguments: &StudyArguments) -> Result<(String, String), String> {
    let study = file::read(&arguments.study)?;
    let directory = match &arguments.output {
        Some(directory) => directory.clone(),
        None => directory_of(&arguments.study)?,
    };
    let grid = Grid::new(&study)?;
    if arguments.dry_run {
        return Ok((grid.size() + "\n", grid.notes().to_owned()));
    }
    fs::create_dir_all(&directory).map_err(|error| {
        format!(
            "{}: cannot be made: {error}; name another directory with --output",
            directory.display()
        )
    })?;
    let mut runs = Runs::new(Some(&directory.join("runs.jsonl")))?;
    let rows = grid.execute(&mut runs)?;
    save(&directory, "runs.csv", &rows::csv(&study, &rows)?)?;
    let summary = compare::summary(&study, &rows, &study.measures);
    save(&directory, "summary.csv", &compare::csv(&study, &summary))?;
    let classes: Vec<&str> = CLASSES.iter().flat_map(|class| class.measures).collect();
    let classes = compare::summary(&study, &rows, &classes);
    save(&directory, "classes.csv", &compare::csv(&study, &classes))?;
    let page = page::page(&study, &grid.size(), &summary, &classes);
    save(&directory, "report.html", &page)?;
    let output = compare::text(&study, &summary);
    Ok((output, grid.notes().to_owned() + &runs.notes()))
}

/// The names of all that is measured of a run, in the order of columns.
fn measures() -> impl Iterator<Item = &'static str> {
    let of_classes = CLASSES.iter().flat_map(|class| class.measures);
    MEASURES.into_iter().chain(of_classes)
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
