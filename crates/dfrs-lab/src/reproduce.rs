//! The papers' tables and figures, computed again.

mod cells;
mod claims;
mod experiment;
mod figures;
mod measure;
mod moldable;
mod published;
mod report;
mod results;
mod tables;
mod texts;
mod traces;

use std::path::Path;

use dfrs_proto::text::counted;

use crate::outputs::make_directory;
use crate::runs::Runs;
use experiment::{Experiment, all};
use moldable::Ratios;
use results::Results;
use traces::{TraceSet, Traces};

pub use traces::ALL_TRACES;

/// What is reproduced, and where it is written.
pub struct Reproduction<'a> {
    /// The directory, which is made if it is not there.
    pub directory: &'a Path,
    /// Only the figures and tables of these names; all if there are none.
    pub only: &'a [String],
    /// Number of synthetic traces at each load, 1 to [`ALL_TRACES`], and so many hundredths of the weeks.
    pub traces: u32,
    /// Number of jobs of a synthetic trace, at least 2; the papers have 1000.
    pub jobs: u32,
    /// Seed of the first synthetic trace.
    pub seed: u64,
    /// The HPC2N trace, if it is at hand.
    pub hpc2n: Option<&'a Path>,
}

/// The names of all figures and tables.
pub fn names() -> Vec<&'static str> {
    let moldable = moldable::FIGURES.iter().map(|figure| figure.name);
    all()
        .map(|experiment| experiment.name)
        .chain(moldable)
        .collect()
}

impl Reproduction<'_> {
    /// Does the runs that are not done yet and writes the files. Returns the path of the report, none if nothing is
    /// chosen, and what people should know, a line each.
    ///
    /// # Errors
    ///
    /// One line: a run fails, or a file cannot be read or written.
    pub fn write(&self) -> Result<(Option<String>, String), String> {
        let chosen: Vec<&Experiment> = all()
            .filter(|experiment| self.has(experiment.name))
            .collect();
        let figures = moldable::FIGURES.iter();
        let figures: Vec<&moldable::Figure> =
            figures.filter(|figure| self.has(figure.name)).collect();
        let jobs = usize::try_from(self.jobs).unwrap_or(usize::MAX);
        let traces = Traces::new(self.seed, self.traces, jobs, self.hpc2n)?;
        let directory = self.directory;
        make_directory(directory)?;
        let mut runs = Runs::new(Some(&directory.join("runs.jsonl")))?;
        let results = Results::get(traces, &chosen, &mut runs)?;
        // The part of the paper's runs is as large as that of the traces.
        let each = (moldable::ALL_RUNS * self.traces).div_ceil(ALL_TRACES);
        let ratios = Ratios::get(&figures, each, self.seed, &mut runs)?;
        let settings = self.settings(&results.traces);
        let report = match chosen.is_empty() && figures.is_empty() {
            true => None,
            false => Some(report::write(
                directory,
                &results,
                &chosen,
                (&figures, &ratios),
                &settings,
            )?),
        };
        let notes = results.traces.notes();
        let notes: String = notes.iter().map(|note| format!("{note}\n")).collect();
        Ok((report, notes + &runs.notes()))
    }

    /// Whether the figure or table of this name is chosen.
    fn has(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    /// The settings of this run, in words.
    fn settings(&self, traces: &Traces) -> String {
        let weeks = traces.of(TraceSet::Weeks).len();
        let real = if traces.has_hpc2n() {
            format!("{} of HPC2N", counted(weeks, "week"))
        } else {
            "no HPC2N trace".into()
        };
        format!(
            "{} of {} jobs with seeds from {}, unscaled and at nine loads; {real}; dfrs {}",
            counted(self.traces, "synthetic trace"),
            self.jobs,
            self.seed,
            env!("CARGO_PKG_VERSION")
        )
    }
}
