//! Random clusters, and the world that carries a plan out.
#![allow(dead_code, reason = "each test binary uses a part")]

use dfrs_core::{
    Action, Amount, Budget, Bytes, Cluster, Cores, Events, Job, JobId, JobState, Layout,
    LeastYield, LoadCeiling, Mapping, Mobility, Node, NodeGroups, NodeIndex, NodeSet, NodeState,
    Plan, Policy, Roster, Run, RunTimeHint, Settings, Span, Time, Together, Weight, decide,
};
use proptest::prelude::*;

/// How many random cases to try: as many as `PROPTEST_CASES` says, else this.
pub fn cases(usual: u32) -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(usual)
}

/// The instant of every random decision.
pub const NOW: Time = Time::from_seconds(10_000);

/// Every policy whose name is allowed.
pub fn policies() -> Vec<Policy> {
    let mut found = Vec::new();
    for submission in [
        "",
        "Greedy",
        "GreedyP",
        "GreedyPM",
        "GreedyPMC",
        "GreedyPMCR",
        "MCB8",
    ] {
        for star in ["", "*"] {
            for periodic in ["", "/per", "/stretch-per", "/move-per"] {
                for optimisation in ["", "/OPT=MIN", "/OPT=AVG", "/OPT=MAX", "/OPT=VT"] {
                    for grace in ["", "/MINVT=600", "/MINFT=300"] {
                        found.extend(dfrs_papers::policy(&format!(
                            "{submission}{star}{periodic}{optimisation}{grace}"
                        )));
                    }
                }
            }
        }
    }
    found
}

/// Any policy, with the papers' settings or others.
pub fn policy() -> impl Strategy<Value = Policy> {
    let settings = prop_oneof![1 => Just(Settings::default()), 1 => settings()];
    let (own, papers): (Vec<Policy>, Vec<Policy>) =
        policies().into_iter().partition(Policy::weighs_moves);
    let policy = prop_oneof![
        2 => proptest::sample::select(papers),
        1 => proptest::sample::select(own),
    ];
    (policy, settings).prop_map(|(policy, settings)| Policy { settings, ..policy })
}

fn settings() -> impl Strategy<Value = Settings> {
    let budget = || proptest::option::weighted(0.3, 0u32..4);
    (
        prop_oneof![Just(600i64), 1i64..10_000],
        prop_oneof![Just(0i64), Just(300)],
        proptest::option::weighted(0.4, 50u32..500),
        (budget(), budget()),
        (any::<bool>(), any::<bool>()),
        proptest::option::weighted(0.4, 10u32..=100),
    )
        .prop_map(
            |(
                period,
                penalty,
                ceiling,
                (per_decision, per_job),
                (keep_equal_jobs, hints),
                least,
            )| {
                Settings {
                    period: Span::from_seconds(period),
                    penalty: Span::from_seconds(penalty),
                    load_ceiling: ceiling.map(LoadCeiling::from_percent),
                    budget: Budget {
                        moves_per_decision: per_decision,
                        moves_per_job: per_job,
                    },
                    keep_equal_jobs,
                    run_time_hint: if hints {
                        RunTimeHint::Limits
                    } else {
                        RunTimeHint::Nothing
                    },
                    parallel_least_yield: least.map(LeastYield),
                    ..Settings::default()
                }
            },
        )
}

/// One event; a submission is of one of the first jobs.
pub fn event() -> impl Strategy<Value = Events> {
    prop_oneof![
        (0u64..12).prop_map(|job| Events::submitted([JobId(job)])),
        Just(Events::ended()),
        Just(Events::period()),
        Just(Events::nodes_changed()),
    ]
}

/// One event, or several at once.
pub fn events() -> impl Strategy<Value = Events> {
    let submitted = proptest::collection::vec((0u64..12).prop_map(JobId), 0..6);
    let several = (any::<bool>(), submitted, any::<bool>(), any::<bool>()).prop_map(
        |(ended, submitted, nodes_changed, period)| Events {
            ended,
            submitted,
            nodes_changed,
            period,
        },
    );
    prop_oneof![event(), several]
}

/// The plan of a decision about this cluster.
pub fn plan(policy: &Policy, cluster: &Cluster, events: &Events) -> Plan {
    let mut roster = Roster::new(cluster.clone());
    decide(policy, &mut roster, NOW, events).plan()
}

/// What kinds of things random clusters have.
#[derive(Clone, Copy)]
pub struct ClusterKind {
    /// Equal nodes that are all up, jobs that can do everything, no layouts: the papers' world.
    pub plain: bool,
}

