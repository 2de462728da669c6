//! Jobs whose processes may still be being launched are not paused.

use super::*;

/// Every kind of job is left alone until its time is over.
#[test]
fn a_job_is_not_paused_before_it_has_settled() {
    let ways = [
        ("park", "suspend 1"),
        ("checkpoint", "warn 1"),
        ("restart", "requeue 1"),
    ];
    for (mobility, pause) in ways {
        let mut cluster = TestCluster::new(1);
        // Before that no job is requeued, settled or not.
        cluster.run(20);
        cluster.submit(ObservedJob {
            comment: format!("dfrs:{mobility}"),
            ..large(1)
        });
        cluster.run(3);
        cluster.submit(large(2));
        cluster.run(6);
        assert_eq!(cluster.calls(), ["start 1"], "{mobility}");
        assert_eq!(cluster.state(2), ObservedState::Pending, "{mobility}");
        // As soon as it has: not at the next period, which is 600 s away.
        cluster.run(2);
        assert_eq!(cluster.calls()[0], pause, "{mobility}");
    }
}

#[test]
fn each_step_has_to_settle() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(large(1));
    cluster.run(20);
    cluster.begin_step(1);
    cluster.submit(large(2));
    cluster.run(9);
    assert_eq!(cluster.calls(), ["start 1"]);
    cluster.run(3);
    assert_eq!(cluster.calls()[..2], ["suspend 1", "release 1"]);
    assert_eq!(cluster.state(2), ObservedState::Running);
}

#[test]
fn frequent_steps_do_not_prevent_preemption() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(large(1));
    for second in 0..120 {
        if second % 8 == 0 && second > 0 {
            cluster.begin_step(1);
        }
        if second == 100 {
            assert_eq!(cluster.calls(), ["start 1"]);
            cluster.submit(large(2));
        }
        cluster.run(1);
    }
    assert_eq!(cluster.calls()[..2], ["suspend 1", "release 1"]);
    assert_eq!(cluster.state(2), ObservedState::Running);
}

#[test]
fn user_hold_does_not_prevent_preemption() {
    for admin_hold in [false, true] {
        let mut cluster = TestCluster::new(1);
        cluster.submit(large(1));
        cluster.run(20);
        {
            let mut slurmctld = cluster.slurm.0.borrow_mut();
            let job = slurmctld.jobs.get_mut(&1).expect("is there");
            (job.held, job.on_hold, job.priority) = (true, true, 0);
            job.admin_hold = admin_hold;
            slurmctld.updates += 1;
        }
        cluster.run(1);
        cluster.submit(large(2));
        cluster.run(20);
        let gives_way = cluster.state(2) == ObservedState::Running;
        assert_eq!(gives_way, !admin_hold, "{:?}", cluster.calls());
    }
}

/// A job that was parked for another one, which has ended.
fn returned_job() -> TestCluster {
    let mut cluster = TestCluster::new(1);
    cluster.submit(large(1));
    cluster.run(20);
    cluster.submit(large(2));
    cluster.run(12);
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(1);
    assert_eq!(cluster.state(1), ObservedState::Running);
    cluster
}

/// Its processes were launched long ago.
#[test]
fn a_job_that_came_back_may_be_paused_at_once() {
    let mut cluster = returned_job();
    cluster.submit(large(3));
    cluster.run(1);
    assert_eq!(cluster.state(3), ObservedState::Running);
}

/// The jobs whose resumption was repeated since the last call.
fn take_repeated(cluster: &TestCluster) -> Vec<u32> {
    std::mem::take(&mut cluster.slurm.0.borrow_mut().repeated_resumptions)
}

#[test]
fn resumption_is_repeated_while_the_job_runs() {
    let mut cluster = returned_job();
    cluster.run(13);
    assert!(take_repeated(&cluster).is_empty(), "slurmctld tries itself");
    cluster.run(3);
    assert_eq!(take_repeated(&cluster), [1]);
    cluster.run(60);
    assert_eq!(take_repeated(&cluster), [1]);
    cluster.slurm.0.borrow_mut().end(1);
    cluster.run(300);
    assert!(take_repeated(&cluster).is_empty());
}

#[test]
fn resumption_is_repeated_after_restart_and_during_give_back() {
    let mut cluster = returned_job();
    cluster.reopen(config());
    cluster.run(16);
    assert_eq!(take_repeated(&cluster), [1]);
    cluster.reopen(config());
    for second in 0..20 {
        let now = Time::from_seconds(cluster.now + second);
        cluster.agent.give_back(now).expect("can be looked at");
    }
    assert_eq!(take_repeated(&cluster), [1]);
    cluster.now += 1400;
    cluster.reopen(config());
    cluster.run(100);
    assert!(take_repeated(&cluster).is_empty(), "it came back long ago");
}
