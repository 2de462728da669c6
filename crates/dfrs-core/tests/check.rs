//! Every invariant is broken once, and found.

use dfrs_core::{
    Action, Amount, Bytes, Cluster, Cores, Job, JobId, JobState, Layout, Mapping, Mobility, Node,
    NodeGroups, NodeIndex, NodeState, Plan, PlannedAction, Reason, Run, Severity, Time, Together,
    Yield, check, check_cluster, jobs_at_fault,
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
    }
}

fn found(cluster: &Cluster, actions: &[Action]) -> Vec<&'static str> {
    check(cluster, &plan(actions))
        .into_iter()
        .map(|violation| violation.kind.rule())
        .collect()
}

fn start(runs: &[(u32, u32)]) -> Action {
    Action::Start(JobId(1), mapping(runs))
}

fn migrate(runs: &[(u32, u32)]) -> Action {
    Action::Migrate(JobId(2), mapping(runs))
}

const NONE: [&str; 0] = [];

const PAUSE: Action = Action::Pause(JobId(2));

#[test]
fn a_good_plan_has_no_violation() {
    let actions = [
        migrate(&[(1, 2)]),
        start(&[(0, 2)]),
        Action::SetYield(JobId(1), Yield::ONE),
        Action::SetYield(JobId(2), Yield(0.9)),
    ];
    assert_eq!(found(&cluster(), &actions), NONE);
    assert_eq!(found(&cluster(), &[]), NONE);
    assert_eq!(check_cluster(&cluster()), []);
}

#[test]
fn memory_is_checked_at_every_step() {
    let mut cluster = cluster();
    cluster.jobs[0].memory = Bytes(50);
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), ["memory"]);
    assert_eq!(
        found(&cluster, &[migrate(&[(1, 2)]), start(&[(0, 2)])]),
        NONE
    );
    assert_eq!(
        found(&cluster, &[start(&[(0, 2)]), migrate(&[(1, 2)])]),
        ["memory"]
    );
    cluster.nodes[0].held_memory = Bytes(1);
    assert_eq!(
        found(&cluster, &[migrate(&[(1, 2)]), start(&[(0, 2)])]),
        ["memory"]
    );
}

#[test]
fn memory_per_node_counts() {
    let mut cluster = cluster();
    cluster.jobs[0].memory_per_node = Bytes(11);
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), ["memory"]);
    assert_eq!(found(&cluster, &[start(&[(0, 1), (1, 1)])]), NONE);
}

#[test]
fn further_rigid_resources_are_checked() {
    let mut cluster = cluster();
    cluster.jobs[0].rigid = vec![Amount(1)];
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), ["rigid resource"]);
    cluster.nodes[0].rigid = vec![Amount(2)];
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), NONE);
    cluster.jobs[1].rigid = vec![Amount(1)];
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), ["rigid resource"]);
}

#[test]
fn devices_per_node_count_once_on_each_node() {
    let mut cluster = cluster();
    cluster.jobs[0].rigid_per_node = vec![Amount(1)];
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), ["rigid resource"]);
    cluster.nodes[0].rigid = vec![Amount(1)];
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), NONE);
    let on_both = [start(&[(0, 1), (1, 1)])];
    assert_eq!(found(&cluster, &on_both), ["rigid resource"]);
    cluster.nodes[1].rigid = vec![Amount(1)];
    assert_eq!(found(&cluster, &on_both), NONE);
    // The other one runs on both nodes.
    cluster.jobs[1].rigid_per_node = vec![Amount(1)];
    assert_eq!(found(&cluster, &on_both), ["rigid resource"; 2]);
}

#[test]
fn job_with_devices_is_not_parked() {
    let mut cluster = cluster();
    cluster.jobs[1].mobility = Mobility::Park;
    for node in &mut cluster.nodes {
        node.swap = Bytes(1000);
        node.rigid = vec![Amount(9)];
    }
    assert_eq!(found(&cluster, &[PAUSE]), NONE);
    cluster.jobs[1].rigid_per_node = vec![Amount(1)];
    assert_eq!(found(&cluster, &[PAUSE]), ["no devices parked"]);
    cluster.jobs[1].mobility = Mobility::Checkpoint;
    assert_eq!(found(&cluster, &[PAUSE]), NONE);
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
    assert_eq!(found(&cluster, &shares(0.75)), NONE);
    assert_eq!(found(&cluster, &shares(0.76)), ["shares"]);
    // On the last of three nodes, which has CPU for half of the job.
    cluster.nodes.push(cluster.nodes[0].clone());
    cluster.nodes[2].cpu = cluster.jobs[0].cpu;
    let actions = [
        start(&[(2, 2)]),
        Action::SetYield(JobId(1), Yield(0.51)),
        Action::SetYield(JobId(2), Yield::ONE),
    ];
    let violations = check(&cluster, &plan(&actions));
    assert_eq!(violations.len(), 1);
    assert_eq!(
        violations[0].node.as_ref().map(|node| node.index),
        Some(NodeIndex(2))
    );
}

