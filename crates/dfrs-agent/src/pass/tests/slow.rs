//! Steps that take long, as on machines that have much else to do.

use dfrs_core::Bytes;

use super::*;

/// How often the first of two jobs that alternate on a node is parked in 400 s, with a remap every
/// 20 s, if parking takes so many seconds.
fn count_parks(parking_takes: i64) -> usize {
    let mut config = config();
    config.policy.settings.period = Span::from_seconds(20);
    config.policy.settings.budget.moves_per_job = None;
    config.settle_time = Span(0);
    let mut cluster = TestCluster::with_config(1, config);
    cluster.daemons.0.borrow_mut().parking_seconds = parking_takes;
    cluster.submit(sized(1, 900));
    cluster.run(15);
    cluster.submit(sized(2, 900));
    cluster.run(400);
    let calls = cluster.calls();
    calls.iter().filter(|call| *call == "release 1").count()
}

#[test]
fn remaps_are_rarer_when_parking_is_slower() {
    assert_eq!(count_parks(0), 10, "every second period");
    // They alternate, each for four times as long as the other took to leave.
    let slow = count_parks(10);
    assert!((4..=5).contains(&slow), "{slow} times");
}

/// A node on which parking takes for ever, since its job was to make room for a second one.
fn cannot_park(moves_per_hour: Option<u32>) -> TestCluster {
    let mut config = config();
    config.policy.settings.budget.moves_per_job = moves_per_hour;
    let mut cluster = TestCluster::with_config(1, config);
    cluster.daemons.0.borrow_mut().parking_seconds = i64::MAX;
    cluster.submit(sized(1, 900));
    cluster.run(20);
    cluster.submit(sized(2, 900));
    cluster.run(80);
    assert_eq!(cluster.calls(), ["start 1", "suspend 1", "resume 1"]);
    let line =
        "JobId=1: parking on n0 abandoned: its nodes did not move its memory to swap in time";
    let infos = cluster.slurm.0.borrow().infos.clone();
    assert!(infos.iter().any(|info| info == line), "{infos:?}");
    cluster
}

#[test]
fn parking_is_retried_with_growing_backoff_after_timeouts() {
    let mut cluster = cannot_park(None);
    let mut tried = Vec::new();
    // The first time ended at 80; then 60 s, and after the next 120 s.
    for id in 3..43 {
        cluster.submit(sized(id, 900));
        cluster.run(10);
        let calls = cluster.calls();
        tried.extend(
            calls
                .contains(&"suspend 1".into())
                .then_some(cluster.now - 2000),
        );
    }
    assert_eq!(tried, [150, 330]);
}

#[test]
fn timed_out_parking_counts_as_a_move() {
    let mut cluster = cannot_park(Some(1));
    cluster.run(700);
    cluster.submit(sized(3, 900));
    cluster.run(1);
    assert_eq!(cluster.calls(), Vec::<String>::new());
}

#[test]
fn memory_is_granted_once_when_two_jobs_wait_for_it() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(ObservedJob {
        comment: "dfrs:checkpoint".into(),
        warn_seconds: 5,
        ..sized(1, 600)
    });
    cluster.run(20);
    cluster.submit(ObservedJob {
        comment: "dfrs:never".into(),
        ..sized(4, 300)
    });
    cluster.run(1);
    // It waits for the first job's memory, and the next for what that leaves of it.
    cluster.submit(sized(2, 400));
    cluster.run(1);
    cluster.submit(sized(3, 300));
    cluster.run(1);
    assert_eq!(cluster.state(3), ObservedState::Pending);
    // Each of the two fits now, before the first job has gone, but not both.
    cluster.slurm.0.borrow_mut().end(4);
    cluster.run(1);
    assert_eq!(
        (cluster.state(2), cluster.state(3)),
        (ObservedState::Running, ObservedState::Pending)
    );
    cluster.run(5);
    assert_eq!(cluster.state(3), ObservedState::Running);
}

