//! `dfrs decide`: what would DFRS do now?

mod json;
mod table;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dfrs_core::{Severity, Violation};
use dfrs_scenario::{Decided, Scenario, from_record, is_record, print, read, rewritten};
use dfrs_sim::trace::open;

use crate::report::CommandOutcome;

/// The longest file, in bytes: that of 2,000 nodes and 26,000 different jobs has some megabytes.
const MAX_BYTES: u64 = 1 << 28;

/// Decides what a scenario file describes, and compares it with what the file expects. A decision
/// that the plugin recorded, dfrs_recorded.json or dfrs_dropped.json, is such a file, too.
///
/// Exit code 0: it is as expected, or nothing is expected and no rule is broken. 1: it is not as
/// expected, or a rule is broken that no expectation names. 2: the file cannot be read, or has a
/// malformed line. With --rewrite, what the file expected does not count.
#[derive(Args)]
pub struct DecideArguments {
    /// The scenario file or recorded decision, or - for standard input
    file: PathBuf,
    /// How to print what is decided
    #[arg(long, value_enum, default_value_t = DecideFormat::Table)]
    format: DecideFormat,
    /// Make the file expect what is decided
    #[arg(long)]
    rewrite: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DecideFormat {
    /// For people
    Table,
    /// An array with an object for each scenario
    Json,
    /// The scenarios, expecting what is decided
    Scenario,
}

/// A scenario, and what is decided about it.
struct Case {
    scenario: Scenario,
    decided: Decided,
    /// Where that is not as expected.
    difference: Vec<String>,
}

impl Case {
    fn new(scenario: Scenario) -> Self {
        let decided = scenario.decide();
        let difference = scenario.difference(&decided.outcome());
        Self {
            scenario,
            decided,
            difference,
        }
    }

    /// Whether nothing is wrong: what is expected counts, violations included.
    fn is_right(&self) -> bool {
        let is_error = |violation: &Violation| violation.severity() == Severity::Error;
        match &self.scenario.expected {
            Some(_) => self.difference.is_empty(),
            None => !self.decided.violations.iter().any(is_error),
        }
    }
}

/// Decides and prints.
pub fn run(arguments: &DecideArguments) -> Result<CommandOutcome, String> {
    let file = arguments.file.display().to_string();
    let is_standard_input = arguments.file == Path::new("-");
    if is_standard_input && arguments.rewrite {
        return Err("standard input cannot be rewritten; use --format scenario".into());
    }
    let text = read_text(&arguments.file, is_standard_input).map_err(|error| {
        format!("{file}: cannot be read: {error}; check the path and its permissions")
    })?;
    let text = match is_record(&text) {
        true if arguments.rewrite => {
            return Err(format!(
                "{file}: a recorded decision cannot be rewritten; use --format scenario"
            ));
        }
        true => from_record(&text).map_err(|error| format!("{file}: {error}"))?,
        false => text,
    };
    let mut scenarios =
        read(&text, &file, dfrs_papers::policy).map_err(|error| error.to_string())?;
    if arguments.rewrite {
        rewrite(&arguments.file, &text)?;
        scenarios
            .iter_mut()
            .for_each(|scenario| scenario.expected = None);
    }
    let cases: Vec<Case> = scenarios.into_iter().map(Case::new).collect();
    let output = match arguments.format {
        DecideFormat::Table => table::show(&cases),
        DecideFormat::Json => json::show(&cases)?,
        DecideFormat::Scenario => print(&cases.iter().map(as_expected).collect::<Vec<_>>()),
    };
    Ok(CommandOutcome {
        code: u8::from(!cases.iter().all(Case::is_right)),
        ..output.into()
    })
}

fn read_text(file: &Path, is_standard_input: bool) -> io::Result<String> {
    let input: Box<dyn Read> = match is_standard_input {
        true => Box::new(io::stdin().lock()),
        false => Box::new(open(file)?),
    };
    let mut text = String::new();
    let length = input.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    match u64::try_from(length) {
        Ok(0..=MAX_BYTES) => Ok(text),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("it has more than {MAX_BYTES} bytes"),
        )),
    }
}

/// Makes the file expect what is decided, all of it or nothing.
fn rewrite(file: &Path, text: &str) -> Result<(), String> {
    let name = file.display();
    let new = rewritten(text, &name.to_string(), dfrs_papers::policy)
        .map_err(|error| error.to_string())?;
    if new == text {
        return Ok(());
    }
    replace(file, &new).map_err(|error| {
        format!("{name}: cannot be written: {error}; check the directory and its permissions")
    })
}

/// Puts this text in place of the file's.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let file = file.canonicalize()?;
    let mut temporary = file.clone().into_os_string();
    temporary.push(".new");
    std::fs::write(&temporary, text)?;
    std::fs::rename(&temporary, &file)
}

/// The scenario, expecting what is decided.
fn as_expected(case: &Case) -> Scenario {
    Scenario {
        expected: Some(case.decided.outcome()),
        ..case.scenario.clone()
    }
}
