//! Checking a journal.

use std::io::BufRead;

use dfrs_journal::{JournalReader, JournalViolation, Tolerance, Validator};
use dfrs_proto::journal::EventKind;

use crate::report::{CheckFindings, CheckProblem};

const KIND: &str = "journal";

pub fn check(input: impl BufRead, tolerance: Tolerance) -> CheckFindings {
    let mut validator = Validator::new(tolerance);
    let mut count = Count::default();
    for event in JournalReader::new(input) {
        match event {
            Ok((line, event)) => {
                count.add(&event.kind);
                validator.push(line, &event);
            }
            Err(error) => {
                return CheckFindings::bad_input(KIND, Some(error.line()), error.to_string());
            }
        }
    }
    let violations = validator.finish();
    if violations.is_empty() {
        return CheckFindings::valid(KIND, count.summary());
    }
    CheckFindings::invalid(
        KIND,
        count.summary(),
        violations.iter().map(problem).collect(),
    )
}

fn problem(violation: &JournalViolation) -> CheckProblem {
    // Precise enough: a journal's times are exact.
    let t = violation.t.0 as f64 / 1e6;
    CheckProblem {
        line: Some(violation.line),
        t: Some(t),
        what: violation.what.to_string(),
    }
}

/// What a journal holds, to see at a glance that it is the one that was meant.
#[derive(Default)]
struct Count {
    events: u64,
    nodes: usize,
    submitted: u64,
    finished: u64,
    pauses: u64,
    migrations: u64,
}

impl Count {
    fn add(&mut self, kind: &EventKind) {
        self.events += 1;
        match kind {
            EventKind::Platform { nodes, .. } => self.nodes = nodes.len(),
            EventKind::Submit { .. } => self.submitted += 1,
            EventKind::Pause { .. } => self.pauses += 1,
            EventKind::Migrate { .. } => self.migrations += 1,
            EventKind::Finish { .. } => self.finished += 1,
            _ => {}
        }
    }

    fn summary(&self) -> String {
        let Self {
            events,
            nodes,
            submitted,
            finished,
            pauses,
            migrations,
        } = self;
        format!(
            "nodes {nodes}, events {events}, submitted {submitted}, finished {finished}, \
             pauses {pauses}, migrations {migrations}"
        )
    }
}
