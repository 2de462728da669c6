//! What counts as a wait, and what is a submission.

use super::*;

fn waits_since(story: &Story, id: u32) -> i64 {
    story.agent.ledger.get(id).expect("a record").waits_since()
}

/// Slurm finds that the job waits for no other one any more.
fn release(story: &Story, id: u32) {
    let mut world = story.slurm.0.borrow_mut();
    world.dependent.remove(&id);
    world.jobs.get_mut(&id).expect("is there").eligible_time = story.now;
}

#[test]
fn a_wait_for_another_job_or_a_release_does_not_count() {
    let mut story = Story::new(1);
    story.slurm.0.borrow_mut().dependent.insert(1);
    let late = |id, held| ObservedJob {
        submit_time: 1990,
        held,
        ..job(id, 1)
    };
    story.submit(late(1, false));
    story.submit(late(2, false));
    story.submit(late(3, true));
    story.run(1000);
    assert_eq!(waits_since(&story, 1), 1990);
    let released = story.now;
    story
        .slurm
        .0
        .borrow_mut()
        .jobs
        .get_mut(&3)
        .expect("is there")
        .held = false;
    release(&story, 1);
    release(&story, 3);
    story.run(20);
    assert_eq!(story.state(1), ObservedState::Running);
    assert_eq!(
        [1, 2, 3].map(|id| waits_since(&story, id)),
        [released, 1990, released]
    );
    let record = story.agent.ledger.get(1).expect("a record");
    assert_eq!(record.submit_time, 1990);
    // It is known after a restart, too.
    let _ = story.agent.finish(Time(story.now * SECOND));
    story.reopen(config());
    story.run(1);
    assert_eq!(waits_since(&story, 1), released);
}

#[test]
fn a_task_of_an_array_that_waited_has_not_waited() {
    let mut story = Story::new(1);
    story.run(1000);
    story.submit(ObservedJob {
        submit_time: 1990,
        eligible_time: 2900,
        ..job(1, 1)
    });
    story.run(20);
    assert_eq!(waits_since(&story, 1), 2900);
}

#[test]
fn the_wait_of_a_job_that_has_had_a_place_counts_on() {
    let mut story = Story::new(1);
    story.submit(job(1, 1));
    story.run(20);
    let before = waits_since(&story, 1);
    let mut world = story.slurm.0.borrow_mut();
    world.dependent.insert(1);
    world.lose_node(1);
    drop(world);
    story.run(50);
    release(&story, 1);
    story.run(20);
    assert_eq!(story.state(1), ObservedState::Running);
    assert_eq!(waits_since(&story, 1), before);
}

#[test]
fn each_run_of_a_crontab_is_a_submission_of_its_own() {
    let mut story = Story::new(1);
    story.submit(ObservedJob {
        cron: true,
        ..job(1, 1)
    });
    story.run(100);
    let mut world = story.slurm.0.borrow_mut();
    world.lose_node(1);
    world.dependent.insert(1);
    let again = story.now;
    world.jobs.get_mut(&1).expect("is there").submit_time = again;
    drop(world);
    story.run(500);
    let record = story.agent.ledger.get(1).expect("a record");
    assert_eq!((record.submit_time, record.restarts), (again, 1));
    release(&story, 1);
    story.run(20);
    assert_eq!(story.state(1), ObservedState::Running);
    assert_eq!(waits_since(&story, 1), again + 500);
}

#[test]
fn a_job_with_devices_is_not_parked() {
    let mut story = Story::new(1);
    let whole = |id| ObservedJob {
        memory: 900,
        ..job(id, 1)
    };
    story.submit(ObservedJob {
        holds_gres: true,
        ..whole(1)
    });
    story.run(20);
    story.submit(whole(2));
    story.run(100);
    assert_eq!(story.state(1), ObservedState::Running);
    assert_eq!(story.state(2), ObservedState::Pending);
}
