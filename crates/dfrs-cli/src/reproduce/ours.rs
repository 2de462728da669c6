//! `--only ours`: how the project's own policy fares, on a page of its own.

mod jobs;
mod page;
mod studies;

use std::path::Path;

use super::traces::{TraceId, TraceSet, Traces};
use crate::outputs::save;
use crate::runs::Runs;
use crate::study::compare;
use crate::study::grid::Grid;
use crate::study::rows;
use jobs::Jobs;
use studies::{Part, Wanted};

/// What `--only` calls it.
pub const NAME: &str = "ours";

/// What was asked for.
pub struct Request<'a> {
    pub seed: u64,
    /// Number of synthetic traces.
    pub count: u32,
    /// Number of jobs of each.
    pub jobs: u32,
    /// The HPC2N trace.
    pub trace: Option<&'a Path>,
    /// In words.
    pub settings: &'a str,
}

/// One study with what came of it.
pub struct Told {
    pub part: Part,
    pub study: crate::study::file::Study,
    pub lines: Vec<compare::Line>,
}

/// Simulates and writes `ours.html` and the CSV files beside it; returns the path of the page.
pub fn write(
    directory: &Path,
    request: &Request,
    traces: &Traces,
    runs: &mut Runs,
) -> Result<String, String> {
    let weeks = traces.of(TraceSet::Weeks).into_iter();
    let weeks = weeks.filter_map(|trace| match trace {
        TraceId::Week(week) => Some(u64::from(week)),
        _ => None,
    });
    let wanted = Wanted {
        seeds: (0..u64::from(request.count))
            .map(|number| request.seed.wrapping_add(number))
            .collect(),
        jobs: request.jobs,
        weeks: request.trace.map(|path| (path, weeks.collect())),
    };
    let mut told = Vec::new();
    for part in Part::ALL {
        let study = part.study(&wanted)?;
        let grid = Grid::new(&study)?;
        let rows = grid.execute(runs)?;
        let name = part.name();
        save(
            directory,
            &format!("{NAME}-{name}.csv"),
            &rows::csv(&study, &rows)?,
        )?;
        let lines = compare::summary(&study, &rows);
        save(
            directory,
            &format!("{NAME}-{name}-summary.csv"),
            &compare::csv(&study, &lines),
        )?;
        drop(rows);
        drop(grid);
        told.push(Told { part, study, lines });
    }
    let jobs = Jobs::get(&wanted, runs)?;
    save(directory, &format!("{NAME}-classes.csv"), &jobs.csv())?;
    let (html, drawings) = page::page(request, &told, &jobs);
    for (name, svg) in drawings {
        save(directory, &format!("{NAME}-{name}.svg"), &svg)?;
    }
    save(directory, &format!("{NAME}.html"), &html)
}
