//! What the reasons of nodes say of the parked jobs that live there.

use super::*;

/// One of two jobs on the first of two nodes is parked.
fn one_is_parked() -> TestCluster {
    let mut cluster = TestCluster::new(2);
    for id in [1, 2] {
        let on_n0 = Some([0].into());
        cluster.submit(large(id).requesting(|request| request.eligible = on_n0));
        cluster.run(20);
    }
    assert_eq!(
        [1, 2].map(|id| cluster.state(id)),
        [ObservedState::Suspended, ObservedState::Running]
    );
    cluster
}

fn take_reports(cluster: &TestCluster) -> Vec<Vec<(String, u32)>> {
    std::mem::take(&mut cluster.slurm.0.borrow_mut().parked)
}

fn report(parked: u32) -> Vec<(String, u32)> {
    vec![("n0".to_owned(), parked)]
}

#[test]
fn parked_count_is_reported_for_all_nodes_at_start_only() {
    let mut cluster = TestCluster::new(2);
    cluster.run(1);
    let none = |name: &str| (name.to_owned(), 0);
    assert_eq!(take_reports(&cluster), [vec![none("n0"), none("n1")]]);
    cluster.submit(large(1));
    cluster.run(60);
    assert!(take_reports(&cluster).is_empty());
}

#[test]
fn parked_count_is_reported_on_change_and_every_ten_seconds() {
    let mut cluster = one_is_parked();
    assert_eq!(take_reports(&cluster).last(), Some(&report(1)));
    cluster.run(20);
    assert_eq!(take_reports(&cluster), [report(1), report(1)], "every 10 s");
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(10);
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(take_reports(&cluster), [report(0)]);
    cluster.run(60);
    assert!(take_reports(&cluster).is_empty());
}

#[test]
fn parked_count_is_reported_when_a_node_drains() {
    let mut cluster = one_is_parked();
    cluster.run(1);
    take_reports(&cluster);
    cluster.slurm.0.borrow_mut().nodes[0].up = false;
    cluster.run(1);
    assert_eq!(take_reports(&cluster), [report(1)]);
}

#[test]
fn parked_count_is_reported_while_the_cluster_is_given_back() {
    let mut cluster = one_is_parked();
    take_reports(&cluster);
    cluster.slurm.0.borrow_mut().end(2);
    for second in 0..5 {
        let now = Time::from_seconds(cluster.now + second);
        cluster.agent.give_back(now).expect("can be looked at");
    }
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(take_reports(&cluster).last(), Some(&report(0)));
}

#[test]
fn reason_of_parked_job_follows_the_drain_of_its_node() {
    let mut cluster = one_is_parked();
    let reason = |cluster: &TestCluster| cluster.slurm.0.borrow().reasons[&1].clone();
    for (up, mentioned) in [(false, true), (true, false)] {
        cluster.slurm.0.borrow_mut().nodes[0].up = up;
        cluster.run(1);
        let text = reason(&cluster);
        assert_eq!(
            text.contains("parked on n0, which is draining"),
            mentioned,
            "{text}"
        );
    }
}
