//! What must hold of every decision, on random clusters.

mod common;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use common::{ClusterKind, NOW, carry_out, cases, cluster, event, events, plan, policies, policy};
use dfrs_core::{
    Action, Amount, Bytes, Cluster, Cores, Events, Job, JobId, JobState, LoadCeiling, Mapping,
    Mobility, Node, NodeIndex, NodeState, Optimisation, Plan, Policy, Roster, Span, Stopped,
    Submission, Time, Yield, check, check_cluster, decide, decide_while, packing::pack_all,
    yields_of,
};
use proptest::collection::vec;
use proptest::prelude::*;

const ANY: ClusterKind = ClusterKind { plain: false };
const PLAIN: ClusterKind = ClusterKind { plain: true };

fn places(plan: &Plan) -> Vec<&Action> {
    plan.actions
        .iter()
        .map(|planned| &planned.action)
        .filter(|action| !matches!(action, Action::SetYield(..)))
        .collect()
}

fn is_on_draining_node(cluster: &Cluster, job: &Job) -> bool {
    let drains = |node: NodeIndex| cluster.nodes[node.0 as usize].state == NodeState::Draining;
    job.running_on()
        .is_some_and(|here| here.nodes().any(drains))
}

/// The wait of a job that never ran, and 10 s, over its size in average nodes, but at least a tenth
/// of one.
fn wait_over_size(cluster: &Cluster, job: &Job) -> f64 {
    if job.starved {
        return f64::INFINITY;
    }
    let count = cluster.nodes.len().max(1) as u64;
    let average = |sum: u64| (sum / count).max(1) as f64;
    let cpu = average(cluster.nodes.iter().map(|node| node.cpu.0).sum());
    let memory = average(cluster.nodes.iter().map(|node| node.memory.0).sum());
    let size = f64::from(job.tasks) * (job.cpu.0 as f64 / cpu).max(job.memory.0 as f64 / memory);
    let weight = f64::from(job.weight.0.max(1)) / 1000.0;
    weight * (job.flow_time(NOW).seconds() + 10.0) / size.max(0.1)
}

/// Whether the job is put where loads stay below the ceiling if no other job is there; one with
/// devices keeps no ceiling.
fn could_keep(policy: &Policy, cluster: &Cluster, job: &Job, ceiling: LoadCeiling) -> bool {
    if job.requires_devices() {
        return false;
    }
    let mut alone = cluster.clone();
    let id = job.id;
    let waiting = Job {
        state: JobState::Pending,
        virtual_time: Span::ZERO,
        limit: None,
        ..job.clone()
    };
    alone.jobs = vec![waiting];
    let after = carry_out(&alone, &plan(policy, &alone, &Events::submitted([id])));
    after.jobs[0].running_on().is_some_and(|mapping| {
        mapping.iter().all(|run| {
            let max = ceiling.of(cluster.nodes[run.node.index()].cpu);
            job.cpu_of(run) <= max
        })
    })
}

