//! The page of keys.

use super::canvas::{Canvas, TextStyle};

const KEYS: [(&str, &str); 14] = [
    ("q, F10", "quit"),
    ("arrows, PgUp, PgDn, Home, End", "move in the list"),
    ("Tab", "from the jobs to the nodes and back"),
    ("left, right", "move the reasons"),
    ("F3, /", "search a job, or a node; n, F3: the next one"),
    ("F4, \\", "show jobs with this id or on such nodes"),
    ("Esc", "show all again"),
    ("F6, >, <", "sort by the next column, or the one before"),
    ("I", "sort the other way round"),
    ("u", "filter by user: journals name none"),
    ("h, F1, ?", "this page; any key leaves it"),
    ("bars", "| CPU that is given, : needed and not given"),
    ("STRETCH", "time in the system over work done"),
    ("PROGRESS", "work done, of all where that is known"),
];

const REPLAY: [(&str, &str); 2] = [("Space", "pause, go on"), ("+, -", "twice, half the speed")];

pub fn draw(canvas: &mut Canvas, is_replay: bool) {
    let (width, _) = canvas.size();
    canvas.text(0, 0, width, "dfrs top: keys", TextStyle::Sorted);
    let more = if is_replay { &REPLAY[..] } else { &[] };
    let (keys, rest) = KEYS.split_at(11);
    let all = keys.iter().chain(more).chain(rest);
    let column = if width >= 72 { 31 } else { 10 };
    for ((key, what), y) in all.zip(1..) {
        canvas.text(0, y, column - 1, key, TextStyle::Strong);
        canvas.text(
            column,
            y,
            width.saturating_sub(column),
            what,
            TextStyle::Plain,
        );
    }
}
