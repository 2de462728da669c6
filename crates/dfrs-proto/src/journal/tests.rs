//! Events to lines and back.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use dfrs_core::{NodeIndex, Span, Time};

use super::{
    EventKind, JobOutcome, JournalEvent, JournalJobState, JournalSnapshot, JournalWriter,
    PlatformNode, WriteError, reopen,
};
use crate::devices::DevicesByKind;

/// The specification for readers.
const SPECIFICATION: &str = include_str!("../../../../docs/journal.md");

/// The specification's example: one job that is paused, resumed, migrated and completes.
fn example() -> &'static str {
    let rest = SPECIFICATION.split_once("```json\n").expect("an example").1;
    rest.split_once("```").expect("its end").0
}

fn events(text: &str) -> Vec<JournalEvent> {
    let events = text.lines().map(serde_json::from_str::<JournalEvent>);
    events.collect::<Result<_, _>>().expect("events")
}

fn platform(t: i64) -> JournalEvent {
    let nodes = vec![PlatformNode {
        name: "n0".into(),
        cpu: 1.0,
        mem: 1.0,
        devices: DevicesByKind::new(),
    }];
    let period = Some(Span(600_000_000));
    JournalEvent::new(
        Time(t),
        EventKind::Platform {
            version: 1,
            policy: "EASY".into(),
            period,
            nodes,
        },
    )
}

fn finish(t: i64) -> JournalEvent {
    JournalEvent::new(
        Time(t),
        EventKind::Finish {
            job: "1".into(),
            outcome: JobOutcome::Completed,
        },
    )
}

fn write(event: &JournalEvent) -> String {
    let mut writer = JournalWriter::new(Vec::new());
    let platform = platform(0);
    writer.write(&platform).expect("platform");
    writer.write(event).expect("event");
    let text = String::from_utf8(writer.into_inner()).expect("UTF-8");
    text.lines().nth(1).expect("second line").to_owned()
}

#[test]
fn the_documented_example_is_read_and_written_unchanged() {
    let mut writer = JournalWriter::new(Vec::new());
    for event in events(example()) {
        writer.write(&event).expect("in order");
    }
    assert_eq!(
        String::from_utf8(writer.into_inner()).expect("UTF-8"),
        example()
    );
}

#[test]
fn golden_lines() {
    let submit = EventKind::Submit {
        job: "17_3".into(),
        tasks: 2,
        most_tasks: None,
        cpu: 1.5,
        mem: 0.0,
        mem_per_node: 1024.0,
        devices: [("gpu:a100".to_owned(), 2)].into(),
        runtime: None,
    };
    assert_eq!(
        write(&JournalEvent::new(Time(1_700_000_000_123_456), submit)),
        r#"{"t":1700000000.123456,"event":"submit","job":"17_3","tasks":2,"cpu":1.5,"mem":0.0,"mem_per_node":1024.0,"devices":{"gpu:a100":2}}"#
    );
    let pause = EventKind::Pause {
        job: "1".into(),
        lost: true,
    };
    assert_eq!(
        write(&JournalEvent::new(Time(5), pause).because("node n3 failed")),
        r#"{"t":5e-6,"event":"pause","job":"1","lost":true,"reason":"node n3 failed"}"#
    );
    let eligible = |value, waited| EventKind::Eligible {
        job: "1".into(),
        value,
        waited,
    };
    assert_eq!(
        write(&JournalEvent::new(Time(0), eligible(false, None))),
        r#"{"t":0,"event":"eligible","job":"1","value":false}"#
    );
    assert_eq!(
        write(&JournalEvent::new(
            Time(0),
            eligible(true, Some(Span(90_000_000)))
        )),
        r#"{"t":0,"event":"eligible","job":"1","value":true,"waited":90}"#
    );
    let refused = EventKind::Refused {
        job: "1".into(),
        nodes: vec![NodeIndex(0), NodeIndex(2)],
    };
    assert_eq!(
        write(&JournalEvent::new(Time(0), refused).because("Requested nodes are busy")),
        r#"{"t":0,"event":"refused","job":"1","nodes":[0,2],"reason":"Requested nodes are busy"}"#
    );
    let finish = EventKind::Finish {
        job: "1".into(),
        outcome: JobOutcome::Cancelled,
    };
    assert_eq!(
        write(&JournalEvent::new(Time(7_000_000), finish)),
        r#"{"t":7,"event":"finish","job":"1","outcome":"cancelled"}"#
    );
}

