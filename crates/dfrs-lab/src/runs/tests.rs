use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::Runs;

/// A file that is removed when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let name = format!("dfrs-runs-{test}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path); // of an earlier process with this number
        Self(path)
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.0).expect("a file")
    }

    fn write(&self, text: impl AsRef<[u8]>) {
        std::fs::write(&self.0, text).expect("a file");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// What came of these runs, how many were executed, and the notes. The result of a run is its third;
/// 13 has none.
fn execute(runs: &[u32], file: Option<&Scratch>) -> (Result<Vec<f64>, String>, usize, String) {
    let mut all = match Runs::new(file.map(|file| file.0.as_path())) {
        Ok(runs) => runs,
        Err(error) => return (Err(error), 0, String::new()),
    };
    let executed = AtomicUsize::new(0);
    let results = all.execute("thirds", runs, |run| {
        executed.fetch_add(1, Ordering::Relaxed);
        match run {
            13 => Err("no third of 13".to_owned()),
            _ => Ok(f64::from(*run) / 3.0),
        }
    });
    (results, executed.into_inner(), all.notes())
}

fn thirds(runs: &[u32]) -> Vec<f64> {
    runs.iter().map(|run| f64::from(*run) / 3.0).collect()
}

const RUNS: [u32; 5] = [5, 1, 4, 2, 8];

#[test]
fn results_keep_the_order_of_runs() {
    let many: Vec<u32> = (100..400).rev().collect();
    assert_eq!(
        execute(&many, None),
        (Ok(thirds(&many)), 300, String::new())
    );
    assert_eq!(execute(&[], None).0, Ok(vec![]));
}

#[test]
fn stored_run_is_not_executed_again() {
    let file = Scratch::new("kept");
    let (first, executed, notes) = execute(&RUNS, Some(&file));
    assert_eq!(
        (first, executed, notes.as_str()),
        (Ok(thirds(&RUNS)), 5, "")
    );
    assert_eq!(file.text().lines().count(), 6);
    let more = [8, 7, 5];
    let (second, executed, notes) = execute(&more, Some(&file));
    assert_eq!((second, executed), (Ok(thirds(&more)), 1));
    assert!(notes.ends_with(": runs taken from it: 2\n"), "{notes}");
    assert_eq!(file.text().lines().count(), 7);
}

#[test]
fn failed_run_keeps_results_of_others() {
    let file = Scratch::new("failed");
    for executed in [4, 1] {
        let found = execute(&[1, 13, 2, 3], Some(&file));
        assert_eq!((found.0, found.1), (Err("no third of 13".into()), executed));
    }
    assert_eq!(execute(&[3, 2, 1], Some(&file)).1, 0);
}

#[test]
fn damaged_line_is_reported_and_file_unchanged() {
    let file = Scratch::new("damaged");
    assert!(execute(&RUNS, Some(&file)).0.is_ok());
    let whole = file.text();
    let third = whole.lines().nth(2).expect("a line");
    for damage in ["{}", "", "\0\0\0\0", &third[..third.len() / 2], "null"] {
        let damaged = whole.replacen(third, damage, 1);
        file.write(&damaged);
        let error = execute(&RUNS, Some(&file)).0.expect_err("damaged");
        assert!(
            error.contains(": line 3: is damaged (") && !error.contains('\n'),
            "{error}"
        );
        assert_eq!(file.text(), damaged);
    }
    let (before, after) = third.split_once("\"result\":").expect("a result");
    assert!(!after.is_empty());
    file.write(whole.replacen(third, &format!("{before}\"result\":[\"no number\"]}}"), 1));
    let error = execute(&RUNS, Some(&file)).0.expect_err("no number");
    assert!(
        error.contains("line 3: has no result of this kind"),
        "{error}"
    );
}

#[test]
fn foreign_file_is_refused_and_unchanged() {
    let file = Scratch::new("other");
    for text in [
        "{\"a\":1}",
        "{\"format\":\"dfrs results\",\"version\":2}\n",
        "1 2 3\n",
        "\n",
    ] {
        file.write(text);
        let error = execute(&RUNS, Some(&file)).0.expect_err("another file");
        assert!(error.contains("is no file of results of dfrs"), "{error}");
        assert_eq!(file.text(), text);
    }
    let of = |path: &str| Runs::new(Some(path.as_ref())).err().expect(path);
    assert!(of("/nowhere/file").contains("/nowhere/file: cannot be opened"));
    assert!(of("/").contains("is no regular file"));
    assert!(of("/dev/null").contains("is no regular file"));
}

#[test]
fn results_file_is_locked_by_one_process() {
    let file = Scratch::new("locked");
    let first = Runs::new(Some(&file.0)).expect("a file");
    let error = Runs::new(Some(&file.0)).err().expect("in use");
    assert!(error.contains("another dfrs is writing to it"), "{error}");
    drop(first);
    assert!(Runs::new(Some(&file.0)).is_ok());
}

#[test]
fn results_of_another_build_are_not_reused() {
    let file = Scratch::new("foreign");
    assert!(execute(&RUNS, Some(&file)).0.is_ok());
    let version = format!("\"program\":\"{}", env!("CARGO_PKG_VERSION"));
    file.write(file.text().replace(&version, "\"program\":\"0.0.1"));
    let (results, executed, notes) = execute(&RUNS, Some(&file));
    assert_eq!((results, executed), (Ok(thirds(&RUNS)), 5));
    assert!(
        notes.ends_with(": results of another build of dfrs, not used: 5\n"),
        "{notes}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Wherever a process was killed.
    #[test]
    fn an_interrupted_call_goes_on(cut in 0.0f64..=1.0) {
        let file = Scratch::new("cut");
        prop_assert!(execute(&RUNS, Some(&file)).0.is_ok());
        let whole = file.text();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let cut = (whole.len() as f64 * cut) as usize;
        file.write(&whole[..cut]);
        let left = whole[..cut].matches('\n').count().saturating_sub(1);
        let (results, executed, notes) = execute(&RUNS, Some(&file));
        prop_assert_eq!((results, executed), (Ok(thirds(&RUNS)), RUNS.len() - left));
        let is_whole = cut == 0 || whole[..cut].ends_with('\n');
        prop_assert_eq!(notes.contains("its last line was cut short"), !is_whole, "{}", notes);
        prop_assert_eq!(execute(&RUNS, Some(&file)).1, 0);
        let (mut now, mut before): (Vec<String>, Vec<String>) =
            (file.text().lines().map(String::from).collect(), whole.lines().map(String::from).collect());
        now.sort();
        before.sort();
        prop_assert_eq!(now, before);
    }
}
