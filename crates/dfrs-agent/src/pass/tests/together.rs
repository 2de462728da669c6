//! Jobs that want nodes next to each other or at few switches, and which nodes are preferred.

use super::*;
use crate::slurm::request::Request;

/// A job of two tasks on two nodes, which wants something of these.
fn wants(id: u32, change: impl FnOnce(&mut Request)) -> ObservedJob {
    job(id, 2).requesting(|request| {
        request.min_nodes = 2;
        request.memory = 200;
        change(request);
    })
}

/// Four nodes, n0 and n2 at one switch and n1 and n3 at another; these are full of jobs that stay.
fn with_full(full: &[u32]) -> TestCluster {
    let mut cluster = TestCluster::new(4);
    let mut slurmctld = cluster.slurm.0.borrow_mut();
    for (node, leaf) in slurmctld.nodes.iter_mut().zip(["s0", "s1", "s0", "s1"]) {
        node.leaf_switch = Some(leaf.into());
    }
    drop(slurmctld);
    for node in full {
        let stays = large(100 + node).requesting(|request| request.eligible = Some([*node].into()));
        cluster.submit(ObservedJob {
            comment: "dfrs:never".into(),
            ..stays
        });
    }
    cluster.run(2);
    cluster
}

/// Where the job is.
fn nodes_of(cluster: &TestCluster, id: u32) -> Vec<u32> {
    let slurmctld = cluster.slurm.0.borrow();
    let places = slurmctld.jobs[&id].places.iter();
    places.map(|place| place.node).collect()
}

#[test]
fn contiguous_job_gets_nodes_without_a_gap() {
    let mut cluster = with_full(&[1]);
    cluster.submit(wants(1, |request| request.contiguous = true));
    cluster.run(2);
    assert_eq!(nodes_of(&cluster, 1), [2, 3]);
}

#[test]
fn contiguous_job_waits_while_every_two_nodes_have_a_gap() {
    let mut cluster = with_full(&[1, 3]);
    cluster.submit(wants(1, |request| request.contiguous = true));
    cluster.run(30);
    assert!(nodes_of(&cluster, 1).is_empty());
    cluster.slurm.0.borrow_mut().end(103);
    cluster.run(10);
    assert_eq!(nodes_of(&cluster, 1), [2, 3]);
}

#[test]
fn job_starts_anywhere_when_it_has_waited_for_few_switches() {
    let mut cluster = with_full(&[0, 3]);
    let eligible_seconds = cluster.now;
    cluster.submit(ObservedJob {
        eligible_seconds,
        ..wants(1, |request| {
            (request.switches, request.switch_wait_seconds) = (1, 60);
        })
    });
    cluster.run(59);
    assert!(nodes_of(&cluster, 1).is_empty());
    cluster.run(5);
    assert_eq!(nodes_of(&cluster, 1), [1, 2]);
}

#[test]
fn nodes_at_other_switches_are_seen() {
    let mut cluster = with_full(&[0, 3]);
    cluster.submit(wants(1, |request| request.switches = 1));
    cluster.run(30);
    assert!(nodes_of(&cluster, 1).is_empty());
    cluster.slurm.0.borrow_mut().nodes[2].leaf_switch = Some("s1".into());
    cluster.run(30);
    assert_eq!(nodes_of(&cluster, 1), [1, 2]);
}

/// What squeue shows of the job.
fn reason_of(cluster: &TestCluster, id: u32) -> String {
    cluster.slurm.0.borrow().reasons[&id].clone()
}

#[test]
fn reason_says_until_when_a_job_waits_for_few_switches() {
    let mut cluster = with_full(&[]);
    let eligible_seconds = cluster.now;
    cluster.submit(ObservedJob {
        eligible_seconds,
        ..job(1, 3).requesting(|request| {
            request.min_nodes = 3;
            (request.switches, request.switch_wait_seconds) = (1, 60);
        })
    });
    cluster.run(30);
    let reason = reason_of(&cluster, 1);
    assert!(
        reason.starts_with("DFRS: waits for nodes at 1 switch (--switches), at most until "),
        "{reason}"
    );
    cluster.run(40);
    assert_eq!(cluster.state(1), ObservedState::Running);
}

#[test]
fn reason_names_the_gap_that_a_job_must_not_have() {
    let mut cluster = with_full(&[]);
    cluster.slurm.0.borrow_mut().nodes[3].index = 7;
    cluster.submit(job(1, 4).requesting(|request| {
        request.min_nodes = 4;
        request.contiguous = true;
    }));
    cluster.run(2);
    let reason = reason_of(&cluster, 1);
    assert!(reason.contains("without a gap (--contiguous)"), "{reason}");
}

#[test]
fn job_gets_nodes_at_one_switch_unasked() {
    let mut cluster = with_full(&[]);
    cluster.submit(wants(1, |_| ()));
    cluster.run(2);
    assert_eq!(nodes_of(&cluster, 1), [0, 2]);
}

#[test]
fn nodes_of_lowest_weight_are_taken_first_but_for_preferred_ones() {
    let mut cluster = TestCluster::new(4);
    for node in &mut cluster.slurm.0.borrow_mut().nodes[..3] {
        node.weight = 5;
    }
    cluster.submit(job(1, 1));
    cluster.run(2);
    let prefers = job(2, 1).requesting(|request| request.preferred = Some([2].into()));
    cluster.submit(prefers);
    cluster.run(2);
    assert_eq!(nodes_of(&cluster, 1), [3]);
    assert_eq!(nodes_of(&cluster, 2), [2]);
    // The weights of nodes may change at any time.
    cluster.slurm.0.borrow_mut().nodes[1].weight = 0;
    cluster.run(2);
    cluster.submit(job(3, 1));
    cluster.run(2);
    assert_eq!(nodes_of(&cluster, 3), [1]);
}
