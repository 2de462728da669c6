//! Small decisions worked out by hand.
//!
//! A cluster is written as one line a job: `id tasks cpu memory vt state mobility`, where state is
//! `new`, `paused`, `@0,0,1` (running, a node a task) or `z0,1` (parked there). Nodes have 100 CPU,
//! 100 memory and 100 swap. Jobs were submitted at their id in seconds; now is second 1000.

use dfrs_core::{
    Action, Amount, Blocked, Budget, Bytes, Cluster, Cores, Job, JobId, JobState, LoadCeiling,
    Mapping, Mobility, Node, NodeIndex, NodeState, Plan, Policy, PriorityFunction, Reason, Span,
    Time, Trigger, Weight, check, decide,
};

const NOW: Time = Time::from_seconds(1000);

fn cluster(nodes: usize, text: &str) -> Cluster {
    let mut node = Node::new("n", Cores(100), Bytes(100));
    node.swap = Bytes(100);
    let mut cluster = Cluster {
        nodes: vec![node; nodes],
        jobs: Vec::new(),
    };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        cluster.insert(job(line));
    }
    cluster
}

fn job(line: &str) -> Job {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |at: usize| words[at].parse::<u32>().expect(line);
    let seconds = |at: usize| Span::from_seconds(i64::from(number(at)));
    let mapping = |text: &str| {
        Mapping::from_tasks(
            text.split(',')
                .map(|node| NodeIndex(node.parse().expect(line))),
        )
    };
    let id = JobId(u64::from(number(0)));
    let mut job = Job::new(
        id,
        Time::ZERO + seconds(0),
        number(1),
        Cores(number(2).into()),
        Bytes(number(3).into()),
    );
    job.virtual_time = seconds(4);
    job.state = match words[5].split_at(1) {
        ("@", nodes) => JobState::Running(mapping(nodes)),
        ("z", nodes) => JobState::Parked(mapping(nodes)),
        ("p", _) => JobState::Paused,
        _ => JobState::Pending,
    };
    job.mobility = match words.get(6) {
        None => Mobility::Checkpoint,
        Some(&"park") => Mobility::Park,
        Some(&"restart") => Mobility::Restart,
        Some(&"never") => Mobility::Never,
        Some(&"locked") => {
            job.locked = true;
            Mobility::Checkpoint
        }
        Some(other) => panic!("{other}"),
    };
    job
}

fn text(plan: &Plan) -> Vec<String> {
    let nodes = |mapping: &Mapping| {
        let tasks = mapping
            .iter()
            .flat_map(|run| std::iter::repeat_n(run.node.to_string(), run.tasks as usize));
        tasks.collect::<Vec<_>>().join(",")
    };
    let line = |action: &Action| match action {
        Action::Start(job, mapping) => Some(format!("start {job} @{}", nodes(mapping))),
        Action::Pause(job) => Some(format!("pause {job}")),
        Action::Resume(job, mapping) => Some(format!("resume {job} @{}", nodes(mapping))),
        Action::Migrate(job, mapping) => Some(format!("migrate {job} @{}", nodes(mapping))),
        Action::SetYield(..) => None,
    };
    plan.actions
        .iter()
        .filter_map(|planned| line(&planned.action))
        .collect()
}

fn decided(policy: &Policy, cluster: &Cluster, trigger: Trigger) -> Plan {
    let plan = decide(policy, cluster, NOW, trigger);
    assert_eq!(check(cluster, &plan), []);
    plan
}

fn plan(policy: &str, cluster: &Cluster, trigger: Trigger) -> Vec<String> {
    text(&decided(&policy.parse().unwrap(), cluster, trigger))
}

fn submit(job: u64) -> Trigger {
    Trigger::Submission(JobId(job))
}

fn yields(plan: &Plan) -> Vec<(u64, f64)> {
    let share = |action: &Action| match action {
        Action::SetYield(job, share) => Some((job.0, share.0)),
        _ => None,
    };
    plan.actions
        .iter()
        .filter_map(|planned| share(&planned.action))
        .collect()
}

const NONE: [&str; 0] = [];

#[test]
fn greedy_starts_what_fits_and_leaves_the_rest_waiting() {
    let cluster = cluster(2, "1 1 50 60 9 @0\n 2 2 50 40 0 new\n 3 2 50 60 0 new");
    assert_eq!(plan("Greedy*", &cluster, submit(2)), ["start 2 @0,1"]);
    assert_eq!(plan("Greedy/per", &cluster, submit(3)), NONE);
    let plan = decided(&"Greedy/per".parse().unwrap(), &cluster, submit(3));
    assert_eq!(
        plan.blocked,
        [(JobId(2), Blocked::NotNow), (JobId(3), Blocked::Memory)]
    );
}

