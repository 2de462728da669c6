//! The times of whole simulations that docs/performance.md reports: a trace in memory, the simulation,
//! and its summary.

use std::hint::black_box;
use std::path::PathBuf;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use dfrs_sim::generate::Lublin;
use dfrs_sim::metrics::{STRETCH_BOUND, SimSummary};
use dfrs_sim::trace::{Model, Trace, read_file};
use dfrs_sim::{Estimates, MobilityShares, Scheduler, SimSettings, simulate};

/// Nodes of the generated traces.
const NODES: u32 = 128;

fn generated(jobs: usize, load: f64) -> Trace {
    let model = Lublin {
        jobs,
        nodes: NODES,
        job_types: true,
    };
    model.trace_at_load(1, load).expect("a load")
}

/// A trace of the Parallel Workloads Archive, if DFRS_TRACES names the directory that holds it.
fn archive(name: &str) -> Option<(Trace, u32)> {
    let path = PathBuf::from(std::env::var_os("DFRS_TRACES")?).join(name);
    let trace = read_file(&path, Model::Processors, false).ok()?.trace;
    let nodes = trace.nodes?;
    Some((trace, nodes))
}

fn run(trace: &Trace, scheduler: &Scheduler, settings: &SimSettings) -> SimSummary {
    let outcome = simulate(trace, scheduler, settings, None).expect("an end");
    let name = scheduler.to_string();
    SimSummary::new(name, trace, settings.nodes, &outcome, STRETCH_BOUND)
}

/// Batch schedulers on long traces; the time for each job is the throughput's inverse.
fn batch(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("batch");
    group.sample_size(20);
    let mut traces = vec![("lublin 20000 jobs", generated(20_000, 0.7), NODES)];
    for (name, file) in [
        ("KTH", "KTH-SP2-1996-2.1-cln.swf.gz"),
        ("HPC2N", "HPC2N-2002-2.1-cln.swf.gz"),
    ] {
        traces.extend(archive(file).map(|(trace, nodes)| (name, trace, nodes)));
    }
    for (name, trace, nodes) in &traces {
        group.throughput(Throughput::Elements(trace.jobs.len() as u64));
        for (batch, estimates) in [
            ("FCFS", Estimates::Perfect),
            ("EASY", Estimates::Perfect),
            ("EASY", Estimates::User),
            ("Conservative", Estimates::Perfect),
            ("Conservative", Estimates::User),
        ] {
            if estimates == Estimates::User && trace.jobs[0].estimate.is_none() {
                continue;
            }
            let scheduler: Scheduler = batch.parse().expect("a name");
            let settings = SimSettings {
                estimates,
                ..SimSettings::new(*nodes)
            };
            let id = BenchmarkId::new(format!("{batch} {estimates:?}"), name);
            group.bench_function(id, |bencher| {
                bencher.iter(|| run(black_box(trace), &scheduler, &settings));
            });
        }
    }
    group.finish();
}

/// The papers' recommendation on traces of the papers' size.
fn shared(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dfrs");
    group.sample_size(20);
    let scheduler: Scheduler = "GreedyPM*/per/OPT=MIN/MINVT=600".parse().expect("a name");
    for load in [0.43, 0.7] {
        for mobility in ["checkpoint=1", "never=1"] {
            let mut trace = generated(1_000, load);
            let shares: MobilityShares = mobility.parse().expect("shares");
            shares.draw(1, &mut trace);
            let id = BenchmarkId::new(mobility, format!("1000 jobs, load {load}"));
            group.bench_function(id, |bencher| {
                bencher.iter(|| run(black_box(&trace), &scheduler, &SimSettings::new(NODES)));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, batch, shared);
criterion_main!(benches);
