//! Plans that break a rule by one job, or by none that could be left out.

use dfrs_core::{Action, Cluster, JobId, Mapping, NodeIndex, Plan, Violation, check};

use super::*;

/// The violations if job 1 gets a task less than it requests wherever it starts.
fn check_with_missing_task(cluster: &Cluster, plan: &Plan) -> Vec<Violation> {
    let mut plan = plan.clone();
    for planned in &mut plan.actions {
        if let Action::Start(JobId(1), mapping) = &mut planned.action {
            *mapping = Mapping::from_tasks([NodeIndex(0)]);
        }
    }
    check(cluster, &plan)
}

/// The violations if every plan names a job that does not exist.
fn check_with_unknown_job(cluster: &Cluster, plan: &Plan) -> Vec<Violation> {
    let mut plan = plan.clone();
    for planned in &mut plan.actions {
        planned.action = Action::Pause(JobId(99));
    }
    check(cluster, &plan)
}

/// Job 1, by which plans break a rule, and ten others.
fn eleven_jobs() -> TestCluster {
    let mut cluster = TestCluster::new(1);
    cluster.agent.planner.check = check_with_missing_task;
    cluster.submit(job(1, 2));
    for id in 2..=11 {
        cluster.submit(job(id, 1));
    }
    cluster
}

fn errors(cluster: &TestCluster) -> Vec<String> {
    cluster.slurm.0.borrow().errors.clone()
}

#[test]
fn other_jobs_start_in_same_pass_when_one_job_breaks_a_rule() {
    let mut cluster = eleven_jobs();
    // One pass of one decision, which is taken twice.
    cluster.run_with(1, 1);
    let running = (2..=11).filter(|id| cluster.state(*id) == ObservedState::Running);
    assert_eq!(running.count(), 10);
    assert_eq!(cluster.state(1), ObservedState::Pending);
    let errors = errors(&cluster);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].starts_with("plan dropped, it is invalid: ")
            && errors[0].ends_with("; decision retried without JobId=1, for 60 s"),
        "{errors:?}"
    );
    assert_eq!(
        cluster.slurm.0.borrow().reasons[&1],
        "DFRS: excluded from decisions for a while, its plan was invalid (task count); see slurmctld's log"
    );
}

#[test]
fn excluded_job_is_retried_with_growing_backoff_and_one_log_line() {
    let mut cluster = eleven_jobs();
    let mut tried = Vec::new();
    for second in 1..500 {
        // Others come and go all the time.
        let id = 100 + u32::try_from(second).expect("few");
        cluster.submit(job(id, 1));
        cluster.run(1);
        if errors(&cluster).len() > tried.len() {
            tried.push(second);
        }
        cluster.slurm.0.borrow_mut().end(id);
    }
    assert_eq!(tried, [1, 61, 181, 421]);
    assert_eq!(errors(&cluster).len(), 4);
    assert_eq!(cluster.state(1), ObservedState::Pending);
}

#[test]
fn excluded_job_starts_when_its_plan_is_valid_again() {
    let mut cluster = eleven_jobs();
    cluster.run(1);
    cluster.agent.planner.check = check;
    cluster.run(58);
    assert_eq!(cluster.state(1), ObservedState::Pending);
    cluster.run(3);
    assert_eq!(cluster.state(1), ObservedState::Running);
    assert_eq!(
        cluster.agent.planner.excluded.next(),
        None,
        "it is forgotten"
    );
    assert_eq!(cluster.slurm.0.borrow().reasons.get(&1), None);
}

#[test]
fn excluded_job_is_retried_under_a_submission_only_policy() {
    let mut config = config();
    config.policy = "Greedy/per".parse().expect("a policy");
    let mut cluster = TestCluster::with_config(1, config);
    cluster.agent.planner.check = check_with_missing_task;
    cluster.submit(job(1, 2));
    cluster.run(2);
    cluster.agent.planner.check = check;
    cluster.run(60);
    assert_eq!(cluster.state(1), ObservedState::Running);
}

#[test]
fn decision_is_retried_when_no_job_can_be_excluded() {
    let mut cluster = TestCluster::new(1);
    cluster.agent.planner.check = check_with_unknown_job;
    cluster.submit(job(1, 1));
    let mut dropped = Vec::new();
    for second in 0..40 {
        let now = Time::from_seconds(cluster.now + second);
        let report = cluster.agent.pass(now).expect("looks");
        if report.dropped_plans > 0 {
            dropped.push((second, report.dropped_plans));
        }
    }
    assert_eq!(dropped, [(0, 1), (10, 2), (30, 3)]);
    assert_eq!(cluster.state(1), ObservedState::Pending);
    let errors = errors(&cluster);
    assert_eq!(
        errors[1],
        "decision dropped: no valid plan (1 in a row): nothing is started or moved; retry in 10 s"
    );
    cluster.agent.planner.check = check;
    cluster.run(80);
    assert_eq!(cluster.state(1), ObservedState::Running);
}
