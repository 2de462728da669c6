//! `dfrs top --once` as its user sees it, and what it refuses.

mod common;

use std::process::Command;

use common::{Scratch, dfrs};

const JOURNAL: &str = r#"{"t":5,"event":"platform","version":1,"policy":"P","nodes":[{"name":"n1","cpu":4,"mem":8}]}
{"t":10,"event":"submit","job":"17","tasks":1,"cpu":4,"mem":1}
{"t":10,"event":"start","job":"17","nodes":[0],"reason":"its memory fits now"}
{"t":10,"event":"yield","job":"17","value":1}
{"t":99,"event":"pause","job":"17","reason":"makes room"}
"#;

fn with_journal(test: &str, text: &str) -> (Scratch, String) {
    let scratch = Scratch::new(test);
    let path = scratch.path("journal");
    std::fs::write(&path, text).expect("temporary file");
    (scratch, path)
}

#[test]
fn a_frame_is_printed_at_any_time_of_a_replay() {
    let (_scratch, path) = with_journal("once", JOURNAL);
    let frame = |more: &[&str]| {
        let (code, output, errors) = dfrs(&[&["top", "--replay", &path, "--once"], more].concat());
        assert_eq!((code, errors.as_str()), (0, ""));
        output
    };
    let end = frame(&[]);
    assert_eq!(end.lines().count(), 24);
    assert!(end.contains("17   paused "), "{end}");
    assert!(end.contains("17: pause, makes room"), "{end}");
    let before = frame(&["--at", "50", "--width", "100", "--height", "20"]);
    assert_eq!(before.lines().count(), 20);
    assert!(before.contains("1 running  0 paused"), "{before}");
    assert!(before.contains("00:00:55"), "{before}");
    assert!(before.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn incomplete_last_line_of_a_live_journal_is_ignored() {
    let (_scratch, path) = with_journal("live", &(JOURNAL.to_owned() + "{\"t\":100,\"eve"));
    let (code, output, errors) = dfrs(&["top", &path, "--once"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(output.contains("live"), "{output}");
    assert!(output.contains("17   paused "), "{output}");
}

#[test]
fn the_journal_and_the_status_are_found_by_slurm_conf() {
    let (scratch, path) = with_journal("found", JOURNAL);
    let slurm_conf = scratch.path("slurm.conf");
    std::fs::write(&slurm_conf, "ClusterName=c\n").expect("temporary file");
    let top = || {
        let output = Command::new(env!("CARGO_BIN_EXE_dfrs"))
            .args(["top", "--once"])
            .env("SLURM_CONF", &slurm_conf)
            .output()
            .expect("dfrs runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let (code, _, errors) = top();
    assert_eq!(code, Some(2));
    assert!(
        errors.contains("dfrs.conf: ") && errors.contains("SLURM_CONF"),
        "{errors}"
    );
    let conf = |more: &str| {
        let text = format!("Mode=full\nPartition=shared\n{more}");
        std::fs::write(scratch.path("dfrs.conf"), text).expect("temporary file");
    };
    conf("");
    let (code, _, errors) = top();
    assert_eq!((code, errors.lines().count()), (Some(2), 1));
    assert!(errors.contains("add Journal=/PATH"), "{errors}");
    let directory = std::path::Path::new(&path).parent().expect("has one");
    let more = format!("Journal={path}\nStatusDirectory={}\n", directory.display());
    conf(&more);
    let status = include_str!("../src/status/example.json");
    std::fs::write(scratch.path("dfrs_status.json"), status).expect("temporary file");
    let (code, output, errors) = top();
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(output.contains("Mode full"), "{output}");
    assert!(output.contains("was written "), "{output}");
}

#[test]
fn bad_input_is_one_line() {
    let (scratch, path) = with_journal("refused", JOURNAL);
    let bad = scratch.path("bad");
    std::fs::write(&bad, JOURNAL.to_owned() + "no event\n").expect("temporary file");
    let empty = scratch.path("empty");
    std::fs::write(&empty, "").expect("temporary file");
    let none = scratch.path("none");
    for (arguments, part) in [
        (vec![path.as_str()], "needs a terminal"),
        (vec!["--replay", &path], "needs a terminal"),
        (vec!["--replay", &none, "--once"], "No such file"),
        (vec![none.as_str(), "--once"], "No such file"),
        (vec![empty.as_str(), "--once"], "has no event yet"),
        (vec!["--replay", &empty, "--once"], "is empty"),
        (
            vec!["--replay", &bad, "--once"],
            "line 6: is no JSON object",
        ),
        (vec!["--replay", &path, "--speed", "0"], "allowed: a number"),
        (
            vec!["--replay", &path, "--once", "--width", "0"],
            "1..=1000",
        ),
        (vec![path.as_str(), "--once", "--at", "5"], "--replay"),
        (vec![path.as_str(), "--speed", "5"], "--replay"),
        (
            vec![path.as_str(), "--replay", &path],
            "cannot be used with",
        ),
    ] {
        let (code, output, errors) = dfrs(&[vec!["top"], arguments.clone()].concat());
        assert_eq!((code, output.as_str()), (2, ""), "{arguments:?}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{arguments:?}: {errors}");
        assert!(errors.contains(part), "{arguments:?}: {errors}");
    }
}

#[test]
fn totals_match_the_simulation() {
    let scratch = Scratch::new("sums");
    let (trace, journal) = (scratch.path("trace.csv"), scratch.path("journal"));
    let generate = ["generate", "--jobs", "150", "--nodes", "8", "--load", "0.9"];
    let (code, text, _) = dfrs(&generate);
    assert_eq!(code, 0);
    std::fs::write(&trace, text).expect("temporary file");
    let policy = "GreedyPM*/per/OPT=MIN/MINVT=600";
    let sim = ["sim", &trace, "--nodes", "8", "--policy", policy];
    let (code, text, errors) =
        dfrs(&[&sim[..], &["--format", "json", "--journal", &journal]].concat());
    assert_eq!((code, errors.as_str()), (0, ""));
    let results: serde_json::Value = serde_json::from_str(&text).expect("an array");
    let number = |name: &str| results[0][name].as_f64().expect("a number");
    let (code, frame, _) = dfrs(&["top", "--replay", &journal, "--once"]);
    assert_eq!(code, 0);
    let (pauses, migrations) = (number("pauses"), number("migrations"));
    assert!(pauses > 0.0, "{text}");
    for part in [
        format!("  150 ended  {pauses} pauses  {migrations} migrations"),
        format!("{:.2} of the completed", number("mean_stretch")),
    ] {
        assert!(frame.contains(&part), "{part:?} is not in\n{frame}");
    }
}
