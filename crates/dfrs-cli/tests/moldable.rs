//! `dfrs moldable` as its user sees it: output, files, errors, exit code.

mod common;

use serde_json::Value;

use common::Scratch;

/// Code, standard output and standard error.
fn moldable(scratch: &Scratch, arguments: &[&str]) -> (i32, String, String) {
    scratch.dfrs(&[&["moldable"], arguments].concat())
}

fn good(scratch: &Scratch, arguments: &[&str]) -> String {
    let (code, output, errors) = moldable(scratch, arguments);
    assert_eq!((code, errors.as_str()), (0, ""));
    output
}

const TASKS: &[u8] = b"{\"id\":\"a\",\"weight\":2,\"times\":[4,2]}\n\n{\"id\":\"b\",\"release\":3,\"times\":[null,1]}";

#[test]
fn json_has_one_object_per_algorithm() {
    let scratch = Scratch::new("object");
    scratch.file("tasks", TASKS);
    let names = [
        "DEMT",
        "DEMT+",
        "Gang",
        "Sequential",
        "ListGraham",
        "ListGraham/LPTF",
        "ListGraham/SAF",
    ];
    let mut arguments = vec![
        "schedule",
        "tasks",
        "--processors",
        "2",
        "--online",
        "--format",
        "json",
        "--algorithm",
    ];
    arguments.extend(names);
    let found: Value = serde_json::from_str(&good(&scratch, &arguments)).expect("JSON");
    let all = found.as_array().expect("an array");
    assert_eq!(all.len(), names.len());
    for (answer, name) in all.iter().zip(names) {
        assert_eq!(answer["algorithm"], name);
        let tasks = answer["tasks"].as_array().expect("tasks");
        assert_eq!(
            (&tasks[0]["id"], &tasks[1]["id"]),
            (&Value::from("a"), &Value::from("b"))
        );
        assert!(tasks[1]["start"].as_f64().is_some_and(|start| start >= 3.0));
        assert_eq!(tasks[1]["processors"], serde_json::json!([0, 1]));
        let number = |field: &str| answer[field].as_f64().expect(field);
        assert!(number("makespan") >= number("bound_makespan") && number("seconds") >= 0.0);
        assert!(number("weighted_completion") >= number("bound_weighted_completion"));
        assert_eq!(number("bound_makespan"), 4.0);
    }
}

#[test]
fn generated_tasks_can_be_scheduled_and_drawn() {
    let scratch = Scratch::new("drawn");
    for model in ["uniform-weak", "uniform-high", "mixed", "cirne"] {
        let options = [
            "generate",
            "--model",
            model,
            "--tasks",
            "20",
            "--processors",
            "8",
            "--seed",
            "5",
        ];
        let text = good(&scratch, &options);
        assert_eq!(text, good(&scratch, &options));
        scratch.file("tasks.jsonl", text.as_bytes());
        let table = good(
            &scratch,
            &[
                "schedule",
                "tasks.jsonl",
                "--processors",
                "8",
                "--algorithm",
                "DEMT",
                "--algorithm",
                "ListGraham/SAF",
                "--shuffles",
                "10",
                "--gantt",
                "out.svg",
            ],
        );
        assert!(
            table.contains("ListGraham/SAF") && table.contains("lower bound"),
            "{table}"
        );
        for name in ["out-DEMT.svg", "out-ListGraham-SAF.svg"] {
            let svg = std::fs::read_to_string(scratch.path(name)).expect("a drawing");
            assert_eq!(svg.matches("<g><title>").count(), 20);
        }
    }
}

#[test]
fn no_algorithm_is_better_than_the_optimum() {
    let scratch = Scratch::new("distance");
    let options = ["distance", "--tasks", "4", "--processors", "3"];
    let table = good(&scratch, &[&options[..], &["--instances", "5"]].concat());
    let rows = table.lines().skip(2).map(|line| line.split_whitespace());
    let rows: Vec<Vec<&str>> = rows.map(Iterator::collect).collect();
    assert_eq!(rows.len(), 8, "{table}");
    for row in rows {
        let numbers = row[2..].iter();
        let numbers: Vec<f64> = numbers.map(|word| word.parse().expect("a ratio")).collect();
        assert!(
            numbers.len() == 6 && numbers.iter().all(|ratio| *ratio >= 1.0),
            "{table}"
        );
    }
}

#[test]
fn unreachable_optimum_is_reported() {
    let scratch = Scratch::new("too-far");
    let call =
        "distance --model uniform-weak --tasks 12 --processors 16 --instances 1 --partial 1000";
    let (code, output, errors) = moldable(&scratch, &call.split(' ').collect::<Vec<_>>());
    assert_eq!((code, output.as_str()), (2, ""));
    assert!(
        errors.contains("uniform-weak, seed 1") && errors.contains("take fewer"),
        "{errors}"
    );
}

#[test]
fn errors_name_file_line_and_remedy() {
    let scratch = Scratch::new("errors");
    for (content, words) in [
        (
            &b"{\"id\":\"a\",\"times\":[1]}\n{\"id\":\"a\",\"times\":[1]}\n"[..],
            "tasks:2: another task",
        ),
        (b"{\"id\":\"a\"}\n", "tasks:1: column"),
        (
            b"{\"id\":\"a\",\"times\":[null,null,5]}\n",
            "tasks:1: task \"a\": it has no time",
        ),
        (b"\xff\n", "tasks:1: is not UTF-8"),
        (b"\n", "tasks: has no tasks"),
    ] {
        scratch.file("tasks", content);
        let (code, output, errors) =
            moldable(&scratch, &["schedule", "tasks", "--processors", "2"]);
        assert_eq!((code, output.as_str()), (2, ""));
        assert!(errors.contains(words), "{errors}");
        assert_eq!(errors.matches('\n').count(), 1, "{errors}");
    }
    scratch.file("tasks", &vec![b'['; 5 << 20]);
    for (file, words) in [
        ("tasks", "tasks:1: the line is longer"),
        ("none", "none: cannot be read"),
        (".", ".: cannot be read"),
    ] {
        let (code, _, errors) = moldable(&scratch, &["schedule", file, "--processors", "2"]);
        assert!(code == 2 && errors.contains(words), "{errors}");
    }
    scratch.file("tasks", TASKS);
    let (code, _, errors) = moldable(
        &scratch,
        &["schedule", "tasks", "--processors", "2", "--algorithm", "x"],
    );
    assert!(code == 2 && errors.contains("take DEMT, DEMT+"), "{errors}");
    let (code, output, errors) = moldable(&scratch, &["schedule", "tasks", "--processors", "2"]);
    assert!(
        code == 0 && output.contains("DEMT") && errors.contains("--online"),
        "{errors}"
    );
    let (code, _, errors) = moldable(
        &scratch,
        &["schedule", "tasks", "--processors", "2", "--gantt", "tasks"],
    );
    assert!(code == 2 && errors.contains("would overwrite"), "{errors}");
}