#[test]
fn a_submission_of_a_job_that_runs_or_is_gone_changes_nothing() {
    let cluster = cluster(1, "1 1 50 60 9 @0\n 2 1 50 10 0 new locked");
    for job in [1, 2, 3] {
        assert_eq!(plan("GreedyPM*", &cluster, submit(job)), NONE);
    }
}

#[test]
fn greedy_p_pauses_the_lowest_priority_and_keeps_what_still_fits() {
    // Priorities: flow / vt²; job 1 is lowest, then 2, then 3.
    let cluster = cluster(
        2,
        "1 1 10 30 90 @0\n 2 1 10 80 50 @1\n 3 1 10 60 10 @0\n 9 1 10 70 0 new",
    );
    // 1 alone leaves only 40 on node 0; with 2 gone node 1 is empty, and 1 still fits in place.
    assert_eq!(
        plan("GreedyP*", &cluster, submit(9)),
        ["pause 2", "start 9 @1"]
    );
    // With migration 2 finds no other place either.
    assert_eq!(
        plan("GreedyPM*", &cluster, submit(9)),
        ["pause 2", "start 9 @1"]
    );
}

#[test]
fn greedy_pm_moves_what_fits_elsewhere() {
    let cluster = cluster(2, "1 1 10 50 90 @0\n 2 1 10 30 50 @1\n 9 1 10 80 0 new");
    assert_eq!(
        plan("GreedyP*", &cluster, submit(9)),
        ["pause 1", "start 9 @0"]
    );
    assert_eq!(
        plan("GreedyPM*", &cluster, submit(9)),
        ["migrate 1 @1", "start 9 @0"]
    );
    let plan = decided(&"GreedyPM*".parse().unwrap(), &cluster, submit(9));
    assert_eq!(plan.actions[0].reason, Reason::MakesRoomFor(JobId(9)));
    assert_eq!(plan.actions[1].reason, Reason::Fits);
}

#[test]
fn nobody_is_paused_for_a_job_that_does_not_fit_even_so() {
    let cluster = cluster(1, "1 1 10 50 90 @0\n 9 1 10 101 0 new");
    let plan = decided(&"GreedyPM*".parse().unwrap(), &cluster, submit(9));
    assert_eq!(text(&plan), NONE);
    assert_eq!(plan.blocked, [(JobId(9), Blocked::NeverFits)]);
    assert_eq!(yields(&plan), [(1, 1.0)]);
}

#[test]
fn jobs_of_higher_priority_are_not_paused() {
    // Both have no virtual time; the one that was submitted first comes first.
    let cluster = cluster(1, "1 1 10 50 0 @0\n 9 1 10 80 0 new");
    assert_eq!(plan("GreedyP*", &cluster, submit(9)), NONE);
    let mut cluster = cluster;
    cluster.jobs[0].submit = Time::from_seconds(10);
    assert_eq!(
        plan("GreedyP*", &cluster, submit(9)),
        ["pause 1", "start 9 @0"]
    );
}

#[test]
fn mobility_decides_who_gives_way() {
    let with = |mobility: &str| {
        cluster(
            2,
            &format!("1 1 10 50 90 @0 {mobility}\n 2 1 10 60 9 @1\n 9 1 10 80 0 new"),
        )
    };
    assert_eq!(
        plan("GreedyPM*", &with("park"), submit(9)),
        ["pause 1", "start 9 @0"]
    );
    assert_eq!(
        plan("GreedyPM*", &with("never"), submit(9)),
        ["pause 2", "start 9 @1"]
    );
    assert_eq!(
        plan("GreedyPM*", &with("locked"), submit(9)),
        ["pause 2", "start 9 @1"]
    );
    // A job that would lose its work gives way last, although its priority is lowest.
    assert_eq!(
        plan("GreedyPM*", &with("restart"), submit(9)),
        ["pause 2", "start 9 @1"]
    );
    let mut no_swap = with("park");
    no_swap.nodes[0].swap = Bytes(49);
    assert_eq!(
        plan("GreedyPM*", &no_swap, submit(9)),
        ["pause 2", "start 9 @1"]
    );
    no_swap.nodes[0].swap = Bytes(50);
    assert_eq!(
        plan("GreedyPM*", &no_swap, submit(9)),
        ["pause 1", "start 9 @0"]
    );
    let mut draining = with("park");
    draining.nodes[0].state = NodeState::Draining;
    assert_eq!(
        plan("GreedyPM*", &draining, submit(9)),
        ["pause 2", "start 9 @1"]
    );
}

