//! `dfrs check` as its user sees it: output, errors, exit code.

mod common;

use common::{ScratchFile, dfrs};

const JOURNAL: &str = r#"{"t":0,"event":"platform","version":1,"policy":"EASY","nodes":[{"name":"n0","cpu":1.0,"mem":1.0}]}
{"t":5,"event":"submit","job":"7","tasks":2,"cpu":0.5,"mem":0.5,"runtime":10}
{"t":5,"event":"start","job":"7","nodes":[0,0]}
{"t":5,"event":"yield","job":"7","value":1.0}
{"t":15,"event":"finish","job":"7"}
"#;

fn expected(code: i32, output: &str, errors: &str) -> (i32, String, String) {
    (code, output.to_owned(), errors.to_owned())
}

#[test]
fn valid_journal_passes() {
    let summary = "nodes 1, events 5, submitted 1, finished 1, pauses 0, migrations 0";
    let file = ScratchFile::new("right", JOURNAL);
    assert_eq!(
        file.dfrs("check", &[]),
        expected(0, &format!("FILE: journal is right: {summary}\n"), "")
    );
    let json = format!(
        "{{\"file\":\"FILE\",\"kind\":\"journal\",\"ok\":true,\"summary\":\"{summary}\",\"problems\":[]}}\n"
    );
    assert_eq!(
        file.dfrs("check", &["--format", "json"]),
        expected(0, &json, "")
    );
}

#[test]
fn journal_that_violates_limits_fails_with_lines() {
    let file = ScratchFile::new(
        "wrong",
        JOURNAL
            .replace("\"t\":15", "\"t\":13.5")
            .replace("0.5,\"runtime", "0.6,\"runtime"),
    );
    let errors = "FILE:4: t=5: node 'n0' holds 1.2 of 1 memory; requirements must fit\n\
                  FILE:5: t=13.5: job '7' completed after 8.5 s of progress, but its run time is 10 s\n";
    let (code, output, found_errors) = file.dfrs("check", &[]);
    assert_eq!((code, output.as_str()), (1, ""));
    // The line of an instant is the last of its events.
    assert_eq!(found_errors, errors);
    let (code, output, errors) = file.dfrs("check", &["--format=json"]);
    assert_eq!((code, errors.as_str()), (1, ""));
    assert!(output.contains("\"ok\":false"), "{output}");
    assert!(
        output.contains("{\"line\":5,\"t\":13.5,\"what\":\"job '7' completed"),
        "{output}"
    );
}

#[test]
fn measured_run_times_need_a_tolerance() {
    let file = ScratchFile::new("measured", JOURNAL.replace("\"t\":15", "\"t\":15.4"));
    assert_eq!(file.dfrs("check", &[]).0, 1);
    assert_eq!(file.dfrs("check", &["--progress-share", "0.05"]).0, 0);
    assert_eq!(file.dfrs("check", &["--progress-seconds", "0.5"]).0, 0);
    assert_eq!(file.dfrs("check", &["--progress-share", "0.01"]).0, 1);
    let (code, _, errors) = file.dfrs("check", &["--progress-share", "2"]);
    assert_eq!(code, 2);
    assert!(errors.contains("allowed: a number from 0 to 1"), "{errors}");
}

#[test]
fn journal_without_nodes_fails() {
    let platform = JOURNAL.lines().next().expect("a platform");
    let (start, _) = platform.split_once("{\"name\"").expect("a node");
    let file = ScratchFile::new("no-nodes", format!("{start}]}}\n"));
    let error = "FILE:1: t=0: the platform has no nodes; there must be at least one\n";
    assert_eq!(file.dfrs("check", &[]), expected(1, "", error));
}

#[test]
fn journal_with_malformed_event_is_bad_input() {
    let file = ScratchFile::new("broken", JOURNAL.replace(",\"nodes\":[0,0]", ""));
    let error = "FILE:3: is no event: missing field `nodes`; a journal has one event as a JSON object on each line\n";
    let (code, output, errors) = file.dfrs("check", &[]);
    assert_eq!((code, output.as_str()), (2, ""));
    assert_eq!(errors, error);
}

#[test]
fn valid_configuration_passes() {
    let file = ScratchFile::new(
        "dfrs.conf",
        "Mode=full\nPartition=short\nPartition=long Mobility=never\n",
    );
    assert_eq!(
        file.dfrs("check", &[]),
        expected(
            0,
            "FILE: dfrs.conf is right: mode full, partitions short,long\n",
            ""
        )
    );
}

#[test]
fn invalid_configuration_is_bad_input() {
    let file = ScratchFile::new("wrong.conf", "# ours\nPartition=short\nPerod=30\n");
    let what = "unknown key 'Perod'; did you mean 'Period'?";
    assert_eq!(
        file.dfrs("check", &[]),
        expected(2, "", &format!("FILE:3: {what}\n"))
    );
    let json = format!(
        "{{\"file\":\"FILE\",\"kind\":\"dfrs.conf\",\"ok\":false,\"problems\":[{{\"line\":3,\"what\":\"{what}\"}}]}}\n"
    );
    assert_eq!(
        file.dfrs("check", &["--format=json"]),
        expected(2, &json, "")
    );
}

#[test]
fn file_of_another_kind_is_bad_input() {
    let empty = ScratchFile::new("empty", "");
    assert_eq!(
        empty.dfrs("check", &[]),
        expected(2, "", "FILE: is empty; expected a journal or a dfrs.conf\n")
    );
    let binary = ScratchFile::new("binary", b"Mode=full\n\xff\xfe");
    assert_eq!(
        binary.dfrs("check", &[]),
        expected(
            2,
            "",
            "FILE:2: is not UTF-8 text; neither a dfrs.conf nor a journal\n"
        )
    );
}

#[test]
fn unreadable_file_is_one_line_and_code_2() {
    let (code, _, errors) = dfrs(&["check", "/nonexistent/dfrs.conf"]);
    assert_eq!(code, 2);
    assert!(
        errors.starts_with("/nonexistent/dfrs.conf: cannot be read: No such file"),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 1);
}

#[test]
fn usage_error_is_code_2_and_help_is_code_0() {
    assert_eq!(dfrs(&["chekc"]).0, 2);
    assert_eq!(dfrs(&["check"]).0, 2);
    let (code, output, _) = dfrs(&["--help"]);
    assert_eq!(code, 0);
    assert!(output.contains("check"));
}
