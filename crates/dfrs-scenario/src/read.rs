//! From text to scenarios.

mod draft;
mod job;
mod node;
mod outcome;
mod policy;

use std::ops::Range;

use dfrs_core::PolicyReader;

use crate::error::{ScenarioError, shown};
use crate::scenario::Scenario;
use crate::words::{SizeBudget, words};
use draft::Draft;

pub(crate) use node::{DOWN, DRAINING};
pub(crate) use policy::PRIORITIES;

/// What separates what is given from what is expected.
pub(crate) const SEPARATOR: &str = "----";

/// A scenario, and where in the file what is expected of it stands.
pub(crate) struct Section {
    pub(crate) scenario: Scenario,
    /// The lines from `----` to the last one of the outcome, counted from 0; nothing where they
    /// would stand if there are none.
    pub(crate) expected: Range<usize>,
    /// The line of the title, counted from 1.
    pub(crate) line: usize,
}

/// The scenarios of a file. `file` is its name in errors; `policy` reads names of policies.
///
/// # Errors
///
/// The first line that is malformed, or of a scenario that lacks something.
pub fn read(text: &str, file: &str, policy: PolicyReader) -> Result<Vec<Scenario>, ScenarioError> {
    let sections = sections(text, file, policy)?.into_iter();
    Ok(sections.map(|section| section.scenario).collect())
}

/// The scenarios of a file, with where they stand.
pub(crate) fn sections(
    text: &str,
    file: &str,
    policy: PolicyReader,
) -> Result<Vec<Section>, ScenarioError> {
    let mut reader = Reader {
        sections: Vec::new(),
        draft: None,
        budget: SizeBudget::default(),
        policy,
    };
    for (index, line) in text.lines().enumerate() {
        let outcome = reader.line(line.trim(), index);
        outcome.map_err(|what| at(file, index + 1, what))?;
    }
    reader
        .finish()
        .map_err(|(line, what)| at(file, line, what))?;
    match reader.sections.is_empty() {
        true => Err(at(
            file,
            1,
            "holds no scenario; begin with 'scenario TITLE'".into(),
        )),
        false => Ok(reader.sections),
    }
}

fn at(file: &str, line: usize, what: String) -> ScenarioError {
    let file = file.to_owned();
    ScenarioError { file, line, what }
}

struct Reader {
    sections: Vec<Section>,
    draft: Option<Draft>,
    /// What is left of it, while it is not the draft's.
    budget: SizeBudget,
    /// Reads names of policies.
    policy: PolicyReader,
}

impl Reader {
    fn line(&mut self, line: &str, index: usize) -> Result<(), String> {
        let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if keyword == "scenario" {
            self.finish().map_err(|(line, what)| {
                format!("the scenario of line {line} is not complete: {what}")
            })?;
            let budget = std::mem::take(&mut self.budget);
            self.draft = Some(Draft::new(rest.trim(), index, budget));
            return Ok(());
        }
        if let Some(note) = line.strip_prefix('#') {
            if let Some(draft) = &mut self.draft {
                draft.note(note.trim(), index);
            }
            return Ok(());
        }
        if line.is_empty() {
            return Ok(());
        }
        let Some(draft) = &mut self.draft else {
            return Err("belongs to no scenario; begin with 'scenario TITLE'".into());
        };
        draft.end = index + 1;
        match draft.outcome.is_some() {
            true => draft.expected_line(keyword, rest.trim()),
            false => draft.given_line(keyword, line, index, self.policy),
        }
    }

    /// Ends the scenario that is being read; an error with its line.
    fn finish(&mut self) -> Result<(), (usize, String)> {
        if let Some(draft) = self.draft.take() {
            let line = draft.line;
            let (section, budget) = draft.finish().map_err(|what| (line, what))?;
            self.sections.push(section);
            self.budget = budget;
        }
        Ok(())
    }
}

impl Draft {
    /// Above `----`.
    fn given_line(
        &mut self,
        keyword: &str,
        line: &str,
        index: usize,
        policy: PolicyReader,
    ) -> Result<(), String> {
        self.has_begun = true;
        let words = words(line)?;
        let words = &words[1..];
        match keyword {
            SEPARATOR => self.separate(index),
            "policy" => self.read_policy(words, policy),
            "now" => self.read_now(words),
            "node" | "nodes" => self.read_nodes(words),
            "job" | "jobs" => self.read_jobs(words),
            "event" => self.read_event(words),
            _ => Err(format!(
                "{} begins no line; known are scenario, policy, now, nodes, job, event, {SEPARATOR} and #",
                shown(keyword)
            )),
        }
    }
}
