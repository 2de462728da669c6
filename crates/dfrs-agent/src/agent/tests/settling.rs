//! Jobs whose processes may still be being launched are not paused.

use super::*;

/// Every kind of job is left alone until its time is over.
#[test]
fn a_job_is_not_paused_before_it_has_settled() {
    let ways = [
        ("park", "suspend 1"),
        ("checkpoint", "warn 1"),
        ("restart", "requeue 1"),
    ];
    for (mobility, pause) in ways {
        let mut story = Story::new(1);
        // Before that nobody is requeued, settled or not.
        story.run(20);
        story.submit(ObservedJob {
            comment: format!("dfrs:{mobility}"),
            ..large(1)
        });
        story.run(3);
        story.submit(large(2));
        story.run(6);
        assert_eq!(story.calls(), ["start 1"], "{mobility}");
        assert_eq!(story.state(2), ObservedState::Pending, "{mobility}");
        // As soon as it has: not at the next period, which is 600 s away.
        story.run(2);
        assert_eq!(story.calls()[0], pause, "{mobility}");
    }
}

#[test]
fn each_step_has_to_settle() {
    let mut story = Story::new(1);
    story.submit(large(1));
    story.run(20);
    story.begin_step(1);
    story.submit(large(2));
    story.run(9);
    assert_eq!(story.calls(), ["start 1"]);
    story.run(3);
    assert_eq!(story.calls()[..2], ["suspend 1", "release 1"]);
    assert_eq!(story.state(2), ObservedState::Running);
}

/// Its processes were launched long ago.
#[test]
fn a_job_that_came_back_may_be_paused_at_once() {
    let mut story = Story::new(1);
    story.submit(large(1));
    story.run(20);
    story.submit(large(2));
    story.run(12);
    story.slurm.0.borrow_mut().end(2);
    story.run(1);
    assert_eq!(story.state(1), ObservedState::Running);
    story.submit(large(3));
    story.run(1);
    assert_eq!(story.state(3), ObservedState::Running);
}

#[test]
fn nodes_of_a_job_that_came_back_are_told_again_while_it_runs() {
    let mut story = Story::new(1);
    story.submit(large(1));
    story.run(20);
    story.submit(large(2));
    story.run(12);
    story.slurm.0.borrow_mut().end(2);
    story.run(14);
    let told = |story: &Story| std::mem::take(&mut story.slurm.0.borrow_mut().told_again);
    assert!(told(&story).is_empty(), "slurmctld tries itself");
    story.run(3);
    assert_eq!(told(&story), [1]);
    story.run(60);
    assert_eq!(told(&story), [1]);
    story.slurm.0.borrow_mut().end(1);
    story.run(300);
    assert!(told(&story).is_empty());
}

#[test]
fn another_job_is_paused_in_its_place() {
    let mut story = Story::new(2);
    story.submit(large(1));
    story.run(20);
    story.submit(large(2));
    story.run(20);
    // The first has had more than the second, and would be the one to go.
    story.begin_step(1);
    story.submit(large(3));
    story.run(2);
    assert_eq!(
        story.calls(),
        ["start 1", "start 2", "suspend 2", "release 2", "start 3"]
    );
}

#[test]
fn a_job_with_step_after_step_is_paused_when_they_end() {
    let mut story = Story::new(1);
    story.submit(large(1));
    story.run(20);
    story.submit(large(2));
    for _ in 0..20 {
        story.begin_step(1);
        story.run(5);
    }
    assert_eq!(story.calls(), ["start 1"]);
    story.run(10);
    assert_eq!(story.calls(), ["suspend 1", "release 1", "start 2"]);
}

#[test]
fn nobody_is_paused_for_a_job_that_no_longer_waits() {
    let mut story = Story::new(1);
    story.submit(large(1));
    story.run(3);
    story.submit(large(2));
    story.run(2);
    story.slurm.0.borrow_mut().end(2);
    story.run(20);
    assert_eq!(story.calls(), ["start 1"]);
}

#[test]
fn without_a_settle_time_jobs_are_paused_at_once() {
    let mut config = config();
    config.settle_time = Span(0);
    let mut story = Story::with_config(1, config);
    story.submit(large(1));
    story.run(1);
    story.submit(large(2));
    story.run(1);
    assert_eq!(story.state(1), ObservedState::Suspended);
}
