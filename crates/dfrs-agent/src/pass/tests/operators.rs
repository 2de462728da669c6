//! Operators who suspend and resume jobs themselves.

use super::*;

/// The first job is parked for the second, and `scontrol resume 1` comes while it waits for the
/// memory of the second, which is still being parked for it.
fn job_resumed_while_returning() -> TestCluster {
    let mut config = config();
    config.policy.settings.period = Span::from_seconds(20);
    config.settle_time = Span(0);
    let mut cluster = TestCluster::with_config(1, config);
    cluster.submit(large(1));
    cluster.run(11);
    cluster.submit(large(2));
    cluster.run(28);
    cluster.daemons.0.borrow_mut().parking_seconds = 10;
    cluster.run(4);
    assert_eq!(
        cluster.calls(),
        ["start 1", "suspend 1", "release 1", "start 2", "suspend 2"]
    );
    let mut slurmctld = cluster.slurm.0.borrow_mut();
    slurmctld.jobs.get_mut(&1).expect("is there").state = ObservedState::Running;
    drop(slurmctld);
    cluster
}

#[test]
fn job_resumed_by_operator_is_stopped_until_its_memory_is_free() {
    let mut cluster = job_resumed_while_returning();
    cluster.run(1);
    assert_eq!(cluster.calls(), ["suspend 1"]);
    cluster.run(10);
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(cluster.calls(), ["release 2", "claim 1", "resume 1"]);
}

#[test]
fn job_resumed_by_operator_runs_on_when_its_memory_is_free() {
    let mut cluster = job_resumed_while_returning();
    cluster.slurm.0.borrow_mut().end(2);
    cluster.daemons.0.borrow_mut().parking_seconds = 0;
    cluster.run(1);
    assert_eq!(cluster.calls(), ["claim 1"]);
    cluster.run(11);
    cluster.submit(large(3));
    cluster.run(500);
    assert_eq!(cluster.calls(), [] as [&str; 0]);
    cluster.run(150);
    assert_eq!(cluster.calls(), ["suspend 1", "release 1", "start 3"]);
}

#[test]
fn job_resumed_on_an_exclusive_node_is_stopped_until_it_is_free() {
    let mut config = config();
    config.settle_time = Span(0);
    let mut cluster = TestCluster::with_config(1, config);
    cluster.submit(sized(1, 400));
    cluster.run(11);
    cluster.submit(sized(2, 600).requesting(|request| request.exclusive = true));
    cluster.run(4);
    assert_eq!(
        cluster.calls(),
        ["start 1", "suspend 1", "release 1", "start 2"]
    );
    let mut slurmctld = cluster.slurm.0.borrow_mut();
    slurmctld.jobs.get_mut(&1).expect("is there").state = ObservedState::Running;
    drop(slurmctld);
    cluster.run(2);
    assert_eq!(
        cluster.calls(),
        ["suspend 1"],
        "its memory would fit, but the node is another's"
    );
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(2);
    assert_eq!(cluster.calls(), ["claim 1", "resume 1"]);
}

/// The first job is parked for the second.
fn one_parked() -> TestCluster {
    let mut config = config();
    config.policy.settings.period = Span::from_seconds(100_000);
    config.settle_time = Span(0);
    let mut cluster = TestCluster::with_config(1, config);
    cluster.submit(large(1));
    cluster.run(11);
    cluster.submit(large(2));
    cluster.run(5);
    assert_eq!(
        cluster.calls(),
        ["start 1", "suspend 1", "release 1", "start 2"]
    );
    cluster
}

fn reason(cluster: &TestCluster) -> Option<String> {
    cluster.slurm.0.borrow().reasons.get(&1).cloned()
}

#[test]
fn parked_job_stays_suspended_when_an_operator_suspends_it() {
    let mut cluster = one_parked();
    cluster.suspend_by_operator(1);
    cluster.run(1);
    assert_eq!(
        reason(&cluster).as_deref(),
        Some("DFRS: suspended by an operator; 'scontrol resume' resumes it")
    );
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(60);
    assert_eq!(cluster.calls(), [] as [&str; 0]);
    let mut slurmctld = cluster.slurm.0.borrow_mut();
    let job = slurmctld.jobs.get_mut(&1).expect("is there");
    (job.state, job.priority) = (ObservedState::Running, 1000);
    drop(slurmctld);
    cluster.run(1);
    assert_eq!(cluster.calls(), ["claim 1"]);
    assert_eq!(reason(&cluster), None, "it runs");
}

#[test]
fn parked_job_gets_free_memory_first_when_an_operator_resumes_it() {
    let mut cluster = one_parked();
    let mut slurmctld = cluster.slurm.0.borrow_mut();
    slurmctld.jobs.get_mut(&1).expect("is there").state = ObservedState::Running;
    drop(slurmctld);
    cluster.submit(large(3));
    cluster.run(30);
    assert_eq!(cluster.calls(), ["suspend 1"], "there is no memory for it");
    assert!(reason(&cluster).is_some_and(|text| text.contains("resumed by an operator")));
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(30);
    assert_eq!(cluster.calls(), ["claim 1", "resume 1"], "before job 3");
    assert_eq!(reason(&cluster), None, "it runs");
}

#[test]
fn a_job_that_is_resumed_while_it_is_being_parked_runs_on() {
    let mut config = config();
    config.settle_time = Span(0);
    let mut cluster = TestCluster::with_config(1, config);
    cluster.daemons.0.borrow_mut().parking_seconds = 10;
    cluster.submit(large(1));
    cluster.run(11);
    cluster.submit(large(2));
    cluster.run(3);
    assert_eq!(cluster.calls(), ["start 1", "suspend 1"]);
    let mut slurmctld = cluster.slurm.0.borrow_mut();
    slurmctld.jobs.get_mut(&1).expect("is there").state = ObservedState::Running;
    drop(slurmctld);
    cluster.run(100);
    assert_eq!(cluster.calls(), [] as [&str; 0]);
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert!(!cluster.daemons.0.borrow().orders["n0"].jobs[0].frozen);
}

/// As Slurm does with a job whose prolog fails ("launch failed requeued held").
#[test]
fn requeued_and_held_job_has_no_dfrs_reason() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(large(1));
    cluster.run(3);
    assert_eq!(cluster.state(1), ObservedState::Running);
    let mut slurmctld = cluster.slurm.0.borrow_mut();
    let job = slurmctld.jobs.get_mut(&1).expect("is there");
    (job.state, job.completing) = (ObservedState::Pending, true);
    (job.priority, job.held, job.restarts) = (0, true, 1);
    job.places.clear();
    drop(slurmctld);
    for completing in [true, false] {
        let mut slurmctld = cluster.slurm.0.borrow_mut();
        slurmctld.jobs.get_mut(&1).expect("is there").completing = completing;
        slurmctld.updates += 1;
        drop(slurmctld);
        for _ in 0..40 {
            cluster.run(1);
            assert_eq!(reason(&cluster), None);
        }
    }
}
