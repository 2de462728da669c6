//! Limits that let some of several jobs start, of which each alone may.

use super::*;

const USER: u32 = 7;

/// Four full nodes, and a user who may have one job with nodes.
fn full_nodes_and_limited_user() -> TestCluster {
    let mut cluster = TestCluster::new(4);
    cluster.slurm.0.borrow_mut().max_of_user.insert(USER, 1);
    (1..=4).for_each(|id| cluster.submit(large(id)));
    cluster.run(20);
    assert_eq!(cluster.calls().len(), 4);
    cluster
}

fn submit_three(cluster: &mut TestCluster, first: u32) {
    for id in first..first + 3 {
        cluster.submit(ObservedJob {
            user: USER,
            ..large(id)
        });
    }
}

fn suspensions(cluster: &TestCluster) -> usize {
    let calls = cluster.calls();
    calls
        .iter()
        .filter(|call| call.starts_with("suspend"))
        .count()
}

#[test]
fn jobs_are_preempted_one_at_a_time_when_a_user_limit_binds() {
    let mut cluster = full_nodes_and_limited_user();
    submit_three(&mut cluster, 11);
    cluster.run(30);
    assert_eq!(suspensions(&cluster), 3, "each alone may start");
    let running = (11..14).filter(|id| cluster.state(*id) == ObservedState::Running);
    assert_eq!(running.count(), 1);
    // He withdraws what waits, and when all are back, and his job has ended, submits three more.
    for id in (11..14).filter(|id| cluster.state(*id) == ObservedState::Pending) {
        cluster.slurm.0.borrow_mut().end(id);
    }
    cluster.run(60);
    (11..14).for_each(|id| cluster.slurm.0.borrow_mut().end(id));
    cluster.run(60);
    assert!((1..=4).all(|id| cluster.state(id) == ObservedState::Running));
    cluster.calls();
    submit_three(&mut cluster, 21);
    cluster.run(30);
    assert_eq!(suspensions(&cluster), 1);
    let running = (21..24).filter(|id| cluster.state(*id) == ObservedState::Running);
    assert_eq!(running.count(), 1);
}