/// The cluster with its running jobs and one that waits and wants a device of each of its nodes: all
/// devices are those of some running jobs, which keep them. `None` if there is no job.
fn without_free_devices(mut cluster: Cluster, kept: u64) -> Option<Cluster> {
    let mut wanting = cluster.jobs.last()?.clone();
    wanting.id = JobId(wanting.id.0 + 1);
    (wanting.state, wanting.virtual_time) = (JobState::Pending, Span::ZERO);
    (wanting.rigid, wanting.rigid_per_node) = (Vec::new(), vec![Amount(1)]);
    cluster.jobs.retain(Job::is_running);
    for node in &mut cluster.nodes {
        node.rigid = vec![Amount(0)];
        node.state = NodeState::Up;
    }
    for job in &mut cluster.jobs {
        (job.rigid, job.rigid_per_node) = (Vec::new(), Vec::new());
        if job.id.0 % kept == 0 {
            job.mobility = Mobility::Never;
            job.rigid_per_node = vec![Amount(1)];
            for node in job.running_on().into_iter().flat_map(Mapping::nodes) {
                cluster.nodes[node.index()].rigid[0] += Amount(1);
            }
        }
    }
    cluster.jobs.push(wanting);
    Some(cluster)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(800)))]

    #[test]
    fn no_plan_violates_an_invariant(cluster in cluster(ANY), policy in policy(), events in events()) {
        prop_assert_eq!(check_cluster(&cluster), []);
        let plan = plan(&policy, &cluster, &events);
        prop_assert_eq!(check(&cluster, &plan), []);
        prop_assert_eq!(check_cluster(&carry_out(&cluster, &plan)), []);
    }

    #[test]
    fn no_task_arrives_above_the_ceiling_on_load(cluster in cluster(ANY), policy in policy(), events in events()) {
        let Some(ceiling) = policy.settings.load_ceiling else { return Ok(()) };
        let plan = plan(&policy, &cluster, &events);
        let after = carry_out(&cluster, &plan);
        let mut loads = vec![Cores::ZERO; cluster.nodes.len()];
        for job in &after.jobs {
            for run in job.running_on().into_iter().flatten() {
                loads[run.node.index()] += job.cpu_of(run);
            }
        }
        // A job that could not keep the ceiling on empty nodes need not, and then those beside it
        // do not.
        let mut is_free = vec![false; cluster.nodes.len()];
        for job in after.jobs.iter().filter(|job| !could_keep(&policy, &cluster, job, ceiling)) {
            for node in job.running_on().into_iter().flat_map(Mapping::nodes) {
                is_free[node.index()] = true;
            }
        }
        for action in places(&plan) {
            let job = cluster.job(action.job()).unwrap();
            for run in action.mapping().into_iter().flatten().filter(|run| job.cpu_of(*run) > Cores::ZERO) {
                let max = ceiling.of(cluster.nodes[run.node.index()].cpu);
                // A job that comes back to nodes without other jobs has its memory there.
                let is_back_alone = matches!(action, Action::Resume(..)) && loads[run.node.index()] == job.cpu_of(run);
                if is_free[run.node.index()] || is_back_alone {
                    continue;
                }
                prop_assert!(loads[run.node.index()] <= max, "{:?}: {:?} of {:?}", action, loads[run.node.index()], max);
            }
        }
    }

    #[test]
    fn parallel_job_keeps_its_least_yield_on_shared_nodes(
        cluster in cluster(ANY), policy in policy(), events in events(),
    ) {
        let least = policy.settings.parallel_least_yield;
        let Some(least) = least.filter(|_| policy.submission == Submission::LeastCostPreemption) else {
            return Ok(());
        };
        let after = carry_out(&cluster, &plan(&policy, &cluster, &events));
        let mut loads = vec![Cores::ZERO; cluster.nodes.len()];
        for job in &after.jobs {
            for run in job.running_on().into_iter().flatten() {
                loads[run.node.index()] += job.cpu_of(run);
            }
        }
        // A job that could not keep a stricter ceiling on all nodes keeps none.
        let own = LoadCeiling::from_percent(10_000 / least.0);
        let ceiling = policy.settings.load_ceiling.map_or(own, |all| own.min(all));
        let share = f64::from(least.0) / 100.0;
        // So much is exact to a node's capacity; what one job gets loses a millionth of a core to
        // rounding.
        let max = |node: NodeIndex| cluster.nodes[node.index()].cpu.0 as f64 / share;
        let yields: BTreeMap<JobId, Yield> =
            yields_of(&policy, &after, Time::from_seconds(1000)).into_iter().collect();
        for job in &after.jobs {
            let Some(mapping) = job.running_on().filter(|mapping| mapping.spans_nodes()) else {
                continue;
            };
            let is_fresh = cluster.job(job.id).is_some_and(|before| before.state != job.state);
            let fits = mapping.nodes().all(|node| loads[node.index()].0 as f64 <= max(node) * 1.000_001 + 1.0);
            let needs_cpu = mapping.iter().all(|run| !job.cpu_of(run).is_zero());
            let is_bound = needs_cpu && is_fresh;
            // A job that comes back to nodes without other jobs has its memory there.
            let is_back_alone = cluster.job(job.id).is_some_and(|before| before.state.parked_on().is_some())
                && mapping.iter().all(|run| {
                    let load = loads[run.node.index()];
                    load.0 as f64 <= max(run.node) * 1.000_001 + 1.0 || load == job.cpu_of(run)
                });
            let arrived_well = fits || is_back_alone || !is_bound || !could_keep(&policy, &cluster, job, ceiling);
            prop_assert!(arrived_well, "{} arrived where there is too much load", job.id);
            // Other yields are not by age.
            let is_by_age = policy.optimisation == Optimisation::VirtualTime;
            if fits && needs_cpu && is_by_age {
                prop_assert!(yields[&job.id].0 >= share * 0.95 - 0.05, "{}: {:?}", job.id, yields[&job.id]);
            }
        }
    }

    #[test]
    fn want_of_devices_disturbs_no_other_job(cluster in cluster(ANY), policy in policy(), kept in 1u64..4) {
        let Some(cluster) = without_free_devices(cluster, kept) else { return Ok(()) };
        let wanting = cluster.jobs.last().expect("it was added").id;
        // A remap on submission moves other jobs, whichever job comes.
        prop_assume!(policy.submission != Submission::Mcb8);
        let plan = plan(&policy, &cluster, &Events::submitted([wanting]));
        prop_assert!(!plan.changes_places(), "{:?}", plan.actions);
    }

    #[test]
    fn moves_stay_within_the_budget(cluster in cluster(ANY), policy in policy(), events in events()) {
        let budget = policy.settings.budget;
        let plan = plan(&policy, &cluster, &events);
        let moved: BTreeSet<JobId> = places(&plan)
            .into_iter()
            .filter(|action| matches!(action, Action::Pause(_) | Action::Migrate(..)))
            .map(Action::job)
            .collect();
        prop_assert!(budget.moves_per_decision.is_none_or(|max| moved.len() <= max as usize));
        for job in moved {
            let recent = cluster.job(job).unwrap().recent_moves;
            prop_assert!(budget.moves_per_job.is_none_or(|max| recent < max), "{job}");
        }
    }

    #[test]
    fn the_same_input_gives_the_same_plan(cluster in cluster(ANY), policy in policy(), events in events()) {
        prop_assert_eq!(plan(&policy, &cluster, &events), plan(&policy, &cluster, &events));
    }

    /// The decision stops at the first no, and then nothing has changed; else it is what it would
    /// be in any case.
    #[test]
    fn stopped_decision_changes_nothing(cluster in cluster(ANY), policy in policy(), events in events(), max in 0u32..40) {
        let asked = Cell::new(0);
        let may_go_on = |max: u32| {
            asked.set(asked.get() + 1);
            asked.get() <= max
        };
        let before = Roster::new(cluster);
        let mut roster = before.clone();
        let plan = decide(&policy, &mut roster, NOW, &events).plan();
        let endless = decide_while(&policy, &mut roster, NOW, &events, &|| may_go_on(u32::MAX)).map(|decision| decision.plan());
        prop_assert_eq!(endless.as_ref(), Ok(&plan));
        let questions = asked.replace(0);
        let found = decide_while(&policy, &mut roster, NOW, &events, &|| may_go_on(max)).map(|decision| decision.plan());
        prop_assert_eq!(found, if max < questions { Err(Stopped) } else { Ok(plan) });
        prop_assert_eq!(asked.get(), questions.min(max + 1));
        prop_assert_eq!(roster, before);
    }

    #[test]
    fn changes_are_those_of_the_plan(cluster in cluster(ANY), policy in policy(), events in events()) {
        let mut roster = Roster::new(cluster);
        let decision = decide(&policy, &mut roster, NOW, &events);
        let plan = decision.plan();
        // What is named last counts: a job may step aside and come back, even to where it was.
        let planned: BTreeMap<JobId, Option<&Mapping>> =
            places(&plan).into_iter().map(|action| (action.job(), action.mapping())).collect();
        let stays = |(job, mapping): &(JobId, Option<&Mapping>)| decision.cluster().job(*job).is_some_and(|job| job.running_on() == *mapping);
        let planned: Vec<_> = planned.into_iter().filter(|change| !stays(change)).collect();
        let changes: Vec<_> = decision.changes().collect();
        prop_assert_eq!(changes, planned);
    }

    #[test]
    fn yields_are_those_of_the_roster_that_adopted_the_decision(cluster in cluster(ANY), policy in policy(), events in events()) {
        let mut roster = Roster::new(cluster.clone());
        let decision = decide(&policy, &mut roster, NOW, &events);
        let (yields, plan) = (decision.yields(), decision.plan());
        let changed: Vec<JobId> = decision.changes().map(|(job, _)| job).collect();
        let before = decision.adopt();
        prop_assert_eq!(&roster, &Roster::new(roster.cluster().clone()));
        prop_assert_eq!(&yields, &yields_of(&policy, roster.cluster(), NOW));
        for planned in &plan.actions {
            if let Action::SetYield(job, share) = planned.action {
                prop_assert!(yields.contains(&(job, share)), "{job} {share:?}: {yields:?}");
            }
        }
        prop_assert_eq!(before.iter().map(|(job, _)| *job).collect::<Vec<_>>(), changed);
        for (job, state) in before {
            prop_assert_eq!(&cluster.job(job).unwrap().state, &state);
            prop_assert_ne!(&roster.job(job).unwrap().state, &state);
        }
    }

    #[test]
    fn an_adopted_decision_is_its_plan_carried_out(cluster in cluster(ANY), policy in policy(), events in events()) {
        let mut roster = Roster::new(cluster.clone());
        let decision = decide(&policy, &mut roster, NOW, &events);
        let plan = decision.plan();
        decision.adopt();
        let planned = carry_out(&cluster, &plan);
        for (job, planned) in roster.cluster().jobs.iter().zip(&planned.jobs) {
            prop_assert_eq!(&job.state, &planned.state);
        }
    }

    #[test]
    fn a_decision_that_is_dropped_has_changed_nothing(cluster in cluster(ANY), policy in policy(), events in events()) {
        let before = Roster::new(cluster);
        let mut roster = before.clone();
        let _ = decide(&policy, &mut roster, NOW, &events);
        prop_assert_eq!(&roster, &before);
    }

    #[test]
    fn events_at_once_equal_events_one_by_one(cluster in cluster(ANY), policy in policy(), events in events()) {
        // MCB8 maps all jobs at each of them, and does so once; by cost all waiting jobs are tried
        // at each.
        if policy.submission == Submission::Mcb8 || policy.weighs_moves() || policy.settings.budget.moves_per_decision.is_some() {
            return Ok(());
        }
        let mut together = Roster::new(cluster.clone());
        decide(&policy, &mut together, NOW, &events).adopt();
        let mut in_turn = Roster::new(cluster.clone());
        let submitted = events.submitted.iter().map(|job| Events::submitted([*job]));
        let room = Events { submitted: Vec::new(), period: false, ..events.clone() };
        let period = Events { period: events.period, ..Events::default() };
        for event in std::iter::once(room).chain(submitted).chain([period]) {
            decide(&policy, &mut in_turn, NOW, &event).adopt();
        }
        for (one, other) in together.cluster().jobs.iter().zip(&in_turn.cluster().jobs) {
            // A job that started and gave up its place at once has not started.
            prop_assert_eq!(one.running_on(), other.running_on());
        }
    }

    #[test]
    fn changed_roster_equals_roster_of_changed_cluster(cluster in cluster(ANY), policy in policy(), events in events()) {
        let after = carry_out(&cluster, &plan(&policy, &cluster, &events));
        let mut roster = Roster::new(cluster);
        for (number, job) in after.jobs.iter().enumerate() {
            match number % 3 {
                0 => {
                    roster.remove(job.id);
                    prop_assert_eq!(&roster, &Roster::new(roster.cluster().clone()));
                    roster.insert(job.clone());
                }
                1 => _ = roster.insert(job.clone()),
                _ => {
                    roster.set_state(job.id, job.state.clone());
                    roster.set_times(job.id, job.virtual_time, job.delay);
                }
            }
            prop_assert_eq!(&roster, &Roster::new(roster.cluster().clone()));
        }
        prop_assert!(roster.running().eq(after.jobs.iter().filter(|job| job.is_running())));
    }

    #[test]
    fn extend_equals_inserting_one_by_one(one in cluster(ANY), other in cluster(ANY), from in 0u64..12) {
        let later = other.jobs.into_iter().rev().map(|job| Job { id: JobId(job.id.0 + from), ..job });
        let later: Vec<Job> = later.collect();
        let (mut together, mut in_turn) = (Roster::new(one.clone()), Roster::new(one));
        together.extend(later.clone());
        for job in later {
            in_turn.insert(job);
        }
        prop_assert_eq!(together, in_turn);
    }

    #[test]
    fn every_waiting_job_has_a_reason(cluster in cluster(ANY), policy in policy(), events in events()) {
        let mut roster = Roster::new(cluster.clone());
        let decision = decide(&policy, &mut roster, NOW, &events);
        let after = carry_out(&cluster, &decision.plan());
        let waited = |id| cluster.job(id).is_some_and(|job| !job.is_running());
        let waiting: Vec<_> =
            after.jobs.iter().filter(|job| !job.is_running() && !job.locked && waited(job.id)).map(|job| job.id).collect();
        let blocked: Vec<_> = decision.blocked().iter().map(|(job, _)| *job).collect();
        prop_assert_eq!(waiting, blocked);
    }

    #[test]
    fn plans_survive_being_written_and_read(cluster in cluster(ANY), policy in policy(), events in events()) {
        let plan = plan(&policy, &cluster, &events);
        let text = serde_json::to_string(&(&cluster, &plan, &events)).unwrap();
        let read: (Cluster, Plan, Events) = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read.0, cluster);
        prop_assert_eq!(read.1.actions.len(), plan.actions.len());
        prop_assert_eq!(read.2, events);
        match serde_json::to_string(&policy) {
            Ok(text) => prop_assert_eq!(serde_json::from_str::<Policy>(&text).unwrap(), policy),
            // Who reads it might not know what it is good for.
            Err(_) => prop_assert!(dfrs_papers::PaperGoal::of(&policy).is_some()),
        }
    }

    #[test]
    fn migration_always_changes_the_mapping(cluster in cluster(ANY), policy in policy(), events in events()) {
        let plan = plan(&policy, &cluster, &events);
        for action in places(&plan) {
            if let Action::Migrate(job, mapping) = action {
                prop_assert_ne!(cluster.job(*job).and_then(|job| job.running_on()), Some(mapping));
            }
        }
    }

    #[test]
    fn new_job_starts_iff_it_fits_on_empty_nodes_in_the_papers_model(cluster in cluster(PLAIN), forced in 0usize..2) {
        let name: &str = ["GreedyP*/per/OPT=MIN", "GreedyPM*/per/OPT=MIN/MINVT=600"][forced];
        let policy: Policy = name.parse().unwrap();
        let Some(new) = cluster.jobs.iter().rev().find(|job| job.state == JobState::Pending) else { return Ok(()) };
        // Running jobs without virtual time are of higher priority if they came first.
        if cluster.jobs.iter().any(|job| job.is_running() && job.virtual_time.0 == 0) {
            return Ok(());
        }
        let capacity: u64 = cluster.nodes.iter().map(|node| node.memory.0.checked_div(new.memory.0).unwrap_or(u64::MAX / 100)).sum();
        let plan = plan(&policy, &cluster, &Events::submitted([new.id]));
        let starts = places(&plan).iter().any(|action| matches!(action, Action::Start(job, _) if *job == new.id));
        prop_assert_eq!(starts, capacity >= u64::from(new.tasks));
    }

    #[test]
    fn first_ranked_job_starts_iff_it_fits_on_empty_nodes(cluster in cluster(PLAIN)) {
        let policy: Policy = "GreedyPMC*/OPT=VT".parse().unwrap();
        let is_new = |job: &Job| job.virtual_time.0 == 0 && job.is_running();
        // The job that has waited longest for its size is tried first; running jobs, which have had
        // at least 150 s, are preempted for it.
        let waiting = cluster.jobs.iter().filter(|job| !job.is_running() && job.virtual_time.0 == 0);
        let first = waiting.max_by(|one, other| {
            let wait_over_size = |job: &Job| wait_over_size(&cluster, job);
            wait_over_size(one).total_cmp(&wait_over_size(other)).then(
                (one.weight, other.submit, other.id).cmp(&(other.weight, one.submit, one.id)))
        });
        let Some(first) = first else { return Ok(()) };
        if cluster.jobs.iter().any(|job| is_new(job) || job.is_running() && job.virtual_time.seconds() < 150.0) {
            return Ok(());
        }
        let capacity: u64 = cluster.nodes.iter().map(|node| node.memory.0.checked_div(first.memory.0).unwrap_or(u64::MAX / 100)).sum();
        let plan = plan(&policy, &cluster, &Events::ended());
        let starts = places(&plan).iter().any(|action| action.job() == first.id && action.mapping().is_some());
        prop_assert_eq!(starts, capacity >= u64::from(first.tasks));
    }

    #[test]
    fn only_jobs_that_keep_their_work_are_preempted_by_cost(cluster in cluster(ANY), events in events(), number in 0usize..64) {
        let own: Vec<Policy> = policies().into_iter().filter(|policy| policy.submission == Submission::LeastCostPreemption).collect();
        let plan = plan(&own[number % own.len()], &cluster, &events);
        for action in places(&plan) {
            let job = cluster.job(action.job()).unwrap();
            if matches!(action, Action::Pause(_) | Action::Migrate(..)) {
                prop_assert!(matches!(job.mobility, Mobility::Checkpoint | Mobility::Park), "{action:?}");
                // Jobs that have had nothing yet are not preempted, and gain nothing by a move, but
                // where they keep a node from being drained.
                let drains = is_on_draining_node(&cluster, job);
                prop_assert!(job.virtual_time.0 > 0 || drains, "{action:?}");
            }
        }
    }

    #[test]
    fn greedy_never_pauses_and_greedy_p_never_migrates(cluster in cluster(ANY), events in event()) {
        let migrates = |plan: &Plan| places(plan).iter().any(|action| matches!(action, Action::Migrate(..)));
        let pauses = |plan: &Plan| places(plan).iter().any(|action| matches!(action, Action::Pause(..)));
        let greedy = plan(&"Greedy*".parse().unwrap(), &cluster, &events);
        prop_assert!(!migrates(&greedy) && !pauses(&greedy));
        let greedy_p = plan(&"GreedyP*".parse().unwrap(), &cluster, &events);
        prop_assert!(!migrates(&greedy_p));
    }

    #[test]
    fn plan_is_valid_when_memory_is_already_exceeded(cluster in cluster(ANY), policy in policy(), events in events(), shrink in 1u64..5) {
        let mut cluster = cluster;
        for node in &mut cluster.nodes {
            node.memory.0 /= shrink;
        }
        let plan = plan(&policy, &cluster, &events);
        prop_assert_eq!(check(&cluster, &plan), []);
    }

    #[test]
    fn a_broken_cluster_is_reported_and_does_not_panic(cluster in cluster(ANY), policy in policy(), events in events(), gone in 1usize..3, listed in vec(prop_oneof![0u32..8, Just(u32::MAX)], 0..4)) {
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
        let _ = plan(&policy, &cluster, &events);
        let _ = pack_all(&cluster);
        let mut roster = Roster::new(cluster.clone());
        for job in cluster.jobs {
            let decision = decide(&policy, &mut roster, NOW, &events);
            let _ = (decision.plan(), decision.blocked(), decision.yields());
            decision.adopt();
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
        let plan = plan(&policy, &cluster, &Events::ended());
        let started: Vec<JobId> = places(&plan).iter().map(|action| action.job()).collect();
        assert_eq!(started, [JobId(1)], "{policy}");
    }
}

