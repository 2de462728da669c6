//! Time limits that were extended, of jobs that are back in the queue.

use super::*;

/// Minutes.
const GIVEN: u32 = 100;

/// Eight jobs share the CPUs of four of them; what was added to their limits of a hundred minutes.
fn slowed_down(first: ObservedJob) -> (TestCluster, u32) {
    let mut cluster = TestCluster::new(2);
    cluster.slurm.0.borrow_mut().nodes[1].up = false;
    for id in 1..=8 {
        let one = if id == 1 { first.clone() } else { job(id, 1) };
        cluster.submit(ObservedJob {
            limit_minutes: GIVEN,
            end_seconds: 2000 + i64::from(GIVEN) * 60,
            ..one
        });
    }
    cluster.run(310);
    let added = limit(&cluster) - GIVEN;
    assert!(added > 0, "half of its need is not all of it");
    cluster.calls();
    (cluster, added)
}

/// The limit of the first of them, in minutes.
fn limit(cluster: &TestCluster) -> u32 {
    cluster.slurm.0.borrow().jobs[&1].limit_minutes
}

fn change(cluster: &TestCluster, change: impl FnOnce(&mut ObservedJob)) {
    let mut slurmctld = cluster.slurm.0.borrow_mut();
    change(slurmctld.jobs.get_mut(&1).expect("is there"));
    let now = slurmctld.updates;
    slurmctld.updates = now + 1;
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
fn limit_is_restored_when_job_is_requeued_or_loses_its_node() {
    for loses_node in [false, true] {
        let (mut cluster, added) = slowed_down(job(1, 1));
        if loses_node {
            cluster.slurm.0.borrow_mut().lose_node(1);
        } else {
            change(&cluster, requeued);
        }
        cluster.run(1);
        assert_eq!(limit(&cluster), GIVEN);
        cluster.run(30);
        assert_eq!(cluster.state(1), ObservedState::Running);
        let calls = cluster.calls();
        let taken = position(&calls, &format!("take back {added} 1"));
        assert!(taken < position(&calls, "start 1"), "{calls:?}");
        assert!(limit(&cluster) <= GIVEN + 1, "nothing of its former run");
    }
}

#[test]
fn limit_is_restored_when_dfrs_requeues_a_checkpoint_job() {
    let (mut cluster, added) = slowed_down(
        ObservedJob {
            comment: "dfrs:checkpoint".into(),
            ..job(1, 1)
        }
        .requesting(|request| request.memory = 200),
    );
    // There is room for it only in the place of the first, which alone can be preempted.
    cluster.daemons.0.borrow_mut().facts.can_park.clear();
    cluster.submit(sized(9, 300));
    cluster.run(12);
    let calls = cluster.calls();
    assert!(position(&calls, "requeue 1") < position(&calls, &format!("take back {added} 1")));
    assert_eq!(limit(&cluster), GIVEN);
    cluster.slurm.0.borrow_mut().end(9);
    cluster.run(30);
    assert_eq!(cluster.state(1), ObservedState::Running);
    let record = cluster.agent.ledger.get(1).expect("is known");
    assert!(record.virtual_time() > Span::from_seconds(60), "it goes on");
    assert!(limit(&cluster) <= GIVEN + 1);
}

#[test]
fn limit_changed_by_operator_or_user_is_kept() {
    for (before, after) in [
        // An hour more; all but ten minutes less, though more than that was added; a minute less.
        (GIVEN + 60, GIVEN + 60),
        (10, 10),
        (GIVEN - 1, GIVEN),
    ] {
        let (mut cluster, added) = slowed_down(job(1, 1));
        change(&cluster, |job| {
            job.limit_minutes = if before == 10 { 10 } else { before + added };
            requeued(job);
        });
        cluster.run(1);
        assert_eq!(limit(&cluster), after, "{before}");
        // Once, and not again when it is requeued for another reason.
        change(&cluster, |job| job.restarts += 1);
        cluster.run(1);
        assert_eq!(limit(&cluster), after, "{before}");
    }
}

#[test]
fn extension_is_known_after_slurmctld_is_killed() {
    let (mut cluster, added) = slowed_down(job(1, 1));
    cluster.reopen(config());
    cluster.run(2);
    assert_eq!(limit(&cluster), GIVEN + added, "it is not added again");
    change(&cluster, requeued);
    cluster.reopen(config());
    cluster.run(2);
    assert_eq!(limit(&cluster), GIVEN);
}

#[test]
fn limit_is_restored_on_give_back_but_not_in_shadow_mode() {
    for (mode, left) in [("off", 0), ("shadow", 1)] {
        let (mut cluster, added) = slowed_down(job(1, 1));
        change(&cluster, requeued);
        let now = Time::from_seconds(cluster.now);
        if mode == "off" {
            cluster.agent.give_back(now).expect("looks");
        } else {
            let text = "Mode=shadow\nPartition=dfrs Mobility=park\n";
            cluster.reopen(Config::parse(text, "dfrs.conf").expect("a configuration"));
            cluster.run(2);
        }
        assert_eq!(limit(&cluster), GIVEN + left * added, "{mode}");
    }
}

#[test]
fn each_run_of_a_crontab_has_the_limit_of_the_first() {
    for is_seen_to_end in [false, true] {
        let (mut cluster, _) = slowed_down(ObservedJob {
            cron: true,
            ..job(1, 1)
        });
        if is_seen_to_end {
            change(&cluster, |job| {
                job.state = ObservedState::Ended;
                job.completing = true;
            });
            cluster.run(1);
        }
        change(&cluster, |job| {
            requeued(job);
            job.submit_seconds += 60;
        });
        cluster.run(1);
        assert_eq!(limit(&cluster), GIVEN, "{is_seen_to_end}");
    }
}
