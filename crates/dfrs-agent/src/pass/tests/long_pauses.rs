//! A job that is parked while others come and go, with and without a longest pause.

use super::*;

/// What the long job had before the others came: it does not come back quickly any more.
const HEAD_START: i64 = 2000;
/// The longest pause in the tests, in seconds.
const LONGEST: usize = 400;
/// Such a pause ends with the next event: here the next job comes, or ends.
const LATEST: usize = LONGEST + 55;
/// How long each of the others runs.
const TURN: i64 = 50;

/// One long job on one node, and then for so long others that leave no room for it, one after
/// another: whether it runs, second by second.
fn run_against_other_jobs(longest_pause: &str, seconds: i64) -> Vec<bool> {
    let text = format!(
        "Mode=full\nSwapPerNode=10000\nMovesPerHour=unlimited\nLongestPause={longest_pause}\nPartition=dfrs\n"
    );
    let config = Config::parse(&text, "dfrs.conf").expect("a good configuration");
    let mut cluster = TestCluster::with_config(1, config);
    cluster.submit(large(1));
    cluster.run_with(HEAD_START, 1);
    let mut runs = Vec::new();
    for id in 2..2 + u32::try_from(seconds / TURN).expect("few") {
        cluster.submit(large(id));
        for _ in 0..TURN {
            cluster.run_with(1, 4);
            runs.push(cluster.state(1) == ObservedState::Running);
        }
        if cluster.state(id) == ObservedState::Running {
            cluster.slurm.0.borrow_mut().end(id);
        }
    }
    runs
}

/// How long each run of `what` was.
fn runs_of(what: bool, all: &[bool]) -> Vec<usize> {
    let parts = all.chunk_by(|one, next| one == next);
    parts
        .filter(|part| part[0] == what)
        .map(<[bool]>::len)
        .collect()
}

#[test]
fn job_stays_parked_under_load_when_longest_pause_is_unlimited() {
    let runs = run_against_other_jobs("unlimited", 900);
    let paused = runs_of(false, &runs);
    assert!(paused.iter().sum::<usize>() > 890, "{paused:?}");
}

#[test]
fn job_resumes_within_longest_pause_and_runs_for_an_eighth() {
    let runs = run_against_other_jobs(&LONGEST.to_string(), 1800);
    let paused = runs_of(false, &runs);
    assert!(paused.len() >= 3, "{paused:?}");
    assert!(
        paused.iter().all(|seconds| *seconds <= LATEST),
        "{paused:?}"
    );
    let back = runs_of(true, &runs);
    let whole = &back[1..back.len() - 1];
    assert!(
        whole.iter().all(|seconds| *seconds >= LONGEST / 8),
        "{back:?}"
    );
}
