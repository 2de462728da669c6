//! Decisions on large clusters with thousands of jobs at once. `cargo bench --bench scale --
//! --test` takes each once, also under callgrind.

mod common;

use common::{loaded_cluster, numbered};
use criterion::{Criterion, criterion_group, criterion_main};
use dfrs_core::{
    Amount, Cluster, Events, Job, JobId, JobState, Mapping, Mobility, NodeGroups, NodeIndex,
    Policy, Roster, Span, Time, check, decide,
};

const NOW: Time = Time::from_seconds(1_000_000);

/// 3,000 jobs of twenty shapes, submitted together to 1,000 idle nodes: without preferences, or with
/// nodes of two weights at forty switches, of which jobs on several nodes are to have few.
fn submissions(criterion: &mut Criterion) {
    let policy = Policy::recommended();
    let idle = loaded_cluster(1_000, 0, 3_000, 20);
    let preferring = with_preferences(idle.clone());
    for (what, cluster) in [("", idle), (", weights and switches", preferring)] {
        let mut roster = Roster::new(cluster);
        let events = Events::submitted((0..3_000).map(JobId));
        let name = format!("3,000 submissions of 20 shapes, 1,000 nodes{what}");
        criterion.bench_function(&name, |bencher| {
            bencher.iter(|| decide(&policy, &mut roster, NOW, &events).plan());
        });
    }
}

fn with_preferences(mut cluster: Cluster) -> Cluster {
    let leaf = |first: u32| (first..first + 25).map(NodeIndex).collect();
    let leaves: NodeGroups = (0..40).map(|leaf| leaf * 25).map(leaf).collect();
    for node in cluster.nodes.iter_mut().step_by(2) {
        node.weight = 2;
    }
    for job in &mut cluster.jobs {
        job.layout.few_of = Some(leaves.clone());
    }
    cluster
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
        let mut roster = Roster::new(staying(nodes));
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

/// 2,000 nodes, 6,000 running and 20,000 waiting jobs that cannot move: all are DFRS's, or every
/// third one is of another partition, and every tenth of the rest holds a device.
fn beside_others(criterion: &mut Criterion) {
    let policy = Policy::own();
    for (what, mut cluster) in [
        ("all DFRS's", staying(2_000)),
        ("a third others', some with devices", shared()),
    ] {
        let ends: Vec<JobId> = running(&cluster).take(5).collect();
        let comes: Vec<JobId> = cluster
            .jobs
            .iter()
            .rev()
            .map(|job| job.id)
            .take(5)
            .collect();
        cluster.jobs.retain(|job| !ends.contains(&job.id));
        let mut roster = Roster::new(cluster);
        let events = Events {
            ended: true,
            ..Events::submitted(comes)
        };
        let name = format!("5 ends and 5 submissions, 2,000 nodes, nothing moves: {what}");
        criterion.bench_function(&name, |bencher| {
            bencher.iter(|| decide(&policy, &mut roster, NOW, &events).plan());
        });
        let name = format!("why all of them wait, 2,000 nodes: {what}");
        criterion.bench_function(&name, |bencher| {
            bencher.iter(|| decide(&policy, &mut roster, NOW, &Events::default()).blocked());
        });
    }
}

fn running(cluster: &Cluster) -> impl Iterator<Item = JobId> {
    let running = cluster.jobs.iter().filter(|job| job.running_on().is_some());
    running.map(|job| job.id)
}

/// Three running jobs a node and ten that wait, of which none can move.
fn staying(nodes: u32) -> Cluster {
    let mut cluster = loaded_cluster(nodes, 3 * u64::from(nodes), 10 * u64::from(nodes), 2_000);
    for job in &mut cluster.jobs {
        job.mobility = Mobility::Never;
        let hours = 1 + i64::try_from(job.id.0 % 24).expect("few hours");
        job.limit = Some(Span::from_seconds(3_600 * hours));
    }
    cluster
}

fn shared() -> Cluster {
    let mut cluster = staying(2_000);
    for node in &mut cluster.nodes {
        node.rigid = vec![Amount(8)];
    }
    let is_others = |job: &Job| job.id.0.is_multiple_of(3);
    for job in cluster.jobs.iter().filter(|job| is_others(job)) {
        for run in job.running_on().into_iter().flat_map(Mapping::iter) {
            let node = &mut cluster.nodes[run.node.index()];
            node.cpu = node.cpu.minus(job.cpu_of(run));
            node.held_memory += job.memory_of(run);
        }
    }
    cluster.jobs.retain(|job| !is_others(job));
    for job in cluster
        .jobs
        .iter_mut()
        .filter(|job| job.id.0.is_multiple_of(10))
    {
        job.rigid_per_node = vec![Amount(1)];
    }
    cluster
}

criterion_group! {
    name = scale;
    config = Criterion::default().sample_size(10);
    targets = submissions, loaded, own_policy, beside_others
}
criterion_main!(scale);
