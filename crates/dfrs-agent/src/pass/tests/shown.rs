//! What Slurm's own tools show of yields.

use super::*;
use dfrs_proto::conf::JobField;

fn showing() -> Config {
    Config {
        show_yield_in: Some(JobField::AdminComment),
        ..config()
    }
}

fn take_shown(cluster: &TestCluster) -> Vec<(u32, Option<u32>)> {
    std::mem::take(&mut cluster.slurm.0.borrow_mut().shown)
}

/// One job runs, and its yield was just shown.
fn one_shown() -> TestCluster {
    let mut cluster = TestCluster::with_config(1, showing());
    cluster.submit(large(1));
    cluster.run(12);
    assert_eq!(take_shown(&cluster), [(1, Some(100))]);
    cluster
}

#[test]
fn yields_are_shown_as_they_change_and_not_before_a_job_begins() {
    let mut cluster = one_shown();
    cluster.run(30);
    assert_eq!(take_shown(&cluster), [], "nothing has changed");
    cluster.submit(large(2));
    cluster.run(12);
    assert_eq!(
        take_shown(&cluster),
        [(1, Some(0)), (2, Some(100))],
        "the first is parked"
    );
    cluster.submit(ObservedJob {
        held: true,
        priority: 0,
        ..large(3)
    });
    cluster.run(12);
    assert_eq!(take_shown(&cluster), [], "it has not begun");
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(12);
    assert_eq!(take_shown(&cluster), [(1, Some(100)), (2, None)]);
}

#[test]
fn shown_yields_are_cleared_on_give_back_and_on_request() {
    let mut cluster = one_shown();
    cluster.agent.clear_yields();
    cluster.agent.clear_yields();
    assert_eq!(take_shown(&cluster), [(1, None)]);
    let mut cluster = one_shown();
    let given_back = cluster.agent.give_back(Time::from_seconds(cluster.now + 1));
    assert_eq!(given_back, Ok(0));
    assert_eq!(take_shown(&cluster), [(1, None)]);
}

#[test]
fn no_yield_is_shown_by_default() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(large(1));
    cluster.run(30);
    assert_eq!(take_shown(&cluster), []);
}

#[test]
fn reason_names_the_node_whose_dfrsd_does_not_report_the_end_of_the_last_run() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(job(1, 1));
    cluster.run(10);
    cluster.daemons.0.borrow_mut().facts.silent = ["n0".to_owned()].into();
    cluster.slurm.0.borrow_mut().lose_node(1);
    cluster.run(3);
    assert_eq!(
        cluster.slurm.0.borrow().reasons[&1],
        "DFRS: was requeued; waits until dfrsd on n0 reports that its last run has ended, at most 6 minutes"
    );
    cluster.daemons.0.borrow_mut().facts.silent.clear();
    cluster.run(30);
    assert_eq!(
        cluster.slurm.0.borrow().jobs[&1].state,
        ObservedState::Running
    );
}
