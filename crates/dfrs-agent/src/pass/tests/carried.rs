//! Jobs that are carried, and what others do to them meanwhile.

use dfrs_core::Mobility;
use dfrs_proto::message::JobOrder;

use super::*;

fn carrying() -> Config {
    let mut config = config();
    config.partitions[0].mobility = Mobility::Carry;
    config
}

/// Job 1, which can be carried, runs on the only node, and job 2 is to have its place.
fn job_to_be_carried() -> TestCluster {
    let mut cluster = TestCluster::with_config(1, carrying());
    cluster.submit(large(1));
    cluster.run(10);
    cluster.say_carriable(1, true);
    cluster.run(10);
    cluster.submit(large(2));
    cluster
}

impl TestCluster {
    fn say_carriable(&mut self, id: u32, can_be: bool) {
        let mut nodes = self.daemons.0.borrow_mut();
        nodes.facts.carriable.insert(id, can_be);
    }

    /// Another pass, a second later, in which no process ends.
    fn pass(&mut self) {
        self.now += 1;
        self.slurm.0.borrow_mut().updates = self.now;
        self.daemons.0.borrow_mut().advance(self.now);
        let now = Time::from_seconds(self.now);
        self.agent.pass(now).expect("the fake can be looked at");
    }

    /// Passes until Slurm shows the job so.
    fn pass_until(&mut self, id: u32, state: ObservedState) {
        for _ in 0..20 {
            if self.state(id) == state {
                return;
            }
            self.pass();
        }
        panic!("{id} is {:?}", self.state(id));
    }

    /// What the node is to do with the job.
    fn order(&self, id: u32) -> Option<JobOrder> {
        let nodes = self.daemons.0.borrow();
        let mut jobs = nodes.orders["n0"].jobs.iter();
        jobs.find(|job| job.id == id).copied()
    }

    fn processes_gone(&self, id: u32) {
        self.slurm.0.borrow_mut().processes_gone(id);
    }
}

/// Job 1 is stopped, and its image is complete, or is being written.
fn job_stopped_for_its_image(is_complete: bool) -> TestCluster {
    let mut cluster = TestCluster::with_config(1, carrying());
    cluster.submit(large(1));
    cluster.run(5);
    cluster.say_carriable(1, true);
    cluster.run(5);
    // It is not requeued in the first 20 s.
    cluster.submit(large(2));
    cluster.daemons.0.borrow_mut().parking_seconds = if is_complete { 0 } else { 1000 };
    for _ in 0..3 {
        cluster.pass();
    }
    let order = cluster.order(1).expect("it has one");
    assert!(order.frozen && order.image, "{order:?}");
    cluster
}

impl TestCluster {
    /// `scontrol requeue`.
    fn requeue_by_operator(&mut self, id: u32) {
        let mut slurmctld = self.slurm.0.borrow_mut();
        let job = slurmctld.jobs.get_mut(&id).expect("is there");
        job.state = ObservedState::Pending;
        (job.completing, job.restarts) = (true, job.restarts + 1);
        slurmctld.updates += 1;
    }

    fn has_logged(&self, words: &str) -> bool {
        let slurmctld = self.slurm.0.borrow();
        slurmctld.infos.iter().any(|line| line.contains(words))
    }

    /// Its order, if it is over on its node: whether its image is kept, and whether it is void.
    fn end_order(&self, id: u32) -> Option<(bool, bool)> {
        let order = self.order(id).filter(|order| order.ended)?;
        Some((order.image, order.void))
    }

    fn explained(&self, id: u32) -> dfrs_proto::explain::Explanation {
        let now = Time::from_seconds(self.now);
        let explanation = self.agent.explanation(id, None, now);
        explanation.expect("the job is there")
    }
}

#[test]
fn job_that_is_handed_back_stays_stopped_until_only_its_image_is_left() {
    let mut cluster = job_to_be_carried();
    cluster.pass_until(1, ObservedState::Pending);
    for left in [1, 1, 0, 0] {
        cluster.now += 1;
        let now = Time::from_seconds(cluster.now);
        if left == 0 {
            cluster.processes_gone(1);
        }
        assert_eq!(cluster.agent.give_back(now).expect("looks"), left);
        assert_eq!(
            cluster.end_order(1),
            Some((true, false)),
            "also when it is late"
        );
    }
}

#[test]
fn job_that_is_requeued_by_an_operator_goes_on_from_its_complete_image() {
    let mut cluster = job_stopped_for_its_image(true);
    let done = cluster.explained(1).virtual_time;
    cluster.requeue_by_operator(1);
    cluster.pass();
    assert_eq!(cluster.end_order(1), Some((true, false)));
    assert!(cluster.has_logged("it goes on from its image"));
    cluster.processes_gone(1);
    cluster.run(5);
    let paused = cluster.explained(1);
    assert_eq!(paused.phase, "paused with its image");
    assert!((paused.virtual_time - done).abs() < 1.0, "{paused:?}");
    assert!(
        paused
            .why
            .expect("waits")
            .starts_with("DFRS: paused with its image; ")
    );
    assert!(paused.notes[0].contains("its next run goes on from it"));
}

