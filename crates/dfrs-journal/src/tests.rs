mod invariants;
mod properties;
mod reading;

use dfrs_proto::journal::JournalEvent;

use super::{JournalReader, Tolerance, validate};

/// The specification for readers.
const SPECIFICATION: &str = include_str!("../../../docs/journal.md");

/// The specification's example: one job that is paused, resumed, migrated and completes.
fn example() -> &'static str {
    let rest = SPECIFICATION.split_once("```json\n").expect("an example").1;
    rest.split_once("```").expect("its end").0
}

fn events(text: &str) -> Vec<(usize, JournalEvent)> {
    JournalReader::new(text.as_bytes())
        .collect::<Result<_, _>>()
        .unwrap_or_else(|error| panic!("line {}: {error}", error.line()))
}

/// What is wrong with a journal, in the words that users read.
fn violations(text: &str) -> Vec<String> {
    let found = validate(events(text), Tolerance::default());
    found.iter().map(ToString::to_string).collect()
}