#[test]
fn a_restartable_job_moves_if_it_must_give_way() {
    let cluster = cluster(
        2,
        "1 1 10 50 90 @0 restart\n 2 1 10 30 9 @1 never\n 9 1 10 80 0 new",
    );
    assert_eq!(
        plan("GreedyPM*", &cluster, submit(9)),
        ["migrate 1 @1", "start 9 @0"]
    );
    assert_eq!(
        plan("GreedyP*", &cluster, submit(9)),
        ["pause 1", "start 9 @0"]
    );
}

#[test]
fn swap_is_shared_by_all_that_are_parked() {
    let text = "1 1 10 30 90 @0 park\n 2 1 10 30 80 @0 park\n 3 1 10 40 70 @0\n 4 1 10 60 9 z0 park\n 9 1 10 90 0 new";
    // 60 of 100 are taken: 1 may be parked, then 2 may not, and 3 goes.
    assert_eq!(plan("GreedyP*", &cluster(1, text), submit(9)), NONE);
    let mut smaller = cluster(1, text);
    smaller.jobs[4].memory = Bytes(70);
    assert_eq!(
        plan("GreedyP*", &smaller, submit(9)),
        ["pause 1", "pause 3", "start 9 @0"]
            .map(String::from)
            .to_vec()
    );
}

#[test]
fn a_completion_starts_waiting_jobs_by_priority() {
    let cluster = cluster(
        1,
        "1 1 10 60 90 paused\n 2 1 10 60 10 paused\n 3 1 10 30 50 paused\n 4 1 10 20 0 new",
    );
    assert_eq!(
        plan("Greedy*", &cluster, Trigger::Completion),
        ["start 4 @0", "resume 2 @0"]
    );
    assert_eq!(
        plan("Greedy*", &cluster, Trigger::NodeChange),
        ["start 4 @0", "resume 2 @0"]
    );
    assert_eq!(plan("Greedy/per", &cluster, Trigger::Completion), NONE);
}

#[test]
fn priority_functions_differ() {
    // flow/vt²: 1 -> 999/2500, 900 -> 100/900; 1/vt: 1/50, 1/30; flow/vt: 999/50, 100/30.
    let cluster = cluster(1, "1 1 10 60 50 paused\n 900 1 10 60 30 paused");
    let first = |function: PriorityFunction| {
        let mut policy: Policy = "Greedy*".parse().unwrap();
        policy.settings.priority = function;
        text(&decided(&policy, &cluster, Trigger::Completion))
    };
    assert_eq!(
        first(PriorityFunction::FlowOverVirtualTimeSquared),
        ["resume 1 @0"]
    );
    assert_eq!(
        first(PriorityFunction::InverseVirtualTime),
        ["resume 900 @0"]
    );
    assert_eq!(
        first(PriorityFunction::FlowOverVirtualTime),
        ["resume 1 @0"]
    );
    assert_eq!(
        first(PriorityFunction::BoundedFlowOverVirtualTimeSquared),
        ["resume 1 @0"]
    );
}

#[test]
fn weight_lifts_priority_and_share() {
    let mut cluster = cluster(1, "1 1 10 60 50 paused\n 2 1 10 60 50 paused");
    cluster.jobs[1].weight = Weight(1010);
    assert_eq!(
        plan("Greedy*", &cluster, Trigger::Completion),
        ["resume 2 @0"]
    );
}

#[test]
fn a_parked_job_comes_back_in_place_or_not_at_all() {
    let text = "1 1 10 60 9 z0 park\n 2 1 10 50 5 @0";
    assert_eq!(
        plan("Greedy*", &cluster(2, text), Trigger::Completion),
        NONE
    );
    let plan_of =
        |cluster: &Cluster| decided(&"Greedy*".parse().unwrap(), cluster, Trigger::Completion);
    assert_eq!(
        plan_of(&cluster(2, text)).blocked,
        [(JobId(1), Blocked::OwnNodesFull)]
    );
    let mut lighter = cluster(2, text);
    lighter.jobs[1].memory = Bytes(40);
    assert_eq!(
        plan("Greedy*", &lighter, Trigger::Completion),
        ["resume 1 @0"]
    );
    lighter.nodes[0].state = NodeState::Draining;
    assert_eq!(
        plan_of(&lighter).blocked,
        [(JobId(1), Blocked::NodesUnavailable)]
    );
    lighter.nodes[0].state = NodeState::Up;
    assert_eq!(
        decide(&"/per".parse().unwrap(), &lighter, NOW, Trigger::Completion).blocked,
        [(JobId(1), Blocked::NotNow)]
    );
}