#[test]
fn yields_are_between_0_and_1_for_jobs_that_run() {
    let set = |share| Action::SetYield(JobId(2), Yield(share));
    assert_eq!(found(&cluster(), &[set(-0.1)]), ["yield range"]);
    assert_eq!(found(&cluster(), &[set(1.1)]), ["yield range"]);
    assert_eq!(found(&cluster(), &[set(f64::NAN)]), ["yield range"]);
    let waiting = [Action::SetYield(JobId(1), Yield::ONE), set(1.0)];
    assert_eq!(found(&cluster(), &waiting), ["yield with a place"]);
    let forgotten = check(&cluster(), &plan(&[start(&[(0, 1), (1, 1)]), set(1.0)]));
    assert_eq!(forgotten.len(), 1);
    assert_eq!(
        (forgotten[0].kind.rule(), forgotten[0].severity()),
        ("yield for all", Severity::Warning)
    );
}

#[test]
fn actions_fit_the_jobs_state() {
    let resume = Action::Resume(JobId(1), mapping(&[(0, 2)]));
    assert_eq!(found(&cluster(), std::slice::from_ref(&resume)), ["state"]);
    assert_eq!(found(&cluster(), &[Action::Pause(JobId(1))]), ["state"]);
    assert_eq!(
        found(&cluster(), &[start(&[(0, 2)]), start(&[(0, 2)])]),
        ["state", "memory"]
    );
    assert_eq!(found(&cluster(), &[PAUSE, migrate(&[(1, 2)])]), ["state"]);
    assert_eq!(
        found(
            &cluster(),
            &[PAUSE, Action::Resume(JobId(2), mapping(&[(1, 2)]))]
        ),
        NONE
    );
    let mut cluster = cluster();
    cluster.jobs[0].state = JobState::Paused;
    assert_eq!(found(&cluster, &[resume]), NONE);
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), ["state"]);
}

#[test]
fn mobility_is_respected() {
    let mut cluster = cluster();
    let mut with = |mobility: Mobility, actions: &[Action]| {
        cluster.jobs[1].mobility = mobility;
        found(&cluster, actions)
    };
    let back = Action::Resume(JobId(2), mapping(&[(0, 1), (1, 1)]));
    assert_eq!(with(Mobility::Never, &[PAUSE]), ["mobility"]);
    assert_eq!(with(Mobility::Never, &[migrate(&[(1, 2)])]), ["mobility"]);
    assert_eq!(with(Mobility::Park, &[migrate(&[(1, 2)])]), ["mobility"]);
    assert_eq!(with(Mobility::Park, &[PAUSE, back]), NONE);
    let elsewhere = Action::Resume(JobId(2), mapping(&[(1, 2)]));
    assert_eq!(
        with(Mobility::Park, &[PAUSE, elsewhere.clone()]),
        ["back in place"]
    );
    assert_eq!(
        with(Mobility::Checkpoint, &[PAUSE, elsewhere.clone()]),
        NONE
    );
    assert_eq!(with(Mobility::Restart, &[PAUSE, elsewhere]), ["state"]);
    assert_eq!(
        with(
            Mobility::Restart,
            &[PAUSE, Action::Start(JobId(2), mapping(&[(1, 2)]))]
        ),
        NONE
    );
    assert_eq!(with(Mobility::Restart, &[migrate(&[(1, 2)])]), NONE);
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
    assert_eq!(found(&cluster, &[PAUSE]), NONE);
    let resume = Action::Resume(JobId(3), mapping(&[(0, 2)]));
    cluster.jobs[2].memory = Bytes(11);
    assert_eq!(found(&cluster, &[PAUSE]), ["swap"]);
    assert_eq!(found(&cluster, &[resume, PAUSE]), NONE);
    cluster.remove(JobId(3));
    cluster.nodes[1].swap = Bytes::ZERO;
    assert_eq!(found(&cluster, &[PAUSE]), ["swap"]);
}