#[test]
fn writer_requires_time_order_and_the_platform_first() {
    let mut writer = JournalWriter::new(Vec::new());
    assert!(matches!(
        writer.write(&finish(0)),
        Err(WriteError::NoPlatform)
    ));
    writer.write(&platform(5)).expect("platform");
    writer.write(&finish(5)).expect("same time");
    let error = writer.write(&finish(4)).expect_err("earlier");
    assert_eq!(
        error.to_string(),
        "an event at t=0.000004 cannot follow one at t=0.000005; use a later time"
    );
    assert_eq!(writer.earliest(), Some(Time(5)));
    assert_eq!(
        events(&String::from_utf8(writer.into_inner()).expect("UTF-8")).len(),
        2
    );
}

#[test]
fn numbers_that_json_cannot_hold_are_not_written() {
    let mut writer = JournalWriter::new(Vec::new());
    writer.write(&platform(0)).expect("platform");
    for value in [f64::NAN, f64::INFINITY] {
        let kind = EventKind::Yield {
            job: "1".into(),
            value,
        };
        let result = writer.write(&JournalEvent::new(Time(1), kind));
        assert!(matches!(result, Err(WriteError::NotFinite)));
    }
    assert_eq!(
        events(&String::from_utf8(writer.into_inner()).expect("UTF-8")).len(),
        1
    );
}

#[test]
fn times_that_would_lose_their_microseconds_are_not_written() {
    let mut writer = JournalWriter::new(Vec::new());
    let error = writer
        .write(&platform(1 << 60))
        .expect_err("in the far future");
    assert!(error.to_string().contains("out of range"), "{error}");
    assert_eq!(writer.earliest(), None);
}

#[test]
fn truncated_journal_continues_after_its_last_whole_line() {
    let mut file = temporary_file();
    file.write_all(example().as_bytes()).expect("write");
    file.write_all(b"{\"t\":5000,\"event\":\"fin")
        .expect("write");
    let state = reopen(&mut file).expect("reopen");
    assert_eq!(state.last, Some(Time(4_620_100_000)));

    let mut writer = JournalWriter::resume(&mut file, state);
    assert!(matches!(
        writer.write(&platform(0)),
        Err(WriteError::TimeOrder { .. })
    ));
    assert!(matches!(
        writer.write(&finish(4_700_000_000)),
        Err(WriteError::NoPlatform)
    ));
    writer
        .write(&platform(4_700_000_000))
        .expect("platform again");

    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).expect("seek");
    file.read_to_string(&mut text).expect("read");
    assert_eq!(events(&text).len(), events(example()).len() + 1);
    assert!(text.starts_with(example()));
}

#[test]
fn journal_state_is_restored_at_every_line() {
    let (running, moved) = ([0, 0, 0, 1], [0, 0, 1, 1]);
    let on = |nodes: [u32; 4]| Some(JournalJobState::Running(nodes.map(NodeIndex).to_vec()));
    let expected = [
        None,
        Some(JournalJobState::Waiting),
        on(running),
        on(running),
        Some(JournalJobState::Paused),
        on([1; 4]),
        on([1; 4]),
        on(moved),
        None,
    ];
    for (lines, expected) in (1..).zip(expected) {
        let mut file = temporary_file();
        let begin: Vec<&str> = example().split_inclusive('\n').take(lines).collect();
        file.write_all(begin.concat().as_bytes()).expect("write");
        let state = reopen(&mut file).expect("reopen");
        assert_eq!(state.jobs.get("17"), expected.as_ref(), "{lines} lines");
        let names: Vec<&str> = state.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["n0", "n1"]);
    }
}

#[test]
fn reopen_accepts_an_empty_file_and_refuses_a_foreign_one() {
    let mut file = temporary_file();
    assert_eq!(
        reopen(&mut file).expect("reopen"),
        JournalSnapshot::default()
    );
    file.write_all(b"precious\nthings").expect("write");
    let error = reopen(&mut file).expect_err("no journal");
    assert!(
        error.to_string().starts_with("the last line is no event: "),
        "{error}"
    );
    assert_eq!(file.metadata().expect("metadata").len(), 15);
}

/// A private file.
fn temporary_file() -> File {
    let id = std::process::id();
    let thread = format!("{:?}", std::thread::current().id());
    let path = std::env::temp_dir().join(format!("dfrs-journal-{id}-{thread}"));
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)
        .expect("create");
    std::fs::remove_file(&path).expect("remove");
    file
}
