//! Jobs that Slurm preempts for jobs of other partitions.

use super::*;

/// On one node, which has room for two of them.
fn with_jobs(comments: &[&str]) -> TestCluster {
    let mut cluster = TestCluster::new(1);
    for (id, comment) in (1..).zip(comments) {
        cluster.submit(ObservedJob {
            comment: (*comment).to_owned(),
            ..sized(id, 400)
        });
    }
    cluster.run(40);
    cluster.calls();
    cluster
}

/// Slurm begins to preempt a job, whose grace time is a minute.
fn preempt(cluster: &TestCluster, id: u32) {
    let grace_end = cluster.now + 60;
    let mut slurmctld = cluster.slurm.0.borrow_mut();
    let job = slurmctld.jobs.get_mut(&id).expect("is there");
    job.grace_end_seconds = grace_end;
    job.end_seconds = grace_end;
}

fn hold_for_others(cluster: &TestCluster, mib: u64) {
    cluster.slurm.0.borrow_mut().memory_of_others = mib;
}

#[test]
fn preempted_job_is_parked_until_the_other_is_over() {
    let mut cluster = with_jobs(&["", ""]);
    preempt(&cluster, 1);
    cluster.run(5);
    assert_eq!(cluster.calls(), ["suspend 1", "release 1"]);
    // Slurm has not started the other yet: its memory is kept.
    cluster.run(20);
    assert_eq!(cluster.calls(), [""; 0]);
    hold_for_others(&cluster, 500);
    cluster.run(300);
    assert_eq!(cluster.calls(), [""; 0]);
    hold_for_others(&cluster, 0);
    cluster.run(10);
    assert_eq!(cluster.state(1), ObservedState::Running);
}

#[test]
fn preempted_job_comes_back_when_no_other_takes_its_memory_in_the_grace_time() {
    let mut cluster = with_jobs(&[""]);
    preempt(&cluster, 1);
    cluster.run(140);
    assert_eq!(cluster.state(1), ObservedState::Suspended);
    cluster.run(20);
    assert_eq!(cluster.state(1), ObservedState::Running);
}

#[test]
fn memory_of_preempted_job_is_given_to_no_other_job_of_dfrs() {
    let mut cluster = with_jobs(&["", "dfrs:never"]);
    preempt(&cluster, 1);
    cluster.run(5);
    for (id, memory) in [(3, 300), (4, 100)] {
        cluster.submit(sized(id, memory));
    }
    cluster.run(20);
    let both = [3, 4];
    assert_eq!(
        both.map(|id| cluster.state(id)),
        [ObservedState::Pending; 2]
    );
    // Slurm has started another one, which needs less than there was.
    hold_for_others(&cluster, 500);
    cluster.run(5);
    assert_eq!(
        both.map(|id| cluster.state(id)),
        [ObservedState::Pending, ObservedState::Running]
    );
}

#[test]
fn memory_of_all_jobs_that_are_preempted_for_one_is_kept() {
    let mut cluster = with_jobs(&["", ""]);
    for id in [1, 2] {
        preempt(&cluster, id);
    }
    cluster.run(5);
    assert_eq!(
        [1, 2].map(|id| cluster.state(id)),
        [ObservedState::Suspended; 2]
    );
    cluster.submit(sized(3, 100));
    cluster.run(20);
    assert_eq!(cluster.state(3), ObservedState::Pending);
    // The other needs all of it.
    hold_for_others(&cluster, 1000);
    cluster.run(5);
    hold_for_others(&cluster, 0);
    cluster.run(30);
    assert_eq!(
        [1, 2, 3].map(|id| cluster.state(id)),
        [ObservedState::Running; 3]
    );
}

#[test]
fn preempted_checkpoint_job_is_requeued() {
    let mut cluster = with_jobs(&["dfrs:checkpoint", "dfrs:never"]);
    preempt(&cluster, 1);
    cluster.run(30);
    assert_eq!(cluster.calls(), ["warn 1", "requeue 1", "clear 1"]);
    assert_eq!(cluster.state(1), ObservedState::Pending);
}

#[test]
fn preempted_job_that_cannot_leave_is_left_to_slurm() {
    let mut cluster = with_jobs(&["dfrs:never", "dfrs:never"]);
    preempt(&cluster, 1);
    cluster.run(30);
    assert_eq!(cluster.calls(), [""; 0]);
    // Slurm has ended it, and is about to start the other.
    cluster.slurm.0.borrow_mut().end(1);
    cluster.submit(sized(3, 400));
    cluster.run(10);
    assert_eq!(cluster.state(3), ObservedState::Pending);
}

#[test]
fn parked_job_is_not_preempted() {
    let mut cluster = with_jobs(&["", ""]);
    preempt(&cluster, 1);
    cluster.run(5);
    cluster.calls();
    preempt(&cluster, 1);
    cluster.run(5);
    assert_eq!(cluster.calls(), ["forget preemption 1"]);
}

#[test]
fn limit_of_preempted_job_is_not_moved() {
    let mut cluster = with_jobs(&["dfrs:never", "dfrs:never"]);
    for id in [3, 4] {
        cluster.submit(sized(id, 10));
    }
    preempt(&cluster, 1);
    cluster.run(59);
    assert!(
        !cluster
            .calls()
            .iter()
            .any(|call| call.starts_with("extend 1"))
    );
}
