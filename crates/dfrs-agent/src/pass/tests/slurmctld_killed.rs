//! slurmctld is killed, and its own state is older than what DFRS did last.

use std::collections::BTreeMap;

use super::*;

/// What Slurm has kept.
type SavedJobs = BTreeMap<u32, ObservedJob>;

impl TestCluster {
    fn slurms_state(&self) -> SavedJobs {
        self.slurm.0.borrow().jobs.clone()
    }

    /// `kill -9`: nothing is said to the old agent, and Slurm shows what it has kept.
    fn kill_and_start_with(&mut self, kept: SavedJobs) {
        self.slurm.0.borrow_mut().jobs = kept;
        self.reopen(config());
        self.calls();
    }

    fn count(&self, call: &str) -> usize {
        let slurmctld = self.slurm.0.borrow();
        slurmctld.calls.iter().filter(|made| *made == call).count()
    }
}

/// Job 1 is parked for job 2, on the only node. With it what Slurm showed before.
fn job_parked_for_another() -> (TestCluster, SavedJobs) {
    let mut cluster = TestCluster::new(1);
    cluster.submit(large(1));
    cluster.run(20);
    cluster.submit(large(2));
    let kept = cluster.slurms_state();
    cluster.run(2);
    assert_eq!(
        (cluster.state(1), cluster.state(2)),
        (ObservedState::Suspended, ObservedState::Running)
    );
    (cluster, kept)
}

#[test]
fn a_forgotten_resumption_is_repeated_before_its_room_is_given_away() {
    let (mut cluster, _) = job_parked_for_another();
    let mut kept = cluster.slurms_state();
    kept.remove(&2);
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(2);
    assert_eq!(cluster.state(1), ObservedState::Running);
    kept.insert(3, large(3));
    cluster.kill_and_start_with(kept);
    cluster.run(1);
    assert_eq!(cluster.calls().first().map(String::as_str), Some("claim 1"));
    cluster.run(60);
    assert_ne!(cluster.state(1), cluster.state(3), "one of them runs");
}

#[test]
fn a_forgotten_suspension_is_repeated_and_its_memory_released() {
    let (mut cluster, kept) = job_parked_for_another();
    cluster.kill_and_start_with(kept);
    cluster.run(2);
    assert_eq!(cluster.calls(), ["abort on n0 2", "suspend 1"]);
    // Its nodes have reported before that it is parked; slurmd receives the suspension by then.
    cluster.run(3);
    assert_eq!(cluster.count("release 1"), 1);
}

#[test]
fn a_forgotten_start_is_repeated_when_its_processes_are_gone_for_sure() {
    let (mut cluster, kept) = job_parked_for_another();
    cluster.kill_and_start_with(kept);
    cluster.run(15);
    assert_eq!(
        (cluster.count("abort on n0 2"), cluster.count("start 2")),
        (1, 0)
    );
    cluster.run(60);
    assert_eq!(cluster.count("start 2"), 1);
}

#[test]
fn slurm_state_is_trusted_after_an_orderly_shutdown() {
    let mut cluster = TestCluster::new(1);
    cluster.submit(large(1));
    cluster.run(20);
    let _ = cluster.agent.finish(Time::from_seconds(cluster.now));
    let mut kept = cluster.slurms_state();
    suspended_by_operator(kept.get_mut(&1).expect("is there"));
    cluster.kill_and_start_with(kept);
    cluster.run(20);
    assert_eq!(
        cluster.state(1),
        ObservedState::Suspended,
        "an administrator's doing"
    );
    assert!(cluster.calls().is_empty());
}

#[test]
fn no_job_is_aborted_in_shadow_mode() {
    let (mut cluster, kept) = job_parked_for_another();
    let mut shadow = config();
    shadow.mode = dfrs_proto::conf::Mode::Shadow;
    cluster.slurm.0.borrow_mut().jobs = kept;
    cluster.reopen(shadow);
    cluster.run(30);
    assert_eq!(cluster.count("abort on n0 2"), 0);
}
