//! What must hold of every decision, on random clusters.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Kinds, NOW, carry_out, cases, cluster, policies, policy, trigger};
use dfrs_core::{
    Action, Bytes, Cluster, Cores, Job, JobId, JobState, Mapping, Mobility, Node, NodeIndex,
    NodeState, Plan, Policy, Roster, Trigger, allocate_running_yields, allocate_yields_at, check,
    check_cluster, decide, decide_mappings, packing::pack_all,
};
use proptest::collection::vec;
use proptest::prelude::*;

const ANY: Kinds = Kinds { plain: false };
const PLAIN: Kinds = Kinds { plain: true };

fn places(plan: &Plan) -> Vec<&Action> {
    plan.actions
        .iter()
        .map(|planned| &planned.action)
        .filter(|action| !matches!(action, Action::SetYield(..)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(800)))]

    #[test]
    fn no_plan_violates_an_invariant(cluster in cluster(ANY), policy in policy(), trigger in trigger()) {
        prop_assert_eq!(check_cluster(&cluster), []);
        let plan = decide(&policy, &cluster, NOW, trigger);
        prop_assert_eq!(check(&cluster, &plan), []);
        prop_assert_eq!(check_cluster(&carry_out(&cluster, &plan)), []);
    }

    #[test]
    fn no_task_arrives_above_the_ceiling_on_load(cluster in cluster(ANY), policy in policy(), trigger in trigger()) {
        let Some(ceiling) = policy.settings.load_ceiling else { return Ok(()) };
        let plan = decide(&policy, &cluster, NOW, trigger);
        let after = carry_out(&cluster, &plan);
        let mut loads = vec![Cores::ZERO; cluster.nodes.len()];
        for job in &after.jobs {
            for part in job.running_on().into_iter().flat_map(Mapping::parts) {
                loads[part.node.index()] += job.cpu_of(part);
            }
        }
        for action in places(&plan) {
            let job = cluster.job(action.job()).unwrap();
            for part in action.mapping().into_iter().flat_map(Mapping::parts).filter(|part| job.cpu_of(*part) > Cores::ZERO) {
                let most = ceiling.of(cluster.nodes[part.node.index()].cpu);
                prop_assert!(loads[part.node.index()] <= most, "{:?}: {:?} of {:?}", action, loads[part.node.index()], most);
            }
        }
    }

    #[test]
    fn no_more_is_moved_than_the_budget_allows(cluster in cluster(ANY), policy in policy(), trigger in trigger()) {
        let budget = policy.settings.budget;
        let plan = decide(&policy, &cluster, NOW, trigger);
        let moved: BTreeSet<JobId> = places(&plan)
            .into_iter()
            .filter(|action| matches!(action, Action::Pause(_) | Action::Migrate(..)))
            .map(Action::job)
            .collect();
        prop_assert!(budget.moves_per_decision.is_none_or(|most| moved.len() <= most as usize));
        for job in moved {
            let recent = cluster.job(job).unwrap().recent_moves;
            prop_assert!(budget.moves_per_job.is_none_or(|most| recent < most), "{job}");
        }
    }

    #[test]
    fn the_same_input_gives_the_same_plan(cluster in cluster(ANY), policy in policy(), trigger in trigger()) {
        prop_assert_eq!(decide(&policy, &cluster, NOW, trigger), decide(&policy, &cluster.clone(), NOW, trigger));
    }

    #[test]
    fn mappings_are_those_of_the_plan(cluster in cluster(ANY), policy in policy(), trigger in trigger()) {
        let plan = decide(&policy, &cluster, NOW, trigger);
        // What is named last counts: a job may step aside and come back.
        let planned: BTreeMap<JobId, Option<&Mapping>> =
            places(&plan).into_iter().map(|action| (action.job(), action.mapping())).collect();
        let changes = decide_mappings(&policy, &Roster::new(cluster), NOW, trigger);
        let changes: Vec<_> = changes.iter().map(|(job, mapping)| (*job, mapping.as_ref())).collect();
        prop_assert_eq!(changes, planned.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn yields_are_those_of_the_plan(cluster in cluster(ANY), policy in policy(), trigger in trigger()) {
        let plan = decide(&policy, &cluster, NOW, trigger);
        let after = carry_out(&cluster, &plan);
        let shares = allocate_yields_at(&policy, &after, NOW);
        for planned in &plan.actions {
            if let Action::SetYield(job, share) = planned.action {
                prop_assert!(shares.contains(&(job, share)), "{job} {share:?}: {shares:?}");
            }
        }
    }

    #[test]
    fn a_roster_that_is_changed_is_that_of_the_changed_cluster(cluster in cluster(ANY), policy in policy(), trigger in trigger()) {
        let after = carry_out(&cluster, &decide(&policy, &cluster, NOW, trigger));
        let mut roster = Roster::new(cluster);
        for (place, job) in after.jobs.iter().enumerate() {
            match place % 3 {
                0 => {
                    roster.remove(job.id);
                    prop_assert_eq!(&roster, &Roster::new(roster.cluster().clone()));
                    roster.insert(job.clone());
                }
                1 => roster.insert(job.clone()),
                _ => {
                    roster.set_state(job.id, job.state.clone());
                    roster.set_virtual_time(job.id, job.virtual_time);
                }
            }
            prop_assert_eq!(&roster, &Roster::new(roster.cluster().clone()));
        }
        prop_assert!(roster.running().eq(after.jobs.iter().filter(|job| job.is_running())));
        prop_assert_eq!(allocate_running_yields(&policy, &roster, NOW), allocate_yields_at(&policy, &after, NOW));
    }

    #[test]
    fn every_job_that_still_waits_is_explained(cluster in cluster(ANY), policy in policy(), trigger in trigger()) {
        let plan = decide(&policy, &cluster, NOW, trigger);
        let after = carry_out(&cluster, &plan);
        let waited = |id| cluster.job(id).is_some_and(|job| !job.is_running());
        let waiting: Vec<_> =
            after.jobs.iter().filter(|job| !job.is_running() && !job.locked && waited(job.id)).map(|job| job.id).collect();
        let blocked: Vec<_> = plan.blocked.iter().map(|(job, _)| *job).collect();
        prop_assert!(waiting.iter().all(|job| blocked.contains(job)));
        prop_assert!(blocked.is_sorted());
    }

    #[test]
    fn plans_survive_being_written_and_read(cluster in cluster(ANY), policy in policy(), trigger in trigger()) {
        let plan = decide(&policy, &cluster, NOW, trigger);
        let text = serde_json::to_string(&(&cluster, &policy, &plan, trigger)).unwrap();
        let read: (Cluster, Policy, Plan, Trigger) = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read.0, cluster);
        prop_assert_eq!(read.1, policy);
        prop_assert_eq!(read.2.blocked, plan.blocked);
        prop_assert_eq!(read.2.actions.len(), plan.actions.len());
        prop_assert_eq!(read.3, trigger);
    }

    #[test]
    fn nothing_moves_without_need(cluster in cluster(ANY), policy in policy(), trigger in trigger()) {
        let plan = decide(&policy, &cluster, NOW, trigger);
        for action in places(&plan) {
            if let Action::Migrate(job, mapping) = action {
                prop_assert_ne!(cluster.job(*job).and_then(|job| job.running_on()), Some(mapping));
            }
        }
    }

    #[test]
    fn in_the_papers_world_a_new_job_starts_if_it_can_ever_fit(cluster in cluster(PLAIN), forced in 0usize..2) {
        let name: &str = ["GreedyP*/per/OPT=MIN", "GreedyPM*/per/OPT=MIN/MINVT=600"][forced];
        let policy: Policy = name.parse().unwrap();
        let Some(new) = cluster.jobs.iter().rev().find(|job| job.state == JobState::Pending) else { return Ok(()) };
        // Running jobs without virtual time are of higher priority if they came first.
        if cluster.jobs.iter().any(|job| job.is_running() && job.virtual_time.0 == 0) {
            return Ok(());
        }
        let capacity: u64 = cluster.nodes.iter().map(|node| node.memory.0.checked_div(new.memory.0).unwrap_or(u64::MAX / 100)).sum();
        let plan = decide(&policy, &cluster, NOW, Trigger::Submission(new.id));
        let starts = places(&plan).iter().any(|action| matches!(action, Action::Start(job, _) if *job == new.id));
        prop_assert_eq!(starts, capacity >= u64::from(new.tasks));
    }

    #[test]
    fn greedy_pauses_nobody_and_only_pm_migrates(cluster in cluster(ANY), trigger in trigger()) {
        let migrates = |plan: &Plan| places(plan).iter().any(|action| matches!(action, Action::Migrate(..)));
        let pauses = |plan: &Plan| places(plan).iter().any(|action| matches!(action, Action::Pause(..)));
        let greedy = decide(&"Greedy*".parse().unwrap(), &cluster, NOW, trigger);
        prop_assert!(!migrates(&greedy) && !pauses(&greedy));
        let greedy_p = decide(&"GreedyP*".parse().unwrap(), &cluster, NOW, trigger);
        prop_assert!(!migrates(&greedy_p));
    }

    #[test]
    fn a_cluster_over_its_memory_is_coped_with(cluster in cluster(ANY), policy in policy(), trigger in trigger(), shrink in 1u64..5) {
        let mut cluster = cluster;
        for node in &mut cluster.nodes {
            node.memory.0 /= shrink;
        }
        let plan = decide(&policy, &cluster, NOW, trigger);
        prop_assert_eq!(check(&cluster, &plan), []);
    }

    #[test]
    fn a_broken_cluster_is_reported_and_does_not_panic(cluster in cluster(ANY), policy in policy(), trigger in trigger(), gone in 1usize..3, listed in vec(prop_oneof![0u32..8, Just(u32::MAX)], 0..4)) {
        let mut cluster = cluster;
        for job in cluster.jobs.iter_mut().step_by(2) {
            job.layout.eligible = Some(listed.iter().map(|node| NodeIndex(*node)).collect());
        }
        let left = cluster.nodes.len().saturating_sub(gone);
        cluster.nodes.truncate(left);
        cluster.jobs.reverse();
        let broken = check_cluster(&cluster);
        let refers = cluster.jobs.iter().filter_map(|job| job.mapping()).any(|mapping| mapping.nodes().any(|node| node.index() >= left));
        prop_assert_eq!(broken.is_empty(), cluster.jobs.len() < 2 && !refers);
        for job in cluster.jobs.iter_mut().filter(|job| !job.is_running()).step_by(3) {
            job.tasks = 0;
        }
        let _ = decide(&policy, &cluster, NOW, trigger);
        let _ = pack_all(&cluster);
        let mut roster = Roster::new(cluster.clone());
        for job in cluster.jobs {
            let _ = decide_mappings(&policy, &roster, NOW, trigger);
            let _ = allocate_running_yields(&policy, &roster, NOW);
            let _ = roster.set_state(job.id, JobState::Paused);
            roster.insert(job.clone());
            let _ = roster.remove(job.id);
        }
    }
}

