//! What Slurm's own tools show of yields.

use super::*;
use dfrs_proto::conf::JobField;

fn showing() -> Config {
    Config {
        show_yield_in: Some(JobField::AdminComment),
        ..config()
    }
}

fn shown(story: &Story) -> Vec<(u32, Option<u32>)> {
    std::mem::take(&mut story.slurm.0.borrow_mut().shown)
}

/// One job runs, and its yield was just shown.
fn one_shown() -> Story {
    let mut story = Story::with_config(1, showing());
    story.submit(large(1));
    story.run(12);
    assert_eq!(shown(&story), [(1, Some(100))]);
    story
}

#[test]
fn yields_are_shown_as_they_change_and_not_before_a_job_begins() {
    let mut story = one_shown();
    story.run(30);
    assert_eq!(shown(&story), [], "nothing has changed");
    story.submit(large(2));
    story.run(12);
    assert_eq!(
        shown(&story),
        [(1, Some(0)), (2, Some(100))],
        "the first is parked"
    );
    story.submit(ObservedJob {
        held: true,
        priority: 0,
        ..large(3)
    });
    story.run(12);
    assert_eq!(shown(&story), [], "it has not begun");
    story.slurm.0.borrow_mut().end(2);
    story.run(12);
    assert_eq!(shown(&story), [(1, Some(100)), (2, None)]);
}

#[test]
fn what_is_shown_is_taken_away_when_dfrs_gives_back_or_begins_anew() {
    let mut story = one_shown();
    story.agent.show_no_yields();
    story.agent.show_no_yields();
    assert_eq!(shown(&story), [(1, None)]);
    let mut story = one_shown();
    let given_back = story.agent.stand_down(Time((story.now + 1) * SECOND));
    assert_eq!(given_back, Ok(0));
    assert_eq!(shown(&story), [(1, None)]);
}

#[test]
fn nothing_is_shown_unless_somebody_asks_for_it() {
    let mut story = Story::new(1);
    story.submit(large(1));
    story.run(30);
    assert_eq!(shown(&story), []);
}
