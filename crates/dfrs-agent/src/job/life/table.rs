//! Prints what follows from each event in each phase, for `transitions.md` beside it: a change of
//! what follows shows there as a difference.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use outcome::TransitionOutcome;
use owned_event::{OwnedEvent, answers, planned};
use samples::{SAMPLES, Sample};
use scene::{ALWAYS, FORGOTTEN, SEEN, SUSPENDED, Scene, Scenes, WHEN_PLANNED};

mod merge;
mod outcome;
mod owned_event;
pub(super) mod samples;
mod scene;

const BEGIN: &str =
    "<!-- Printed by a test of dfrs-agent, which DFRS_REWRITE=1 has rewrite it. -->\n";
const END: &str = "<!-- The end of what is printed. -->\n";
const DOCUMENT: &str = "src/job/life/transitions.md";

/// What happens, and what follows.
type TransitionRow = (String, TransitionOutcome);

/// Rows for `scenes`, as few as say which choices matter.
fn rows_of(
    scenes: &Scenes,
    before: &Scene,
    words: &str,
    happening: &OwnedEvent,
) -> Vec<TransitionRow> {
    let all = before.all(scenes).into_iter();
    let mut all: Vec<_> = all
        .map(|(ways, scene)| (ways, TransitionOutcome::of(&scene, happening)))
        .collect();
    for (position, choice) in scenes.choices.iter().enumerate().rev() {
        all = merge::without_choice(all, position, choice.len());
    }
    let row = |(ways, outcome): (Vec<Option<usize>>, TransitionOutcome)| {
        let chosen = ways.iter().zip(scenes.choices);
        let labels = chosen.filter_map(|(way, choice)| way.map(|way| choice[way].0));
        let words = [words, scenes.words].into_iter().chain(labels);
        let words: Vec<&str> = words.filter(|words| !words.is_empty()).collect();
        (words.join(", "), outcome)
    };
    all.into_iter().map(row).collect()
}

/// All that can happen to a job in this phase, as far as anything follows.
fn rows(sample: &Sample) -> Vec<TransitionRow> {
    let scene = Scene::of(sample);
    let mut rows = Vec::new();
    for (words, action) in planned() {
        rows.extend(rows_of(
            &WHEN_PLANNED,
            &scene,
            words,
            &OwnedEvent::Planned(action),
        ));
    }
    for scenes in SEEN {
        rows.extend(rows_of(scenes, &scene, "", &OwnedEvent::Seen));
    }
    for (words, asked, happening) in answers(&scene) {
        rows.push((words, TransitionOutcome::of(&asked, &happening)));
    }
    for (scenes, was_requeued) in FORGOTTEN {
        let happening = OwnedEvent::Forgotten(was_requeued);
        rows.extend(rows_of(&scenes, &scene, "", &happening));
    }
    rows.extend(rows_of(
        &SUSPENDED,
        &scene,
        "its nodes no longer say that it is parked",
        &OwnedEvent::NotParked,
    ));
    rows.extend(rows_of(
        &ALWAYS,
        &scene,
        "handed back",
        &OwnedEvent::HandedBack,
    ));
    rows.retain(|(_, outcome)| !outcome.is_nothing());
    rows
}

fn table() -> String {
    let mut text = String::from("| Phase | What happens | Becomes | And |\n|---|---|---|---|\n");
    let mut usual = Vec::new();
    for sample in SAMPLES {
        let all = rows(sample);
        for (words, outcome) in &all {
            if sample.is_variant && usual.contains(&(words.clone(), outcome.clone())) {
                continue;
            }
            let TransitionOutcome { becomes, and } = outcome;
            let and = and.join("; ");
            writeln!(text, "| {} | {words} | {becomes} | {and} |", sample.name)
                .expect("a string takes all");
        }
        if !sample.is_variant {
            usual = all;
        }
    }
    text
}

#[test]
fn document_shows_the_current_transition_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(DOCUMENT);
    let document = fs::read_to_string(&path).expect("the document is there");
    let (before, rest) = document.split_once(BEGIN).expect("has the table");
    let (shown, after) = rest.split_once(END).expect("has the table's end");
    let expected = format!("\n{}\n", table());
    if std::env::var_os("DFRS_REWRITE").is_some_and(|value| value == "1") {
        let text = [before, BEGIN, &expected, END, after].concat();
        fs::write(&path, text).expect("the document is written");
        return;
    }
    assert!(
        shown == expected,
        "transitions.md shows another table (DFRS_REWRITE=1 rewrites it):\n{expected}"
    );
}
