//! Arrays whose tasks get records of their own.

use super::*;

/// A node full of one job, and an array in the queue.
fn one_behind_another() -> Story {
    let mut story = Story::new(1);
    story.submit(large(1));
    story.run(5);
    story.submit(ObservedJob {
        array: 5,
        array_master: true,
        ..large(5)
    });
    story
}

fn splits(story: &Story) -> usize {
    let calls = story.calls();
    calls.iter().filter(|call| *call == "split 5 1").count()
}

#[test]
fn tasks_that_are_held_keep_no_others_from_being_made() {
    let mut story = one_behind_another();
    let task = |held| ObservedJob {
        array: 5,
        array_task: 1,
        held,
        ..large(6)
    };
    story.submit(task(false));
    story.run(1);
    assert_eq!(splits(&story), 0, "one is there");
    story.submit(task(true));
    story.run(1);
    assert!(splits(&story) > 0);
}

#[test]
fn an_array_that_slurm_refuses_is_asked_about_ever_more_rarely() {
    let mut story = one_behind_another();
    story.slurm.0.borrow_mut().dependent.insert(5);
    story.run(40);
    let asked = story.slurm.0.borrow().arrays_asked;
    assert!((5..=9).contains(&asked), "{asked}");
    story.slurm.0.borrow_mut().dependent.clear();
    assert_eq!(splits(&story), 0);
    story.run(9);
    assert!(splits(&story) > 0);
}
