//! Decisions that take too long.

use super::*;

/// A pass in which a decision takes too long.
fn pass_with_timeout(cluster: &mut TestCluster) -> PassReport {
    let now = Time::from_seconds(cluster.now);
    cluster.slurm.0.borrow_mut().updates = cluster.now;
    let report = cluster.agent.pass_while(now, &|| false);
    report.expect("the fake can be looked at")
}

#[test]
fn decision_starts_nothing_and_is_retried_when_it_times_out() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(job(1, 1));
    let report = pass_with_timeout(&mut cluster);
    assert_eq!((report.started, report.ended_decisions), (0, 1));
    let errors = cluster.slurm.0.borrow().errors.clone();
    let [line] = &errors[..] else {
        panic!("one line: {errors:?}")
    };
    assert!(line.contains("retry in 10 s"), "{line}");

    // What comes meanwhile waits for it, too, though it could be decided about.
    cluster.now += 1;
    cluster.submit(job(2, 1));
    cluster.run(8);
    assert_eq!(cluster.state(1), ObservedState::Pending);
    assert_eq!(cluster.state(2), ObservedState::Pending);

    // A second failure: the next backoff is longer.
    cluster.now += 1;
    assert_eq!(pass_with_timeout(&mut cluster).ended_decisions, 2);
    cluster.run(19);
    assert_eq!(cluster.state(1), ObservedState::Pending);
    cluster.run(3);
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(cluster.state(2), ObservedState::Running);
    assert_eq!(cluster.slurm.0.borrow().errors.len(), 2, "a line for each");
}
