//! Files of tasks: JSON lines, one task a line.
//!
//! `{"id":"7","weight":3,"release":0,"times":[10,6,4.5]}`: `times[k-1]` is the time on k
//! processors, `null` where it is not possible; more processors than there are times are not
//! possible either. Without `weight` it is 1, without `release` 0.

use dfrs_moldable::{Task, TaskError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::instance::{InstanceError, MoldableInstance};

/// A line as it is written.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct TaskLine<'a> {
    #[serde(borrow)]
    id: std::borrow::Cow<'a, str>,
    #[serde(default = "one")]
    weight: f64,
    #[serde(default)]
    release: f64,
    times: Vec<Option<f64>>,
}

const fn one() -> f64 {
    1.0
}

/// What is wrong with a line.
#[derive(Debug, Error)]
pub enum LineError {
    /// The line is not JSON, or has not the fields of a task.
    #[error(
        "{0}; write a task as {{\"id\":\"7\",\"weight\":3,\"release\":0,\"times\":[10,6,4.5]}}"
    )]
    Json(String),
    /// A value is out of range.
    #[error("task {0:?}: {1}")]
    Task(String, TaskError),
    /// The task does not fit to the others, or to the machine.
    #[error("{0}")]
    Instance(#[from] InstanceError),
}

/// Adds the task of a line. A line of white space is none.
///
/// # Errors
///
/// A [`LineError`]; nothing is added then.
pub fn add_line(instance: &mut MoldableInstance, line: &str) -> Result<(), LineError> {
    if line.trim_ascii().is_empty() {
        return Ok(());
    }
    let line: TaskLine =
        serde_json::from_str(line).map_err(|error| LineError::Json(json_error(&error)))?;
    let times = line.times.iter().map(|time| time.unwrap_or(f64::INFINITY));
    let task = Task::new(
        line.id.as_ref(),
        line.weight,
        line.release,
        times.collect(),
        instance.processors(),
    );
    let short = || line.id.chars().take(40).collect();
    instance.add(task.map_err(|error| LineError::Task(short(), error))?)?;
    Ok(())
}

/// The task as a line without its end.
///
/// # Errors
///
/// None that a [`Task`] can cause.
pub fn line(task: &Task) -> Result<String, serde_json::Error> {
    let times = task.times().iter();
    serde_json::to_string(&TaskLine {
        id: task.id().into(),
        weight: task.weight(),
        release: task.release(),
        times: times
            .map(|time| time.is_finite().then_some(*time))
            .collect(),
    })
}

/// What serde says, without control characters, not too long, and with the column before it: every
/// line is its first.
fn json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let (what, _) = text.rsplit_once(" at line ").unwrap_or((&text, ""));
    let clean = |character: char| match character.is_control() {
        true => '\u{FFFD}',
        false => character,
    };
    let what: String = what.chars().take(200).map(clean).collect();
    format!("column {}: {what}", error.column())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn added(line: &str) -> Result<Task, String> {
        let mut instance = MoldableInstance::new(3).expect("a machine");
        add_line(&mut instance, line).map_err(|error| error.to_string())?;
        instance.tasks().first().cloned().ok_or("none".into())
    }

    #[test]
    fn a_line_is_a_task() {
        let task = added(r#"{"id":"7","weight":3,"release":2,"times":[10,null,4.5,1]}"#);
        let task = task.expect("a task");
        assert_eq!((task.id(), task.weight(), task.release()), ("7", 3.0, 2.0));
        assert_eq!(task.times(), [10.0, f64::INFINITY, 4.5]);
        let short = added(r#" {"times":[1],"id":"a\u00e9"} "#).expect("a task");
        assert_eq!(
            (short.id(), short.weight(), short.release()),
            ("aé", 1.0, 0.0)
        );
        assert_eq!(added("  ").unwrap_err(), "none");
    }

    #[test]
    fn errors_are_one_line_with_a_remedy() {
        for (line, words) in [
            ("{", "EOF"),
            ("[]", "write a task as"),
            (r#"{"id":7,"times":[1]}"#, "expected a"),
            (r#"{"id":"a"}"#, "missing field `times`"),
            (
                r#"{"id":"a","times":[1],"wieght":2}"#,
                "unknown field `wieght`",
            ),
            (r#"{"id":"a","times":[1],"id":"b"}"#, "duplicate field `id`"),
            (r#"{"id":"a","times":["1"]}"#, "expected f64"),
            (r#"{"id":"a","times":[1e999]}"#, "number out of range"),
            (
                r#"{"id":"a","times":[-1]}"#,
                "task \"a\": the time -1 on 1 processors",
            ),
            (
                r#"{"id":"a","times":[null,null,null,5]}"#,
                "3 or fewer processors",
            ),
            (r#"{"id":"a","times":[]}"#, "3 or fewer processors"),
            (
                r#"{"id":"a","weight":-3,"times":[1]}"#,
                "give a number from 0",
            ),
        ] {
            let error = added(line).expect_err("no task");
            assert!(error.contains(words), "{error}");
            assert!(!error.contains('\n') && error.contains("; "), "{error}");
        }
    }

    proptest! {
        #[test]
        fn written_tasks_are_read_back(
            weight in 0.0..10.0, release in 0.0..10.0,
            times in prop::collection::vec(prop_oneof![Just(f64::INFINITY), 0.1..50.0f64], 0..3),
        ) {
            let times = [times, vec![1.0 / 3.0]].concat();
            let task = Task::new("\"", weight, release, times, 3).expect("a task");
            prop_assert_eq!(added(&line(&task).expect("JSON")), Ok(task));
        }
    }
}
