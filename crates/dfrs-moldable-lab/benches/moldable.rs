//! The times that docs/moldable.md reports.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use dfrs_moldable::live::{LiveMachine, WaitingTask, plan};
use dfrs_moldable::{Busy, Estimate, ProcessorSet};
use dfrs_moldable_lab::workload::{WorkloadModel, generate};
use dfrs_moldable_lab::{Algorithm, MoldableInstance, Shuffles, bounds, weighted_completion_bound};

fn instance(model: WorkloadModel, tasks: usize, processors: u32) -> MoldableInstance {
    generate(model, tasks, processors, 1).expect("an instance")
}

/// The paper's largest instances: 400 tasks on 200 processors.
fn paper(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("400 tasks on 200 processors");
    group.sample_size(20);
    for model in WorkloadModel::ALL {
        let instance = instance(model, 400, 200);
        let problem = instance.problem();
        for count in [0, 100] {
            let name = BenchmarkId::new(format!("DEMT, {count} shuffles"), model);
            let shuffles = Shuffles { count, seed: 1 };
            group.bench_function(name, |bencher| {
                bencher.iter(|| Algorithm::Demt.schedule(black_box(&problem), shuffles))
            });
        }
        let estimate = Estimate::of(&problem);
        group.bench_function(
            BenchmarkId::new("estimate of the makespan", model),
            |bencher| bencher.iter(|| Estimate::of(black_box(&problem))),
        );
        let name = BenchmarkId::new("bound on the weighted completion", model);
        group.bench_function(name, |bencher| {
            bencher.iter(|| weighted_completion_bound(black_box(&problem), &estimate))
        });
    }
    group.finish();
}

/// 10,000 tasks on 5,000 processors.
fn large(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("10000 tasks on 5000 processors");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(20));
    for model in WorkloadModel::ALL {
        let instance = instance(model, 10_000, 5_000);
        let problem = instance.problem();
        group.bench_function(BenchmarkId::new("DEMT", model), |bencher| {
            bencher.iter(|| Algorithm::Demt.schedule(black_box(&problem), Shuffles::default()))
        });
        if model == WorkloadModel::Mixed {
            group.bench_function(BenchmarkId::new("bounds", model), |bencher| {
                bencher.iter(|| bounds(black_box(&problem)))
            });
        }
    }
    group.finish();
}

/// 1,000 tasks that wait for 1,000 nodes, half of which are in use.
fn live(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("live, 1000 tasks on 1000 nodes");
    group.sample_size(20);
    for model in WorkloadModel::ALL {
        let instance = instance(model, 1_000, 1_000);
        let waiting: Vec<_> = instance.tasks().iter().map(WaitingTask::from).collect();
        let running = (0..50u32).map(|place| Busy {
            until: f64::from(place) / 5.0,
            processors: ProcessorSet::of(place * 20..place * 20 + 10),
        });
        let machine = LiveMachine {
            processors: 1_000,
            unusable: ProcessorSet::of([3, 999]),
            running: running.collect(),
        };
        group.bench_function(BenchmarkId::from_parameter(model), |bencher| {
            bencher.iter(|| plan(black_box(&machine), &waiting, 1.0))
        });
    }
    group.finish();
}

criterion_group!(benches, paper, large, live);
criterion_main!(benches);
