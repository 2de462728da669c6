//! Every invariant is broken once, and found.

use dfrs_core::{
    Action, Amount, Bytes, Cluster, Cores, Job, JobId, JobState, Mapping, Mobility, Node,
    NodeIndex, NodeState, Plan, PlannedAction, Reason, Run, Severity, Time, ViolationKind, Yield,
    check, check_cluster,
};

fn mapping(runs: &[(u32, u32)]) -> Mapping {
    runs.iter()
        .map(|(node, tasks)| Run {
            node: NodeIndex(*node),
            tasks: *tasks,
        })
        .collect()
}

/// Two nodes of 100 CPU, 100 memory and 50 swap; job 1 pending with two tasks of 40 CPU and 30
/// memory, job 2 the same but running on both nodes.
fn cluster() -> Cluster {
    let mut node = Node::new("n", Cores(100), Bytes(100));
    node.swap = Bytes(50);
    let pending = Job::new(JobId(1), Time(0), 2, Cores(40), Bytes(30));
    let mut running = Job {
        id: JobId(2),
        ..pending.clone()
    };
    running.state = JobState::Running(mapping(&[(0, 1), (1, 1)]));
    Cluster {
        nodes: vec![node.clone(), node],
        jobs: vec![pending, running],
    }
}

fn plan(actions: &[Action]) -> Plan {
    let planned = |action: &Action| PlannedAction {
        action: action.clone(),
        reason: Reason::Fits,
    };
    Plan {
        actions: actions.iter().map(planned).collect(),
        blocked: Vec::new(),
    }
}

fn found(cluster: &Cluster, actions: &[Action]) -> Vec<ViolationKind> {
    check(cluster, &plan(actions))
        .into_iter()
        .map(|violation| violation.kind)
        .collect()
}

fn start(runs: &[(u32, u32)]) -> Action {
    Action::Start(JobId(1), mapping(runs))
}

fn migrate(runs: &[(u32, u32)]) -> Action {
    Action::Migrate(JobId(2), mapping(runs))
}

const PAUSE: Action = Action::Pause(JobId(2));

#[test]
fn a_good_plan_has_no_violation() {
    let actions = [
        migrate(&[(1, 2)]),
        start(&[(0, 2)]),
        Action::SetYield(JobId(1), Yield::ONE),
        Action::SetYield(JobId(2), Yield(0.9)),
    ];
    assert_eq!(found(&cluster(), &actions), []);
    assert_eq!(found(&cluster(), &[]), []);
    assert_eq!(check_cluster(&cluster()), []);
}

#[test]
fn memory_is_checked_at_every_step() {
    let mut cluster = cluster();
    cluster.jobs[0].memory = Bytes(50);
    assert_eq!(
        found(&cluster, &[start(&[(0, 2)])]),
        [ViolationKind::Memory]
    );
    assert_eq!(found(&cluster, &[migrate(&[(1, 2)]), start(&[(0, 2)])]), []);
    assert_eq!(
        found(&cluster, &[start(&[(0, 2)]), migrate(&[(1, 2)])]),
        [ViolationKind::Memory]
    );
    cluster.nodes[0].held_memory = Bytes(1);
    assert_eq!(
        found(&cluster, &[migrate(&[(1, 2)]), start(&[(0, 2)])]),
        [ViolationKind::Memory]
    );
}

#[test]
fn memory_per_node_counts() {
    let mut cluster = cluster();
    cluster.jobs[0].memory_per_node = Bytes(11);
    assert_eq!(
        found(&cluster, &[start(&[(0, 2)])]),
        [ViolationKind::Memory]
    );
    assert_eq!(found(&cluster, &[start(&[(0, 1), (1, 1)])]), []);
}

#[test]
fn further_rigid_resources_are_checked() {
    let mut cluster = cluster();
    cluster.jobs[0].rigid = vec![Amount(1)];
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), [ViolationKind::Rigid]);
    cluster.nodes[0].rigid = vec![Amount(2)];
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), []);
    cluster.jobs[1].rigid = vec![Amount(1)];
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), [ViolationKind::Rigid]);
}

#[test]
fn shares_are_checked_after_the_plan() {
    let mut cluster = cluster();
    let shares = |share| {
        [
            start(&[(0, 2)]),
            Action::SetYield(JobId(1), Yield(share)),
            Action::SetYield(JobId(2), Yield::ONE),
        ]
    };
    assert_eq!(found(&cluster, &shares(0.75)), []);
    assert_eq!(found(&cluster, &shares(0.76)), [ViolationKind::Shares]);
    cluster.nodes[0].fluid = vec![Amount(10)];
    cluster.jobs[0].fluid = vec![Amount(10)];
    assert_eq!(found(&cluster, &shares(0.5)), []);
    assert_eq!(found(&cluster, &shares(0.51)), [ViolationKind::Shares]);
    // On the last of three nodes, by a further resource.
    cluster.nodes.push(cluster.nodes[0].clone());
    let actions = [
        start(&[(2, 2)]),
        Action::SetYield(JobId(1), Yield(0.51)),
        Action::SetYield(JobId(2), Yield::ONE),
    ];
    let violations = check(&cluster, &plan(&actions));
    assert_eq!(violations.len(), 1);
    assert_eq!(violations[0].node, Some(NodeIndex(2)));
}

