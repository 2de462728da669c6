//! Jobs with tasks of different kinds: decisions worked out by hand, and what is written of them.

use dfrs_core::{
    Action, Amount, Blocked, Bytes, Cluster, Cores, Events, Job, JobId, JobState, LeastYield,
    Mapping, Mobility, Node, NodeIndex, Optimisation, Plan, PlannedAction, Policy, Reason, Roster,
    Run, Span, TaskKind, Time, Yield, check, check_cluster, decide, yields_of,
};

const NOW: Time = Time::from_seconds(1000);

/// Nodes of 100 CPU, 100 memory and 100 swap.
fn cluster(nodes: usize) -> Cluster {
    let mut node = Node::new("n", Cores(100), Bytes(100));
    node.swap = Bytes(100);
    Cluster {
        nodes: vec![node; nodes],
        jobs: Vec::new(),
    }
}

/// A pending job; for each kind its tasks, CPU and memory.
fn job(id: u64, kinds: &[(u32, u64, u64)]) -> Job {
    let submit = Time::from_seconds(id.cast_signed());
    let (tasks, cpu, memory) = kinds[0];
    let first = Job::new(JobId(id), submit, tasks, Cores(cpu), Bytes(memory));
    let further = kinds[1..].iter();
    further.fold(first, |job, (tasks, cpu, memory)| {
        job.with_kind(TaskKind::new(*tasks, Cores(*cpu), Bytes(*memory)))
    })
}

/// For each kind its runs.
fn mapping(kinds: &[&[(u32, u32)]]) -> Mapping {
    let run = |(node, tasks): &(u32, u32)| Run {
        node: NodeIndex(*node),
        tasks: *tasks,
    };
    let kinds: Vec<Mapping> = kinds
        .iter()
        .map(|runs| runs.iter().map(run).collect())
        .collect();
    Mapping::of_kinds(&kinds)
}

fn running(id: u64, kinds: &[(u32, u64, u64)], places: &[&[(u32, u32)]]) -> Job {
    let mut job = job(id, kinds);
    job.state = JobState::Running(mapping(places));
    job.virtual_time = Span::from_seconds(100);
    job
}

/// What is done about places.
fn places(policy: &str, cluster: &Cluster, events: Events) -> Vec<Action> {
    let policy: Policy = policy.parse().unwrap();
    let mut roster = Roster::new(cluster.clone());
    let plan = decide(&policy, &mut roster, NOW, &events).plan();
    assert_eq!(check(cluster, &plan), []);
    let actions = plan.actions.into_iter().map(|planned| planned.action);
    actions
        .filter(|action| !matches!(action, Action::SetYield(..)))
        .collect()
}

fn blocked(policy: &str, cluster: &Cluster, events: Events) -> Vec<(JobId, Blocked)> {
    let mut roster = Roster::new(cluster.clone());
    decide(&policy.parse().unwrap(), &mut roster, NOW, &events).blocked()
}

fn yields(cluster: &Cluster, optimisation: Optimisation) -> Vec<(JobId, Yield)> {
    let policy = Policy {
        optimisation,
        ..Policy::recommended()
    };
    yields_of(&policy, cluster, NOW)
}

fn submit(job: u64) -> Events {
    Events::submitted([JobId(job)])
}

#[test]
fn greedy_places_the_kind_that_requires_most_memory_first() {
    let mut cluster = cluster(2);
    // The small tasks alone would go to both nodes and leave no room for the large one.
    cluster.insert(job(1, &[(4, 10, 25), (1, 20, 90)]));
    assert_eq!(
        places("Greedy*", &cluster, submit(1)),
        [Action::Start(JobId(1), mapping(&[&[(1, 4)], &[(0, 1)]]))]
    );
    // Of equal memory the one that needs more CPU; the others avoid its node.
    cluster.insert(job(2, &[(2, 10, 10), (1, 90, 10)]));
    assert_eq!(
        places("Greedy*", &cluster, submit(2)),
        [Action::Start(JobId(2), mapping(&[&[(1, 2)], &[(0, 1)]]))]
    );
    // Kinds that require a further resource are placed before all others.
    cluster.nodes[1].rigid = vec![Amount(1)];
    let mut with_device = job(3, &[(1, 10, 60), (1, 10, 50)]);
    with_device.further_kinds[0].rigid = vec![Amount(1)];
    cluster.insert(with_device);
    // Without `*`, which would start the job that still waits.
    assert_eq!(
        places("Greedy/per", &cluster, submit(3)),
        [Action::Start(JobId(3), mapping(&[&[(0, 1)], &[(1, 1)]]))]
    );
}

