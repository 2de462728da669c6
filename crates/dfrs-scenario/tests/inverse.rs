//! Printing and reading are inverse, whatever a cluster is: the sensible and the senseless.

use dfrs_core::{
    Action, Amount, Blocked, Budget, Bytes, Cluster, Cores, Events, Job, JobId, JobState, Layout,
    LeastYield, LoadCeiling, Mapping, Mobility, Node, NodeGroups, NodeIndex, NodeSet, NodeState,
    Plan, PlannedAction, Policy, PriorityFunction, Reason, Run, RunTimeHint, Settings, Span, Time,
    Together, Weight, Yield,
};
use dfrs_scenario::{Scenario, ScenarioOutcome, print, read, rewritten};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Amounts that are usual, odd, or at the limit.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        0u64..10,
        (0u64..100).prop_map(|count| count << 30),
        (0u64..100).prop_map(|count| count * 1_000_000),
        any::<u64>(),
        Just(u64::MAX),
    ]
}

fn count() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0u32..4, 1 => any::<u32>()]
}

fn instant() -> impl Strategy<Value = i64> {
    prop_oneof![
        0i64..10,
        any::<i64>(),
        (0i64..1000).prop_map(|count| count * 1_000_000)
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (0u32..12).prop_map(|number| format!("n{number}")),
        2 => (0u32..12).prop_map(|number| format!("node-{number:03}")),
        1 => select(vec!["", "none", "#0", "a b", "n[0-1]", "9", "\"", "\\", "ä\n", "x,y*2"]).prop_map(String::from),
        1 => any::<String>(),
    ]
}

fn amounts() -> impl Strategy<Value = Vec<Amount>> {
    vec(number().prop_map(Amount), 0..3)
}

fn node() -> impl Strategy<Value = Node> {
    let state = select(vec![NodeState::Up, NodeState::Draining, NodeState::Down]);
    let rigid = prop_oneof![3 => Just(vec![]), 1 => amounts()];
    let node = (name(), vec(number(), 5), state, rigid, count());
    node.prop_map(|(name, numbers, state, rigid, weight)| Node {
        swap: Bytes(numbers[2]),
        held_memory: Bytes(numbers[3]),
        ending_memory: Bytes(numbers[4]),
        state,
        rigid,
        weight,
        ..Node::new(name, Cores(numbers[0]), Bytes(numbers[1]))
    })
}

/// Positions of nodes, some of which do not exist.
fn position() -> impl Strategy<Value = NodeIndex> {
    prop_oneof![9 => 0u32..8, 1 => any::<u32>()].prop_map(NodeIndex)
}

fn mapping() -> impl Strategy<Value = Mapping> {
    let run = (position(), count()).prop_map(|(node, tasks)| Run { node, tasks });
    vec(run, 0..6).prop_map(Mapping::new)
}

fn layout() -> impl Strategy<Value = Layout> {
    let nodes = || option::of(vec(position(), 0..6).prop_map(NodeSet::from_iter));
    let max = || option::of(count());
    let group = || vec(position(), 0..4).prop_map(NodeSet::from_iter);
    let groups = || vec(group(), 0..3).prop_map(NodeGroups::from_iter);
    let together = (option::of(count()), groups()).prop_map(|(most, groups)| match most {
        None => Together::Consecutive(groups),
        Some(most) => Together::AtMost(most, groups),
    });
    let counts = (max(), max(), max());
    let layout = (
        counts,
        nodes(),
        nodes(),
        option::of(together),
        option::of(groups()),
    );
    let layout = layout.prop_map(|(counts, eligible, preferred, together, few_of)| {
        let (max_tasks_per_node, max_nodes, min_nodes) = counts;
        Layout {
            max_tasks_per_node,
            max_nodes,
            min_nodes,
            eligible,
            together,
            preferred,
            few_of,
        }
    });
    prop_oneof![Just(Layout::default()), layout]
}

fn state() -> impl Strategy<Value = JobState> {
    prop_oneof![
        Just(JobState::Pending),
        Just(JobState::Paused),
        mapping().prop_map(JobState::Running),
        mapping().prop_map(JobState::Parked),
    ]
}

