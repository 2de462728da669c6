//! Jobs that live on less than they asked for.

use super::*;
use dfrs_core::Need;
use dfrs_proto::conf::Needs;
use dfrs_proto::message::JobState;

fn measured() -> Config {
    Config {
        needs: Needs::Measured,
        ..config()
    }
}

/// Two jobs that ask for all four CPUs of the only node.
fn two(config: Config) -> Story {
    let mut story = Story::with_config(1, config);
    story.submit(job(1, 4));
    story.submit(job(2, 4));
    story.run(1);
    assert_eq!(story.shares("n0"), [0.5, 0.5]);
    story
}

/// The nodes say that this job needs so many eighths.
fn say(story: &mut Story, id: u32, eighths: u8) {
    let mut nodes = story.daemons.0.borrow_mut();
    if eighths == 8 {
        nodes.facts.needs.remove(&id);
    } else {
        nodes.facts.needs.insert(id, Need::from_eighths(eighths));
    }
}

fn order(story: &Story, id: u32) -> JobState {
    let nodes = story.daemons.0.borrow();
    let orders = nodes.orders["n0"].jobs.iter();
    *orders.clone().find(|job| job.id == id).expect("is there")
}

fn close(shares: &[f64], wanted: &[f64]) {
    let mut pairs = shares.iter().zip(wanted);
    let same = pairs.all(|(share, wanted)| (share - wanted).abs() < 1e-6);
    assert!(same && shares.len() == wanted.len(), "{shares:?}");
}

#[test]
fn who_needs_less_leaves_the_rest_to_others_at_once_and_has_it_back_when_it_wakes() {
    let mut story = two(measured());
    say(&mut story, 1, 2);
    story.run_with(1, 1);
    close(&story.shares("n0"), &[0.2, 0.8]);
    assert_eq!(order(&story, 1).need.eighths(), 2);
    assert_eq!(
        order(&story, 1).request.map(|share| share.fraction()),
        Some(1.0)
    );
    assert_eq!(order(&story, 2).need, Need::WHOLE);
    say(&mut story, 1, 8);
    story.run(1);
    close(&story.shares("n0"), &[0.5, 0.5]);
}

#[test]
fn a_yield_is_of_the_request_and_decisions_remember_the_need() {
    let mut story = two(measured());
    say(&mut story, 1, 2);
    story.run(101);
    let record = story.agent.ledger.get(1).expect("is known");
    assert!((record.share().0 - 0.2).abs() < 1e-6);
    let now = Time(story.now * SECOND);
    let told = story.agent.explanation(1, None, now).expect("is there");
    assert!((told.r#yield - 0.2).abs() < 1e-6 && (told.need - 0.25).abs() < 1e-9);
    assert!(
        told.notes.iter().any(|note| note.contains("2/8")),
        "{:?}",
        told.notes
    );
    story.agent.pass(now).expect("looks");
    let record = story.agent.ledger.get(1).expect("is known");
    let (done, had) = (record.virtual_time(), record.virtual_time_by_need());
    assert!((done.seconds() - 20.0).abs() < 2.0, "{done:?}");
    assert!((had.seconds() - 80.0).abs() < 2.0, "{had:?}");
}

#[test]
fn nobody_is_asked_where_needs_are_as_requested() {
    let mut story = two(config());
    assert_eq!(order(&story, 1).request, None);
    say(&mut story, 1, 2);
    story.run(10);
    close(&story.shares("n0"), &[0.5, 0.5]);
}

#[test]
fn who_has_to_be_over_by_a_time_counts_with_all() {
    let mut story = two(measured());
    say(&mut story, 1, 2);
    story.run(1);
    let deadline = story.now + 10_000;
    let change = |story: &Story| {
        let mut world = story.slurm.0.borrow_mut();
        world.jobs.get_mut(&1).expect("is there").deadline = deadline;
    };
    change(&story);
    story.run(6);
    close(&story.shares("n0"), &[0.5, 0.5]);
    assert_eq!(order(&story, 1).request, None);
}

#[test]
fn a_job_that_was_parked_or_began_again_counts_with_all() {
    let mut story = Story::with_config(1, measured());
    story.submit(sized(1, 600));
    story.submit(job(2, 4));
    story.run(20);
    say(&mut story, 1, 4);
    story.run(1);
    let need = |story: &Story| {
        let record = story.agent.ledger.get(1).expect("is known");
        record.need.eighths()
    };
    assert_eq!(need(&story), 4);
    story.submit(sized(3, 600));
    story.run(3);
    assert_eq!(story.state(1), ObservedState::Suspended);
    assert_eq!(need(&story), 8);
    // What is parked is not asked about: the nodes forget it, too.
    say(&mut story, 1, 8);
    story.slurm.0.borrow_mut().end(3);
    story.run(20);
    assert_eq!((story.state(1), need(&story)), (ObservedState::Running, 8));
    say(&mut story, 1, 4);
    story.run(1);
    assert_eq!(need(&story), 4);
    {
        // Requeued and started again between two looks.
        let mut world = story.slurm.0.borrow_mut();
        world.jobs.get_mut(&1).expect("is there").restarts += 1;
    }
    story.run(6);
    assert_eq!(need(&story), 8);
}

#[test]
fn another_agent_learns_needs_anew() {
    let mut story = two(measured());
    say(&mut story, 1, 2);
    story.run(1);
    let state = story.agent.state();
    assert!(
        state
            .ledger
            .get(1)
            .is_some_and(|record| record.need.is_less())
    );
    *story.store.0.borrow_mut() = state;
    story.reopen(config());
    story.run(1);
    close(&story.shares("n0"), &[0.5, 0.5]);
}
