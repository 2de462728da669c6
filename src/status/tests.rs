//! Written whole, seldom, for all to read, and never waited for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use dfrs_proto::status::{BreakerState, FILE};

use super::*;
use crate::log::CapturedLog;

fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("dfrs-status-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory");
    directory
}

fn config() -> Config {
    Config::parse("Mode=full\nPartition=a\n", "dfrs.conf").expect("is right")
}

fn read(directory: &Path) -> Status {
    let text = fs::read_to_string(directory.join(FILE)).expect("is there");
    serde_json::from_str(&text).expect("is a status")
}

#[test]
fn report_is_in_the_file_and_the_file_is_world_readable() {
    let directory = directory("whole");
    let log = Log::discarding();
    let now = Time::from_seconds(1000);
    let mut reporter = Reporter::start(&directory, Some(&config()), None, &log, now);
    let mut facts = StatusFacts::default();
    facts.breaker.state = BreakerState::Closed;
    facts.counts.jobs.parked = 3;
    facts.silent = (0..150).map(|index| format!("n{index}")).collect();
    facts.passes.wall.add(Duration::from_millis(2));
    reporter.report(facts, 1, Time(1_001_234_567));
    reporter.finish(StatusFacts::default(), Time::from_seconds(1002));
    let last = read(&directory);
    assert!(!last.running);
    assert_eq!(
        (last.version, last.mode.as_str(), last.started),
        (VERSION, "full", 1000.0)
    );
    let mode = fs::metadata(directory.join(FILE))
        .expect("is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644);
    fs::remove_dir_all(directory).expect("cleans up");
}

#[test]
fn silent_nodes_are_all_counted_and_only_the_first_named() {
    let silent = (0..150).map(|index| format!("n{index}")).collect();
    let nodes = nodes(&Counts::default(), silent);
    assert_eq!((nodes.silent, nodes.silent_names.len()), (150, MAX_NAMES));
}

#[test]
fn report_is_due_soon_after_a_change_and_periodically_otherwise() {
    let directory = directory("due");
    let mut reporter = Reporter::start(&directory, None, None, &Log::discarding(), Time(0));
    let now = Instant::now();
    assert!(reporter.is_due(0, now), "the first");
    reporter.report(StatusFacts::default(), 7, Time(0));
    let now = reporter.written.expect("was written");
    assert!(!reporter.is_due(8, now + MIN_INTERVAL / 2));
    assert!(reporter.is_due(8, now + MIN_INTERVAL));
    assert!(!reporter.is_due(7, now + MIN_INTERVAL));
    assert!(reporter.is_due(7, now + MAX_INTERVAL));
    drop(reporter);
    fs::remove_dir_all(directory).expect("cleans up");
}

#[test]
fn missing_directory_is_logged_once() {
    let kept = CapturedLog::default();
    let mut reporter = Reporter::start(Path::new("/nonexistent"), None, None, &kept.log(), Time(0));
    for second in 0..3 {
        reporter.report(StatusFacts::default(), 0, Time::from_seconds(second));
    }
    reporter.finish(StatusFacts::default(), Time(0));
    let errors = kept.errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].starts_with("/nonexistent/dfrs_status.json not written: "),
        "{errors:?}"
    );
}

#[test]
fn symbolic_link_in_place_of_the_file_is_not_followed() {
    let directory = directory("link");
    let victim = directory.join("victim");
    fs::write(&victim, "precious").expect("writes");
    std::os::unix::fs::symlink(&victim, directory.join("dfrs_status.new")).expect("a link");
    let mut reporter = Reporter::start(&directory, None, None, &Log::discarding(), Time(0));
    reporter.report(StatusFacts::default(), 0, Time(0));
    drop(reporter);
    assert_eq!(read(&directory).mode, "off");
    assert_eq!(fs::read_to_string(victim).expect("is there"), "precious");
    fs::remove_dir_all(directory).expect("cleans up");
}