fn job() -> impl Strategy<Value = Job> {
    let mobility = select(vec![
        Mobility::Checkpoint,
        Mobility::Park,
        Mobility::Restart,
        Mobility::Never,
    ]);
    let times = (instant(), instant(), instant(), option::of(instant()));
    let memory = (number(), prop_oneof![Just(0), number()]);
    let more = (
        any::<(bool, bool)>(),
        prop_oneof![Just(1000), any::<u32>()],
        count(),
    );
    (
        job_id(),
        times,
        (count(), number(), memory),
        layout(),
        (amounts(), prop_oneof![3 => Just(vec![]), 1 => amounts()]),
        mobility,
        state(),
        more,
    )
        .prop_map(
            |(
                id,
                times,
                (tasks, cpu, (memory, per_node)),
                layout,
                (rigid, rigid_per_node),
                mobility,
                state,
                more,
            )| {
                let (flags, weight, recent_moves) = more;
                Job {
                    id,
                    submit: Time(times.0),
                    tasks,
                    cpu: Cores(cpu),
                    memory: Bytes(memory),
                    memory_per_node: Bytes(per_node),
                    layout,
                    mobility,
                    virtual_time: Span(times.1),
                    delay: Span(times.2),
                    limit: times.3.map(Span),
                    state,
                    locked: flags.0,
                    weight: Weight(weight),
                    starved: flags.1,
                    recent_moves,
                    rigid,
                    rigid_per_node,
                }
            },
        )
}

fn job_id() -> impl Strategy<Value = JobId> {
    prop_oneof![5 => 0u64..20, 1 => any::<u64>()].prop_map(JobId)
}

/// Jobs in any order, some of them in rows that differ in their identity only.
fn jobs() -> impl Strategy<Value = Vec<Job>> {
    vec((job(), 1u64..4), 0..6).prop_map(|jobs| {
        let alike = |(job, count): (Job, u64)| {
            (0..count).map(move |distance| Job {
                id: JobId(job.id.0.wrapping_add(distance)),
                ..job.clone()
            })
        };
        jobs.into_iter().flat_map(alike).collect()
    })
}

fn policy() -> impl Strategy<Value = Policy> {
    let names = vec![
        "Greedy*",
        "GreedyPM*/per/OPT=MIN/MINVT=600",
        "/stretch-per/OPT=MAX",
        "GreedyPMC*/move-per/OPT=VT/MINVT=600",
        "GREEDY",
        "DYNMCB8-PER 300",
        "DYNMCB8-ASAP-PER",
        "MCB8/per/OPT=AVG/MINFT=1",
    ];
    let priority = select(vec![
        PriorityFunction::FlowOverVirtualTimeSquared,
        PriorityFunction::InverseVirtualTime,
        PriorityFunction::FlowOverVirtualTime,
        PriorityFunction::BoundedFlowOverVirtualTimeSquared,
    ]);
    let times = (instant(), instant());
    let limits = (
        option::of(any::<u32>()),
        option::of(count()),
        option::of(count()),
    );
    let flags = (
        any::<bool>(),
        select(vec![RunTimeHint::Nothing, RunTimeHint::Limits]),
        option::of(1u32..=100),
    );
    let settings = (times, priority, limits, flags).prop_map(
        |(
            (period, penalty),
            priority,
            (ceiling, per_decision, per_job),
            (keep_equal_jobs, run_time_hint, least_yield),
        )| {
            Settings {
                period: Span(period),
                penalty: Span(penalty),
                priority,
                load_ceiling: ceiling.map(LoadCeiling::from_percent),
                budget: Budget {
                    moves_per_decision: per_decision,
                    moves_per_job: per_job,
                },
                keep_equal_jobs,
                run_time_hint,
                parallel_least_yield: least_yield.map(LeastYield),
            }
        },
    );
    (select(names), option::of(settings)).prop_map(|(name, settings)| {
        let policy = dfrs_papers::policy(name).expect(name);
        match settings {
            // With another whole period the name is another one, or none.
            Some(settings) => Policy { settings, ..policy },
            None => policy,
        }
    })
}