#[test]
fn yields_are_between_0_and_1_for_jobs_that_run() {
    let set = |share| Action::SetYield(JobId(2), Yield(share));
    assert_eq!(found(&cluster(), &[set(-0.1)]), [ViolationKind::YieldRange]);
    assert_eq!(found(&cluster(), &[set(1.1)]), [ViolationKind::YieldRange]);
    assert_eq!(
        found(&cluster(), &[set(f64::NAN)]),
        [ViolationKind::YieldRange]
    );
    let waiting = [Action::SetYield(JobId(1), Yield::ONE), set(1.0)];
    assert_eq!(
        found(&cluster(), &waiting),
        [ViolationKind::YieldWithoutPlace]
    );
    let forgotten = check(&cluster(), &plan(&[start(&[(0, 1), (1, 1)]), set(1.0)]));
    assert_eq!(forgotten.len(), 1);
    assert_eq!(
        (forgotten[0].kind, forgotten[0].severity),
        (ViolationKind::NoYield, Severity::Warning)
    );
}

#[test]
fn actions_fit_the_jobs_state() {
    let resume = Action::Resume(JobId(1), mapping(&[(0, 2)]));
    assert_eq!(
        found(&cluster(), std::slice::from_ref(&resume)),
        [ViolationKind::WrongState]
    );
    assert_eq!(
        found(&cluster(), &[Action::Pause(JobId(1))]),
        [ViolationKind::WrongState]
    );
    assert_eq!(
        found(&cluster(), &[start(&[(0, 2)]), start(&[(0, 2)])]),
        [ViolationKind::WrongState, ViolationKind::Memory]
    );
    assert_eq!(
        found(&cluster(), &[PAUSE, migrate(&[(1, 2)])]),
        [ViolationKind::WrongState]
    );
    assert_eq!(
        found(
            &cluster(),
            &[PAUSE, Action::Resume(JobId(2), mapping(&[(1, 2)]))]
        ),
        []
    );
    let mut cluster = cluster();
    cluster.jobs[0].state = JobState::Paused;
    assert_eq!(found(&cluster, &[resume]), []);
    assert_eq!(
        found(&cluster, &[start(&[(0, 2)])]),
        [ViolationKind::WrongState]
    );
}

#[test]
fn mobility_is_respected() {
    let mut cluster = cluster();
    let mut with = |mobility: Mobility, actions: &[Action]| {
        cluster.jobs[1].mobility = mobility;
        found(&cluster, actions)
    };
    let back = Action::Resume(JobId(2), mapping(&[(0, 1), (1, 1)]));
    assert_eq!(with(Mobility::Never, &[PAUSE]), [ViolationKind::Mobility]);
    assert_eq!(
        with(Mobility::Never, &[migrate(&[(1, 2)])]),
        [ViolationKind::Mobility]
    );
    assert_eq!(
        with(Mobility::Park, &[migrate(&[(1, 2)])]),
        [ViolationKind::Mobility]
    );
    assert_eq!(with(Mobility::Park, &[PAUSE, back]), []);
    let elsewhere = Action::Resume(JobId(2), mapping(&[(1, 2)]));
    assert_eq!(
        with(Mobility::Park, &[PAUSE, elsewhere.clone()]),
        [ViolationKind::ComesBackElsewhere]
    );
    assert_eq!(with(Mobility::Checkpoint, &[PAUSE, elsewhere.clone()]), []);
    assert_eq!(
        with(Mobility::Restart, &[PAUSE, elsewhere]),
        [ViolationKind::WrongState]
    );
    assert_eq!(
        with(
            Mobility::Restart,
            &[PAUSE, Action::Start(JobId(2), mapping(&[(1, 2)]))]
        ),
        []
    );
    assert_eq!(with(Mobility::Restart, &[migrate(&[(1, 2)])]), []);
}

#[test]
fn parking_needs_swap() {
    let mut cluster = cluster();
    cluster.jobs[1].mobility = Mobility::Park;
    let mut parked = cluster.jobs[1].clone();
    parked.id = JobId(3);
    parked.state = JobState::Parked(mapping(&[(0, 2)]));
    parked.memory = Bytes(10);
    cluster.insert(parked);
    assert_eq!(found(&cluster, &[PAUSE]), []);
    let resume = Action::Resume(JobId(3), mapping(&[(0, 2)]));
    cluster.jobs[2].memory = Bytes(11);
    assert_eq!(found(&cluster, &[PAUSE]), [ViolationKind::Swap]);
    assert_eq!(found(&cluster, &[resume, PAUSE]), []);
    cluster.remove(JobId(3));
    cluster.nodes[1].swap = Bytes::ZERO;
    assert_eq!(found(&cluster, &[PAUSE]), [ViolationKind::Swap]);
}