#[test]
fn layouts_are_respected() {
    let mut cluster = cluster();
    assert_eq!(found(&cluster, &[start(&[(0, 1)])]), ["task count"]);
    assert_eq!(found(&cluster, &[start(&[(0, 1), (9, 1)])]), ["known node"]);
    cluster.jobs[0].layout.max_tasks_per_node = Some(1);
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), ["tasks per node"]);
    cluster.jobs[0].layout.max_tasks_per_node = None;
    cluster.jobs[0].layout.max_nodes = Some(1);
    assert_eq!(found(&cluster, &[start(&[(0, 1), (1, 1)])]), ["node count"]);
    cluster.jobs[0].layout.eligible = Some([NodeIndex(1)].into_iter().collect());
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), ["eligible node"]);
    assert_eq!(found(&cluster, &[start(&[(1, 2)])]), NONE);
}

#[test]
fn parked_job_resumes_in_place_when_its_layout_has_changed() {
    let mut cluster = cluster();
    cluster.jobs[1].mobility = Mobility::Park;
    cluster.jobs[1].state = JobState::Parked(mapping(&[(0, 2)]));
    cluster.jobs[1].layout.eligible = Some([NodeIndex(1)].into_iter().collect());
    cluster.jobs[1].layout.max_tasks_per_node = Some(1);
    let resume = |runs| Action::Resume(JobId(2), mapping(runs));
    assert_eq!(found(&cluster, &[resume(&[(0, 2)])]), NONE);
    assert_eq!(
        found(&cluster, &[resume(&[(1, 2)])]),
        ["back in place", "tasks per node"]
    );
}

#[test]
fn parked_job_resumes_only_on_its_remaining_nodes() {
    let mut cluster = cluster();
    cluster.jobs[1].mobility = Mobility::Park;
    cluster.jobs[1].state = JobState::Parked(mapping(&[(0, 1)]));
    let resume = |runs| Action::Resume(JobId(2), mapping(runs));
    assert_eq!(found(&cluster, &[resume(&[(0, 1)])]), NONE);
    assert_eq!(found(&cluster, &[resume(&[(0, 2)])]), ["back in place"]);
}

#[test]
fn draining_and_down_nodes_take_nothing_new() {
    let mut cluster = cluster();
    cluster.nodes[0].state = NodeState::Draining;
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), ["node takes tasks"]);
    assert_eq!(found(&cluster, &[migrate(&[(0, 2)])]), ["node takes tasks"]);
    assert_eq!(found(&cluster, &[migrate(&[(0, 1), (1, 1)])]), NONE);
    cluster.jobs[1].tasks = 3;
    cluster.jobs[1].state = JobState::Running(mapping(&[(0, 1), (1, 2)]));
    assert_eq!(
        found(&cluster, &[migrate(&[(0, 2), (1, 1)])]),
        ["node takes tasks"]
    );
    cluster.nodes[0].state = NodeState::Down;
    assert_eq!(found(&cluster, &[start(&[(0, 2)])]), ["node takes tasks"]);
    assert_eq!(found(&cluster, &[PAUSE]), ["not on a node that is down"]);
}

#[test]
fn parked_job_may_resume_on_a_draining_node() {
    let mut cluster = cluster();
    cluster.jobs[1].mobility = Mobility::Park;
    cluster.jobs[1].state = JobState::Parked(mapping(&[(0, 2)]));
    let resume = Action::Resume(JobId(2), mapping(&[(0, 2)]));
    cluster.nodes[0].state = NodeState::Draining;
    assert_eq!(found(&cluster, std::slice::from_ref(&resume)), NONE);
    cluster.nodes[0].state = NodeState::Down;
    assert_eq!(found(&cluster, &[resume]), ["node takes tasks"]);
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
        assert_eq!(found(&cluster, &[action]), ["not locked"]);
    }
    assert_eq!(found(&cluster, &[Action::Pause(JobId(7))]), ["known job"]);
}

#[test]
fn clusters_are_checked_too() {
    let kinds = |cluster: &Cluster| {
        check_cluster(cluster)
            .into_iter()
            .map(|found| found.kind.rule())
            .collect::<Vec<_>>()
    };
    let mut broken = cluster();
    broken.jobs.reverse();
    assert_eq!(kinds(&broken), ["jobs in order"]);
    broken.jobs[1].id = JobId(2);
    assert_eq!(kinds(&broken), ["jobs in order"]);
    let mut broken = cluster();
    broken.jobs[0].tasks = 0;
    assert_eq!(kinds(&broken), ["some tasks"]);
    broken.jobs[1].tasks = 3;
    assert_eq!(kinds(&broken), ["some tasks", "task count"]);
    let mut broken = cluster();
    broken.nodes.pop();
    assert_eq!(kinds(&broken), ["known node"]);
}

/// The line of the first violation.
fn line(cluster: &Cluster, actions: &[Action]) -> String {
    let violations = check(cluster, &plan(actions));
    violations.first().expect("a violation").to_string()
}