#[test]
fn a_parked_job_that_cannot_come_back_holds_nobody_up() {
    let cluster = cluster(
        2,
        "1 1 10 60 5 z0 park\n 2 1 10 50 90 @0\n 3 1 10 60 9 paused",
    );
    assert_eq!(
        plan("Greedy*", &cluster, Trigger::Completion),
        ["resume 3 @1"]
    );
}

#[test]
fn waiting_jobs_learn_what_they_wait_for() {
    let mut cluster = cluster(
        2,
        "1 1 10 60 9 @0\n 2 2 10 60 0 new\n 3 3 10 60 0 new\n 4 1 10 10 0 new",
    );
    let blocked = |cluster: &Cluster| {
        let plan = decided(&"/per".parse().unwrap(), cluster, Trigger::Completion);
        plan.blocked
            .into_iter()
            .map(|(_, why)| why)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        blocked(&cluster),
        [Blocked::Memory, Blocked::NeverFits, Blocked::NotNow]
    );
    cluster.nodes[1].state = NodeState::Draining;
    assert_eq!(
        blocked(&cluster),
        [
            Blocked::NodesUnavailable,
            Blocked::NeverFits,
            Blocked::NotNow
        ]
    );
    cluster.nodes[1].state = NodeState::Up;
    cluster.nodes[1].held_memory = Bytes(50);
    assert_eq!(
        blocked(&cluster),
        [Blocked::Memory, Blocked::NeverFits, Blocked::NotNow]
    );
    cluster.jobs[3].layout.eligible = Some(vec![NodeIndex(1)]);
    cluster.nodes[1].state = NodeState::Down;
    assert_eq!(
        blocked(&cluster),
        [
            Blocked::NodesUnavailable,
            Blocked::NeverFits,
            Blocked::NodesUnavailable
        ]
    );
}

#[test]
fn what_one_waiting_job_learns_is_not_taken_for_another() {
    let mut cluster = cluster(1, "1 1 10 10 0 new\n 2 1 10 10 0 new\n 3 1 10 10 0 new");
    cluster.jobs[2].further_kinds = cluster.jobs[0].kinds().collect();
    let plan = decided(&"/per".parse().unwrap(), &cluster, Trigger::Completion);
    assert_eq!(
        plan.blocked,
        [1, 2, 3].map(|job| (JobId(job), Blocked::NotNow))
    );
}

#[test]
fn the_remap_balances_what_greedy_left_unbalanced() {
    let cluster = cluster(2, "1 1 100 20 700 @0\n 2 1 100 20 700 @0\n 3 1 0 90 700 @1");
    // Each of 1 and 2 needs a whole node's CPU: one of them moves to the node that 3 fills with memory.
    let plan = decided(&"/per/OPT=MIN".parse().unwrap(), &cluster, Trigger::Period);
    assert_eq!(yields(&plan), [(1, 0.5), (2, 0.5), (3, 1.0)]);
    let lighter = {
        let mut lighter = cluster.clone();
        lighter.jobs[2].memory = Bytes(80);
        lighter
    };
    let plan = decided(&"/per/OPT=MIN".parse().unwrap(), &lighter, Trigger::Period);
    assert_eq!(yields(&plan), [(1, 1.0), (2, 1.0), (3, 1.0)]);
    assert!(
        plan.actions
            .iter()
            .filter(|planned| planned.reason == Reason::Remap)
            .count()
            >= 1
    );
}

#[test]
fn minvt_keeps_young_jobs_in_place_but_not_from_being_paused() {
    let text = "1 1 100 20 500 @0\n 2 1 100 20 500 @0";
    assert_eq!(
        plan("/per/OPT=MIN", &cluster(2, text), Trigger::Period).len(),
        1
    );
    assert_eq!(
        plan("/per/OPT=MIN/MINVT=600", &cluster(2, text), Trigger::Period),
        NONE
    );
    assert_eq!(
        plan("/per/OPT=MIN/MINVT=500", &cluster(2, text), Trigger::Period).len(),
        1
    );
    assert_eq!(
        plan("/per/OPT=MIN/MINFT=600", &cluster(2, text), Trigger::Period).len(),
        1
    );
    assert_eq!(
        plan(
            "/per/OPT=MIN/MINFT=1000",
            &cluster(2, text),
            Trigger::Period
        ),
        NONE
    );
    // Their flow times are 999 and 998 s.
    assert_eq!(
        plan("/per/OPT=MIN/MINFT=999", &cluster(2, text), Trigger::Period),
        ["migrate 1 @1"]
    );
    let crowded = cluster(1, "1 1 10 60 500 @0\n 2 1 10 60 0 new");
    assert_eq!(
        plan("/per/OPT=MIN/MINVT=600", &crowded, Trigger::Period),
        ["pause 1", "start 2 @0"]
    );
}