fn action() -> impl Strategy<Value = PlannedAction> {
    let action = prop_oneof![
        (job_id(), mapping()).prop_map(|(job, mapping)| Action::Start(job, mapping)),
        job_id().prop_map(Action::Pause),
        (job_id(), mapping()).prop_map(|(job, mapping)| Action::Resume(job, mapping)),
        (job_id(), mapping()).prop_map(|(job, mapping)| Action::Migrate(job, mapping)),
        (job_id(), prop_oneof![Just(0.5), 0.0..1.0, any::<f64>()])
            .prop_map(|(job, share)| Action::SetYield(job, Yield(share))),
    ];
    let reason = prop_oneof![
        select(vec![
            Reason::Fits,
            Reason::Remap,
            Reason::DoesNotFitRemap,
            Reason::LessLoad,
            Reason::BreaksCycle,
            Reason::Share
        ]),
        job_id().prop_map(Reason::MakesRoomFor),
    ];
    (action, reason).prop_map(|(action, reason)| PlannedAction { action, reason })
}

fn outcome() -> impl Strategy<Value = ScenarioOutcome> {
    let blocked = select(vec![
        Blocked::NeverFits,
        Blocked::Memory,
        Blocked::Devices { kind: 0 },
        Blocked::Devices { kind: 12 },
        Blocked::Cpu,
        Blocked::OwnNodesFull,
        Blocked::NodesUnavailable,
        Blocked::Reserved,
        Blocked::NotNow,
    ]);
    let violations = vec(
        select(vec!["error: job 7: any text".to_owned(), String::new()]),
        0..3,
    );
    (
        vec(action(), 0..8),
        vec((job_id(), blocked), 0..6),
        violations,
    )
        .prop_map(|(actions, blocked, violations)| ScenarioOutcome {
            plan: Plan { actions },
            blocked,
            violations,
        })
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let title = select(vec![
        "",
        "a title",
        "scenario scenario",
        "# : \"quoted\" ----",
    ]);
    let notes = vec(select(vec!["", "a note", "# more", "event ended"]), 0..3);
    let texts = (title, notes);
    let cluster = (vec(node(), 0..8), jobs()).prop_map(|(nodes, jobs)| Cluster { nodes, jobs });
    let events = (any::<(bool, bool, bool)>(), vec(job_id(), 0..4));
    (
        texts,
        policy(),
        instant(),
        cluster,
        events,
        option::of(outcome()),
    )
        .prop_map(
            |((title, notes), policy, now, cluster, (flags, submitted), expected)| Scenario {
                title: title.into(),
                notes: notes.into_iter().map(String::from).collect(),
                policy,
                now: Time(now),
                cluster,
                events: Events {
                    ended: flags.0,
                    submitted,
                    nodes_changed: flags.1,
                    period: flags.2,
                },
                expected,
            },
        )
}

/// The scenario without yields that are no numbers, which differ from themselves.
fn comparable(mut scenario: Scenario) -> Scenario {
    let actions = scenario
        .expected
        .as_mut()
        .map(|expected| &mut expected.plan.actions);
    for planned in actions.into_iter().flatten() {
        if let Action::SetYield(_, share) = &mut planned.action
            && share.0.is_nan()
        {
            *share = Yield(-1.0);
        }
    }
    scenario
}

proptest! {
    #[test]
    fn printed_scenario_round_trips(scenarios in vec(scenario(), 1..3)) {
        let text = print(&scenarios);
        let again = read(&text, "file", dfrs_papers::policy).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(print(&again), text.clone());
        for (again, scenario) in again.into_iter().zip(scenarios) {
            prop_assert_eq!(comparable(again), comparable(scenario), "{}", text);
        }
    }

    #[test]
    fn rewritten_scenario_matches_its_decision(mut scenario in scenario(), period: bool) {
        scenario.events = Events { ended: !period, period, ..Events::default() };
        // Decisions about senseless clusters are of no use; those of none do no harm.
        scenario.cluster.jobs.clear();
        let text = rewritten(&scenario.to_string(), "file", dfrs_papers::policy).unwrap();
        let again = read(&text, "file", dfrs_papers::policy).unwrap().remove(0);
        prop_assert_eq!(&again.expected, &Some(again.decide().outcome()));
        prop_assert_eq!(rewritten(&text, "file", dfrs_papers::policy).unwrap(), text);
    }
}
