//! Limits that let some of several jobs start, of which each alone may.

use super::*;

const USER: u32 = 7;

/// Four full nodes, and a user who may have one job with nodes.
fn full() -> Story {
    let mut story = Story::new(4);
    story.slurm.0.borrow_mut().most_of_user.insert(USER, 1);
    (1..=4).for_each(|id| story.submit(large(id)));
    story.run(20);
    assert_eq!(story.calls().len(), 4);
    story
}

fn submit_three(story: &mut Story, first: u32) {
    for id in first..first + 3 {
        story.submit(ObservedJob {
            user: USER,
            ..large(id)
        });
    }
}

fn suspensions(story: &Story) -> usize {
    let calls = story.calls();
    calls
        .iter()
        .filter(|call| call.starts_with("suspend"))
        .count()
}

#[test]
fn room_is_made_in_vain_once_and_then_for_one_job_at_a_time() {
    let mut story = full();
    submit_three(&mut story, 11);
    story.run(30);
    assert_eq!(suspensions(&story), 3, "each alone may start");
    let running = (11..14).filter(|id| story.state(*id) == ObservedState::Running);
    assert_eq!(running.count(), 1);
    // He withdraws what waits, and when all are back, and his job has ended, submits three more.
    for id in (11..14).filter(|id| story.state(*id) == ObservedState::Pending) {
        story.slurm.0.borrow_mut().end(id);
    }
    story.run(60);
    (11..14).for_each(|id| story.slurm.0.borrow_mut().end(id));
    story.run(60);
    assert!((1..=4).all(|id| story.state(id) == ObservedState::Running));
    story.calls();
    submit_three(&mut story, 21);
    story.run(30);
    assert_eq!(suspensions(&story), 1);
    let running = (21..24).filter(|id| story.state(*id) == ObservedState::Running);
    assert_eq!(running.count(), 1);
}
