//! slurmctld is killed, and its own state is older than what DFRS did last.

use std::collections::BTreeMap;

use super::*;

/// What Slurm has kept.
type Kept = BTreeMap<u32, ObservedJob>;

impl Story {
    fn slurms_state(&self) -> Kept {
        self.slurm.0.borrow().jobs.clone()
    }

    /// `kill -9`: nothing is said to the old agent, and Slurm shows what it has kept.
    fn kill_and_start_with(&mut self, kept: Kept) {
        self.slurm.0.borrow_mut().jobs = kept;
        self.reopen(config());
        self.calls();
    }

    fn count(&self, call: &str) -> usize {
        let world = self.slurm.0.borrow();
        world.calls.iter().filter(|made| *made == call).count()
    }
}

/// Job 1 is parked for job 2, on the only node. With it what Slurm showed before.
fn one_parked_for_the_other() -> (Story, Kept) {
    let mut story = Story::new(1);
    story.submit(large(1));
    story.run(20);
    story.submit(large(2));
    let kept = story.slurms_state();
    story.run(2);
    assert_eq!(
        (story.state(1), story.state(2)),
        (ObservedState::Suspended, ObservedState::Running)
    );
    (story, kept)
}

#[test]
fn a_forgotten_resumption_is_repeated_before_its_room_is_given_away() {
    let (mut story, _) = one_parked_for_the_other();
    let mut kept = story.slurms_state();
    kept.remove(&2);
    story.slurm.0.borrow_mut().end(2);
    story.run(2);
    assert_eq!(story.state(1), ObservedState::Running);
    kept.insert(3, large(3));
    story.kill_and_start_with(kept);
    story.run(1);
    assert_eq!(story.calls().first().map(String::as_str), Some("claim 1"));
    story.run(60);
    assert_ne!(story.state(1), story.state(3), "one of them runs");
}

#[test]
fn a_forgotten_suspension_is_repeated_and_its_memory_released() {
    let (mut story, kept) = one_parked_for_the_other();
    story.kill_and_start_with(kept);
    story.run(2);
    assert_eq!(story.calls(), ["abort on n0 2", "suspend 1"]);
    // Its nodes have said since before that it is parked; slurmd hears of the suspension by then.
    story.run(3);
    assert_eq!(story.count("release 1"), 1);
}

#[test]
fn a_forgotten_start_is_repeated_when_its_processes_are_gone_for_sure() {
    let (mut story, kept) = one_parked_for_the_other();
    story.kill_and_start_with(kept);
    story.run(15);
    assert_eq!(
        (story.count("abort on n0 2"), story.count("start 2")),
        (1, 0)
    );
    story.run(60);
    assert_eq!(story.count("start 2"), 1);
}

#[test]
fn a_slurmctld_that_ended_in_order_is_believed() {
    let mut story = Story::new(1);
    story.submit(large(1));
    story.run(20);
    let _ = story.agent.finish(Time(story.now * SECOND));
    let mut kept = story.slurms_state();
    suspended_by_operator(kept.get_mut(&1).expect("is there"));
    story.kill_and_start_with(kept);
    story.run(20);
    assert_eq!(
        story.state(1),
        ObservedState::Suspended,
        "an administrator's doing"
    );
    assert!(story.calls().is_empty());
}

#[test]
fn in_shadow_no_node_is_told_to_end_anything() {
    let (mut story, kept) = one_parked_for_the_other();
    let mut shadow = config();
    shadow.mode = dfrs_proto::conf::Mode::Shadow;
    story.slurm.0.borrow_mut().jobs = kept;
    story.reopen(shadow);
    story.run(30);
    assert_eq!(story.count("abort on n0 2"), 0);
}
