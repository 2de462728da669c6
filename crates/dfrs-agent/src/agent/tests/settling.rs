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

#[test]
fn a_step_every_eight_seconds_is_no_way_to_stay() {
    let mut story = Story::new(1);
    story.submit(large(1));
    for second in 0..120 {
        if second % 8 == 0 && second > 0 {
            story.begin_step(1);
        }
        if second == 100 {
            assert_eq!(story.calls(), ["start 1"]);
            story.submit(large(2));
        }
        story.run(1);
    }
    assert_eq!(story.calls()[..2], ["suspend 1", "release 1"]);
    assert_eq!(story.state(2), ObservedState::Running);
}

#[test]
fn a_hold_on_its_own_job_is_no_way_to_stay() {
    for admin_hold in [false, true] {
        let mut story = Story::new(1);
        story.submit(large(1));
        story.run(20);
        {
            let mut world = story.slurm.0.borrow_mut();
            let job = world.jobs.get_mut(&1).expect("is there");
            (job.held, job.on_hold, job.priority) = (true, true, 0);
            job.admin_hold = admin_hold;
            world.updates += 1;
        }
        story.run(1);
        story.submit(large(2));
        story.run(20);
        let gives_way = story.state(2) == ObservedState::Running;
        assert_eq!(gives_way, !admin_hold, "{:?}", story.calls());
    }
}

/// A job that was parked for another one, which has ended.
fn came_back() -> Story {
    let mut story = Story::new(1);
    story.submit(large(1));
    story.run(20);
    story.submit(large(2));
    story.run(12);
    story.slurm.0.borrow_mut().end(2);
    story.run(1);
    assert_eq!(story.state(1), ObservedState::Running);
    story
}

/// Its processes were launched long ago.
#[test]
fn a_job_that_came_back_may_be_paused_at_once() {
    let mut story = came_back();
    story.submit(large(3));
    story.run(1);
    assert_eq!(story.state(3), ObservedState::Running);
}

/// The jobs whose nodes were told again since somebody looked.
fn told(story: &Story) -> Vec<u32> {
    std::mem::take(&mut story.slurm.0.borrow_mut().told_again)
}

#[test]
fn nodes_of_a_job_that_came_back_are_told_again_while_it_runs() {
    let mut story = came_back();
    story.run(13);
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
fn they_are_told_again_after_a_restart_too_and_while_the_cluster_is_given_back() {
    let mut story = came_back();
    story.reopen(config());
    story.run(16);
    assert_eq!(told(&story), [1]);
    story.reopen(config());
    for second in 0..20 {
        let now = Time((story.now + second) * SECOND);
        story.agent.stand_down(now).expect("can be looked at");
    }
    assert_eq!(told(&story), [1]);
    story.now += 1400;
    story.reopen(config());
    story.run(100);
    assert!(told(&story).is_empty(), "it came back long ago");
}