#[test]
fn a_grace_period_limits_the_yield_of_the_search() {
    // Both young jobs stay on node 0, so that no yield above 1/2 is feasible, at which node 1 takes both
    // old jobs. Jobs that could not move anyway do not limit it.
    let text = |mobility: &str| {
        format!(
            "1 1 100 20 500 @0 {mobility}\n 2 1 100 20 500 @0 {mobility}\n 3 1 100 10 900 @2\n 4 1 100 10 800 @1"
        )
    };
    let with = |mobility: &str| {
        plan(
            "/per/OPT=MIN/MINVT=600",
            &cluster(3, &text(mobility)),
            Trigger::Period,
        )
    };
    assert_eq!(with(""), ["migrate 3 @1"]);
    assert_eq!(with("never"), NONE);
}

#[test]
fn equal_jobs_do_not_change_places() {
    // MCB8 orders them by identity, the last first; whichever it is, nobody need move.
    let mut policy: Policy = "/per/OPT=MIN".parse().unwrap();
    policy.settings.keep_equal_jobs = true;
    for jobs in [
        "1 1 100 10 900 @0\n 2 1 100 10 900 @1",
        "1 1 100 10 900 @1\n 2 1 100 10 900 @0",
    ] {
        assert_eq!(
            text(&decided(&policy, &cluster(2, jobs), Trigger::Period)),
            NONE,
            "{jobs}"
        );
    }
    // Unless told to, MCB8 takes them in order of identity, as in the papers.
    let crossed = cluster(2, "1 1 100 10 900 @1\n 2 1 100 10 900 @0");
    let there = cluster(2, "1 1 100 10 900 @0\n 2 1 100 10 900 @1");
    let moves = |cluster| plan("/per/OPT=MIN", cluster, Trigger::Period).len();
    assert_eq!(moves(&crossed) + moves(&there), 2);
    // One of three equal jobs must move: one that shares its node.
    let three = cluster(
        3,
        "1 1 100 10 900 @0\n 2 1 100 10 900 @0\n 3 1 100 10 900 @1",
    );
    assert_eq!(
        text(&decided(&policy, &three, Trigger::Period)),
        ["migrate 2 @2"]
    );
    // A waiting job takes the place that is left.
    let new = cluster(2, "1 1 100 10 900 @1\n 2 1 100 10 0 new");
    assert_eq!(
        text(&decided(&policy, &new, Trigger::Period)),
        ["start 2 @0"]
    );
}

#[test]
fn the_remap_drops_the_lowest_priority_until_all_others_fit() {
    let cluster = cluster(
        1,
        "1 1 10 60 90 @0\n 2 1 10 60 10 paused\n 3 1 10 40 50 paused\n 4 1 10 90 0 new",
    );
    // Priorities: 4, 2, 3, 1. 4 alone fits with nobody.
    let plan = decided(&"/per/OPT=MIN".parse().unwrap(), &cluster, Trigger::Period);
    assert_eq!(text(&plan), ["pause 1", "start 4 @0"]);
    assert_eq!(plan.actions[0].reason, Reason::DoesNotFitRemap);
    assert_eq!(
        plan.blocked,
        [(JobId(2), Blocked::Memory), (JobId(3), Blocked::Memory)]
    );
}

#[test]
fn mcb8_remaps_at_every_event_of_its_own() {
    let cluster = cluster(1, "1 1 10 60 90 @0\n 2 1 10 60 0 new");
    let expected = ["pause 1", "start 2 @0"];
    assert_eq!(plan("MCB8*", &cluster, submit(2)), expected);
    assert_eq!(plan("MCB8*", &cluster, Trigger::Completion), expected);
    assert_eq!(plan("MCB8/per", &cluster, Trigger::Completion), NONE);
    assert_eq!(plan("MCB8/per", &cluster, Trigger::Period), expected);
    assert_eq!(plan("MCB8*", &cluster, Trigger::Period), NONE);
}

#[test]
fn a_remap_starts_all_that_fit() {
    let cluster = cluster(2, "1 1 50 10 0 new\n 2 1 50 10 0 new\n 3 1 50 20 0 new");
    let mut lines = plan("MCB8*", &cluster, submit(3));
    lines.sort();
    assert_eq!(lines, ["start 1 @1", "start 2 @0", "start 3 @0"]);
}

