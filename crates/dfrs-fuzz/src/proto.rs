//! What programs exchange, and what administrators write.

use dfrs_journal::{JournalReader, Tolerance, Validator};
use dfrs_node_proto::framing::Frame;
use dfrs_node_proto::report::{Measurement, NodeStatus};
use dfrs_proto::conf::Config;
use dfrs_proto::journal::{JournalEvent, JournalWriter, WriteError};
use dfrs_proto::message::Message;

use super::is_clear;

/// A journal.
pub fn journal(file: &[u8]) {
    let mut validator = Validator::new(Tolerance::default());
    let mut writer = JournalWriter::new(Vec::new());
    let mut written = Vec::new();
    for event in JournalReader::new(file) {
        let (line, event) = match event {
            Ok(event) => event,
            Err(error) => {
                is_clear_in_line(&error);
                break;
            }
        };
        validator.push(line, &event);
        match writer.write(&event) {
            Ok(()) => written.push(event),
            Err(WriteError::Io(error)) => panic!("{error}"),
            Err(error) => is_clear(&error),
        }
    }
    for violation in validator.finish() {
        is_clear(&violation.what);
    }
    let again: Result<Vec<JournalEvent>, _> = JournalReader::new(&writer.into_inner()[..])
        .map(|event| event.map(|(_, event)| event))
        .collect();
    assert_eq!(again.expect("what was written"), written);
}

fn is_clear_in_line(error: &dfrs_journal::ReadError) {
    assert!(error.line() > 0);
    is_clear(error);
}

/// A `dfrs.conf`.
pub fn conf(file: &[u8]) {
    let text = String::from_utf8_lossy(file);
    match Config::parse(&text, "dfrs.conf") {
        Ok(config) => {
            let printed = config.to_string();
            let again = Config::parse(&printed, "dfrs.conf").expect("what was printed");
            assert_eq!(again, config, "{printed}");
        }
        Err(error) => is_clear(&error),
    }
}

/// What comes in at a socket: a frame, and a message or a report in it or without it.
pub fn message(bytes: &[u8]) {
    let mut rest = bytes;
    match Frame::read_from(&mut rest) {
        Ok(frame) => {
            let whole = frame.encode().expect("it was read");
            assert_eq!([&whole[..], rest].concat(), bytes);
            content(&frame.data);
        }
        Err(error) => is_clear(&error),
    }
    content(bytes);
}

fn content(bytes: &[u8]) {
    match Message::decode(bytes) {
        Ok(message) => {
            let encoded = message.encode().expect("it was read");
            assert_eq!(
                Message::decode(&encoded).expect("what was written"),
                message
            );
        }
        Err(error) => is_clear(&error),
    }
    let _ = serde_json::from_slice::<NodeStatus>(bytes);
    if let Ok(measurement) = serde_json::from_slice::<Measurement>(bytes) {
        let _ = measurement.measured_share();
    }
}
