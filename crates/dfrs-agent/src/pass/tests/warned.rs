//! Jobs that end after they were warned.

use super::*;
use crate::slurm::port::Ending;

/// The first of two jobs, which requests warnings, was warned to make room for the second.
fn one_is_warned() -> TestCluster {
    let mut cluster = TestCluster::new(1);
    cluster.submit(ObservedJob {
        comment: "dfrs:checkpoint".into(),
        ..large(1)
    });
    cluster.run(20);
    cluster.submit(large(2));
    for _ in 0..60 {
        cluster.run(1);
        if cluster.calls().contains(&"warn 1".to_owned()) {
            return cluster;
        }
    }
    panic!("it is not warned");
}

/// The warned job's script ends by itself, or is cancelled. `is_shown`: it is still seen to
/// complete.
fn end(cluster: &TestCluster, by_itself: Option<Ending>, is_shown: bool) {
    let mut slurmctld = cluster.slurm.0.borrow_mut();
    if let Some(ending) = by_itself {
        slurmctld.endings.insert(1, ending);
    }
    let job = slurmctld.jobs.get_mut(&1).expect("is there");
    (job.state, job.completing) = (ObservedState::Ended, is_shown);
    if !is_shown {
        job.places.clear();
    }
}

/// The warned job ends so by itself, is queued again, and runs for at most a minute more. Returns
/// its virtual time when it ended, and after that.
fn requeue_after(ending: Ending, is_shown: bool) -> (Span, Span) {
    let mut cluster = one_is_warned();
    let virtual_time = |cluster: &TestCluster| {
        let record = cluster.agent.ledger.get(1).expect("is known");
        record.virtual_time()
    };
    let done = virtual_time(&cluster);
    end(&cluster, Some(ending), is_shown);
    cluster.run(1);
    assert!(cluster.calls().contains(&"requeue warned 1".to_owned()));
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(60);
    assert_eq!(cluster.state(1), ObservedState::Running, "{is_shown}");
    (done, virtual_time(&cluster))
}

#[test]
fn job_killed_by_warning_is_requeued_without_progress() {
    for is_shown in [true, false] {
        let (_, after) = requeue_after(Ending::Failed, is_shown);
        assert!(after <= Span::from_seconds(60));
    }
}

#[test]
fn job_that_checkpoints_and_exits_is_requeued_with_progress() {
    for is_shown in [true, false] {
        let (done, after) = requeue_after(Ending::Saved, is_shown);
        assert!(after > done);
    }
}

#[test]
fn unwarned_job_is_finished_when_it_ends() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(ObservedJob {
        comment: "dfrs:checkpoint".into(),
        ..large(1)
    });
    cluster.run(20);
    end(&cluster, Some(Ending::Saved), true);
    cluster.run(1);
    assert_eq!(cluster.state(1), ObservedState::Ended);
    assert!(cluster.agent.ledger.get(1).is_none());
}

#[test]
fn warned_job_is_finished_when_it_is_cancelled() {
    let mut cluster = one_is_warned();
    end(&cluster, None, true);
    cluster.run(1);
    assert_eq!(cluster.state(1), ObservedState::Ended);
    assert!(cluster.agent.ledger.get(1).is_none());
}