#[test]
fn what_cannot_move_is_planned_around() {
    let text =
        |mobility: &str| format!("1 1 100 20 900 @0 {mobility}\n 2 1 100 20 900 @0 {mobility}");
    for mobility in ["park", "never", "restart", "locked"] {
        assert_eq!(
            plan(
                "/per/OPT=MIN",
                &cluster(2, &text(mobility)),
                Trigger::Period
            ),
            NONE,
            "{mobility}"
        );
    }
    let mut draining = cluster(2, "1 1 100 20 900 @0\n 2 1 100 20 900 @0");
    draining.nodes[0].state = NodeState::Draining;
    assert_eq!(plan("/per/OPT=MIN", &draining, Trigger::Period), NONE);
}

#[test]
fn nobody_is_dropped_for_a_job_that_does_not_fit_beside_what_must_stay() {
    let cluster = cluster(
        1,
        "1 1 10 60 90 @0 never\n 2 1 10 30 90 @0\n 3 1 10 50 0 new",
    );
    let plan = decided(&"/per/OPT=MIN".parse().unwrap(), &cluster, Trigger::Period);
    assert_eq!(text(&plan), NONE);
    assert_eq!(plan.blocked, [(JobId(3), Blocked::Memory)]);
}

#[test]
fn a_remap_throws_no_work_away() {
    let cluster = cluster(
        1,
        "1 1 10 60 900 @0 restart\n 2 1 10 30 90 @0\n 3 1 10 60 10 paused",
    );
    // 3 comes first by priority, but to bring it back 1 would have to be restarted.
    assert_eq!(plan("/per/OPT=MIN", &cluster, Trigger::Period), NONE);
}

#[test]
fn what_does_not_fit_in_swap_stays() {
    // 2 would be parked for 3, but the swap is full; so that 3 waits.
    let mut cluster = cluster(
        1,
        "1 1 10 90 50 z0 park\n 2 1 10 60 900 @0 park\n 3 1 10 60 0 new",
    );
    assert_eq!(plan("/per/OPT=MIN", &cluster, Trigger::Period), NONE);
    cluster.nodes[0].swap = Bytes(150);
    assert_eq!(
        plan("/per/OPT=MIN", &cluster, Trigger::Period),
        ["pause 2", "start 3 @0"]
    );
    // A parked job of higher priority comes back in place of one that can be parked.
    cluster.remove(JobId(3));
    assert_eq!(
        plan("/per/OPT=MIN", &cluster, Trigger::Period),
        ["pause 2", "resume 1 @0"]
    );
}

#[test]
fn what_does_not_fit_in_swap_together_stays() {
    // Each of 1 and 2 could be parked for 3, but not both.
    let mut cluster = cluster(
        1,
        "1 1 10 40 900 @0 park\n 2 1 10 40 800 @0 park\n 3 1 10 90 0 new",
    );
    cluster.nodes[0].swap = Bytes(60);
    assert_eq!(plan("/per/OPT=MIN", &cluster, Trigger::Period), NONE);
    cluster.nodes[0].swap = Bytes(80);
    let mut lines = plan("/per/OPT=MIN", &cluster, Trigger::Period);
    lines.sort();
    assert_eq!(lines, ["pause 1", "pause 2", "start 3 @0"]);
}

#[test]
fn no_swap_is_needed_for_jobs_that_are_not_parked() {
    let mut cluster = cluster(1, "1 1 10 60 900 @0\n 2 1 10 60 0 new");
    cluster.nodes[0].swap = Bytes(0);
    assert_eq!(
        plan("/per/OPT=MIN", &cluster, Trigger::Period),
        ["pause 1", "start 2 @0"]
    );
}

#[test]
fn moves_that_wait_for_each_other_are_broken_up() {
    // Memory lists of MCB8 fill node 0 with the largest: 3 (90) goes to node 0 and 1 to node 1.
    let cluster = cluster(2, "1 1 10 60 900 @0\n 2 1 10 30 900 @0\n 3 1 10 90 100 @1");
    let plan = decided(&"/per/OPT=MIN".parse().unwrap(), &cluster, Trigger::Period);
    let lines = text(&plan);
    if !lines.is_empty() {
        assert_eq!(
            lines,
            [
                "pause 2",
                "pause 1",
                "migrate 3 @0",
                "resume 1 @1",
                "resume 2 @1"
            ]
        );
        assert_eq!(plan.actions[0].reason, Reason::BreaksCycle);
    }
    assert!(!lines.is_empty());
}

