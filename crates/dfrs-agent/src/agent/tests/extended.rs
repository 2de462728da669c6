//! Time limits that were extended, of jobs that are back in the queue.

use super::*;

/// Minutes.
const GIVEN: u32 = 100;

/// Eight jobs share the CPUs of four of them; what was added to their limits of a hundred minutes.
fn slowed_down(first: ObservedJob) -> (Story, u32) {
    let mut story = Story::new(2);
    story.slurm.0.borrow_mut().nodes[1].up = false;
    for id in 1..=8 {
        let one = if id == 1 { first.clone() } else { job(id, 1) };
        story.submit(ObservedJob {
            limit_minutes: GIVEN,
            end_time: 2000 + i64::from(GIVEN) * 60,
            ..one
        });
    }
    story.run(310);
    let added = limit(&story) - GIVEN;
    assert!(added > 0, "half of its need is not all of it");
    story.calls();
    (story, added)
}

/// The limit of the first of them, in minutes.
fn limit(story: &Story) -> u32 {
    story.slurm.0.borrow().jobs[&1].limit_minutes
}

fn change(story: &Story, change: impl FnOnce(&mut ObservedJob)) {
    let mut world = story.slurm.0.borrow_mut();
    change(world.jobs.get_mut(&1).expect("is there"));
    let now = world.updates;
    world.updates = now + 1;
}

/// `scontrol requeue`, or a preemption.
fn requeued(job: &mut ObservedJob) {
    job.state = ObservedState::Pending;
    job.completing = true;
    job.restarts += 1;
}

fn position(calls: &[String], call: &str) -> usize {
    let found = calls.iter().position(|made| made == call);
    found.unwrap_or_else(|| panic!("no {call} in {calls:?}"))
}

#[test]
fn one_that_others_requeue_or_that_loses_its_node_has_its_own_limit_again() {
    for loses_node in [false, true] {
        let (mut story, added) = slowed_down(job(1, 1));
        if loses_node {
            story.slurm.0.borrow_mut().lose_node(1);
        } else {
            change(&story, requeued);
        }
        story.run(1);
        assert_eq!(limit(&story), GIVEN);
        story.run(30);
        assert_eq!(story.state(1), ObservedState::Running);
        let calls = story.calls();
        let taken = position(&calls, &format!("take back {added} 1"));
        assert!(taken < position(&calls, "start 1"), "{calls:?}");
        assert!(limit(&story) <= GIVEN + 1, "nothing of its former run");
    }
}

#[test]
fn one_that_dfrs_requeues_goes_on_from_its_checkpoint_with_its_own_limit() {
    let (mut story, added) = slowed_down(ObservedJob {
        memory: 200,
        comment: "dfrs:checkpoint".into(),
        ..job(1, 1)
    });
    // There is room for it only in the place of the first, which alone can give way.
    story.daemons.0.borrow_mut().facts.can_park.clear();
    story.submit(sized(9, 300));
    story.run(12);
    let calls = story.calls();
    assert!(position(&calls, "requeue 1") < position(&calls, &format!("take back {added} 1")));
    assert_eq!(limit(&story), GIVEN);
    story.slurm.0.borrow_mut().end(9);
    story.run(30);
    assert_eq!(story.state(1), ObservedState::Running);
    let record = story.agent.ledger.get(1).expect("is known");
    assert!(record.virtual_time() > Span(60 * SECOND), "it goes on");
    assert!(limit(&story) <= GIVEN + 1);
}

#[test]
fn what_operators_and_users_changed_stays() {
    for (before, after) in [
        // An hour more; all but ten minutes less, though more than that was added; a minute less.
        (GIVEN + 60, GIVEN + 60),
        (10, 10),
        (GIVEN - 1, GIVEN),
    ] {
        let (mut story, added) = slowed_down(job(1, 1));
        change(&story, |job| {
            job.limit_minutes = if before == 10 { 10 } else { before + added };
            requeued(job);
        });
        story.run(1);
        assert_eq!(limit(&story), after, "{before}");
        // Once, and not again when it is requeued for another reason.
        change(&story, |job| job.restarts += 1);
        story.run(1);
        assert_eq!(limit(&story), after, "{before}");
    }
}

#[test]
fn what_was_added_is_known_after_slurmctld_was_killed() {
    let (mut story, added) = slowed_down(job(1, 1));
    story.reopen(config());
    story.run(2);
    assert_eq!(limit(&story), GIVEN + added, "it is not added again");
    change(&story, requeued);
    story.reopen(config());
    story.run(2);
    assert_eq!(limit(&story), GIVEN);
}

#[test]
fn what_is_given_back_has_its_own_limit_and_a_trial_changes_nothing() {
    for (mode, left) in [("off", 0), ("shadow", 1)] {
        let (mut story, added) = slowed_down(job(1, 1));
        change(&story, requeued);
        let now = Time(story.now * SECOND);
        if mode == "off" {
            story.agent.stand_down(now).expect("looks");
        } else {
            let text = "Mode=shadow\nPartition=dfrs Mobility=park\n";
            story.reopen(Config::parse(text, "dfrs.conf").expect("a configuration"));
            story.run(2);
        }
        assert_eq!(limit(&story), GIVEN + left * added, "{mode}");
    }
}

#[test]
fn each_run_of_a_crontab_has_the_limit_of_the_first() {
    for is_seen_to_end in [false, true] {
        let (mut story, _) = slowed_down(ObservedJob {
            cron: true,
            ..job(1, 1)
        });
        if is_seen_to_end {
            change(&story, |job| {
                job.state = ObservedState::Ended;
                job.completing = true;
            });
            story.run(1);
        }
        change(&story, |job| {
            requeued(job);
            job.submit_time += 60;
        });
        story.run(1);
        assert_eq!(limit(&story), GIVEN, "{is_seen_to_end}");
    }
}
