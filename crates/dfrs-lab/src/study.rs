//! Studies: many traces under many policies and settings, compared trace by trace.

mod compare;
mod document;
mod file;
mod grid;
mod options;
mod page;
mod rows;
mod sources;

use std::path::Path;

use dfrs_sim::metrics::CLASSES;

use crate::outputs::{make_directory, save};
use crate::runs::Runs;
use crate::sim::results::{self, STRANDED_GPUS};

use compare::RunGroups;

pub use file::{Study, read};
pub use grid::Grid;

/// Does the runs that are not done yet, and writes tables, page and runs to the directory, which is made if it is
/// not there. Returns the tables for a terminal, and what people should know, a line each.
///
/// # Errors
///
/// One line: a run fails, or a file cannot be written.
pub fn write(directory: &Path, study: &Study, grid: &Grid) -> Result<(String, String), String> {
    make_directory(directory)?;
    let mut runs = Runs::new(Some(&directory.join("runs.jsonl")))?;
    let rows = grid.execute(&mut runs)?;
    save(directory, "runs.csv", &rows::csv(study, &rows)?)?;
    let groups = RunGroups::new(study, &rows);
    let summary = groups.summary(&study.measures);
    save(directory, "summary.csv", &compare::csv(study, &summary))?;
    let classes: Vec<&str> = CLASSES.iter().flat_map(|class| class.measures).collect();
    let classes = groups.summary(&classes);
    save(directory, "classes.csv", &compare::csv(study, &classes))?;
    let page = page::page(study, &grid.size(), &summary, &classes);
    save(directory, "report.html", &page)?;
    let output = compare::text(study, &summary);
    Ok((output, grid.notes().to_owned() + &runs.notes()))
}

/// The names of all that is measured of a run, in the order of columns.
fn measures() -> impl Iterator<Item = &'static str> {
    let of_classes = CLASSES.iter().flat_map(|class| class.measures);
    results::measures().chain([STRANDED_GPUS]).chain(of_classes)
}
