//! What time limits say of run times, as far as it is true.

use super::*;

const DAY: u32 = 24 * 60;

fn hinted() -> Config {
    let text = "Mode=full\nSwapPerNode=10000\nPolicy=GreedyPMC*/move-per/OPT=VT/MINVT=600\nRunTimeHint=limits\n\
                Partition=dfrs Mobility=park\n";
    Config::parse(text, "dfrs.conf").expect("a configuration")
}

fn limited(id: u32, limit_minutes: u32) -> ObservedJob {
    ObservedJob {
        limit_minutes,
        ..job(id, 1)
    }
}

/// A job that takes all CPUs of the only node.
fn busy_node() -> Story {
    let mut story = Story::with_config(1, hinted());
    story.submit(job(1, 4));
    story.run(20);
    assert_eq!(story.state(1), ObservedState::Running);
    story
}

#[test]
fn a_job_that_says_it_is_long_waits_for_idle_cpus_and_others_do_not() {
    let mut story = busy_node();
    story.submit(limited(2, DAY));
    story.submit(limited(3, 30));
    story.submit(job(4, 1));
    story.run(5);
    let states = [2, 3, 4].map(|id| story.state(id));
    let (waits, runs) = (ObservedState::Pending, ObservedState::Running);
    assert_eq!(states, [waits, runs, runs]);
    story.slurm.0.borrow_mut().end(1);
    story.run(2);
    assert_eq!(story.state(2), runs);
}

#[test]
fn limits_that_were_not_true_are_not_believed_any_more_not_even_after_a_restart() {
    let mut story = Story::with_config(1, hinted());
    story.submit(limited(1, DAY));
    story.run(20);
    story.slurm.0.borrow_mut().end(1);
    story.run(2);
    let _ = story.agent.finish(Time(story.now * SECOND));
    story.reopen(hinted());
    story.submit(job(2, 4));
    story.run(20);
    story.submit(limited(3, DAY));
    story.run(5);
    assert_eq!(story.state(3), ObservedState::Running);
}

#[test]
fn what_was_added_to_a_limit_is_not_what_the_user_said() {
    let mut story = busy_node();
    story.submit(limited(2, 30));
    story.run(5);
    // Twice the time for half of the CPU.
    let mut world = story.slurm.0.borrow_mut();
    world.jobs.get_mut(&2).expect("is there").limit_minutes = 60;
    drop(world);
    story.run(5);
    let record = story.agent.ledger.get(2).expect("a record");
    assert_eq!(record.limit, Some(Span::from_seconds(1800)));
}
