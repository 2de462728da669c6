//! Decisions on large clusters with thousands of jobs at once. `cargo bench --bench scale --
//! --test` takes each once, also under callgrind.

mod common;

use common::{loaded_cluster, numbered};
use criterion::{Criterion, criterion_group, criterion_main};
use dfrs_core::{Events, JobId, JobState, Mobility, Policy, Roster, Span, Time, check, decide};

const NOW: Time = Time::from_seconds(1_000_000);

/// 3,000 jobs of twenty shapes, submitted together to 1,000 idle nodes.
fn submissions(criterion: &mut Criterion) {
    let policy = Policy::recommended();
    let mut roster = Roster::new(loaded_cluster(1_000, 0, 3_000, 20));
    let events = Events::submitted((0..3_000).map(JobId));
    criterion.bench_function("3,000 submissions of 20 shapes, 1,000 nodes", |bencher| {
        bencher.iter(|| decide(&policy, &mut roster, NOW, &events).plan());
    });
}

/// 2,000 nodes, 6,000 running and 20,000 waiting jobs.
fn loaded(criterion: &mut Criterion) {
    let policy = Policy::recommended();
    for shapes in [20, 2_000] {
        let mut roster = Roster::new(loaded_cluster(2_000, 6_000, 20_000, shapes));
        let name = |what: &str| format!("{what}, 20,000 of {shapes} shapes wait");
        let mut with_room = roster.clone();
        for id in numbered(0, 5) {
            with_room.remove(id);
        }
        let events = Events {
            ended: true,
            ..Events::submitted(numbered(6_000, 5))
        };
        criterion.bench_function(&name("5 ends and 5 submissions"), |bencher| {
            bencher.iter(|| decide(&policy, &mut with_room, NOW, &events).plan());
        });
        criterion.bench_function(&name("why all of them wait"), |bencher| {
            bencher.iter(|| decide(&policy, &mut roster, NOW, &Events::default()).blocked());
        });
        criterion.bench_function(&name("a remap of all"), |bencher| {
            bencher.iter(|| decide(&policy, &mut roster, NOW, &Events::period()).plan());
        });
        let plan = decide(&policy, &mut roster, NOW, &Events::period()).plan();
        criterion.bench_function(&name("the check of that remap"), |bencher| {
            bencher.iter(|| check(roster.cluster(), &plan));
        });
        let waiting: Vec<_> = roster.cluster().jobs[6_000..].to_vec();
        let running = Roster::new(loaded_cluster(2_000, 6_000, 0, shapes));
        criterion.bench_function(&name("a roster takes them in"), |bencher| {
            bencher.iter_batched(
                || (running.clone(), waiting.clone()),
                |(mut roster, waiting)| roster.extend(waiting),
                criterion::BatchSize::LargeInput,
            );
        });
        assert!(matches!(waiting[0].state, JobState::Pending));
    }
}

/// Jobs that cannot move, ten for each node waiting: five end, and five come. With and without a
/// reservation.
fn own_policy(criterion: &mut Criterion) {
    let without = "GreedyPMC*/move-per/OPT=VT/MINVT=600".parse();
    let policies = [without.expect("a policy"), Policy::own()];
    for nodes in [1_000u32, 5_000] {
        let running = 3 * u64::from(nodes);
        let mut cluster = loaded_cluster(nodes, running, 10 * u64::from(nodes), 2_000);
        for job in &mut cluster.jobs {
            job.mobility = Mobility::Never;
            let hours = 1 + i64::try_from(job.id.0 % 24).expect("few hours");
            job.limit = Some(Span::from_seconds(3_600 * hours));
        }
        let mut roster = Roster::new(cluster);
        for id in numbered(0, 5) {
            roster.remove(id);
        }
        let events = Events {
            ended: true,
            ..Events::submitted(numbered(running, 5))
        };
        for policy in &policies {
            let name = format!("5 ends and 5 submissions, {nodes} nodes, nothing moves: {policy}");
            criterion.bench_function(&name, |bencher| {
                bencher.iter(|| decide(policy, &mut roster, NOW, &events).plan());
            });
        }
    }
}

criterion_group! {
    name = scale;
    config = Criterion::default().sample_size(10);
    targets = submissions, loaded, own_policy
}
criterion_main!(scale);
