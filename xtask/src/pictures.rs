//! `cargo xtask pictures`: the documents' charts, drawn from figures that stand in the documents.

use std::fs;
use std::path::Path;

use clap::Args;
use dfrs_report::{Axis, Bars};

use crate::files;

/// In pixels: narrow enough to be read on a telephone.
const WIDTH: f64 = 560.0;

#[derive(Args)]
pub struct PicturesArguments {}

/// Draws them all.
///
/// # Errors
///
/// The figures are not where they are looked for, or a file cannot be written.
pub fn run(_arguments: &PicturesArguments) -> Result<(), String> {
    for (path, drawing) in all(crate::root())? {
        files::write(&crate::root().join(path), drawing)?;
    }
    Ok(())
}

/// One line for each picture that is not as in the documents.
pub fn problems(root: &Path) -> Vec<String> {
    let pictures = match all(root) {
        Ok(pictures) => pictures,
        Err(problem) => return vec![problem],
    };
    let stale = |(path, drawing): &(&str, String)| {
        fs::read_to_string(root.join(path)).ok().as_ref() != Some(drawing)
    };
    pictures
        .iter()
        .filter(|picture| stale(picture))
        .map(|(path, _)| {
            format!("{path}: is not what the documents say; cargo xtask pictures draws it")
        })
        .collect()
}

/// Each with its path.
fn all(root: &Path) -> Result<[(&'static str, String); 2], String> {
    let text = files::read(&root.join("README.md"))?;
    let table =
        DemoTable::of(&text).ok_or("README.md: has no table with a row '| mean stretch |'")?;
    let stretch = table.bars(
        "Stretch: time in the system over run time",
        "stretch; 1 is a job that never waited",
        &["mean stretch", "median stretch", "largest stretch"],
    )?;
    let seconds = table.bars("Seconds", "s", &["mean wait, s", "makespan, s"])?;
    Ok([
        ("docs/pictures/demo-stretch.svg", stretch),
        ("docs/pictures/demo-seconds.svg", seconds),
    ])
}

/// The demo's results: a column for each scheduler.
struct DemoTable<'a> {
    schedulers: Vec<&'a str>,
    rows: Vec<(&'a str, Vec<&'a str>)>,
}

impl<'a> DemoTable<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let tables = text.split("\n\n");
        let table = tables
            .filter(|part| part.starts_with('|'))
            .find(|part| part.contains("| mean stretch |"))?;
        let mut rows = table.lines().map(cells);
        let (_, schedulers) = rows.next()?;
        Some(Self {
            schedulers,
            rows: rows.skip(1).collect(),
        })
    }

    fn bars(&self, title: &str, label: &str, rows: &[&str]) -> Result<String, String> {
        let mut bars = Bars::new(
            title,
            Axis::linear(label),
            rows.iter()
                .map(|row| (*row).trim_end_matches(", s").into())
                .collect(),
        )
        .wide(WIDTH);
        for (place, scheduler) in self.schedulers.iter().enumerate() {
            let values: Result<Vec<Option<f64>>, String> = rows
                .iter()
                .map(|row| self.value(row, place).map(Some))
                .collect();
            bars = bars.with(scheduler, values?);
        }
        Ok(bars.to_svg())
    }

    /// The first number of a cell, which is the median.
    fn value(&self, row: &str, place: usize) -> Result<f64, String> {
        let found = self.rows.iter().find(|(name, _)| *name == row);
        let cell = found.and_then(|(_, cells)| cells.get(place));
        let number = cell.and_then(|cell| {
            cell.split_whitespace()
                .next()?
                .trim_matches('*')
                .parse()
                .ok()
        });
        number.ok_or_else(|| {
            format!(
                "README.md: row '{row}' has no number in column {}",
                place + 1
            )
        })
    }
}

/// The name of a row, and its other cells.
fn cells(line: &str) -> (&str, Vec<&str>) {
    let mut cells = line.trim_matches('|').split('|').map(str::trim);
    (cells.next().unwrap_or_default(), cells.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_the_table_are_drawn() {
        let text = "x\n\n| | a | b |\n| --- | --- | --- |\n| mean stretch | 2.5 (2 to 3) | **1.25** (1 to 2) |\n\ny";
        let table = DemoTable::of(text).expect("a table");
        assert_eq!(table.schedulers, ["a", "b"]);
        assert_eq!(table.value("mean stretch", 1), Ok(1.25));
        let problem = table.value("makespan, s", 0).expect_err("is not there");
        assert!(problem.contains("'makespan, s'"), "{problem}");
        let drawing = table.bars("t", "s", &["mean stretch"]).expect("bars");
        assert!(
            drawing.contains(">2.50<") && drawing.contains(">1.25<"),
            "{drawing}"
        );
    }

    #[test]
    fn a_picture_that_is_stale_is_named() {
        assert_eq!(problems(crate::root()), [""; 0]);
        let elsewhere = std::env::temp_dir().join(format!("dfrs-pictures-{}", std::process::id()));
        fs::create_dir_all(&elsewhere).expect("a directory");
        fs::copy(crate::root().join("README.md"), elsewhere.join("README.md")).expect("a copy");
        assert_eq!(problems(&elsewhere).len(), 2);
        fs::remove_dir_all(elsewhere).expect("cleans up");
    }
}
