//! Cores that Slurm counts again: it refuses starts until they are hidden.

use super::*;

/// How often they were hidden.
fn hidden(story: &Story) -> usize {
    let calls = story.calls();
    calls.iter().filter(|call| *call == "hide").count()
}

fn count_cores(story: &Story) {
    story.slurm.0.borrow_mut().cores_counted = true;
}

#[test]
fn they_are_hidden_at_the_look_that_shows_them_before_anybody_starts() {
    let mut story = Story::new(1);
    count_cores(&story);
    story.submit(job(1, 1));
    story.run(1);
    let calls = story.calls();
    let order = ["hide", "start 1"].map(|what| calls.iter().position(|call| call == what));
    assert_eq!(order, [Some(0), Some(1)], "{calls:?}");
}

#[test]
fn they_are_hidden_as_soon_as_a_change_of_a_partition_has_them_counted_again() {
    let mut story = Story::new(1);
    story.submit(job(1, 1));
    story.run(5);
    assert_eq!(hidden(&story), 0, "nothing was counted");
    count_cores(&story);
    story.submit(job(2, 1));
    story.run(1);
    assert_eq!(story.state(2), ObservedState::Running);
    assert_eq!(hidden(&story), 1);
}

#[test]
fn who_counts_them_again_and_again_is_followed_ever_more_rarely() {
    let mut story = Story::new(1);
    for _ in 0..30 {
        count_cores(&story);
        story.run_with(1, 4);
        count_cores(&story);
    }
    // After 1, 2, 4, 8 and 10 s.
    let before = hidden(&story);
    assert!((5..=6).contains(&before), "{before}");
    // Once is as soon as before, after a while without.
    story.run(30);
    count_cores(&story);
    story.run(1);
    count_cores(&story);
    story.run(2);
    assert_eq!(hidden(&story), 3, "the last one from before, and two");
}
