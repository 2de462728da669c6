//! The times that docs/performance.md reports.

mod common;

use std::hint::black_box;

use common::{MemoryDemandKind, cluster, dealt, heterogeneous};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use dfrs_core::greedy::Occupancy;
use dfrs_core::packing::pack_all;
use dfrs_core::{Bytes, Cores, Events, Job, JobId, Policy, Roster, Time, decide, yields_of};

/// Nodes, tasks, and what memory is divided by so that the tasks fit.
const SIZES: [(u32, u32, u64); 4] = [
    (128, 250, 1),
    (1_000, 2_500, 1),
    (12_500, 31_000, 1),
    (12_500, 300_000, 10),
];

/// The complete MCB8 yield search, sorting and the mapping included.
fn search(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("mcb8");
    for (nodes, tasks, divisor) in SIZES {
        for (name, memory) in [
            ("papers", MemoryDemandKind::Papers(divisor)),
            ("distinct", MemoryDemandKind::Distinct(divisor)),
        ] {
            let instance = cluster(nodes, tasks, memory, 1);
            let (found, _) = pack_all(&instance).expect("the tasks fit");
            assert!(found.0 > 0.0);
            let size = BenchmarkId::new(name, format!("{nodes} nodes {tasks} tasks"));
            group.bench_function(size, |bencher| {
                bencher.iter(|| pack_all(black_box(&instance)))
            });
        }
    }
    group.finish();
}

/// Progressive filling for jobs dealt over all nodes.
fn filling(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("filling");
    for (nodes, tasks, divisor) in SIZES {
        let instance = dealt(cluster(nodes, tasks, MemoryDemandKind::Papers(divisor), 1));
        group.bench_function(format!("{nodes} nodes {tasks} tasks"), |bencher| {
            bencher.iter(|| yields_of(&Policy::recommended(), black_box(&instance), Time::ZERO));
        });
    }
    group.finish();
}

/// One job of 128 tasks placed by Greedy beside what runs.
fn greedy(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("greedy");
    for (nodes, tasks, _) in SIZES {
        let instance = dealt(cluster(nodes, tasks, MemoryDemandKind::Papers(1_000), 1));
        let occupancy = Occupancy::of(&instance);
        let job = Job::new(
            JobId(1 << 40),
            Time(0),
            128,
            Cores::from_cores(4),
            Bytes(1_000_000),
        );
        group.bench_function(format!("{nodes} nodes {tasks} tasks"), |bencher| {
            bencher.iter(|| black_box(&occupancy).place(&job));
        });
    }
    group.finish();
}

/// A whole decision: one new job of 128 tasks is placed by Greedy beside what runs.
fn submission(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("submission");
    let policy = Policy::recommended();
    for (nodes, tasks, _) in SIZES {
        let mut instance = dealt(cluster(nodes, tasks, MemoryDemandKind::Papers(1_000), 1));
        let id = JobId(1 << 40);
        instance.insert(Job::new(
            id,
            Time(0),
            128,
            Cores::from_cores(4),
            Bytes(1_000_000),
        ));
        group.bench_function(format!("{nodes} nodes {tasks} tasks"), |bencher| {
            let now = Time::from_seconds(1_000_000);
            let mut roster = Roster::new(instance.clone());
            let events = Events::submitted([id]);
            bencher.iter(|| decide(&policy, black_box(&mut roster), now, &events).plan());
        });
    }
    group.finish();
}

/// A whole decision: the periodic remap of everything that runs.
fn period(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("period");
    let policy = Policy::recommended();
    for (nodes, tasks, divisor) in SIZES {
        let instance = dealt(cluster(nodes, tasks, MemoryDemandKind::Papers(divisor), 1));
        group.bench_function(format!("{nodes} nodes {tasks} tasks"), |bencher| {
            let now = Time::from_seconds(1_000_000);
            let mut roster = Roster::new(instance.clone());
            bencher.iter(|| decide(&policy, black_box(&mut roster), now, &Events::period()).plan());
        });
    }
    group.finish();
}

/// A whole decision: the remap of twice as many jobs as memory holds, half of them waiting.
fn overload(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("overload");
    let policy = Policy::recommended();
    for (nodes, tasks) in [(128, 750), (1_000, 6_000), (12_500, 75_000)] {
        for (name, memory) in [
            ("papers", MemoryDemandKind::Papers(1)),
            ("distinct", MemoryDemandKind::Distinct(1)),
        ] {
            let instance = cluster(nodes, tasks, memory, 1);
            let size = BenchmarkId::new(name, format!("{nodes} nodes {tasks} tasks"));
            group.bench_function(size, |bencher| {
                let now = Time::from_seconds(1_000_000);
                let mut roster = Roster::new(instance.clone());
                bencher.iter(|| {
                    decide(&policy, black_box(&mut roster), now, &Events::period()).plan()
                });
            });
        }
    }
    group.finish();
}

/// The yield search on nodes of which no two have the same capacities.
fn unlike_nodes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("mcb8 on heterogeneous nodes");
    for (nodes, tasks, divisor) in SIZES {
        let instance = heterogeneous(cluster(
            nodes,
            tasks,
            MemoryDemandKind::Papers(2 * divisor),
            1,
        ));
        group.bench_function(format!("{nodes} nodes {tasks} tasks"), |bencher| {
            bencher.iter(|| pack_all(black_box(&instance)));
        });
    }
    group.finish();
}

criterion_group! {
    name = core;
    config = Criterion::default().sample_size(20);
    targets = search, filling, greedy, submission, period, overload, unlike_nodes
}
criterion_main!(core);
