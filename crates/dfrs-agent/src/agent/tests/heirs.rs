//! Jobs of users who had much of the machine lately.

use super::*;

/// The default policy, where a pause of so many seconds is too long.
fn with_longest_pause(seconds: i64) -> Config {
    let text = format!(
        "Mode=full\nSwapPerNode=10000\nMovesPerHour=unlimited\nLongestPause={seconds}\nPartition=dfrs\n"
    );
    Config::parse(&text, "dfrs.conf").expect("a good configuration")
}

/// User 1000 has had an hour when job 1 ends; job 2 is another one of theirs.
fn after_an_hour(config: Config) -> Story {
    let mut story = Story::with_config(1, config);
    story.submit(large(1));
    story.run_with(3600, 1);
    story.slurm.0.borrow_mut().end(1);
    story.run(2);
    story.submit(large(2));
    story.run(12);
    assert_eq!(story.state(2), ObservedState::Running);
    story
}

fn inherited(story: &Story, id: u32) -> i64 {
    story.agent.ledger.get(id).expect("is known").inherited.0 / SECOND
}

fn of_another_user(id: u32) -> ObservedJob {
    ObservedJob {
        user: 1001,
        ..large(id)
    }
}

#[test]
fn a_job_inherits_what_its_user_had_lately() {
    let mut story = after_an_hour(with_longest_pause(86_400));
    let had = inherited(&story, 2);
    assert!((2900..3000).contains(&had), "{had}");
    // It has hardly run, but it is not new: who is gets its place at once.
    story.submit(of_another_user(3));
    story.run(3);
    assert_eq!(inherited(&story, 3), 0);
    assert_eq!(story.state(3), ObservedState::Running);
    assert_eq!(story.state(2), ObservedState::Suspended);
}

#[test]
fn under_the_papers_policies_no_job_inherits() {
    let story = after_an_hour(config());
    assert_eq!(inherited(&story, 2), 0);
}

#[test]
fn who_inherits_waits_no_longer_than_who_is_paused() {
    let mut story = after_an_hour(with_longest_pause(120));
    // New ones of others come all the time, each as soon as the last one has ended.
    story.submit(large(4));
    let mut waited = 0;
    for id in 10..30 {
        story.submit(of_another_user(id));
        for _ in 0..50 {
            story.run_with(1, 4);
            waited += i64::from(story.state(4) == ObservedState::Pending);
        }
        if story.state(id) == ObservedState::Running {
            story.slurm.0.borrow_mut().end(id);
        }
    }
    assert!(waited < 300, "{waited}");
}
