//! The time that the offline bound takes, as docs/performance.md reports it.

use std::hint::black_box;
use std::path::PathBuf;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use dfrs_sim::generate::Lublin;
use dfrs_sim::metrics::STRETCH_BOUND;
use dfrs_sim::offline_bound;
use dfrs_sim::trace::{Model, Trace, read_file};

/// Microseconds.
const WEEK: i64 = 7 * 24 * 3600 * 1_000_000;

/// Traces of 1,000 jobs on 128 nodes, at the model's own load and scaled.
fn lublin(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lublin");
    let model = Lublin::default();
    for seed in [1, 2, 3] {
        let own = BenchmarkId::new("unscaled", seed);
        let trace = model.trace(seed);
        group.bench_function(own, |bencher| bencher.iter(|| bound(&trace, model.nodes)));
        for load in [0.5, 0.9] {
            let trace = model.trace_at_load(seed, load).expect("a trace");
            let scaled = BenchmarkId::new(format!("load {load}"), seed);
            group.bench_function(scaled, |bencher| {
                bencher.iter(|| bound(&trace, model.nodes))
            });
        }
    }
    group.finish();
}

/// The week of HPC2N with the most jobs, and one in the middle of its 182; all of KTH-SP2.
fn archive(criterion: &mut Criterion) {
    let Some(directory) = std::env::var_os("DFRS_TRACES").map(PathBuf::from) else {
        eprintln!("no real traces: set DFRS_TRACES to the directory that holds them");
        return;
    };
    let read = |name: &str, model| {
        let reading = read_file(&directory.join(name), model, true).expect("a trace");
        reading.trace
    };
    let mut group = criterion.benchmark_group("archive");
    group.sample_size(10);
    let whole = read("HPC2N-2002-2.1-cln.swf.gz", Model::Hpc2n);
    let first = whole.jobs[0].submit;
    let mut weeks: Vec<Trace> = whole
        .jobs
        .chunk_by(|one, other| {
            let week = |time: dfrs_core::Time| time.since(first).0 / WEEK;
            week(one.submit) == week(other.submit)
        })
        .map(|jobs| Trace {
            jobs: jobs.to_vec(),
            ..Trace::default()
        })
        .collect();
    weeks.sort_by_key(|week| week.jobs.len());
    for week in [&weeks[weeks.len() / 2], &weeks[weeks.len() - 1]] {
        let name = BenchmarkId::new("HPC2N week", format!("{} jobs", week.jobs.len()));
        group.bench_function(name, |bencher| bencher.iter(|| bound(week, 120)));
    }
    group.bench_function("HPC2N, each of 182 weeks", |bencher| {
        bencher.iter(|| weeks.iter().map(|week| bound(week, 120)).sum::<f64>())
    });
    let kth = read("KTH-SP2-1996-2.1-cln.swf.gz", Model::Processors);
    group.bench_function("KTH-SP2", |bencher| bencher.iter(|| bound(&kth, 100)));
    group.finish();
}

fn bound(trace: &Trace, nodes: u32) -> f64 {
    offline_bound(black_box(trace), nodes, STRETCH_BOUND)
}

criterion_group!(benches, lublin, archive);
criterion_main!(benches);
