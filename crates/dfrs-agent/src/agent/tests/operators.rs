//! Operators who suspend and resume jobs themselves.

use super::*;

/// The first job is parked for the second, and `scontrol resume 1` comes while it waits for the
/// memory of the second, which is still being parked for it.
fn resumed_on_its_way_back() -> Story {
    let mut config = config();
    config.period = Span(20 * SECOND);
    config.policy.settings.period = config.period;
    config.settle_time = Span(0);
    let mut story = Story::with_config(1, config);
    story.submit(large(1));
    story.run(11);
    story.submit(large(2));
    story.run(28);
    story.daemons.0.borrow_mut().parking_takes = 10;
    story.run(4);
    assert_eq!(
        story.calls(),
        ["start 1", "suspend 1", "release 1", "start 2", "suspend 2"]
    );
    let mut world = story.slurm.0.borrow_mut();
    world.jobs.get_mut(&1).expect("is there").state = ObservedState::Running;
    drop(world);
    story
}

#[test]
fn a_job_resumed_on_its_way_back_is_stopped_until_its_memory_is_free() {
    let mut story = resumed_on_its_way_back();
    story.run(1);
    assert_eq!(story.calls(), ["suspend 1"]);
    story.run(10);
    assert_eq!(story.state(1), ObservedState::Running);
    assert_eq!(story.calls(), ["release 2", "claim 1", "resume 1"]);
}

#[test]
fn a_job_resumed_when_its_memory_is_free_runs_on_and_can_be_parked_again() {
    let mut story = resumed_on_its_way_back();
    story.slurm.0.borrow_mut().end(2);
    story.daemons.0.borrow_mut().parking_takes = 0;
    story.run(1);
    assert_eq!(story.calls(), ["claim 1"]);
    story.run(11);
    story.submit(large(3));
    story.run(2);
    assert_eq!(story.calls(), ["suspend 1", "release 1", "start 3"]);
}
