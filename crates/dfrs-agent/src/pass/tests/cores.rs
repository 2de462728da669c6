//! Cores that Slurm counts again: it refuses starts until they are hidden.

use super::*;

/// How often they were hidden.
fn take_hide_count(cluster: &TestCluster) -> usize {
    let calls = cluster.calls();
    calls.iter().filter(|call| *call == "hide").count()
}

fn count_cores(cluster: &TestCluster) {
    cluster.slurm.0.borrow_mut().cores_counted = true;
}

#[test]
fn counted_cores_are_hidden_before_the_next_start() {
    let mut cluster = TestCluster::new(1);
    count_cores(&cluster);
    cluster.submit(job(1, 1));
    cluster.run(1);
    let calls = cluster.calls();
    let order = ["hide", "start 1"].map(|what| calls.iter().position(|call| call == what));
    assert_eq!(order, [Some(0), Some(1)], "{calls:?}");
}

#[test]
fn cores_are_hidden_again_when_slurm_counts_them_again() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(job(1, 1));
    cluster.run(5);
    assert_eq!(take_hide_count(&cluster), 0, "nothing was counted");
    count_cores(&cluster);
    cluster.submit(job(2, 1));
    cluster.run(1);
    assert_eq!(cluster.state(2), ObservedState::Running);
    assert_eq!(take_hide_count(&cluster), 1);
}

#[test]
fn hiding_backs_off_when_cores_are_counted_repeatedly() {
    let mut cluster = TestCluster::new(1);
    for _ in 0..30 {
        count_cores(&cluster);
        cluster.run_with(1, 4);
        count_cores(&cluster);
    }
    // After 1, 2, 4, 8 and 10 s.
    let before = take_hide_count(&cluster);
    assert!((5..=6).contains(&before), "{before}");
    // Once is as soon as before, after a while without.
    cluster.run(30);
    count_cores(&cluster);
    cluster.run(1);
    count_cores(&cluster);
    cluster.run(2);
    assert_eq!(
        take_hide_count(&cluster),
        3,
        "the last one from before, and two"
    );
}