#[test]
fn violation_text_names_action_job_and_node() {
    let mut cluster = cluster();
    cluster.jobs[0].memory = Bytes(50);
    let text = line(&cluster, &[start(&[(0, 2)])]);
    assert_eq!(
        text,
        "error: action 0 (start): job 1: node n: memory: requires 100 B, but 30 B of 100 B are in use (job 2 30 B): 30 B too much"
    );
    let forgotten = [Action::SetYield(JobId(2), Yield::ONE), start(&[(1, 2)])];
    let text = check(&cluster, &plan(&forgotten))[1].to_string();
    assert_eq!(text, "warning: job 1: the job runs and is given no yield");
    let text = line(&cluster, &[start(&[(0, 1), (9, 1)])]);
    assert_eq!(
        text,
        "error: action 0 (start): job 1: node #9: there is no such node among the 2"
    );
}

#[test]
fn exceeded_resource_lists_the_jobs_that_hold_it() {
    let mut cluster = cluster();
    cluster.nodes[0].name = "big".into();
    cluster.nodes[0].held_memory = Bytes(7);
    for (id, memory) in [(3, 5), (4, 20), (5, 5), (6, 5)] {
        let mut job = cluster.jobs[1].clone();
        (job.id, job.memory) = (JobId(id), Bytes(memory));
        job.rigid = vec![Amount(0), Amount(2)];
        cluster.insert(job);
    }
    let text = line(&cluster, &[start(&[(0, 2)])]);
    assert_eq!(
        text,
        "error: action 0 (start): job 1: node big: memory: requires 60 B, but 72 B of 100 B are in use (job 2 30 B, job 4 20 B, job 3 5 B, job 5 5 B and 2 more): 32 B too much"
    );
    for id in 3..=6 {
        cluster.remove(JobId(id));
    }
    cluster.jobs[0].rigid = vec![Amount(0), Amount(2)];
    cluster.jobs[1].rigid = vec![Amount(9), Amount(3)];
    cluster.nodes[1].rigid = vec![Amount(9), Amount(6)];
    let text = line(&cluster, &[start(&[(1, 2)])]);
    assert_eq!(
        text,
        "error: action 0 (start): job 1: node n: rigid resource 1: requires 4, but 3 of 6 are in use (job 2 3): 1 too much"
    );
    cluster.jobs[1].rigid.clear();
    cluster.jobs[1].mobility = Mobility::Park;
    cluster.nodes[0].swap = Bytes(29);
    let text = line(&cluster, &[PAUSE]);
    assert_eq!(
        text,
        "error: action 0 (pause): job 2: node big: swap: requires 30 B, but 0 B of 29 B are in use: 1 B too much"
    );
    cluster.nodes[0].swap = Bytes::ZERO;
    let text = line(&cluster, &[PAUSE]);
    assert_eq!(
        text,
        "error: action 0 (pause): job 2: node big: swap: requires 30 B, but the node has none"
    );
}

#[test]
fn exceeded_shares_list_the_jobs_that_get_them() {
    let mut cluster = cluster();
    let core = Cores::from_cores(1);
    cluster.nodes[0].cpu = core;
    for job in &mut cluster.jobs {
        job.cpu = core;
    }
    let shares = [
        start(&[(0, 2)]),
        Action::SetYield(JobId(1), Yield(0.4)),
        Action::SetYield(JobId(2), Yield(0.25)),
    ];
    let text = line(&cluster, &shares);
    assert_eq!(
        text,
        "error: node n: CPU: jobs get 1.05 of 1 cores (job 1 0.8, job 2 0.25): 0.05 too much"
    );
}

