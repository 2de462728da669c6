//! What the reasons of nodes say of the parked jobs that live there.

use super::*;

/// One of two jobs on the first of two nodes is parked.
fn one_is_parked() -> Story {
    let mut story = Story::new(2);
    for id in [1, 2] {
        let on_n0 = Some([0].into());
        story.submit(ObservedJob {
            eligible: on_n0,
            ..large(id)
        });
        story.run(20);
    }
    assert_eq!(
        [1, 2].map(|id| story.state(id)),
        [ObservedState::Suspended, ObservedState::Running]
    );
    story
}

fn take_said(story: &Story) -> Vec<Vec<(String, u32)>> {
    std::mem::take(&mut story.slurm.0.borrow_mut().parked)
}

fn said(parked: u32) -> Vec<(String, u32)> {
    vec![("n0".to_owned(), parked)]
}

#[test]
fn at_first_all_nodes_are_said_to_have_none_and_then_only_what_changes() {
    let mut story = Story::new(2);
    story.run(1);
    let none = |name: &str| (name.to_owned(), 0);
    assert_eq!(take_said(&story), [vec![none("n0"), none("n1")]]);
    story.submit(large(1));
    story.run(60);
    assert!(take_said(&story).is_empty());
}

#[test]
fn how_many_are_parked_is_said_when_it_changes_and_now_and_then() {
    let mut story = one_is_parked();
    assert_eq!(take_said(&story).last(), Some(&said(1)));
    story.run(20);
    assert_eq!(take_said(&story), [said(1), said(1)], "every 10 s");
    story.slurm.0.borrow_mut().end(2);
    story.run(10);
    assert_eq!(story.state(1), ObservedState::Running);
    assert_eq!(take_said(&story), [said(0)]);
    story.run(60);
    assert!(take_said(&story).is_empty());
}

#[test]
fn it_is_said_as_soon_as_a_node_drains() {
    let mut story = one_is_parked();
    story.run(1);
    take_said(&story);
    story.slurm.0.borrow_mut().nodes[0].up = false;
    story.run(1);
    assert_eq!(take_said(&story), [said(1)]);
}

#[test]
fn it_is_said_while_the_cluster_is_given_back_too() {
    let mut story = one_is_parked();
    take_said(&story);
    story.slurm.0.borrow_mut().end(2);
    for second in 0..5 {
        let now = Time((story.now + second) * SECOND);
        story.agent.stand_down(now).expect("can be looked at");
    }
    assert_eq!(story.state(1), ObservedState::Running);
    assert_eq!(take_said(&story).last(), Some(&said(0)));
}

#[test]
fn who_is_parked_is_told_at_once_that_its_node_drains_and_that_it_no_longer_does() {
    let mut story = one_is_parked();
    let reason = |story: &Story| story.slurm.0.borrow().reasons[&1].clone();
    for (up, told) in [(false, true), (true, false)] {
        story.slurm.0.borrow_mut().nodes[0].up = up;
        story.run(1);
        let text = reason(&story);
        assert_eq!(text.contains("n0 drains and waits for it"), told, "{text}");
    }
}
