//! DFRS on what jobs of other partitions leave of the same nodes.

mod common;

use std::collections::BTreeMap;

use common::{settings, trace};
use dfrs_core::{Bytes, Policy, Time};
use dfrs_journal::{Tolerance, validate};
use dfrs_proto::journal::{EventKind, JournalEvent};
use dfrs_sim::trace::{NODE_CPU, NODE_MEMORY, Trace};
use dfrs_sim::{
    Batch, HeldByOthers, Scheduler, SimOutcome, SimSettings, simulate, simulate_beside,
};
use proptest::prelude::*;

const NODES: u32 = 4;

fn dfrs(name: &str) -> Policy {
    match name.parse().expect("a policy") {
        Scheduler::Dfrs(policy) => policy,
        Scheduler::Batch(batch) => panic!("{} is not of DFRS", batch.name()),
    }
}

fn with_swap(nodes: u32, swap: Bytes) -> SimSettings {
    SimSettings {
        swap,
        ..settings(nodes)
    }
}

fn beside(
    own: &Trace,
    others: &HeldByOthers,
    policy: &str,
    settings: &SimSettings,
) -> (SimOutcome, Vec<JournalEvent>) {
    let mut events = Vec::new();
    let mut sink = |event: &JournalEvent| {
        events.push(event.clone());
        Ok(())
    };
    let outcome = simulate_beside(own, &dfrs(policy), settings, others, Some(&mut sink), None);
    (outcome.expect("it ends"), events)
}

/// What DFRS's jobs have on each node, as the journal says.
#[derive(Default)]
struct Held {
    places: BTreeMap<String, Vec<usize>>,
    shares: BTreeMap<String, f64>,
}

impl Held {
    fn take(&mut self, event: &JournalEvent) {
        match &event.kind {
            EventKind::Start { job, nodes }
            | EventKind::Resume { job, nodes, .. }
            | EventKind::Migrate { job, nodes, .. } => {
                let nodes = nodes.iter().map(|node| node.index()).collect();
                self.places.insert(job.clone(), nodes);
            }
            EventKind::Pause { job, .. } | EventKind::Finish { job, .. } => {
                self.places.remove(job);
            }
            EventKind::Yield { job, value } => {
                self.shares.insert(job.clone(), *value);
            }
            _ => {}
        }
    }

    /// CPU and memory on each node, as parts of it.
    fn on_nodes(&self, own: &Trace) -> Vec<(f64, f64)> {
        let part = |amount: u64, of: u64| amount as f64 / of as f64;
        let mut sums = vec![(0.0, 0.0); NODES as usize];
        for (id, nodes) in &self.places {
            let job = own.jobs.iter().find(|job| job.id == *id).expect("a job");
            for node in nodes {
                sums[*node].0 += self.shares[id] * part(job.cpu.0, NODE_CPU.0);
                sums[*node].1 += part(job.memory.0, NODE_MEMORY.0);
            }
        }
        sums
    }
}

/// At the end of each instant at which something happened: what both have together on each node.
fn assert_nodes_suffice(own: &Trace, others: &HeldByOthers, events: &[JournalEvent]) {
    let mut held = Held::default();
    let mut changes = others.changes().iter().peekable();
    let mut of_others = vec![(0.0, 0.0); NODES as usize];
    let mut times: Vec<Time> = events.iter().map(|event| event.t).collect();
    times.extend(others.changes().iter().map(|change| change.time));
    times.sort_unstable();
    times.dedup();
    let mut events = events.iter().peekable();
    for now in times {
        while let Some(change) = changes.next_if(|change| change.time <= now) {
            let cpu = change.cpu.0 as f64 / NODE_CPU.0 as f64;
            let memory = change.memory.0 as f64 / NODE_MEMORY.0 as f64;
            of_others[change.node.index()] = (cpu, memory);
        }
        while let Some(event) = events.next_if(|event| event.t <= now) {
            held.take(event);
        }
        for (ours, theirs) in held.on_nodes(own).iter().zip(&of_others) {
            assert!(
                ours.0 + theirs.0 <= 1.0 + 1e-6,
                "CPU at {now:?}: {ours:?} {theirs:?}"
            );
            assert!(
                ours.1 + theirs.1 <= 1.0 + 1e-9,
                "memory at {now:?}: {ours:?} {theirs:?}"
            );
        }
    }
}

