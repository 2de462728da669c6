//! What counts as a wait, and what is a submission.

use super::*;

fn waits_since(cluster: &TestCluster, id: u32) -> i64 {
    cluster
        .agent
        .ledger
        .get(id)
        .expect("a record")
        .waits_since()
}

/// Slurm finds that the job waits for no other one any more.
fn release(cluster: &TestCluster, id: u32) {
    let mut slurmctld = cluster.slurm.0.borrow_mut();
    slurmctld.dependent.remove(&id);
    slurmctld
        .jobs
        .get_mut(&id)
        .expect("is there")
        .eligible_seconds = cluster.now;
}

#[test]
fn time_before_eligibility_does_not_count_as_wait() {
    let mut cluster = TestCluster::new(1);
    cluster.slurm.0.borrow_mut().dependent.insert(1);
    let late = |id, held| ObservedJob {
        submit_seconds: 1990,
        held,
        ..job(id, 1)
    };
    cluster.submit(late(1, false));
    cluster.submit(late(2, false));
    cluster.submit(late(3, true));
    cluster.run(1000);
    assert_eq!(waits_since(&cluster, 1), 1990);
    let released = cluster.now;
    cluster
        .slurm
        .0
        .borrow_mut()
        .jobs
        .get_mut(&3)
        .expect("is there")
        .held = false;
    release(&cluster, 1);
    release(&cluster, 3);
    cluster.run(20);
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(
        [1, 2, 3].map(|id| waits_since(&cluster, id)),
        [released, 1990, released]
    );
    let record = cluster.agent.ledger.get(1).expect("a record");
    assert_eq!(record.submit_time, 1990);
    // It is known after a restart, too.
    let _ = cluster.agent.finish(Time::from_seconds(cluster.now));
    cluster.reopen(config());
    cluster.run(1);
    assert_eq!(waits_since(&cluster, 1), released);
}

#[test]
fn array_task_waits_since_its_eligible_time() {
    let mut cluster = TestCluster::new(1);
    cluster.run(1000);
    cluster.submit(ObservedJob {
        submit_seconds: 1990,
        eligible_seconds: 2900,
        ..job(1, 1)
    });
    cluster.run(20);
    assert_eq!(waits_since(&cluster, 1), 2900);
}

#[test]
fn wait_counts_on_when_a_started_job_loses_its_node() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(job(1, 1));
    cluster.run(20);
    let before = waits_since(&cluster, 1);
    let mut slurmctld = cluster.slurm.0.borrow_mut();
    slurmctld.dependent.insert(1);
    slurmctld.lose_node(1);
    drop(slurmctld);
    cluster.run(50);
    release(&cluster, 1);
    cluster.run(20);
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(waits_since(&cluster, 1), before);
}

#[test]
fn each_run_of_a_crontab_is_a_submission_of_its_own() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(ObservedJob {
        cron: true,
        ..job(1, 1)
    });
    cluster.run(100);
    let mut slurmctld = cluster.slurm.0.borrow_mut();
    slurmctld.lose_node(1);
    slurmctld.dependent.insert(1);
    let again = cluster.now;
    slurmctld.jobs.get_mut(&1).expect("is there").submit_seconds = again;
    drop(slurmctld);
    cluster.run(500);
    let record = cluster.agent.ledger.get(1).expect("a record");
    assert_eq!((record.submit_time, record.restarts), (again, 1));
    release(&cluster, 1);
    cluster.run(20);
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(waits_since(&cluster, 1), again + 500);
}

#[test]
fn a_job_with_devices_is_not_parked() {
    let mut cluster = TestCluster::new(1);
    let whole = |id| job(id, 1).requesting(|request| request.memory = 900);
    cluster.submit(ObservedJob {
        holds_gres: true,
        ..whole(1)
    });
    cluster.run(20);
    cluster.submit(whole(2));
    cluster.run(100);
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(cluster.state(2), ObservedState::Pending);
}

#[test]
fn a_component_of_a_heterogeneous_job_is_neither_parked_nor_requeued() {
    for comment in ["dfrs:park", "dfrs:restart", "dfrs:checkpoint"] {
        let mut cluster = TestCluster::new(1);
        let whole = |id| job(id, 1).requesting(|request| request.memory = 900);
        cluster.submit(ObservedJob {
            component: true,
            comment: comment.to_owned(),
            ..whole(1)
        });
        cluster.run(20);
        cluster.submit(whole(2));
        cluster.run(100);
        assert_eq!(cluster.state(1), ObservedState::Running, "{comment}");
        assert_eq!(cluster.state(2), ObservedState::Pending, "{comment}");
    }
}
