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
fn a_job_resumed_when_its_memory_is_free_runs_on_and_is_left_alone_for_a_while() {
    let mut story = resumed_on_its_way_back();
    story.slurm.0.borrow_mut().end(2);
    story.daemons.0.borrow_mut().parking_takes = 0;
    story.run(1);
    assert_eq!(story.calls(), ["claim 1"]);
    story.run(11);
    story.submit(large(3));
    story.run(500);
    assert_eq!(story.calls(), [] as [&str; 0]);
    story.run(150);
    assert_eq!(story.calls(), ["suspend 1", "release 1", "start 3"]);
}

#[test]
fn a_job_resumed_beside_one_that_has_its_node_for_itself_is_stopped_until_that_is_over() {
    let mut config = config();
    config.settle_time = Span(0);
    let mut story = Story::with_config(1, config);
    story.submit(sized(1, 400));
    story.run(11);
    story.submit(ObservedJob {
        exclusive: true,
        ..sized(2, 600)
    });
    story.run(4);
    assert_eq!(
        story.calls(),
        ["start 1", "suspend 1", "release 1", "start 2"]
    );
    let mut world = story.slurm.0.borrow_mut();
    world.jobs.get_mut(&1).expect("is there").state = ObservedState::Running;
    drop(world);
    story.run(2);
    assert_eq!(
        story.calls(),
        ["suspend 1"],
        "its memory would fit, but the node is another's"
    );
    story.slurm.0.borrow_mut().end(2);
    story.run(2);
    assert_eq!(story.calls(), ["claim 1", "resume 1"]);
}

/// The first job is parked for the second.
fn one_parked() -> Story {
    let mut config = config();
    config.period = Span(100_000 * SECOND);
    config.policy.settings.period = config.period;
    config.settle_time = Span(0);
    let mut story = Story::with_config(1, config);
    story.submit(large(1));
    story.run(11);
    story.submit(large(2));
    story.run(5);
    assert_eq!(
        story.calls(),
        ["start 1", "suspend 1", "release 1", "start 2"]
    );
    story
}

fn reason(story: &Story) -> Option<String> {
    story.slurm.0.borrow().reasons.get(&1).cloned()
}

#[test]
fn a_parked_job_that_an_operator_wants_suspended_waits_for_the_operator() {
    let mut story = one_parked();
    story.suspend_by_operator(1);
    story.run(1);
    assert_eq!(
        reason(&story).as_deref(),
        Some("DFRS: suspended by an operator, who can resume it")
    );
    story.slurm.0.borrow_mut().end(2);
    story.run(60);
    assert_eq!(story.calls(), [] as [&str; 0]);
    let mut world = story.slurm.0.borrow_mut();
    let job = world.jobs.get_mut(&1).expect("is there");
    (job.state, job.priority) = (ObservedState::Running, 1000);
    drop(world);
    story.run(1);
    assert_eq!(story.calls(), ["claim 1"]);
    assert_eq!(reason(&story), None, "it runs");
}

#[test]
fn a_parked_job_that_an_operator_resumes_gets_the_memory_that_becomes_free_first() {
    let mut story = one_parked();
    let mut world = story.slurm.0.borrow_mut();
    world.jobs.get_mut(&1).expect("is there").state = ObservedState::Running;
    drop(world);
    story.submit(large(3));
    story.run(30);
    assert_eq!(story.calls(), ["suspend 1"], "there is no memory for it");
    assert!(reason(&story).is_some_and(|text| text.contains("resumed by an operator")));
    story.slurm.0.borrow_mut().end(2);
    story.run(30);
    assert_eq!(story.calls(), ["claim 1", "resume 1"], "before job 3");
    assert_eq!(reason(&story), None, "it runs");
}

#[test]
fn a_job_that_is_resumed_while_it_is_being_parked_runs_on() {
    let mut config = config();
    config.settle_time = Span(0);
    let mut story = Story::with_config(1, config);
    story.daemons.0.borrow_mut().parking_takes = 10;
    story.submit(large(1));
    story.run(11);
    story.submit(large(2));
    story.run(3);
    assert_eq!(story.calls(), ["start 1", "suspend 1"]);
    let mut world = story.slurm.0.borrow_mut();
    world.jobs.get_mut(&1).expect("is there").state = ObservedState::Running;
    drop(world);
    story.run(100);
    assert_eq!(story.calls(), [] as [&str; 0]);
    assert_eq!(story.state(1), ObservedState::Running);
    assert!(!story.daemons.0.borrow().orders["n0"].jobs[0].frozen);
}

/// As Slurm does with a job whose prolog fails ("launch failed requeued held").
#[test]
fn of_a_job_that_slurm_requeues_and_holds_nothing_is_said() {
    let mut story = Story::new(1);
    story.submit(large(1));
    story.run(3);
    assert_eq!(story.state(1), ObservedState::Running);
    let mut world = story.slurm.0.borrow_mut();
    let job = world.jobs.get_mut(&1).expect("is there");
    (job.state, job.completing) = (ObservedState::Pending, true);
    (job.priority, job.held, job.restarts) = (0, true, 1);
    job.places.clear();
    drop(world);
    for completing in [true, false] {
        let mut world = story.slurm.0.borrow_mut();
        world.jobs.get_mut(&1).expect("is there").completing = completing;
        world.updates += 1;
        drop(world);
        for _ in 0..40 {
            story.run(1);
            assert_eq!(reason(&story), None);
        }
    }
}
