//! `Mode=shadow`: it looks and decides, and changes nothing.

use super::*;

fn shadow() -> Config {
    Config {
        mode: dfrs_proto::conf::Mode::Shadow,
        ..config()
    }
}

/// What DFRS would do with this job, by what it decided last.
fn would(story: &Story, id: u32) -> Option<String> {
    let now = Time(story.now * SECOND);
    let told = story.agent.explanation(id, None, now).expect("is there");
    told.last_change.map(|change| change.what)
}

#[test]
fn nothing_is_decided_about_jobs_that_something_else_than_room_holds_back() {
    let mut story = Story::with_config(1, shadow());
    story.slurm.0.borrow_mut().held_back.insert(1);
    story.submit(job(1, 1));
    story.submit(job(2, 1));
    story.run(20);
    assert_eq!(would(&story, 1), None, "it depends on another");
    assert_eq!(would(&story, 2).as_deref(), Some("start"));
    story.slurm.0.borrow_mut().held_back.clear();
    story.run(10);
    assert_eq!(would(&story, 1).as_deref(), Some("start"));
    assert!(story.calls().is_empty());
    let world = story.slurm.0.borrow();
    assert!(!world.gate_asked, "it writes the reasons of jobs");
}

#[test]
fn a_job_that_a_limit_begins_to_hold_back_is_noticed() {
    let mut story = Story::with_config(1, shadow());
    story.submit(large(1));
    story.run(2);
    assert!(story.agent.admission.ready().contains(&1));
    story.slurm.0.borrow_mut().held_back.insert(1);
    story.run(10);
    assert!(!story.agent.admission.ready().contains(&1));
    story.slurm.0.borrow_mut().held_back.clear();
    story.run(10);
    assert!(story.agent.admission.ready().contains(&1));
}
