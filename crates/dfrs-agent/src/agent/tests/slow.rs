//! Steps that take long, as on machines that have much else to do.

use super::*;

/// How often the first of two jobs that take turns on a node is parked in 400 s, with a remap every
/// 20 s, if parking takes so many seconds.
fn turns(parking_takes: i64) -> usize {
    let mut config = config();
    config.period = Span(20 * SECOND);
    config.policy.settings.period = config.period;
    config.policy.settings.budget.moves_per_job = None;
    config.settle_time = Span(0);
    let mut story = Story::with_config(1, config);
    story.daemons.0.borrow_mut().parking_takes = parking_takes;
    story.submit(sized(1, 900));
    story.run(15);
    story.submit(sized(2, 900));
    story.run(400);
    let calls = story.calls();
    calls.iter().filter(|call| *call == "release 1").count()
}

#[test]
fn the_slower_jobs_can_be_paused_the_rarer_are_the_remaps() {
    assert_eq!(turns(0), 10, "every second period");
    // In turn four times as long as the other took to leave.
    let slow = turns(10);
    assert!((4..=5).contains(&slow), "{slow} times");
}

/// A node on which parking takes for ever, since its job was to make room for a second one.
fn cannot_park(moves_per_hour: Option<u32>) -> Story {
    let mut config = config();
    config.policy.settings.budget.moves_per_job = moves_per_hour;
    let mut story = Story::with_config(1, config);
    story.daemons.0.borrow_mut().parking_takes = i64::MAX;
    story.submit(sized(1, 900));
    story.run(20);
    story.submit(sized(2, 900));
    story.run(80);
    assert_eq!(story.calls(), ["start 1", "suspend 1", "resume 1"]);
    story
}

#[test]
fn where_parking_took_too_long_it_is_tried_ever_more_rarely() {
    let mut story = cannot_park(None);
    let mut tried = Vec::new();
    // The first time ended at 80; then 60 s, and after the next 120 s.
    for id in 3..43 {
        story.submit(sized(id, 900));
        story.run(10);
        let calls = story.calls();
        tried.extend(
            calls
                .contains(&"suspend 1".into())
                .then_some(story.now - 2000),
        );
    }
    assert_eq!(tried, [150, 330]);
}

#[test]
fn parking_that_took_too_long_counts_as_a_move() {
    let mut story = cannot_park(Some(1));
    story.run(700);
    story.submit(sized(3, 900));
    story.run(1);
    assert_eq!(story.calls(), Vec::<String>::new());
}

#[test]
fn memory_that_two_wait_for_is_given_away_once() {
    let mut story = Story::new(1);
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
    assert_eq!(
        (story.state(2), story.state(3)),
        (ObservedState::Running, ObservedState::Pending)
    );
    story.run(5);
    assert_eq!(story.state(3), ObservedState::Running);
}