#[test]
fn a_job_starts_with_all_its_kinds_or_not_at_all() {
    let mut cluster = cluster(2);
    cluster.insert(job(1, &[(1, 20, 100), (5, 10, 25)]));
    for policy in ["Greedy*", "GreedyP*", "GreedyPM*", "MCB8*"] {
        assert_eq!(places(policy, &cluster, submit(1)), [], "{policy}");
    }
    cluster.jobs[0].further_kinds[0].tasks = 4;
    for policy in ["Greedy*", "GreedyP*", "GreedyPM*", "MCB8*"] {
        assert_eq!(
            places(policy, &cluster, submit(1)),
            [Action::Start(JobId(1), mapping(&[&[(0, 1)], &[(1, 4)]]))],
            "{policy}"
        );
    }
}

#[test]
fn each_kind_has_its_own_layout() {
    let mut cluster = cluster(3);
    let mut wanted = job(1, &[(2, 10, 10), (2, 10, 10)]);
    wanted.layout.max_tasks_per_node = Some(1);
    wanted.further_kinds[0].layout.eligible = Some([NodeIndex(2)].into_iter().collect());
    wanted.further_kinds[0].memory_per_node = Bytes(70);
    cluster.insert(wanted);
    for policy in ["Greedy*", "MCB8*"] {
        assert_eq!(
            places(policy, &cluster, submit(1)),
            [Action::Start(
                JobId(1),
                mapping(&[&[(0, 1), (1, 1)], &[(2, 2)]])
            )],
            "{policy}"
        );
    }
    cluster.jobs[0].further_kinds[0].memory_per_node = Bytes(81);
    for policy in ["Greedy*", "MCB8*"] {
        assert_eq!(places(policy, &cluster, submit(1)), [], "{policy}");
    }
}

#[test]
fn all_kinds_of_a_job_are_preempted_together() {
    let mut cluster = cluster(2);
    cluster.insert(running(
        1,
        &[(1, 20, 50), (2, 10, 20)],
        &[&[(0, 1)], &[(1, 2)]],
    ));
    // Beside job 1 there is room for either kind of job 2, but not for both.
    cluster.insert(job(2, &[(1, 20, 60), (1, 20, 60)]));
    assert_eq!(places("Greedy*", &cluster, submit(2)), []);
    let start = Action::Start(JobId(2), mapping(&[&[(0, 1)], &[(1, 1)]]));
    assert_eq!(
        places("GreedyP*", &cluster, submit(2)),
        [Action::Pause(JobId(1)), start.clone()]
    );
    assert_eq!(
        places("GreedyPM*", &cluster, submit(2)),
        [Action::Pause(JobId(1)), start.clone()]
    );
    // Room for the first kind of job 1; the second fits beside job 2.
    cluster.nodes.push(cluster.nodes[0].clone());
    cluster.nodes[2].held_memory = Bytes(50);
    let elsewhere = mapping(&[&[(2, 1)], &[(0, 1), (1, 1)]]);
    assert_eq!(
        places("GreedyPM*", &cluster, submit(2)),
        [Action::Migrate(JobId(1), elsewhere), start]
    );
}

#[test]
fn no_job_is_dropped_for_kinds_that_do_not_fit_together() {
    let mut cluster = cluster(2);
    cluster.insert(running(1, &[(1, 50, 50)], &[&[(0, 1)]]));
    // Either kind fits, both do not.
    cluster.insert(job(2, &[(2, 10, 60), (1, 10, 50)]));
    for policy in ["MCB8*", "GreedyPM*/per"] {
        assert_eq!(places(policy, &cluster, submit(2)), [], "{policy}");
        assert_eq!(
            places(policy, &cluster, Events::period()),
            [],
            "{policy} at a period"
        );
    }
    assert_eq!(
        blocked("MCB8*", &cluster, submit(2)),
        [(JobId(2), Blocked::Memory)]
    );
    cluster.jobs[1].further_kinds[0].memory = Bytes(101);
    assert_eq!(
        blocked("MCB8*", &cluster, submit(2)),
        [(JobId(2), Blocked::NeverFits)]
    );
}

#[test]
fn kinds_that_do_not_fit_together_wait_for_memory() {
    let mut cluster = cluster(1);
    cluster.insert(job(2, &[(1, 10, 60), (1, 10, 60)]));
    assert_eq!(
        blocked("GreedyPMC*/OPT=VT", &cluster, submit(2)),
        [(JobId(2), Blocked::Memory)]
    );
    let mut policy: Policy = "GreedyPMC*/OPT=VT".parse().unwrap();
    policy.settings.parallel_least_yield = Some(LeastYield(100));
    let mut roster = Roster::new(cluster);
    assert_eq!(
        decide(&policy, &mut roster, NOW, &submit(2)).blocked(),
        [(JobId(2), Blocked::Memory)]
    );
}

