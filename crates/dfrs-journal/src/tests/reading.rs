//! Lines to events.

use dfrs_core::{NodeIndex, Span, Time};
use dfrs_proto::journal::{EventKind, JobOutcome, JournalEvent};

use super::super::{JournalReader, ReadError};
use super::{events, example};

fn read_error(text: &str) -> ReadError {
    JournalReader::new(text.as_bytes())
        .find_map(Result::err)
        .expect("an error")
}

#[test]
fn fields_are_read_in_their_units() {
    let events = events(example());
    let (line, resume) = &events[5];
    assert_eq!((*line, resume.t), (6, Time(900_000_000)));
    let EventKind::Resume { nodes, stall, .. } = &resume.kind else {
        panic!("{resume:?}")
    };
    assert_eq!(nodes, &[NodeIndex(1); 4]);
    assert_eq!(*stall, Some(Span(300_000_000)));
    assert_eq!(
        events[4].1.reason.as_deref(),
        Some("preempted by the new job 18")
    );
    assert_eq!(events[6].1.t, Time(1_200_500_000));
}

#[test]
fn unknown_events_fields_and_outcomes_are_ignored() {
    let text = "{\"t\":1,\"event\":\"weather\",\"sky\":\"blue\"}\n\n\
                {\"t\":2,\"event\":\"finish\",\"job\":\"1\",\"outcome\":\"evaporated\",\"more\":[1]}\n";
    let events = events(text);
    assert_eq!(
        events[0],
        (1, JournalEvent::new(Time(1_000_000), EventKind::Unknown))
    );
    let EventKind::Finish { outcome, .. } = events[1].1.kind else {
        panic!("{events:?}")
    };
    assert_eq!((events[1].0, outcome), (3, JobOutcome::Other));
}

#[test]
fn errors_name_the_line_and_the_cause() {
    let cases = [
        ("{\"t\":1}\n", "is no event: missing field `event`"),
        (
            "{\"t\":1,\"event\":\"start\",\"job\":\"1\"}\n",
            "is no event: missing field `nodes`",
        ),
        (
            "{\"t\":1,\"event\":\"start\",\"job\":\"1\",\"nodes\":[-1]}\n",
            "is no event: invalid value",
        ),
        (
            "{\"event\":\"pause\",\"job\":\"1\"}\n",
            "is no event: missing field `t`",
        ),
        (
            "{\"t\":1e300,\"event\":\"pause\",\"job\":\"1\"}\n",
            "is no event: a time of",
        ),
        (
            "{\"t\":1,\"event\":\"migrate\",\"job\":\"1\",\"nodes\":[],\"stall\":-1}\n",
            "is no event: a length of time is negative",
        ),
        (
            "Mode=full\n",
            "is no JSON object: expected value (column 1)",
        ),
        ("{\"t\":1,\n", "is no JSON object: "),
    ];
    for (text, expected) in cases {
        let error = read_error(&format!("\n{text}"));
        assert_eq!(error.line(), 2);
        let message = error.to_string();
        assert!(message.starts_with(expected), "{message:?} for {text:?}");
        assert!(
            message.ends_with("; a journal has one event as a JSON object on each line"),
            "{message:?}"
        );
    }
}

#[test]
fn other_versions_are_refused() {
    let error =
        read_error("{\"t\":0,\"event\":\"platform\",\"version\":2,\"policy\":\"\",\"nodes\":[]}\n");
    assert_eq!(
        error.to_string(),
        "the journal has version 2, this program reads version 1"
    );
}

#[test]
fn reader_stops_at_an_error_and_skips_a_partial_last_line() {
    let mut reader = JournalReader::new("x\n{\"t\":1,\"event\":\"weather\"}\n".as_bytes());
    assert!(matches!(reader.next(), Some(Err(_))));
    assert!(reader.next().is_none());
    assert_eq!(
        events("{\"t\":1,\"event\":\"weather\"}\n{\"t\":2,\"ev").len(),
        1
    );
    assert_eq!(
        events("{\"t\":1,\"event\":\"weather\"}").len(),
        1,
        "complete but for the newline"
    );
}