#[test]
fn violation_text_states_actual_and_required() {
    let mut cluster = cluster();
    let message = |cluster: &Cluster, action: Action| {
        let line = line(cluster, &[action]);
        let (_, what) = line.rsplit_once("): ").expect("an action");
        what.to_owned()
    };
    let resume = |job, runs: &[(u32, u32)]| Action::Resume(JobId(job), mapping(runs));
    assert_eq!(
        message(&cluster, Action::Pause(JobId(7))),
        "job 7: there is no such job"
    );
    assert_eq!(
        message(&cluster, Action::Pause(JobId(1))),
        "job 1: the job is pending, but must be running"
    );
    assert_eq!(
        message(&cluster, resume(2, &[(0, 2)])),
        "job 2: the job is running, but must be paused or parked"
    );
    assert_eq!(
        message(&cluster, start(&[(0, 1)])),
        "job 1: 1 tasks are placed, but the job has 2"
    );
    assert_eq!(
        message(&cluster, Action::SetYield(JobId(2), Yield(1.5))),
        "job 2: the yield is 1.5, but must be from 0 to 1"
    );
    let unplaced = check(
        &cluster,
        &plan(&[
            Action::SetYield(JobId(1), Yield(0.5)),
            Action::SetYield(JobId(2), Yield(0.5)),
        ]),
    );
    assert_eq!(
        unplaced[0].to_string(),
        "error: job 1: is given the yield 0.5, but is pending"
    );
    cluster.jobs[0].layout.max_tasks_per_node = Some(1);
    assert_eq!(
        message(&cluster, start(&[(0, 2)])),
        "job 1: node n: 2 tasks there, but the job's layout allows 1"
    );
    cluster.jobs[0].layout = Layout {
        max_nodes: Some(1),
        eligible: Some([0, 1].map(NodeIndex).into_iter().collect()),
        ..Layout::default()
    };
    assert_eq!(
        message(&cluster, start(&[(0, 1), (1, 1)])),
        "job 1: on 2 nodes, but the job's layout allows 1"
    );
    cluster.jobs[0].layout.eligible = Some([NodeIndex(0)].into_iter().collect());
    assert_eq!(
        message(&cluster, start(&[(1, 2)])),
        "job 1: node n: the job's layout does not allow the node"
    );
    cluster.jobs[0].layout = Layout {
        together: Some(Together::Consecutive(NodeGroups::default())),
        ..Layout::default()
    };
    assert_eq!(
        message(&cluster, start(&[(0, 1), (1, 1)])),
        "job 1: the job's layout does not allow these nodes together"
    );
    cluster.nodes[0].state = NodeState::Draining;
    assert_eq!(
        message(&cluster, start(&[(0, 2)])),
        "job 1: node n: the node is draining and takes no tasks"
    );
    cluster.jobs[1].mobility = Mobility::Never;
    assert_eq!(
        message(&cluster, PAUSE),
        "job 2: the job's mobility does not allow this: never"
    );
    cluster.jobs[1].state = JobState::Parked(mapping(&[(0, 1), (1, 1)]));
    assert_eq!(
        message(&cluster, resume(2, &[(1, 2)])),
        "job 2: a parked job can only come back where it is: n, n"
    );
    cluster.jobs[1].state = JobState::Running(mapping(&[(0, 1), (1, 1)]));
    cluster.nodes[0].state = NodeState::Down;
    assert_eq!(
        message(&cluster, PAUSE),
        "job 2: node n: the job has tasks there, and it is down"
    );
    cluster.jobs[1].locked = true;
    assert_eq!(
        message(&cluster, PAUSE),
        "job 2: something is under way with the job"
    );
    cluster.jobs.reverse();
    assert_eq!(
        check_cluster(&cluster)[0].to_string(),
        "error: job 1: stands after job 2; jobs must ascend"
    );
}

/// The jobs by which this plan breaks rules.
fn at_fault(cluster: &Cluster, actions: &[Action]) -> Vec<u64> {
    let jobs = jobs_at_fault(&check(cluster, &plan(actions)));
    jobs.into_iter().map(|job| job.0).collect()
}

#[test]
fn valid_plan_has_no_job_at_fault() {
    assert_eq!(at_fault(&cluster(), &[start(&[(0, 2)])]), [0; 0]);
}

#[test]
fn every_job_that_breaks_a_rule_of_its_own_is_at_fault() {
    let wrong = [start(&[(0, 1)]), migrate(&[(0, 1)]), migrate(&[(1, 1)])];
    assert_eq!(at_fault(&cluster(), &wrong), [1, 2]);
}

#[test]
fn first_job_that_exceeds_memory_is_at_fault() {
    let mut cluster = cluster();
    let third = Job {
        id: JobId(3),
        ..cluster.jobs[0].clone()
    };
    cluster.jobs.push(third);
    cluster.nodes[0].memory = Bytes(60);
    let another = Action::Start(JobId(3), mapping(&[(0, 2)]));
    let both = [start(&[(0, 2)]), another.clone()];
    assert_eq!(at_fault(&cluster, &both), [1]);
    // An action that breaks a rule of its own may have taken the memory.
    let rule = [another, start(&[(0, 1)])];
    assert_eq!(at_fault(&cluster, &rule), [1]);
}

#[test]
fn all_jobs_on_a_node_are_at_fault_when_shares_exceed_it() {
    let all = [
        start(&[(0, 2)]),
        Action::SetYield(JobId(1), Yield(1.0)),
        Action::SetYield(JobId(2), Yield(1.0)),
    ];
    assert_eq!(at_fault(&cluster(), &all), [1, 2]);
}
