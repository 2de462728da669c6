//! What documents say of the keys is what the keys declare: `DFRS_REWRITE=1` makes them say it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::key::{Key, KeyPurpose, KeySample, Preset};
use super::keys::{GLOBAL_KEYS, PARTITION, PARTITION_KEYS};

const MANUAL: &str = "docs/configuration.md";
const SAMPLE: &str = "slurm-conf/dfrs.conf";
/// The widest line of the sample.
const WIDTH: usize = 100;
const END: &str = "<!-- end of the keys -->";
const HEADER: &str = "| key | values | default | meaning |\n| --- | --- | --- | --- |\n";

/// What a table's keys are for.
const PURPOSES: [&str; 2] = ["operation", "study"];

fn purpose<Of>(key: &Key<Of>) -> &'static str {
    match key.purpose {
        KeyPurpose::Operation => "operation",
        KeyPurpose::Study(_) => "study",
    }
}

fn begin(purpose: &str) -> String {
    format!("<!-- keys for {purpose}: a test of dfrs-proto rewrites them with DFRS_REWRITE=1 -->")
}

fn table(of: &str) -> String {
    let mut table = String::from(HEADER);
    for key in GLOBAL_KEYS.iter().filter(|key| purpose(key) == of) {
        table.push_str(&row(key, ""));
    }
    for key in PARTITION_KEYS.iter().filter(|key| purpose(key) == of) {
        let place = match key.name {
            name if name == PARTITION.name => "",
            _ => " (on a `Partition` line)",
        };
        table.push_str(&row(key, place));
    }
    table
}

fn row<Of>(key: &Key<Of>, place: &str) -> String {
    let preset = match key.preset {
        Preset::Text(text) if text.starts_with(|first: char| first.is_ascii_digit()) => text.into(),
        Preset::Text(text) => format!("`{text}`"),
        Preset::Follows { words, .. } | Preset::Left(words) => words.into(),
    };
    let cells = [
        &format!("`{}`{place}", key.name),
        key.values,
        &preset,
        key.meaning,
    ];
    let cells = cells.map(|cell| {
        if cell.is_empty() {
            " ".into()
        } else {
            format!(" {cell} ")
        }
    });
    format!("|{}|\n", cells.join("|"))
}

/// The sample as it should be: its first paragraph, and what keys have in it.
fn sample(present: &str) -> String {
    let (head, _) = present.split_once("\n\n").expect("a first paragraph");
    let global = GLOBAL_KEYS.iter().filter_map(|key| key.sample.as_ref());
    let of_partition = PARTITION_KEYS.iter().filter_map(|key| key.sample.as_ref());
    let mut text = format!("{head}\n");
    for KeySample { comment, line } in global.chain(of_partition) {
        let _ = write!(text, "\n{}{line}\n", wrapped(comment)); // a String takes all
    }
    text
}

fn wrapped(comment: &str) -> String {
    let mut lines = vec![String::from("#")];
    for word in comment.split(' ') {
        let line = lines.last_mut().expect("it begins with one");
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(format!("# {word}"));
        } else {
            *line += &format!(" {word}");
        }
    }
    lines.join("\n") + "\n"
}

/// Compares a document with what it should be, or makes it so.
fn check(document: &str, expected: impl FnOnce(&str) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(document);
    let present = fs::read_to_string(&path).expect("the document is there");
    let expected = expected(&present);
    if std::env::var_os("DFRS_REWRITE").is_some_and(|value| value == "1") {
        fs::write(&path, expected).expect("the document is written");
        return;
    }
    assert!(
        present == expected,
        "{document} is not what the keys declare (DFRS_REWRITE=1 rewrites it):\n{expected}"
    );
}

#[test]
fn manual_has_the_table_of_keys() {
    check(MANUAL, |present| {
        let mut text = present.to_owned();
        for purpose in PURPOSES {
            let begin = begin(purpose);
            let (before, rest) = text.split_once(&begin).expect("has the table");
            let (_, after) = rest.split_once(END).expect("has the table's end");
            text = format!("{before}{begin}\n\n{}\n{END}{after}", table(purpose));
        }
        text
    });
}

#[test]
fn sample_file_has_the_keys_of_operators() {
    check(SAMPLE, sample);
    let sample = sample("\n\n");
    let missing = [
        not_in(&sample, GLOBAL_KEYS),
        not_in(&sample, PARTITION_KEYS),
    ];
    assert!(missing.concat().is_empty(), "no sample has {missing:?}");
}

/// The keys of operators that the sample does not show.
fn not_in<Of>(sample: &str, keys: &[&Key<Of>]) -> Vec<&'static str> {
    let is_missing = |name: &&str| {
        let mut before = ["\n", "\n#", " "].iter();
        !before.any(|before| sample.contains(&format!("{before}{name}=")))
    };
    let operators = keys.iter().filter(|key| purpose(key) == "operation");
    let names = operators.map(|key| key.name);
    names.filter(is_missing).collect()
}
