//! Frames, as they were looked at and found right. To look at new ones: `UPDATE_FRAMES=1 cargo test`.

use std::fmt::Write;
use std::path::Path;

use dfrs_journal::JournalReader;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use ratatui::style::Color;

use super::*;
use crate::top::screen::Pane;

const JOURNAL: &str = include_str!("tests/journal.jsonl");
const FRAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/top/draw/tests");

fn model(text: &str) -> TopModel {
    let mut model = TopModel::default();
    for event in JournalReader::new(text.as_bytes()) {
        model.follow(&event.expect("an event").1);
    }
    model
}

fn banner() -> Banner {
    Banner {
        source: "replay of journal.jsonl".to_owned(),
        state: "x60".to_owned(),
        status: None,
        trouble: None,
        now: Time::from_seconds(655),
    }
}

fn drawn(size: (u16, u16), screen: &mut Screen, banner: &Banner, colours: bool) -> Buffer {
    drawn_of(JOURNAL, size, screen, (banner, colours))
}

fn drawn_of(
    journal: &str,
    size: (u16, u16),
    screen: &mut Screen,
    (banner, colours): (&Banner, bool),
) -> Buffer {
    let model = model(journal);
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).expect("never fails");
    let frame = terminal.draw(|frame| draw(frame.buffer_mut(), &model, screen, banner, colours));
    frame.expect("never fails").buffer.clone()
}

fn assert_matches_recording(name: &str, buffer: &Buffer) {
    let text = crate::top::text(buffer);
    let path = Path::new(FRAMES).join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_FRAMES").is_some() {
        std::fs::write(&path, &text).expect("the frame is written");
    }
    let expected = std::fs::read_to_string(&path).expect("there is a frame");
    assert!(
        text == expected,
        "{name} is now\n{text}\nand was\n{expected}"
    );
}

#[test]
fn frames_match_the_recorded_ones() {
    for (width, height) in [(80, 24), (40, 15), (160, 50)] {
        let mut screen = Screen::new(true);
        let buffer = drawn((width, height), &mut screen, &banner(), true);
        assert_matches_recording(&format!("{width}x{height}"), &buffer);
    }
}

#[test]
fn devices_are_shown_where_there_are_some() {
    let journal = include_str!("tests/devices.jsonl");
    let mut screen = Screen::new(true);
    let buffer = drawn_of(journal, (80, 24), &mut screen, (&banner(), true));
    assert_matches_recording("devices", &buffer);
}

#[test]
fn devices_of_all_nodes_are_in_the_order_of_names() {
    let journal = r#"{"t":0,"event":"platform","version":1,"policy":"P","nodes":[{"name":"n","cpu":1,"mem":1,"devices":{"nic":1,"gpu":2}}]}
"#;
    let mut screen = Screen::new(true);
    let buffer = drawn_of(journal, (80, 24), &mut screen, (&banner(), true));
    let text = crate::top::text(&buffer);
    let counts = text.lines().nth(2).expect("a line of counts");
    assert!(
        counts.contains("waiting  gpu 0/2  nic 0/1  0 ended"),
        "{counts}"
    );
}

#[test]
fn live_frame_shows_plugin_status_and_trouble() {
    let banner = Banner {
        source: "journal".to_owned(),
        state: "live".to_owned(),
        status: Some("Mode full  3 of 4 nodes up".to_owned()),
        trouble: Some("breaker open, DFRS disabled: by hand".to_owned()),
        now: Time::from_seconds(655),
    };
    let mut screen = Screen::new(false);
    assert_matches_recording("live", &drawn((80, 24), &mut screen, &banner, true));
}

#[test]
fn help_page_fits() {
    for (width, height, name) in [(80, 24, "help"), (40, 18, "help-narrow")] {
        let mut screen = Screen::new(true);
        screen.help = true;
        let buffer = drawn((width, height), &mut screen, &banner(), true);
        assert_matches_recording(name, &buffer);
    }
}

#[test]
fn any_size_is_drawn() {
    let model = model(JOURNAL);
    for (width, height) in (0..50).flat_map(|width| (0..30).map(move |height| (width, height))) {
        for help in [false, true] {
            let mut screen = Screen::new(true);
            screen.help = help;
            screen.filter = "1".to_owned();
            let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
            draw(&mut buffer, &model, &mut screen, &banner(), true);
        }
    }
}

#[test]
fn missing_and_absurd_nodes_are_drawn() {
    let absurd = r#"{"t":0,"event":"platform","version":1,"policy":"","nodes":[{"name":"ñandú-日本語-日本語-日本語","cpu":-1,"mem":0},{"name":"b","cpu":1e-300,"mem":1e-300}]}
{"t":0,"event":"submit","job":"日本語日本語日本語","tasks":4000000000,"cpu":1e308,"mem":1e308}
{"t":0,"event":"start","job":"日本語日本語日本語","nodes":[0,1,9]}
{"t":0,"event":"yield","job":"日本語日本語日本語","value":7}
"#;
    for text in ["", absurd] {
        let model = model(text);
        for width in 1..120 {
            let mut buffer = Buffer::empty(Rect::new(0, 0, width, 24));
            draw(&mut buffer, &model, &mut Screen::new(true), &banner(), true);
        }
    }
}

#[test]
fn no_colour_is_used_when_disabled() {
    let mut screen = Screen::new(true);
    let is_coloured = |buffer: &Buffer| {
        let mut cells = buffer.content().iter();
        cells.any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
    };
    assert!(!is_coloured(&drawn(
        (80, 24),
        &mut screen,
        &banner(),
        false
    )));
    assert!(is_coloured(&drawn((80, 24), &mut screen, &banner(), true)));
}

#[test]
fn only_visible_nodes_and_jobs_are_drawn() {
    let nodes = (0..2000).map(|node| format!("{{\"name\":\"n{node}\",\"cpu\":1,\"mem\":1}}"));
    let nodes: Vec<String> = nodes.collect();
    let mut text = format!(
        "{{\"t\":0,\"event\":\"platform\",\"version\":1,\"policy\":\"P\",\"nodes\":[{}]}}\n",
        nodes.join(",")
    );
    for job in 0..26_000 {
        let _ = writeln!(
            text,
            "{{\"t\":{job},\"event\":\"submit\",\"job\":\"{job}\",\"tasks\":1,\"cpu\":1,\"mem\":1}}"
        );
    }
    let model = model(&text);
    let mut screen = Screen::new(true);
    let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
    for code in [KeyCode::End, KeyCode::Tab, KeyCode::End] {
        draw(&mut buffer, &model, &mut screen, &banner(), true);
        screen.key(KeyEvent::from(code), &model, Time::ZERO);
    }
    draw(&mut buffer, &model, &mut screen, &banner(), true);
    let text = crate::top::text(&buffer);
    assert_eq!(screen.pane, Pane::Nodes);
    assert!(text.contains(" n1999 ["), "{text}");
    assert!(text.contains("\n25999 waiting"), "{text}");
    assert!(text.contains("of 2000"), "{text}");
}