#[test]
fn at_least_66_policies_are_tested() {
    assert!(policies().len() >= 66, "{}", policies().len());
}

#[test]
fn an_empty_cluster_needs_no_plan() {
    for policy in policies() {
        for event in [Events::ended(), Events::period(), Events::nodes_changed()] {
            assert_eq!(plan(&policy, &Cluster::default(), &event), Plan::default());
        }
    }
    assert_eq!(NodeState::default(), NodeState::Up);
    assert_eq!(Mobility::default(), Mobility::Checkpoint);
}

#[test]
fn decision_about_many_jobs_stops_soon() {
    let node = Node::new("", Cores::from_cores(1000), Bytes(1000));
    let job = |id| Job::new(JobId(id), Time::ZERO, 1, Cores(id + 1), Bytes(1));
    let cluster = Cluster {
        nodes: vec![node; 4],
        jobs: (0..1000).map(job).collect(),
    };
    let before = Roster::new(cluster);
    for policy in ["Greedy*", "GreedyPMC*/OPT=VT"] {
        let (mut roster, asked) = (before.clone(), Cell::new(0));
        let may_go_on = || {
            asked.set(asked.get() + 1);
            asked.get() < 10
        };
        let policy: Policy = policy.parse().expect("a policy");
        let ended = decide_while(&policy, &mut roster, NOW, &Events::ended(), &may_go_on).err();
        assert_eq!((ended, asked.get()), (Some(Stopped), 10), "{policy}");
        assert_eq!(roster, before);
    }
}