#[test]
fn a_job_without_tasks_keeps_no_other_from_starting() {
    let node = Node::new("", Cores(100), Bytes(100));
    let job = |id, tasks, cpu| Job::new(JobId(id), NOW, tasks, Cores(cpu), Bytes(cpu));
    let cluster = Cluster {
        nodes: vec![node],
        jobs: vec![job(0, 0, 0), job(1, 1, 10), job(2, 0, 0)],
    };
    for policy in ["MCB8*/OPT=MIN", "GreedyPM*/OPT=MIN"] {
        let policy: Policy = policy.parse().unwrap();
        let roster = Roster::new(cluster.clone());
        let changes = decide_mappings(&policy, &roster, NOW, Trigger::Completion);
        let started: Vec<JobId> = changes.iter().map(|(job, _)| *job).collect();
        assert_eq!(started, [JobId(1)], "{policy}");
        let plan = decide(&policy, &cluster, NOW, Trigger::Completion);
        assert!(places(&plan).iter().all(|action| action.job() == JobId(1)));
    }
}

#[test]
fn all_policies_are_tried() {
    assert!(policies().len() >= 66, "{}", policies().len());
}

#[test]
fn an_empty_cluster_needs_no_plan() {
    for policy in policies() {
        for trigger in [Trigger::Completion, Trigger::Period, Trigger::NodeChange] {
            assert_eq!(
                decide(&policy, &Cluster::default(), NOW, trigger),
                Plan::default()
            );
        }
    }
    assert_eq!(NodeState::default(), NodeState::Up);
    assert_eq!(Mobility::default(), Mobility::Checkpoint);
}