#[test]
fn a_parked_job_needs_room_for_all_its_kinds() {
    let mut cluster = cluster(2);
    let mut parked = job(1, &[(1, 10, 60), (1, 10, 30)]);
    parked.state = JobState::Parked(mapping(&[&[(0, 1)], &[(0, 1)]]));
    parked.mobility = Mobility::Park;
    cluster.insert(parked);
    let there = mapping(&[&[(0, 1)], &[(0, 1)]]);
    assert_eq!(
        places("Greedy*", &cluster, Events::ended()),
        [Action::Resume(JobId(1), there)]
    );
    cluster.nodes[0].held_memory = Bytes(11);
    assert_eq!(places("Greedy*", &cluster, Events::ended()), []);
    // To be parked it needs swap for all of them, too.
    cluster.nodes[0].held_memory = Bytes(0);
    cluster.jobs[0].state = JobState::Running(mapping(&[&[(0, 1)], &[(0, 1)]]));
    cluster.jobs[0].virtual_time = Span::from_seconds(100);
    let mut urgent = job(2, &[(2, 10, 100)]);
    urgent.weight = dfrs_core::Weight(5000);
    cluster.insert(urgent);
    cluster.nodes[0].swap = Bytes(89);
    assert_eq!(places("GreedyP*", &cluster, submit(2)), []);
    cluster.nodes[0].swap = Bytes(90);
    assert_eq!(
        places("GreedyP*", &cluster, submit(2)),
        [
            Action::Pause(JobId(1)),
            Action::Start(JobId(2), mapping(&[&[(0, 1), (1, 1)]]))
        ]
    );
}

#[test]
fn cyclic_moves_keep_all_kinds_together() {
    let mut cluster = cluster(3);
    // The remap puts the two 60s with the 40s; they can only get there one after the other.
    cluster.insert(running(
        1,
        &[(1, 10, 60), (1, 10, 40)],
        &[&[(0, 1)], &[(1, 1)]],
    ));
    cluster.insert(running(
        2,
        &[(1, 90, 40), (1, 90, 60)],
        &[&[(0, 1)], &[(1, 1)]],
    ));
    let actions = places("MCB8*/per", &cluster, Events::period());
    let after = actions.iter().filter_map(Action::mapping);
    assert!(after.clone().count() > 0, "{actions:?}");
    for mapping in after {
        assert_eq!((mapping.kind_count(), mapping.tasks()), (2, 2));
    }
}

#[test]
fn all_kinds_have_one_yield() {
    let mut cluster = cluster(2);
    // Node 0 is needed 40 + 2 × 60 + 40 = 200 of 100.
    cluster.insert(running(
        1,
        &[(1, 40, 1), (3, 60, 1)],
        &[&[(0, 1)], &[(0, 2), (1, 1)]],
    ));
    cluster.insert(running(2, &[(1, 40, 1)], &[&[(0, 1)]]));
    cluster.insert(running(3, &[(1, 100, 1)], &[&[(1, 1)]]));
    let found = yields(&cluster, Optimisation::Minimum);
    let close = |(job, found): &(JobId, Yield), wanted: f64| {
        assert!((found.0 - wanted).abs() < 1e-9, "{job}: {found}");
    };
    close(&found[0], 0.5);
    close(&found[1], 0.5);
    close(&found[2], 0.7);
    // The second kind alone needs a further fluid resource.
    cluster.nodes[1].fluid = vec![Amount(10)];
    cluster.nodes[0].fluid = vec![Amount(30)];
    cluster.jobs[0].further_kinds[0].fluid = vec![Amount(25)];
    let found = yields(&cluster, Optimisation::Minimum);
    close(&found[0], 0.4);
    close(&found[1], 0.9);
}

#[test]
fn the_heuristic_goes_by_the_need_of_all_kinds() {
    let mut cluster = cluster(3);
    // Jobs 1 and 2 have 0.5 each on node 0, and job 3 frees nothing there. Job 1 needs 60 in all,
    // job 2 needs 50, so that what node 0 has left goes to job 2.
    cluster.insert(running(
        1,
        &[(1, 40, 1), (1, 20, 1)],
        &[&[(0, 1)], &[(1, 1)]],
    ));
    cluster.insert(running(2, &[(1, 50, 1)], &[&[(0, 1)]]));
    cluster.insert(running(3, &[(2, 100, 1)], &[&[(2, 2)]]));
    cluster.nodes[0].cpu = Cores(60);
    let found = yields(&cluster, Optimisation::Heuristic);
    assert!((found[0].1.0 - 0.5).abs() < 1e-9, "{found:?}");
    assert!((found[1].1.0 - 0.8).abs() < 1e-9, "{found:?}");
}