/// Two jobs on one node, for which a third one makes one of them leave; what nodes report of the
/// first.
fn with_unparkable_job() -> TestCluster {
    let mut config = config();
    config.settle_time = Span(0);
    let mut cluster = TestCluster::with_config(1, config);
    cluster.daemons.0.borrow_mut().parking_seconds = 1;
    cluster.submit(sized(1, 500));
    cluster.submit(sized(2, 450));
    cluster.run(20);
    cluster.calls();
    cluster.daemons.0.borrow_mut().cannot_be_parked.insert(1);
    cluster
}

#[test]
fn other_jobs_are_parked_when_a_job_cannot_leave_ram() {
    let mut cluster = with_unparkable_job();
    // Only the first one would make enough room.
    cluster.submit(sized(3, 550));
    cluster.run(10);
    assert_eq!(cluster.calls(), ["suspend 1", "resume 1"]);
    cluster.submit(sized(4, 450));
    cluster.run(20);
    let calls = cluster.calls();
    assert_eq!(calls[..3], ["suspend 2", "release 2", "start 4"]);
    assert_eq!(cluster.state(1), ObservedState::Running);
}

#[test]
fn unparkable_job_is_retried_with_growing_backoff() {
    let mut cluster = with_unparkable_job();
    let mut tried = Vec::new();
    for id in 3..53 {
        cluster.submit(sized(id, 550));
        cluster.run_with(100, 1);
        let calls = cluster.calls();
        tried.extend(calls.contains(&"suspend 1".into()).then_some(id));
    }
    assert_eq!(tried, [3, 4, 6, 43]);
}

#[test]
fn swap_that_is_in_use_is_not_counted_on() {
    let mut config = config();
    config.swap_per_node = Bytes(1600 << 20);
    let mut cluster = TestCluster::with_config(1, config);
    cluster.submit(sized(1, 900));
    cluster.run(20);
    let parks = |cluster: &mut TestCluster, eighths| {
        cluster
            .daemons
            .0
            .borrow_mut()
            .facts
            .set_swap_eighths("n0", Some(eighths));
        cluster.submit(sized(10 + u32::from(eighths), 900));
        cluster.run(20);
        cluster.calls().contains(&"suspend 1".into())
    };
    assert!(!parks(&mut cluster, 0), "nothing is left");
    assert!(!parks(&mut cluster, 4), "800 MiB of 900");
    assert!(parks(&mut cluster, 5), "1000 MiB");
}

#[test]
fn job_suspended_by_operator_keeps_its_swap() {
    let mut config = config();
    config.swap_per_node = Bytes(1000 << 20);
    let mut cluster = TestCluster::with_config(1, config);
    cluster.submit(sized(1, 900));
    cluster.run(20);
    cluster.submit(sized(2, 900));
    cluster.run(20);
    assert_eq!(cluster.state(1), ObservedState::Suspended);
    let suspend = |job: &mut ObservedJob| job.priority = 0;
    cluster.slurm.0.borrow_mut().jobs.get_mut(&1).map(suspend);
    cluster.run(20);
    cluster.calls();
    cluster.submit(sized(3, 900));
    cluster.run(60);
    assert_eq!(
        cluster.calls(),
        Vec::<String>::new(),
        "there is no swap for 2"
    );
}

#[test]
fn memory_of_a_job_no_longer_parked_is_not_given_away() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(sized(1, 900));
    cluster.run(20);
    cluster.submit(sized(2, 900));
    cluster.run(20);
    assert_eq!(
        cluster.calls(),
        ["start 1", "suspend 1", "release 1", "start 2"]
    );
    cluster.daemons.0.borrow_mut().cannot_be_parked.insert(1);
    cluster
        .daemons
        .0
        .borrow_mut()
        .facts
        .not_parked
        .insert(1, "n0".into());
    cluster.run(5);
    assert_eq!(cluster.slurm.0.borrow().errors.len(), 1);
    cluster.slurm.0.borrow_mut().end(2);
    cluster.daemons.0.borrow_mut().facts.not_parked.clear();
    cluster.submit(sized(3, 900));
    cluster.run(5);
    assert_ne!(cluster.state(3), ObservedState::Running);
}