#[test]
fn jobs_shrink_when_others_come_and_grow_when_they_go() {
    // All of a node for 100 s; others have half of its four CPUs from 20 to 60 s.
    let own = trace("1,0,1,1,0.1,100\n");
    let others = trace("a,20,1,0.5,0.1,40\n");
    let others = HeldByOthers::run(&others, &settings(1)).expect("it ends");
    let (outcome, events) = beside(&own, &others, "GreedyPM*/OPT=MIN", &settings(1));
    assert_eq!(common::times(&outcome), [(0.0, 120.0)]);
    let shares = events.iter().filter_map(|event| match event.kind {
        EventKind::Yield { value, .. } => Some((event.t.seconds(), value)),
        _ => None,
    });
    assert_eq!(
        shares.collect::<Vec<_>>(),
        [(0.0, 1.0), (20.0, 0.5), (60.0, 1.0)]
    );
}

#[test]
fn job_gives_its_memory_to_others_by_its_mobility() {
    let others = trace("a,20,1,0.25,0.8,40\n");
    let others = HeldByOthers::run(&others, &settings(1)).expect("it ends");
    let run = |mobility: &str| {
        let lines =
            format!("id,submit,tasks,cpu,mem,runtime,mobility\n1,0,1,0.5,0.5,100,{mobility}\n");
        let settings = SimSettings {
            penalty: dfrs_core::Span::ZERO,
            ..with_swap(1, NODE_MEMORY)
        };
        let (outcome, _) = beside(&trace(&lines), &others, "GreedyPM*/OPT=MIN", &settings);
        common::times(&outcome)[0].1
    };
    assert_eq!(run("park"), 140.0, "its work is kept");
    assert_eq!(run("checkpoint"), 140.0, "its work is kept");
    assert_eq!(run("restart"), 160.0, "begins again at 60 s");
    assert_eq!(run("never"), 160.0, "memory is not there twice");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn both_fit_on_the_nodes_and_others_run_as_alone(
        own in common::traces(NODES),
        theirs in common::traces(NODES),
        policy in proptest::sample::select(vec![
            "default",
            "GreedyPM*/per/OPT=MIN/MINVT=600",
            "GreedyP*/OPT=MIN",
            "MCB8/per/OPT=MIN",
        ]),
        with_parking in any::<bool>(),
    ) {
        let easy = Scheduler::Batch(Batch::EasyShared);
        let fits = |trace: &Trace| {
            let mut trace = trace.clone();
            trace.jobs.retain(|job| dfrs_sim::never_fits(job, &easy, NODES, None).is_none());
            trace
        };
        let theirs = fits(&theirs);
        prop_assume!(!theirs.jobs.is_empty());
        let settings = with_swap(NODES, if with_parking { NODE_MEMORY } else { Bytes(0) });
        let others = HeldByOthers::run(&theirs, &settings).expect("it ends");
        let alone = simulate(&theirs, &easy, &settings, None).expect("it ends");
        prop_assert_eq!(common::times(&alone), common::times(others.outcome()));
        let (outcome, events) = beside(&own, &others, policy, &settings);
        for (job, record) in own.jobs.iter().zip(&outcome.jobs) {
            prop_assert!(record.finish >= record.start.max(job.submit) + job.runtime);
        }
        assert_nodes_suffice(&own, &others, &events);
        let exact = Tolerance { relative: 0.0, absolute: dfrs_core::Span::ZERO };
        let found = validate((1..).zip(events), exact);
        prop_assert!(found.is_empty(), "{policy}: {found:?}");
    }
}
