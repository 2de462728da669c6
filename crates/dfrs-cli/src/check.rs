//! `dfrs check`: is this file right?

mod conf;
mod journal;

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dfrs_sim::trace::open;

use crate::report::{Findings, Outcome, Problem, Report};
use crate::runs::progress;

/// Checks a journal or a dfrs.conf; which of the two it is follows from its content.
///
/// Exit code 0: the file is right. 1: a journal that breaks one of its promises (memory, CPU,
/// yields, order, life of jobs, progress). 2: the file cannot be read, or has a line that no program
/// of slurm-dfrs would accept.
#[derive(Args)]
pub struct Arguments {
    /// The file to check
    file: PathBuf,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// How far, as a share of the run time, a completed job's progress may be from its run time; for
    /// live journals whose run times were measured
    #[arg(long, value_name = "SHARE", default_value_t = 1e-6, value_parser = share)]
    progress_share: f64,
    /// The same in seconds; both are allowed together
    #[arg(long, value_name = "SECONDS", default_value_t = 0.001, value_parser = seconds)]
    progress_seconds: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line for each finding
    Text,
    /// One object
    Json,
}

/// Checks the file and tells.
pub fn run(arguments: &Arguments) -> Outcome {
    let findings = match look_at(&arguments.file, arguments) {
        Ok(findings) => findings,
        Err(error) => {
            let what = format!("cannot be read: {error}; check the path and its permissions");
            Findings::bad_input(
                "file",
                Problem {
                    line: None,
                    t: None,
                    what,
                },
            )
        }
    };
    let report = Report {
        file: arguments.file.display().to_string(),
        findings,
    };
    match arguments.format {
        Format::Text => report.as_text(),
        Format::Json => report.as_json(),
    }
}

fn look_at(file: &Path, arguments: &Arguments) -> io::Result<Findings> {
    let mut input = BufReader::new(progress::reading(file, open(file)?));
    match first_letter(&mut input)? {
        Some(b'{') => Ok(journal::check(input, arguments.tolerance())),
        Some(_) => conf::check(input, file),
        None => {
            let what = "is empty; expected a journal or a dfrs.conf".to_owned();
            Ok(Findings::bad_input(
                "file",
                Problem {
                    line: None,
                    t: None,
                    what,
                },
            ))
        }
    }
}

/// The first byte that is not white space, without consuming anything; looks only as far as one
/// buffer goes.
fn first_letter(input: &mut impl BufRead) -> io::Result<Option<u8>> {
    let start = input.fill_buf()?;
    let letter = start.iter().find(|byte| !byte.is_ascii_whitespace());
    Ok(letter.or(start.first()).copied())
}

fn share(text: &str) -> Result<f64, String> {
    number_up_to(text, 1.0)
}

fn seconds(text: &str) -> Result<f64, String> {
    number_up_to(text, 1e9)
}

fn number_up_to(text: &str, most: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=most).contains(&number) => Ok(number),
        _ => Err(format!("allowed: a number from 0 to {most}")),
    }
}

impl Arguments {
    fn tolerance(&self) -> dfrs_proto::journal::Tolerance {
        // At most 1e15, see seconds().
        #[allow(clippy::cast_possible_truncation)]
        let microseconds = (self.progress_seconds * 1e6) as i64;
        dfrs_proto::journal::Tolerance {
            relative: self.progress_share,
            absolute: dfrs_core::Span(microseconds),
        }
    }
}
