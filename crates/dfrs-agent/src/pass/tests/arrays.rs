//! Arrays whose tasks get records of their own.

use super::*;

/// A node full of one job, and an array in the queue.
fn full_node_and_queued_array() -> TestCluster {
    let mut cluster = TestCluster::new(1);
    cluster.submit(large(1));
    cluster.run(5);
    cluster.submit(ObservedJob {
        array: 5,
        array_master: true,
        ..large(5)
    });
    cluster
}

fn splits(cluster: &TestCluster) -> usize {
    let calls = cluster.calls();
    calls.iter().filter(|call| *call == "split 5 1").count()
}

#[test]
fn array_is_split_when_its_pending_task_is_held() {
    let mut cluster = full_node_and_queued_array();
    let task = |held| ObservedJob {
        array: 5,
        array_task: 1,
        held,
        ..large(6)
    };
    cluster.submit(task(false));
    cluster.run(1);
    assert_eq!(splits(&cluster), 0, "one is there");
    cluster.submit(task(true));
    cluster.run(1);
    assert!(splits(&cluster) > 0);
}

#[test]
fn refused_array_is_queried_with_growing_backoff() {
    let mut cluster = full_node_and_queued_array();
    cluster.slurm.0.borrow_mut().dependent.insert(5);
    cluster.run(40);
    let asked = cluster.slurm.0.borrow().array_queries;
    assert!((5..=9).contains(&asked), "{asked}");
    cluster.slurm.0.borrow_mut().dependent.clear();
    assert_eq!(splits(&cluster), 0);
    cluster.run(9);
    assert!(splits(&cluster) > 0);
}