#[test]
fn violations_name_the_kind() {
    let mut cluster = cluster(2);
    let mut wanted = job(1, &[(2, 10, 10), (1, 10, 60)]);
    wanted.layout.max_tasks_per_node = Some(1);
    wanted.further_kinds[0].layout.eligible = Some([NodeIndex(0)].into_iter().collect());
    cluster.insert(wanted);
    let found = |kinds: &[&[(u32, u32)]]| -> Vec<(&'static str, Option<usize>)> {
        let plan = Plan {
            actions: vec![PlannedAction {
                action: Action::Start(JobId(1), mapping(kinds)),
                reason: Reason::Fits,
            }],
        };
        let found = check(&cluster, &plan).into_iter();
        found
            .map(|found| (found.kind.rule(), found.task_kind))
            .collect()
    };
    assert_eq!(found(&[&[(0, 1), (1, 1)], &[(0, 1)]]), []);
    assert_eq!(
        found(&[&[(0, 2)], &[(0, 1)]]),
        [("tasks per node", Some(0))]
    );
    assert_eq!(
        found(&[&[(0, 1), (1, 1)], &[(1, 1)]]),
        [("eligible node", Some(1))]
    );
    assert_eq!(
        found(&[&[(0, 1), (1, 1)], &[(0, 2)]]),
        [("task count", Some(1)), ("memory", None)]
    );
    assert_eq!(
        found(&[&[(0, 1), (1, 1)], &[(0, 1)], &[(1, 1)]]),
        [("task count", Some(2))]
    );
    // A mapping that does not distinguish kinds is not that of such a job.
    assert_eq!(found(&[&[(0, 1), (1, 1)]]), [("task count", Some(1))]);
    let mut empty = cluster.clone();
    empty.jobs[0].further_kinds[0].tasks = 0;
    assert_eq!(
        check_cluster(&empty)[0].to_string(),
        "warning: job 1: task kind 1: the job has no task"
    );
}

#[test]
fn a_draining_node_keeps_no_more_of_any_kind() {
    let mut cluster = cluster(2);
    cluster.insert(running(
        1,
        &[(2, 10, 10), (2, 10, 10)],
        &[&[(0, 1), (1, 1)], &[(0, 1), (1, 1)]],
    ));
    cluster.nodes[0].state = dfrs_core::NodeState::Draining;
    let found = |kinds: &[&[(u32, u32)]]| -> Vec<&'static str> {
        let plan = Plan {
            actions: vec![PlannedAction {
                action: Action::Migrate(JobId(1), mapping(kinds)),
                reason: Reason::Remap,
            }],
        };
        check(&cluster, &plan)
            .into_iter()
            .map(|found| found.kind.rule())
            .collect()
    };
    assert_eq!(found(&[&[(0, 1), (1, 1)], &[(1, 2)]]), [""; 0]);
    assert_eq!(found(&[&[(0, 2)], &[(1, 2)]]), ["node takes tasks"]);
}

#[test]
fn shares_of_all_kinds_are_checked() {
    let mut cluster = cluster(1);
    cluster.insert(running(
        1,
        &[(1, 60, 1), (2, 30, 1)],
        &[&[(0, 1)], &[(0, 2)]],
    ));
    let found = |share: f64| {
        let plan = Plan {
            actions: vec![PlannedAction {
                action: Action::SetYield(JobId(1), Yield(share)),
                reason: Reason::Share,
            }],
        };
        check(&cluster, &plan).len()
    };
    assert_eq!((found(0.83), found(0.84)), (0, 1));
}

#[test]
fn job_of_one_kind_is_serialized_without_kinds() {
    let text = serde_json::to_string(&running(1, &[(2, 10, 10)], &[&[(0, 2)]])).unwrap();
    assert!(!text.contains("kind"), "{text}");
    assert!(
        text.contains(r#""state":{"Running":[{"node":0,"tasks":2}]}"#),
        "{text}"
    );
    let job = running(1, &[(1, 10, 10), (2, 20, 20)], &[&[(0, 1)], &[(0, 2)]]);
    let text = serde_json::to_string(&job).unwrap();
    assert_eq!(serde_json::from_str::<Job>(&text).unwrap(), job);
}
