//! Steps that take long, as on machines that have much else to do.

use dfrs_core::Bytes;

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

/// Two jobs on one node, for which a third one makes one of them leave; what nodes say of the first.
fn beside_one_that_cannot_leave_ram() -> Story {
    let mut config = config();
    config.settle_time = Span(0);
    let mut story = Story::with_config(1, config);
    story.daemons.0.borrow_mut().parking_takes = 1;
    story.submit(sized(1, 500));
    story.submit(sized(2, 450));
    story.run(20);
    story.calls();
    story.daemons.0.borrow_mut().cannot_be_parked.insert(1);
    story
}

#[test]
fn a_job_that_cannot_leave_ram_is_known_at_once_and_others_are_parked_in_its_place() {
    let mut story = beside_one_that_cannot_leave_ram();
    // Only the first one would make enough room.
    story.submit(sized(3, 550));
    story.run(10);
    assert_eq!(story.calls(), ["suspend 1", "resume 1"]);
    story.submit(sized(4, 450));
    story.run(20);
    let calls = story.calls();
    assert_eq!(calls[..3], ["suspend 2", "release 2", "start 4"]);
    assert_eq!(story.state(1), ObservedState::Running);
}

#[test]
fn a_job_that_cannot_leave_ram_is_tried_after_a_minute_then_two_then_an_hour() {
    let mut story = beside_one_that_cannot_leave_ram();
    let mut tried = Vec::new();
    for id in 3..53 {
        story.submit(sized(id, 550));
        story.run_with(100, 1);
        let calls = story.calls();
        tried.extend(calls.contains(&"suspend 1".into()).then_some(id));
    }
    assert_eq!(tried, [3, 4, 6, 43]);
}

#[test]
fn swap_that_is_in_use_is_not_counted_on() {
    let mut config = config();
    config.swap_per_node = Bytes(1600 << 20);
    let mut story = Story::with_config(1, config);
    story.submit(sized(1, 900));
    story.run(20);
    let parks = |story: &mut Story, eighths| {
        story
            .daemons
            .0
            .borrow_mut()
            .facts
            .set_swap_eighths("n0", Some(eighths));
        story.submit(sized(10 + u32::from(eighths), 900));
        story.run(20);
        story.calls().contains(&"suspend 1".into())
    };
    assert!(!parks(&mut story, 0), "nothing is left");
    assert!(!parks(&mut story, 4), "800 MiB of 900");
    assert!(parks(&mut story, 5), "1000 MiB");
}

#[test]
fn what_an_operator_suspends_keeps_its_swap() {
    let mut config = config();
    config.swap_per_node = Bytes(1000 << 20);
    let mut story = Story::with_config(1, config);
    story.submit(sized(1, 900));
    story.run(20);
    story.submit(sized(2, 900));
    story.run(20);
    assert_eq!(story.state(1), ObservedState::Suspended);
    let suspend = |job: &mut ObservedJob| job.priority = 0;
    story.slurm.0.borrow_mut().jobs.get_mut(&1).map(suspend);
    story.run(20);
    story.calls();
    story.submit(sized(3, 900));
    story.run(60);
    assert_eq!(
        story.calls(),
        Vec::<String>::new(),
        "there is no swap for 2"
    );
}

#[test]
fn nothing_starts_in_the_memory_of_a_job_that_is_not_parked_any_more() {
    let mut story = Story::new(1);
    story.submit(sized(1, 900));
    story.run(20);
    story.submit(sized(2, 900));
    story.run(20);
    assert_eq!(
        story.calls(),
        ["start 1", "suspend 1", "release 1", "start 2"]
    );
    story.daemons.0.borrow_mut().cannot_be_parked.insert(1);
    story
        .daemons
        .0
        .borrow_mut()
        .facts
        .not_parked
        .insert(1, "n0".into());
    story.run(5);
    assert_eq!(story.slurm.0.borrow().errors.len(), 1);
    story.slurm.0.borrow_mut().end(2);
    story.daemons.0.borrow_mut().facts.not_parked.clear();
    story.submit(sized(3, 900));
    story.run(5);
    assert_ne!(story.state(3), ObservedState::Running);
}
