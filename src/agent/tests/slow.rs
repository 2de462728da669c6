//! Steps that take long, as on machines that have much else to do.

use super::*;

/// A job with so much memory.
fn sized(id: u32, memory: u64) -> ObservedJob {
    ObservedJob {
        memory,
        ..job(id, 1)
    }
}

#[test]
fn memory_that_two_wait_for_is_given_away_once() {
    let mut story = Story::new("slow-two-wait", 1);
    story.submit(ObservedJob {
        comment: "dfrs:checkpoint".into(),
        warn_seconds: 5,
        ..sized(1, 600)
    });
    story.run(20);
    story.submit(ObservedJob {
        comment: "dfrs:never".into(),
        ..sized(4, 300)
    });
    story.run(1);
    // It waits for the first job's memory, and the next for what that leaves of it.
    story.submit(sized(2, 400));
    story.run(1);
    story.submit(sized(3, 300));
    story.run(1);
    assert_eq!(story.state(3), ObservedState::Pending);
    // Each of the two fits now, before the first job has gone, but not both.
    story.slurm.0.borrow_mut().end(4);
    story.run(1);
    assert!(story.breaker.is_active());
    assert_eq!(
        (story.state(2), story.state(3)),
        (ObservedState::Running, ObservedState::Pending)
    );
    story.run(5);
    assert_eq!(story.state(3), ObservedState::Running);
}
