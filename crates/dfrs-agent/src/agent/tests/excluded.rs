//! Plans that break a rule by one job, or by none that could be left out.

use dfrs_core::{Action, Cluster, JobId, Mapping, NodeIndex, Plan, Violation, check};

use super::*;

/// What is found if job 1 gets a task less than it asks for wherever it starts.
fn a_task_is_missing(cluster: &Cluster, plan: &Plan) -> Vec<Violation> {
    let mut plan = plan.clone();
    for planned in &mut plan.actions {
        if let Action::Start(JobId(1), mapping) = &mut planned.action {
            *mapping = Mapping::from_tasks([NodeIndex(0)]);
        }
    }
    check(cluster, &plan)
}

/// What is found if every plan names a job that nobody knows.
fn a_job_is_unknown(cluster: &Cluster, plan: &Plan) -> Vec<Violation> {
    let mut plan = plan.clone();
    for planned in &mut plan.actions {
        planned.action = Action::Pause(JobId(99));
    }
    check(cluster, &plan)
}

/// Job 1, by which plans break a rule, and ten others.
fn eleven_jobs() -> Story {
    let mut story = Story::new(1);
    story.agent.check = a_task_is_missing;
    story.submit(job(1, 2));
    for id in 2..=11 {
        story.submit(job(id, 1));
    }
    story
}

fn errors(story: &Story) -> Vec<String> {
    story.slurm.0.borrow().errors.clone()
}

#[test]
fn others_start_in_the_same_pass_when_a_plan_breaks_a_rule_by_one_job() {
    let mut story = eleven_jobs();
    // One pass of one decision, which is taken twice.
    story.run_with(1, 1);
    let running = (2..=11).filter(|id| story.state(*id) == ObservedState::Running);
    assert_eq!(running.count(), 10);
    assert_eq!(story.state(1), ObservedState::Pending);
    let errors = errors(&story);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0].starts_with("plan dropped, it breaks a rule: ")
            && errors[0].ends_with("; decided again without job 1, for 60 s"),
        "{errors:?}"
    );
    assert_eq!(
        story.slurm.0.borrow().reasons[&1],
        "DFRS: left out of decisions for a while, as a plan for it broke a rule (task count); slurmctld's log has more"
    );
}

#[test]
fn a_job_that_is_left_out_is_tried_ever_more_rarely_with_one_line_each_time() {
    let mut story = eleven_jobs();
    let mut tried = Vec::new();
    for second in 1..500 {
        // Others come and go all the time.
        let id = 100 + u32::try_from(second).expect("few");
        story.submit(job(id, 1));
        story.run(1);
        if errors(&story).len() > tried.len() {
            tried.push(second);
        }
        story.slurm.0.borrow_mut().end(id);
    }
    assert_eq!(tried, [1, 61, 181, 421]);
    assert_eq!(errors(&story).len(), 4);
    assert_eq!(story.state(1), ObservedState::Pending);
}

#[test]
fn a_job_that_is_left_out_starts_when_a_plan_with_it_is_good() {
    let mut story = eleven_jobs();
    story.run(1);
    story.agent.check = check;
    story.run(58);
    assert_eq!(story.state(1), ObservedState::Pending);
    story.run(3);
    assert_eq!(story.state(1), ObservedState::Running);
    assert_eq!(story.agent.excluded.next(), None, "it is forgotten");
    assert_eq!(story.slurm.0.borrow().reasons.get(&1), None);
}

#[test]
fn a_job_is_left_out_until_its_turn_by_policies_that_decide_about_submissions_only() {
    let mut config = config();
    config.policy = "Greedy/per".parse().expect("a policy");
    let mut story = Story::with_config(1, config);
    story.agent.check = a_task_is_missing;
    story.submit(job(1, 2));
    story.run(2);
    story.agent.check = check;
    story.run(60);
    assert_eq!(story.state(1), ObservedState::Running);
}

#[test]
fn a_decision_is_taken_again_later_when_no_job_can_be_left_out() {
    let mut story = Story::new(1);
    story.agent.check = a_job_is_unknown;
    story.submit(job(1, 1));
    let mut dropped = Vec::new();
    for second in 0..40 {
        let now = Time((story.now + second) * SECOND);
        let report = story.agent.pass(now).expect("looks");
        if report.dropped_plans > 0 {
            dropped.push((second, report.dropped_plans));
        }
    }
    assert_eq!(dropped, [(0, 1), (10, 2), (30, 3)]);
    assert_eq!(story.state(1), ObservedState::Pending);
    let errors = errors(&story);
    assert_eq!(
        errors[1],
        "a decision was dropped, as no plan keeps the rules (1 in a row): it starts and moves nothing; tried again in 10 s"
    );
    story.agent.check = check;
    story.run(80);
    assert_eq!(story.state(1), ObservedState::Running);
}
