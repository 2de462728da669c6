//! Jobs that are warned, and die of it.

use super::*;

/// The first of two jobs, which asks for warnings, was warned to make room for the second.
fn one_is_warned() -> Story {
    let mut story = Story::new(1);
    story.submit(ObservedJob {
        comment: "dfrs:checkpoint".into(),
        ..large(1)
    });
    story.run(20);
    story.submit(large(2));
    for _ in 0..60 {
        story.run(1);
        if story.calls().contains(&"warn 1".to_owned()) {
            return story;
        }
    }
    panic!("it is not warned");
}

/// The warned job's script ends, of the warning or not. `is_shown`: it is still seen to complete.
fn end(story: &Story, of_warning: bool, is_shown: bool) {
    let mut world = story.slurm.0.borrow_mut();
    if of_warning {
        world.died.insert(1);
    }
    let job = world.jobs.get_mut(&1).expect("is there");
    (job.state, job.completing) = (ObservedState::Ended, is_shown);
    if !is_shown {
        job.places.clear();
    }
}

#[test]
fn one_that_dies_of_it_is_queued_again_and_has_done_nothing() {
    for is_shown in [true, false] {
        let mut story = one_is_warned();
        end(&story, true, is_shown);
        story.run(1);
        assert!(story.calls().contains(&"requeue warned 1".to_owned()));
        story.slurm.0.borrow_mut().end(2);
        story.run(60);
        assert_eq!(story.state(1), ObservedState::Running, "{is_shown}");
        let record = story.agent.ledger.get(1).expect("is known");
        assert!(record.virtual_time() <= Span(60 * SECOND));
    }
}

#[test]
fn one_that_ends_by_itself_is_over() {
    let mut story = one_is_warned();
    end(&story, false, true);
    story.run(1);
    assert_eq!(story.state(1), ObservedState::Ended);
    assert!(story.agent.ledger.get(1).is_none());
}