#[test]
fn budgets_limit_moves() {
    let cluster = cluster(2, "1 1 10 60 900 @0\n 2 1 10 30 900 @0\n 3 1 10 90 100 @1");
    let mut policy: Policy = "/per/OPT=MIN".parse().unwrap();
    for most in 0..3 {
        policy.settings.budget = Budget {
            moves_per_decision: Some(most),
            moves_per_job: None,
        };
        assert_eq!(
            text(&decided(&policy, &cluster, Trigger::Period)),
            NONE,
            "{most}"
        );
    }
    policy.settings.budget.moves_per_decision = Some(3);
    assert_eq!(text(&decided(&policy, &cluster, Trigger::Period)).len(), 5);
    policy.settings.budget = Budget {
        moves_per_decision: None,
        moves_per_job: Some(2),
    };
    let mut tired = cluster.clone();
    assert_eq!(text(&decided(&policy, &tired, Trigger::Period)).len(), 5);
    tired.jobs[2].recent_moves = 2;
    assert_eq!(text(&decided(&policy, &tired, Trigger::Period)), NONE);

    let mut policy: Policy = "GreedyPM*".parse().unwrap();
    policy.settings.budget.moves_per_decision = Some(0);
    let full = self::cluster(1, "1 1 10 60 90 @0\n 2 1 10 60 0 new");
    assert_eq!(text(&decided(&policy, &full, submit(2))), NONE);
    policy.settings.budget.moves_per_decision = Some(1);
    assert_eq!(
        text(&decided(&policy, &full, submit(2))),
        ["pause 1", "start 2 @0"]
    );
}

#[test]
fn a_known_penalty_prevents_moves_that_do_not_pay() {
    let cluster = cluster(2, "1 1 100 20 900 @0\n 2 1 100 20 900 @0");
    let mut policy: Policy = "/per/OPT=MIN".parse().unwrap();
    let moves = |policy: &Policy| text(&decided(policy, &cluster, Trigger::Period)).len();
    assert_eq!(moves(&policy), 1);
    // From a yield of 1/2 to 1 for what is left of 600 s.
    policy.settings.penalty = Span::from_seconds(299);
    assert_eq!(moves(&policy), 1);
    policy.settings.penalty = Span::from_seconds(300);
    assert_eq!(moves(&policy), 0);
    policy.settings.penalty = Span::from_seconds(9_000);
    assert_eq!(moves(&policy), 0);
    let mut waiting = cluster.clone();
    waiting.insert(job("3 1 10 70 0 new"));
    assert!(!text(&decided(&policy, &waiting, Trigger::Period)).is_empty());
}

#[test]
fn a_ceiling_on_load_is_kept() {
    let mut cluster = cluster(1, "1 1 100 10 90 @0\n 2 1 100 10 50 @0\n 3 1 100 10 0 new");
    let mut policy: Policy = "GreedyP*/per".parse().unwrap();
    policy.settings.load_ceiling = Some(LoadCeiling(300));
    assert_eq!(text(&decided(&policy, &cluster, submit(3))), ["start 3 @0"]);
    assert_eq!(
        text(&decided(&policy, &cluster, Trigger::Period)),
        ["start 3 @0"]
    );
    policy.settings.load_ceiling = Some(LoadCeiling(299));
    assert_eq!(
        text(&decided(&policy, &cluster, submit(3))),
        ["pause 1", "start 3 @0"]
    );
    assert_eq!(
        text(&decided(&policy, &cluster, Trigger::Period)),
        ["pause 1", "start 3 @0"]
    );
    // One task that alone exceeds the ceiling never starts, and nobody makes room for it.
    cluster.jobs[2].cpu = Cores(300);
    let plan = decided(&policy, &cluster, Trigger::Period);
    assert_eq!(
        (text(&plan), plan.blocked),
        (Vec::new(), vec![(JobId(3), Blocked::NeverFits)])
    );
}

#[test]
fn a_remap_that_brings_a_parked_job_back_keeps_its_node_below_the_ceiling() {
    let mut policy: Policy = "/per/OPT=MIN".parse().unwrap();
    policy.settings.load_ceiling = Some(LoadCeiling(100));
    let cluster = cluster(1, "1 1 60 10 5 z0 park\n 2 1 60 10 900 @0 park");
    assert_eq!(
        text(&decided(&policy, &cluster, Trigger::Period)),
        ["pause 2", "resume 1 @0"]
    );
}

