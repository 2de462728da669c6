//! `dfrs check`: is this file right?

mod conf;
mod journal;

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dfrs_lab::runs::progress;
use dfrs_sim::trace::open;

use crate::report::{CheckFindings, CheckReport, CommandOutcome};

/// Checks a journal or a dfrs.conf; which of the two it is follows from its content.
///
/// Exit code 0: the file is right. 1: a journal that breaks one of its promises (memory, CPU,
/// yields, order, life of jobs, progress). 2: the file cannot be read, or has a line that no program
/// of slurm-dfrs would accept.
#[derive(Args)]
pub struct CheckArguments {
    /// The file to check
    file: PathBuf,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    format: CheckFormat,
    /// How far, as a share of the run time, a completed job's progress may be from its run time; for
    /// live journals whose run times were measured
    #[arg(long, value_name = "SHARE", default_value_t = 1e-6, value_parser = share)]
    progress_share: f64,
    /// The allowed difference in seconds; may be given together with the share
    #[arg(long, value_name = "SECONDS", default_value_t = 0.001, value_parser = seconds)]
    progress_seconds: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    /// One line for each finding
    Text,
    /// One object
    Json,
}

/// Checks the file and prints what was found.
pub fn run(arguments: &CheckArguments) -> CommandOutcome {
    let findings = check_file(&arguments.file, arguments).unwrap_or_else(|error| {
        let what = format!("cannot be read: {error}; check the path and its permissions");
        CheckFindings::bad_input("file", None, what)
    });
    let report = CheckReport {
        file: arguments.file.display().to_string(),
        findings,
    };
    match arguments.format {
        CheckFormat::Text => report.as_text(),
        CheckFormat::Json => report.as_json(),
    }
}

fn check_file(file: &Path, arguments: &CheckArguments) -> io::Result<CheckFindings> {
    let mut input = BufReader::new(progress::reading(file, open(file)?));
    match first_byte(&mut input)? {
        Some(b'{') => Ok(journal::check(input, arguments.tolerance())),
        Some(_) => conf::check(input, file),
        None => {
            let what = "is empty; expected a journal or a dfrs.conf".to_owned();
            Ok(CheckFindings::bad_input("file", None, what))
        }
    }
}

/// The first byte that is not white space, without consuming anything; looks only as far as one
/// buffer goes.
fn first_byte(input: &mut impl BufRead) -> io::Result<Option<u8>> {
    let start = input.fill_buf()?;
    let byte = start.iter().find(|byte| !byte.is_ascii_whitespace());
    Ok(byte.or(start.first()).copied())
}

fn share(text: &str) -> Result<f64, String> {
    number_up_to(text, 1.0)
}

fn seconds(text: &str) -> Result<f64, String> {
    number_up_to(text, 1e9)
}

fn number_up_to(text: &str, max: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=max).contains(&number) => Ok(number),
        _ => Err(format!("allowed: a number from 0 to {max}")),
    }
}

impl CheckArguments {
    fn tolerance(&self) -> dfrs_journal::Tolerance {
        // At most 1e15, see seconds().
        #[allow(clippy::cast_possible_truncation)]
        let microseconds = (self.progress_seconds * 1e6) as i64;
        dfrs_journal::Tolerance {
            relative: self.progress_share,
            absolute: dfrs_core::Span(microseconds),
        }
    }
}
