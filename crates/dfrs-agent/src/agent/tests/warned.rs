//! Jobs that end after they were warned.

use super::*;
use crate::slurm::Ending;

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

/// The warned job's script ends by itself, or is cancelled. `is_shown`: it is still seen to complete.
fn end(story: &Story, by_itself: Option<Ending>, is_shown: bool) {
    let mut world = story.slurm.0.borrow_mut();
    if let Some(ending) = by_itself {
        world.endings.insert(1, ending);
    }
    let job = world.jobs.get_mut(&1).expect("is there");
    (job.state, job.completing) = (ObservedState::Ended, is_shown);
    if !is_shown {
        job.places.clear();
    }
}

/// The warned job ends so by itself, is queued again, and runs for at most a minute more. Its virtual time when it
/// ended, and after that.
fn queued_again_after(ending: Ending, is_shown: bool) -> (Span, Span) {
    let mut story = one_is_warned();
    let virtual_time = |story: &Story| {
        let record = story.agent.ledger.get(1).expect("is known");
        record.virtual_time()
    };
    let done = virtual_time(&story);
    end(&story, Some(ending), is_shown);
    story.run(1);
    assert!(story.calls().contains(&"requeue warned 1".to_owned()));
    story.slurm.0.borrow_mut().end(2);
    story.run(60);
    assert_eq!(story.state(1), ObservedState::Running, "{is_shown}");
    (done, virtual_time(&story))
}

#[test]
fn one_that_dies_of_it_is_queued_again_and_has_done_nothing() {
    for is_shown in [true, false] {
        let (_, after) = queued_again_after(Ending::Failed, is_shown);
        assert!(after <= Span(60 * SECOND));
    }
}

#[test]
fn one_that_saves_and_ends_is_queued_again_and_goes_on() {
    for is_shown in [true, false] {
        let (done, after) = queued_again_after(Ending::Saved, is_shown);
        assert!(after > done);
    }
}

#[test]
fn one_that_was_not_warned_is_over_when_it_ends() {
    let mut story = Story::new(1);
    story.submit(ObservedJob {
        comment: "dfrs:checkpoint".into(),
        ..large(1)
    });
    story.run(20);
    end(&story, Some(Ending::Saved), true);
    story.run(1);
    assert_eq!(story.state(1), ObservedState::Ended);
    assert!(story.agent.ledger.get(1).is_none());
}

#[test]
fn one_that_is_cancelled_is_over() {
    let mut story = one_is_warned();
    end(&story, None, true);
    story.run(1);
    assert_eq!(story.state(1), ObservedState::Ended);
    assert!(story.agent.ledger.get(1).is_none());
}