#[test]
fn further_resources_hold_jobs_apart() {
    let mut cluster = cluster(2, "1 1 10 10 90 @0\n 2 1 10 10 0 new\n 3 2 10 10 0 new");
    for node in &mut cluster.nodes {
        node.rigid = vec![Amount(1)];
    }
    for job in &mut cluster.jobs {
        job.rigid = vec![Amount(1)];
    }
    assert_eq!(plan("Greedy*", &cluster, submit(2)), ["start 2 @1"]);
    assert_eq!(plan("Greedy/per", &cluster, submit(3)), NONE);
    assert_eq!(plan("Greedy*", &cluster, submit(3)), ["start 2 @1"]);
    assert_eq!(
        plan("GreedyP*", &cluster, submit(3)),
        ["pause 1", "start 3 @0,1"]
    );
    // Dropping 1 is not enough for 2 and 3.
    assert_eq!(
        plan("MCB8*", &cluster, submit(3)),
        ["pause 1", "start 2 @0"]
    );
}

#[test]
fn opportunistic_policies_resume_jobs_at_submissions_too() {
    let cluster = cluster(2, "1 1 10 60 90 paused\n 2 1 10 60 0 new");
    for policy in ["GREEDY-PMTN", "GreedyP*"] {
        assert_eq!(
            plan(policy, &cluster, submit(2)),
            ["start 2 @0", "resume 1 @1"]
        );
    }
    assert_eq!(plan("GreedyP/per", &cluster, submit(2)), ["start 2 @0"]);
    assert_eq!(plan("GREEDY", &cluster, Trigger::Completion), NONE);
    assert_eq!(
        plan("GREEDY-PMTN", &cluster, Trigger::Completion),
        ["start 2 @0", "resume 1 @1"]
    );
}

/// 3 stays on node 0 for its grace, so that the two tasks of 2 fit nowhere; 1 has the lowest priority and
/// is dropped before 2, although it is not in the way.
#[test]
fn opportunistic_policies_take_back_what_a_remap_dropped() {
    let jobs = "1 1 10 10 500 @1\n 2 2 10 60 90 paused\n 3 1 10 90 10 @0";
    let free = cluster(2, jobs);
    assert_eq!(
        plan("Greedy/per/MINVT=60", &free, Trigger::Period),
        ["pause 1"]
    );
    assert_eq!(plan("Greedy*/per/MINVT=60", &free, Trigger::Period), NONE);
    // It goes where Greedy puts it.
    let crowded = cluster(2, &jobs.replace("500 @1", "500 @0"));
    assert_eq!(
        plan("Greedy*/per/MINVT=60", &crowded, Trigger::Period),
        ["migrate 1 @1"]
    );
}

#[test]
fn stretch_is_about_the_past_too() {
    // 1 had all it needed so far, 2 (submitted 100 s ago) had nothing: 2 gets more.
    let cluster = cluster(1, "400 1 100 20 600 @0\n 900 1 100 20 0 @0");
    let plan = decided(
        &"/stretch-per/OPT=MAX".parse().unwrap(),
        &cluster,
        Trigger::Period,
    );
    let found = yields(&plan);
    assert!((found[0].1 + found[1].1 - 1.0).abs() < 1e-9);
    // (600 + 600) / (600 + 600 y1) = (100 + 600) / (600 y2), y1 + y2 = 1: y2 = 1400 / 1900.
    assert!((found[1].1 - 14.0 / 19.0).abs() < 1e-9, "{found:?}");
}

#[test]
fn stretch_remaps_drop_and_pin_like_others() {
    let crowded = cluster(1, "1 1 10 60 500 @0\n 2 1 10 60 0 new");
    assert_eq!(
        plan("/stretch-per/OPT=MAX/MINVT=600", &crowded, Trigger::Period),
        ["pause 1", "start 2 @0"]
    );
    let pair = "1 1 100 20 500 @0\n 2 1 100 20 500 @0";
    assert_eq!(
        plan("/stretch-per/OPT=AVG", &cluster(2, pair), Trigger::Period).len(),
        1
    );
    assert_eq!(
        plan(
            "/stretch-per/OPT=AVG/MINVT=600",
            &cluster(2, pair),
            Trigger::Period
        ),
        NONE
    );
}

#[test]
fn jobs_on_a_node_that_is_down_are_the_drivers() {
    let mut cluster = cluster(
        2,
        "1 2 100 20 90 @0,1\n 2 1 100 20 900 @1\n 9 1 10 80 0 new",
    );
    cluster.nodes[0].state = NodeState::Down;
    let plan = decided(&"GreedyPM*/per".parse().unwrap(), &cluster, submit(9));
    assert_eq!(
        text(&plan),
        ["pause 2", "start 9 @1"].map(String::from).to_vec()
    );
    assert_eq!(
        yields(&plan)
            .iter()
            .map(|(job, _)| *job)
            .collect::<Vec<_>>(),
        [9]
    );
}