fn node(kinds: ClusterKind) -> BoxedStrategy<Node> {
    if kinds.plain {
        return Just(Node::new("n", Cores(100), Bytes(100))).boxed();
    }
    let state = prop_oneof![6 => Just(NodeState::Up), 1 => Just(NodeState::Draining), 1 => Just(NodeState::Down)];
    (
        prop_oneof![Just(100u64), Just(400), 0u64..300],
        prop_oneof![Just(100u64), 0u64..200],
        0u64..150,
        0u64..40,
        state,
        0u64..3,
        prop_oneof![3 => Just(1u32), 1 => 2u32..4],
    )
        .prop_map(|(cpu, memory, swap, held, state, gpus, weight)| Node {
            swap: Bytes(swap),
            held_memory: Bytes(held),
            state,
            rigid: vec![Amount(gpus)],
            weight,
            ..Node::new("n", Cores(cpu), Bytes(memory))
        })
        .boxed()
}

fn layout(nodes: u32) -> BoxedStrategy<Layout> {
    let eligible = proptest::collection::btree_set(0..nodes, 0..=nodes as usize)
        .prop_map(|nodes| nodes.into_iter().map(NodeIndex).collect::<NodeSet>());
    (
        proptest::option::weighted(0.2, 0u32..4),
        proptest::option::weighted(0.2, 0u32..4),
        proptest::option::weighted(0.1, 0u32..4),
        proptest::option::weighted(0.2, eligible.clone()),
        proptest::option::weighted(0.15, together(nodes)),
        proptest::option::weighted(0.1, eligible),
        proptest::option::weighted(0.1, groups(nodes)),
    )
        .prop_map(
            |(max_tasks_per_node, max_nodes, min_nodes, eligible, together, preferred, few_of)| {
                Layout {
                    max_tasks_per_node,
                    max_nodes,
                    min_nodes,
                    eligible,
                    together,
                    preferred,
                    few_of,
                }
            },
        )
        .boxed()
}

/// Consecutive nodes, or those of a few groups; some nodes are in none.
fn together(nodes: u32) -> impl Strategy<Value = Together> {
    let most = proptest::option::of(0u32..3);
    (groups(nodes), most).prop_map(|(groups, most)| match most {
        None => Together::Consecutive(groups),
        Some(most) => Together::AtMost(most, groups),
    })
}

/// Three groups; some nodes are in none.
fn groups(nodes: u32) -> impl Strategy<Value = NodeGroups> {
    let groups = proptest::collection::vec(0usize..4, nodes as usize);
    groups.prop_map(|of_nodes| {
        let group = |group: usize| -> NodeSet {
            let of_nodes = (0..).map(NodeIndex).zip(&of_nodes);
            let own = of_nodes.filter(|(_, other)| **other == group);
            own.map(|(node, _)| node).collect()
        };
        (0..3).map(group).collect()
    })
}

/// A job, and a wish for where it is: the state that it gets if its memory fits there.
fn job(kinds: ClusterKind, nodes: u32) -> BoxedStrategy<(Job, u8, Vec<u32>)> {
    let tasks = prop_oneof![3 => 1u32..4, 1 => 1u32..12];
    let cpu = prop_oneof![Just(25u64), Just(100), 0u64..120];
    let memory = prop_oneof![Just(10u64), 0u64..110];
    let times = (0i64..10_000, prop_oneof![Just(0i64), 0i64..3_000]);
    let wish = (0u8..8, proptest::collection::vec(0..nodes, 12));
    let plain = (tasks, cpu, memory, times, wish).prop_map(
        |(tasks, cpu, memory, (submit, virtual_time), wish)| {
            let mut job = Job::new(
                JobId(0),
                Time::from_seconds(submit),
                tasks,
                Cores(cpu),
                Bytes(memory),
            );
            job.virtual_time = Span::from_seconds(virtual_time.min(10_000 - submit));
            job.delay = Span(job.virtual_time.0 / 5);
            // Jobs of an even second of submission say that they are long.
            job.limit = (submit % 2 == 0).then_some(Span::from_seconds(7200));
            (job, wish.0, wish.1)
        },
    );
    if kinds.plain {
        return plain.boxed();
    }
    let mobility = prop_oneof![
        4 => Just(Mobility::Checkpoint),
        3 => Just(Mobility::Park),
        1 => Just(Mobility::Restart),
        1 => Just(Mobility::Never)
    ];
    let more = (
        (
            proptest::bool::weighted(0.1),
            proptest::bool::weighted(0.1),
            0u32..4,
        ),
        prop_oneof![4 => Just(0u64), 1 => 0u64..50],
        prop_oneof![8 => Just((0u64, 0u64)), 1 => (0u64..3, 0u64..3), 1 => (Just(0u64), 0u64..3)],
    );
    (
        plain,
        layout(nodes),
        mobility,
        more,
        prop_oneof![3 => Just(1000u32), 1 => 0u32..5000],
    )
        .prop_map(
            |(
                (mut job, wish, places),
                layout,
                mobility,
                ((locked, comes_first, recent_moves), per_node, (gpus, gpus_per_node)),
                weight,
            )| {
                job.layout = layout;
                job.mobility = mobility;
                job.locked = locked;
                job.starved = comes_first;
                job.recent_moves = recent_moves;
                job.memory_per_node = Bytes(per_node);
                job.weight = Weight(weight);
                if gpus > 0 {
                    job.rigid = vec![Amount(gpus)];
                }
                if gpus_per_node > 0 {
                    job.rigid_per_node = vec![Amount(gpus_per_node)];
                }
                (job, wish, places)
            },
        )
        .boxed()
}