#[test]
fn layouts_are_respected() {
    let mut cluster = cluster();
    assert_eq!(
        found(&cluster, &[start(&[(0, 1)])]),
        [ViolationKind::TaskCount]
    );
    assert_eq!(
        found(&cluster, &[start(&[(0, 1), (9, 1)])]),
        [ViolationKind::UnknownNode]
    );
    cluster.jobs[0].layout.max_tasks_per_node = Some(1);
    assert_eq!(
        found(&cluster, &[start(&[(0, 2)])]),
        [ViolationKind::TasksPerNode]
    );
    cluster.jobs[0].layout.max_tasks_per_node = None;
    cluster.jobs[0].layout.max_nodes = Some(1);
    assert_eq!(
        found(&cluster, &[start(&[(0, 1), (1, 1)])]),
        [ViolationKind::NodeCount]
    );
    cluster.jobs[0].layout.eligible = Some(vec![NodeIndex(1)]);
    assert_eq!(
        found(&cluster, &[start(&[(0, 2)])]),
        [ViolationKind::NotEligible]
    );
    assert_eq!(found(&cluster, &[start(&[(1, 2)])]), []);
}

#[test]
fn a_parked_job_comes_back_whatever_its_layout_has_become() {
    let mut cluster = cluster();
    cluster.jobs[1].mobility = Mobility::Park;
    cluster.jobs[1].state = JobState::Parked(mapping(&[(0, 2)]));
    cluster.jobs[1].layout.eligible = Some(vec![NodeIndex(1)]);
    cluster.jobs[1].layout.max_tasks_per_node = Some(1);
    let resume = |runs| Action::Resume(JobId(2), mapping(runs));
    assert_eq!(found(&cluster, &[resume(&[(0, 2)])]), []);
    assert_eq!(
        found(&cluster, &[resume(&[(1, 2)])]),
        [
            ViolationKind::ComesBackElsewhere,
            ViolationKind::TasksPerNode
        ]
    );
}

#[test]
fn draining_and_down_nodes_take_nothing_new() {
    let mut cluster = cluster();
    cluster.nodes[0].state = NodeState::Draining;
    assert_eq!(
        found(&cluster, &[start(&[(0, 2)])]),
        [ViolationKind::NodeTakesNothing]
    );
    assert_eq!(
        found(&cluster, &[migrate(&[(0, 2)])]),
        [ViolationKind::NodeTakesNothing]
    );
    assert_eq!(found(&cluster, &[migrate(&[(0, 1), (1, 1)])]), []);
    cluster.jobs[1].tasks = 3;
    cluster.jobs[1].state = JobState::Running(mapping(&[(0, 1), (1, 2)]));
    assert_eq!(
        found(&cluster, &[migrate(&[(0, 2), (1, 1)])]),
        [ViolationKind::NodeTakesNothing]
    );
    cluster.nodes[0].state = NodeState::Down;
    assert_eq!(
        found(&cluster, &[start(&[(0, 2)])]),
        [ViolationKind::NodeTakesNothing]
    );
    assert_eq!(found(&cluster, &[PAUSE]), [ViolationKind::NotOurs]);
}

#[test]
fn locked_and_unknown_jobs_are_left_alone() {
    let mut cluster = cluster();
    cluster.jobs[1].locked = true;
    for action in [
        PAUSE,
        migrate(&[(1, 2)]),
        Action::SetYield(JobId(2), Yield::ONE),
    ] {
        assert_eq!(found(&cluster, &[action]), [ViolationKind::NotOurs]);
    }
    assert_eq!(
        found(&cluster, &[Action::Pause(JobId(7))]),
        [ViolationKind::UnknownJob]
    );
}

#[test]
fn clusters_are_checked_too() {
    let kinds = |cluster: &Cluster| {
        check_cluster(cluster)
            .into_iter()
            .map(|found| found.kind)
            .collect::<Vec<_>>()
    };
    let mut broken = cluster();
    broken.jobs.reverse();
    assert_eq!(kinds(&broken), [ViolationKind::JobsOutOfOrder]);
    broken.jobs[1].id = JobId(2);
    assert_eq!(kinds(&broken), [ViolationKind::JobsOutOfOrder]);
    let mut broken = cluster();
    broken.jobs[0].tasks = 0;
    assert_eq!(kinds(&broken), [ViolationKind::NoTasks]);
    broken.jobs[1].tasks = 3;
    assert_eq!(
        kinds(&broken),
        [ViolationKind::NoTasks, ViolationKind::TaskCount]
    );
    let mut broken = cluster();
    broken.nodes.pop();
    assert_eq!(kinds(&broken), [ViolationKind::UnknownNode]);
}

#[test]
fn violations_say_what_and_where_in_one_line() {
    let mut cluster = cluster();
    cluster.jobs[0].memory = Bytes(50);
    let text = check(&cluster, &plan(&[start(&[(0, 2)])]))[0].to_string();
    assert_eq!(text, "error: action 0: job 1: node 0: memory is exceeded");
    let text = check(
        &cluster,
        &plan(&[Action::SetYield(JobId(2), Yield::ONE), start(&[(1, 2)])]),
    )[1]
    .to_string();
    assert_eq!(text, "warning: job 1: a running job is given no yield");
}
