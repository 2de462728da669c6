//! Decisions that take too long.

use super::*;

/// A pass in which a decision takes too long.
fn pass_in_vain(story: &mut Story) -> PassReport {
    let now = Time(story.now * SECOND);
    story.slurm.0.borrow_mut().updates = story.now;
    let report = story.agent.pass_while(now, &|| false);
    report.expect("the model can be looked at")
}

#[test]
fn a_decision_that_is_ended_starts_nothing_and_is_taken_again_later() {
    let mut story = Story::new(1);
    story.submit(job(1, 1));
    let report = pass_in_vain(&mut story);
    assert_eq!((report.started, report.ended_decisions), (0, 1));
    let said = story.slurm.0.borrow().errors.clone();
    let [line] = &said[..] else {
        panic!("one line: {said:?}")
    };
    assert!(line.contains("tried again in 10 s"), "{line}");

    // What comes meanwhile waits for it, too, though it could be decided about.
    story.now += 1;
    story.submit(job(2, 1));
    story.run(8);
    assert_eq!(story.state(1), ObservedState::Pending);
    assert_eq!(story.state(2), ObservedState::Pending);

    // Once more in vain: the next pause is longer.
    story.now += 1;
    assert_eq!(pass_in_vain(&mut story).ended_decisions, 2);
    story.run(19);
    assert_eq!(story.state(1), ObservedState::Pending);
    story.run(3);
    assert_eq!(story.state(1), ObservedState::Running);
    assert_eq!(story.state(2), ObservedState::Running);
    assert_eq!(story.slurm.0.borrow().errors.len(), 2, "a line for each");
}