/// A cluster in which no memory is exceeded by jobs; what is held by others may exceed it. Up to
/// five jobs in a row are alike.
pub fn cluster(kinds: ClusterKind) -> impl Strategy<Value = Cluster> {
    (1u32..7).prop_flat_map(move |count| {
        let nodes = proptest::collection::vec(node(kinds), count as usize);
        let few = proptest::collection::vec(job(kinds, count), 0..14);
        let many = proptest::collection::vec(job(kinds, count), 14..60);
        let jobs = prop_oneof![7 => few, 1 => many];
        (nodes, jobs, 1usize..6).prop_map(|(nodes, mut jobs, alike)| {
            for place in (1..jobs.len()).filter(|place| place % alike != 0) {
                jobs[place].0 = jobs[place - 1].0.clone();
            }
            assemble(nodes, jobs)
        })
    })
}

/// Puts jobs where they wish to be if there is room.
fn assemble(nodes: Vec<Node>, jobs: Vec<(Job, u8, Vec<u32>)>) -> Cluster {
    let mut memory: Vec<u64> = nodes.iter().map(|node| node.held_memory.0).collect();
    let mut gpus = vec![0; nodes.len()];
    let mut swap = vec![0; nodes.len()];
    let mut cluster = Cluster {
        nodes,
        jobs: Vec::new(),
    };
    for (id, (mut job, wish, places)) in (0..).zip(jobs) {
        job.id = JobId(id);
        let places = places.into_iter().cycle().map(NodeIndex);
        let mapping = Mapping::from_tasks(places.take(job.tasks as usize));
        // The rules of some jobs are not what they were when the job was placed.
        let changed = matches!(wish, 3 | 5);
        let allowed = changed
            || mapping.node_count() <= job.layout.nodes()
                && mapping.iter().all(|run| {
                    job.layout.allows(run.node) && run.tasks <= job.layout.tasks_per_node()
                })
                && (job.layout.together.as_ref()).is_none_or(|rule| rule.allows(&mapping));
        let need = |run: Run| job.memory_of(run).0;
        let gpu = |run: Run| job.rigid_of(run, 0).0;
        let of = |run: Run| &cluster.nodes[run.node.index()];
        let runs = allowed
            && mapping.iter().all(|run| {
                memory[run.node.index()] + need(run) <= of(run).memory.0
                    && gpus[run.node.index()] + gpu(run)
                        <= of(run).rigid.first().map_or(0, |amount| amount.0)
            });
        let parks = allowed
            && mapping.iter().all(|run| {
                of(run).swap.0 > 0 && swap[run.node.index()] + need(run) <= of(run).swap.0
            });
        match wish {
            0..4 if runs => {
                for run in mapping.iter() {
                    memory[run.node.index()] += need(run);
                    gpus[run.node.index()] += gpu(run);
                }
                job.state = JobState::Running(mapping);
            }
            4 | 5 if parks && job.mobility == Mobility::Park => {
                for run in mapping.iter() {
                    swap[run.node.index()] += need(run);
                }
                job.state = JobState::Parked(mapping);
            }
            4 | 5 if job.mobility == Mobility::Checkpoint => job.state = JobState::Paused,
            _ => {}
        }
        if matches!(job.state, JobState::Pending) {
            job.virtual_time = Span::ZERO;
        }
        cluster.jobs.push(job);
    }
    cluster
}

/// The cluster after the plan.
pub fn carry_out(cluster: &Cluster, plan: &Plan) -> Cluster {
    let mut after = cluster.clone();
    for planned in &plan.actions {
        let job = after.job_mut(planned.action.job()).expect("a known job");
        match &planned.action {
            Action::Start(_, mapping)
            | Action::Resume(_, mapping)
            | Action::Migrate(_, mapping) => {
                job.state = JobState::Running(mapping.clone());
            }
            Action::Pause(_) => {
                job.state = match (job.mobility, std::mem::take(&mut job.state)) {
                    (Mobility::Park, JobState::Running(mapping)) => JobState::Parked(mapping),
                    (Mobility::Restart, _) => JobState::Pending,
                    _ => JobState::Paused,
                }
            }
            Action::SetYield(..) => {}
        }
    }
    after
}
