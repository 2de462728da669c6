//! A partition of moldable jobs beside one that shares its nodes.

use super::*;
use dfrs_proto::conf::Mode;

/// Partition `dfrs` has whole nodes.
fn whole() -> Config {
    let text = "Mode=full\nPolicy=GreedyPM*/per/OPT=MIN/MINVT=600\nSwapPerNode=10000\nSettleTime=0\n\
                Partition=dfrs Policy=DEMT\n";
    Config::parse(text, "dfrs.conf").expect("a good configuration")
}

/// `sbatch -N min-max`.
fn moldable(id: u32, min: u32, max: u32) -> ObservedJob {
    ObservedJob {
        limit_minutes: 10,
        ..job(id, min)
    }
    .requesting(|request| {
        request.min_nodes = min;
        request.max_nodes = max;
        request.sized_by_nodes = true;
    })
}

fn nodes_of(cluster: &TestCluster, id: u32) -> usize {
    cluster.slurm.0.borrow().jobs[&id].places.len()
}

#[test]
fn moldable_job_has_exclusive_nodes_and_no_cap() {
    let mut cluster = TestCluster::with_config(3, whole());
    cluster.submit(moldable(1, 1, 2));
    cluster.submit(moldable(2, 1, 4));
    cluster.run(3);
    assert_eq!(nodes_of(&cluster, 1) + nodes_of(&cluster, 2), 3);
    for node in ["n0", "n1", "n2"] {
        assert_eq!(cluster.shares(node), [1.0]);
    }
    let slurmctld = cluster.slurm.0.borrow();
    assert!(
        slurmctld
            .nodes
            .iter()
            .all(|node| node.allocated_memory_mib == 1000)
    );
    assert!(slurmctld.errors.is_empty(), "{:?}", slurmctld.errors);
}

#[test]
fn waiting_job_shows_its_expected_start_and_starts_early() {
    let mut cluster = TestCluster::with_config(2, whole());
    cluster.submit(moldable(1, 2, 2));
    cluster.run(1);
    cluster.submit(moldable(2, 1, 1));
    cluster.submit(moldable(3, 3, 4));
    cluster.run(1);
    assert_eq!(cluster.calls(), ["start 1"]);
    let reason = |cluster: &TestCluster, id: u32| cluster.slurm.0.borrow().reasons[&id].clone();
    // 2000 s after the epoch and ten minutes.
    assert_eq!(
        reason(&cluster, 2),
        "DFRS: waits for 1 node; expected to start at 1970-01-01T00:44Z"
    );
    assert_eq!(
        reason(&cluster, 3),
        "DFRS: cannot start: requests 3 nodes and may use 2 that are large enough"
    );
    let explained = cluster
        .agent
        .explanation(2, None, Time::from_seconds(cluster.now));
    let explained = explained.expect("it is known");
    assert!(
        explained
            .notes
            .iter()
            .any(|note| note.contains("Policy=DEMT"))
    );
    assert_eq!(
        (explained.mobility.as_str(), explained.phase.as_str()),
        ("never", "waiting")
    );
    cluster.run(60);
    cluster.slurm.0.borrow_mut().end(1);
    cluster.run(1);
    assert_eq!(cluster.calls(), ["start 2"]);
}

#[test]
fn expected_start_moves_when_a_job_runs_longer() {
    let mut cluster = TestCluster::with_config(1, whole());
    cluster.submit(moldable(1, 1, 1));
    cluster.run(1);
    cluster.submit(moldable(2, 1, 1));
    cluster.run(700);
    let reason = cluster.slurm.0.borrow().reasons[&2].clone();
    assert!(reason.ends_with("1970-01-01T00:46Z"), "{reason}");
    assert_eq!(cluster.calls(), ["start 1"]);
}

#[test]
fn parked_job_resumes_and_none_is_paused_when_policy_is_demt() {
    let mut cluster = TestCluster::with_config(1, config());
    cluster.submit(large(1));
    cluster.run(11);
    cluster.submit(large(2));
    cluster.run(30);
    assert_eq!(
        cluster.calls(),
        ["start 1", "suspend 1", "release 1", "start 2"]
    );
    let unsaved = cluster.agent.finish(Time::from_seconds(cluster.now));
    assert!(unsaved.is_none());
    cluster.reopen(whole());
    cluster.submit(moldable(3, 1, 1));
    cluster.run(700);
    assert_eq!(cluster.calls(), [] as [&str; 0], "job 2 runs");
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(5);
    assert_eq!(cluster.calls(), ["claim 1", "resume 1"]);
    cluster.slurm.0.borrow_mut().end(1);
    cluster.run(5);
    assert_eq!(cluster.calls(), ["start 3"]);
}

#[test]
fn in_shadow_mode_nothing_starts() {
    let mut config = whole();
    config.mode = Mode::Shadow;
    let mut cluster = TestCluster::with_config(2, config);
    cluster.submit(moldable(1, 1, 2));
    cluster.run(5);
    assert_eq!(cluster.calls(), [] as [&str; 0]);
    let explained = cluster
        .agent
        .explanation(1, None, Time::from_seconds(cluster.now));
    let change = explained
        .expect("it is known")
        .last_change
        .expect("decided");
    assert_eq!(
        (change.what.as_str(), change.why.as_str()),
        ("start", "DEMT: 2 of 1 to 2 nodes are best now")
    );
}

#[test]
fn a_refused_start_is_tried_elsewhere() {
    let mut cluster = TestCluster::with_config(2, whole());
    cluster.slurm.0.borrow_mut().refuse_start.insert(1);
    cluster.submit(moldable(1, 1, 1));
    cluster.run(3);
    let reason = cluster.slurm.0.borrow().reasons[&1].clone();
    assert!(reason.contains("Requested nodes are busy"), "{reason}");
    cluster.slurm.0.borrow_mut().refuse_start.clear();
    cluster.run(10);
    assert_eq!(cluster.calls(), ["start 1"]);
}

#[test]
fn job_is_tried_on_fewer_nodes_when_a_limit_forbids_its_size() {
    let mut cluster = TestCluster::with_config(8, whole());
    cluster.slurm.0.borrow_mut().max_nodes = Some(3);
    cluster.submit(moldable(1, 1, 8));
    cluster.run(20);
    assert_eq!(nodes_of(&cluster, 1), 2);
}
