//! Files whose expected parts are made to say what is decided.

use dfrs_core::PolicyReader;

use crate::error::ScenarioError;
use crate::read::{SEPARATOR, Section, sections};

/// The file with what is decided as what is expected. All else stays as it is, byte for byte; where
/// the outcome is as expected, that too.
///
/// # Errors
///
/// As [`crate::read()`], or a scenario cannot be decided.
pub fn rewritten(text: &str, file: &str, policy: PolicyReader) -> Result<String, ScenarioError> {
    let lines: Vec<&str> = text.lines().collect();
    let mut result = String::with_capacity(text.len());
    let mut next = 0;
    for section in sections(text, file, policy)? {
        let outcome = new_lines(&section).map_err(|what| ScenarioError {
            file: file.to_owned(),
            line: section.line,
            what,
        })?;
        let Some(outcome) = outcome else { continue };
        append(&mut result, &lines[next..section.expected.start]);
        append(&mut result, &[SEPARATOR]);
        append(&mut result, &outcome);
        next = section.expected.end;
    }
    append(&mut result, &lines[next..]);
    Ok(result)
}

/// What is to be expected, if that is something else than what is.
fn new_lines(section: &Section) -> Result<Option<Vec<String>>, String> {
    let scenario = &section.scenario;
    let outcome = scenario.decide().outcome();
    let is_expected = scenario.expected.is_some() && scenario.difference(&outcome).is_empty();
    Ok((!is_expected).then(|| outcome.lines(&scenario.cluster)))
}

fn append(text: &mut String, lines: &[impl AsRef<str>]) {
    for line in lines {
        text.push_str(line.as_ref());
        text.push('\n');
    }
}