#[test]
fn image_of_a_job_that_is_requeued_before_it_is_complete_is_void() {
    let mut cluster = job_stopped_for_its_image(false);
    cluster.requeue_by_operator(1);
    cluster.pass();
    assert_eq!(cluster.end_order(1), Some((false, true)));
    assert!(cluster.has_logged("restarts: its image is removed"));
    cluster.processes_gone(1);
    cluster.calls();
    cluster.run(10);
    assert!(!cluster.calls().contains(&"clear 1".to_owned()), "not yet");
    cluster.daemons.0.borrow_mut().parking_seconds = 0;
    cluster.run(3);
    assert!(cluster.calls().contains(&"clear 1".to_owned()));
    assert_eq!(cluster.end_order(1), None);
    assert_eq!(cluster.explained(1).virtual_time, 0.0);
}

#[test]
fn removal_of_a_void_image_is_not_waited_for_forever() {
    let mut cluster = job_stopped_for_its_image(false);
    cluster.requeue_by_operator(1);
    cluster.pass();
    cluster.processes_gone(1);
    cluster.run(130);
    assert!(cluster.has_logged("removal of its image on n0 abandoned: timeout"));
    assert!(cluster.calls().contains(&"clear 1".to_owned()));
}

#[test]
fn requeue_that_slurmctld_forgot_is_repeated() {
    let mut cluster = job_to_be_carried();
    let kept = cluster.slurm.0.borrow().jobs.clone();
    cluster.pass_until(1, ObservedState::Pending);
    cluster.processes_gone(1);
    cluster.run(2);
    assert_eq!(cluster.state(2), ObservedState::Running);
    let done = cluster.explained(1).virtual_time;
    cluster.slurm.0.borrow_mut().jobs = kept;
    cluster.slurm.0.borrow_mut().end(2);
    cluster.reopen(carrying());
    cluster.run(1);
    assert!(cluster.has_logged("had been requeued: DFRS repeats it"));
    let order = cluster.order(1).expect("it has one");
    assert!(order.frozen && order.image, "what is left stays stopped");
    cluster.run(30);
    // It has gone on from its image.
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(cluster.slurm.0.borrow().jobs[&1].restarts, 1);
    assert!(cluster.explained(1).virtual_time >= done);
}

#[test]
fn job_that_is_held_after_a_failed_restore_keeps_its_progress_and_says_why() {
    let mut cluster = job_to_be_carried();
    cluster.pass_until(1, ObservedState::Pending);
    cluster.processes_gone(1);
    cluster.run(2);
    let done = cluster.explained(1).virtual_time;
    cluster.slurm.0.borrow_mut().end(2);
    cluster.run(4);
    assert_eq!(cluster.state(1), ObservedState::Running);
    // RequeueExitHold.
    cluster.requeue_by_operator(1);
    {
        let mut slurmctld = cluster.slurm.0.borrow_mut();
        let job = slurmctld.jobs.get_mut(&1).expect("is there");
        (job.held, job.on_hold) = (true, true);
    }
    cluster.pass();
    assert_eq!(cluster.end_order(1), Some((true, false)));
    cluster.processes_gone(1);
    cluster.run(5);
    let held = cluster.explained(1);
    assert!(held.virtual_time >= done && done > 0.0, "{held:?}");
    let why = held.why.expect("waits");
    assert!(
        why.starts_with("DFRS: its image could not be restored on n0")
            && why.contains("'scontrol release 1'"),
        "{why}"
    );
    assert_eq!(cluster.slurm.0.borrow().reasons[&1], why);
}

#[test]
fn image_of_a_job_that_is_over_is_removed_before_its_id_is_used_again() {
    let mut cluster = job_to_be_carried();
    cluster.pass_until(1, ObservedState::Pending);
    cluster.processes_gone(1);
    cluster.run(2);
    cluster.daemons.0.borrow_mut().parking_seconds = 1000;
    cluster.slurm.0.borrow_mut().end(1);
    cluster.run(1);
    assert_eq!(cluster.end_order(1), Some((false, true)));
    cluster.slurm.0.borrow_mut().end(2);
    cluster.reopen(carrying());
    cluster.run(1);
    assert_eq!(
        cluster.end_order(1),
        Some((false, true)),
        "it is kept in the state"
    );
    let reused = ObservedJob {
        submit_seconds: cluster.now,
        ..large(1)
    };
    cluster.submit(reused);
    cluster.run(25);
    assert_eq!(cluster.state(1), ObservedState::Pending);
    cluster.daemons.0.borrow_mut().parking_seconds = 0;
    cluster.run(30);
    assert!(cluster.has_logged("its image is removed"));
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(cluster.end_order(1), None);
}

#[test]
fn job_says_whether_its_node_can_carry_it() {
    let mut cluster = TestCluster::with_config(1, carrying());
    cluster.submit(large(1));
    cluster.run(5);
    for (said, words) in [
        (None, "n0 has not said"),
        (Some(true), "n0 says that it can be"),
        (Some(false), "'dfrsd inspect --job 1'"),
    ] {
        if let Some(can_be) = said {
            cluster.say_carriable(1, can_be);
        }
        cluster.run(1);
        let explained = cluster.explained(1);
        assert!(
            explained.notes.iter().any(|note| note.contains(words)),
            "{explained:?}"
        );
        let mobility = if said == Some(true) { "carry" } else { "park" };
        assert_eq!(explained.mobility, mobility);
    }
}
