//! What the policy named `default` promises of waits and of what jobs lend, on traces made against it and on random ones.

use dfrs_core::{Bytes, Cores, Mobility, Policy, Span, Time};
use dfrs_random::Random;
use dfrs_sim::trace::{NODE_CPU, NODE_MEMORY, Trace, TraceJob};
use dfrs_sim::{CouplingLoss, Scheduler, SimSettings, simulate};
use proptest::collection::vec;
use proptest::prelude::*;

const NODES: u32 = 4;

/// A job that cannot move and whose limit is what it runs.
fn job(id: impl ToString, submit: i64, tasks: u32, tenths: (u64, u64), seconds: i64) -> TraceJob {
    let (cpu, memory) = tenths;
    TraceJob {
        estimate: Some(Span::from_seconds(seconds)),
        mobility: Mobility::Never,
        ..TraceJob::new(
            id.to_string(),
            Time::from_seconds(submit),
            tasks,
            Cores(NODE_CPU.0 / 10 * cpu),
            Bytes(NODE_MEMORY.0 / 10 * memory),
            Span::from_seconds(seconds),
        )
    }
}

/// Of each job the seconds that it waited, and those from its start to its end.
fn times(policy: &Policy, jobs: Vec<TraceJob>, loss: CouplingLoss) -> Vec<(f64, f64)> {
    let trace = Trace {
        jobs,
        has_memory: true,
        ..Trace::default()
    };
    let settings = SimSettings {
        coupling_loss: loss,
        ..SimSettings::new(NODES)
    };
    let scheduler = Scheduler::Dfrs(policy.clone()).at_penalty(settings.penalty);
    let outcome = simulate(&trace, &scheduler, &settings, None).expect("it ends");
    let of = |(job, record): (&TraceJob, &dfrs_sim::JobRecord)| {
        let waited = record.start.since(job.submit).seconds();
        (waited, record.finish.since(record.start).seconds())
    };
    trace.jobs.iter().zip(&outcome.jobs).map(of).collect()
}

fn default() -> Policy {
    "default".parse().expect("a policy")
}

/// Small jobs of two hours that take all memory, one more each few minutes; one wide job of seconds.
fn stream_of_small_jobs(days: i64) -> Vec<TraceJob> {
    let each = 300;
    let small = (0..days * 86_400 / each).map(|index| (each * index, 1, (1, 2), 7200));
    let wide = (10_000, NODES, (10, 10), 5);
    let mut all: Vec<(i64, u32, (u64, u64), i64)> = small.chain([wide]).collect();
    all.sort_by_key(|job| job.0);
    let all = all.into_iter().enumerate();
    all.map(|(id, (submit, tasks, size, seconds))| job(id, submit, tasks, size, seconds))
        .collect()
}

#[test]
fn a_wide_job_waits_no_longer_than_those_that_run_when_it_comes() {
    let waited = |policy: &Policy| {
        let jobs = stream_of_small_jobs(5);
        let wide = jobs.iter().position(|job| job.tasks == NODES).expect("it");
        times(policy, jobs, CouplingLoss::NONE)[wide].0
    };
    // Two hours, and what sharing CPU adds.
    assert!(waited(&default()) < 3.0 * 7200.0, "{}", waited(&default()));
    let without = "GreedyPMC*/move-per/OPT=VT/MINVT=600"
        .parse()
        .expect("a policy");
    assert!(waited(&without) > 3.0 * 86_400.0, "{}", waited(&without));
}

/// A job of 100,000 s on all nodes, and jobs of 300 s on all nodes that come beside it, one each so many seconds.
fn long_and_short(gap: i64) -> Vec<(f64, f64)> {
    let long = job(0, 0, NODES, (10, 2), 100_000);
    let submits = (1..).map(|index| gap * index).take_while(|at| *at < 80_000);
    let short = (1..).zip(submits);
    let short = short.map(|(id, submit)| job(id, submit, NODES, (10, 2), 300));
    times(
        &default(),
        [long].into_iter().chain(short).collect(),
        CouplingLoss::NONE,
    )
}

#[test]
fn a_job_is_done_after_four_thirds_of_its_time_whatever_borrows_its_cpus() {
    // A job that shares its nodes has a hundredth of them.
    let took = long_and_short(400)[0].1;
    assert!(took > 115_000.0 && took < 135_000.0, "{took}");
}

#[test]
fn short_jobs_start_while_a_long_job_holds_all_nodes() {
    let found = long_and_short(1800);
    let waited = found[2..].iter().map(|(waited, _)| *waited);
    assert!(waited.clone().count() > 40);
    assert!(waited.fold(0.0, f64::max) < 60.0);
}

#[test]
fn coupling_loss_hardly_changes_turnaround() {
    let jobs = |seed: u64| -> Vec<TraceJob> {
        let mut random = Random::new(seed, 0);
        let jobs = (0..200).map(|id| {
            let (tasks, memory, root) = (
                1 + random.one_of(4),
                1 + random.one_of(5),
                random.one_of(97),
            );
            let seconds = i64::from(10 + root * root);
            let submit = 400 * i64::from(id);
            job(submit, submit, tasks, (10, memory.into()), seconds)
        });
        jobs.collect()
    };
    for seed in 1..6 {
        let turnaround = |loss| -> f64 {
            let times = times(&default(), jobs(seed), loss);
            times.iter().map(|(waited, took)| waited + took).sum()
        };
        let (none, large) = (
            turnaround(CouplingLoss::NONE),
            turnaround(CouplingLoss::from_hundredths(200)),
        );
        assert!(large < 1.1 * none, "{none} {large}");
    }
}

fn random_job() -> impl Strategy<Value = (i64, u32, (u64, u64), i64)> {
    (0i64..600, 1..=NODES, (1u64..=10, 1u64..=10), 1i64..4000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// No job waits for longer than all before it and one more take one after the other, sharing at its worst: that of
    /// ten jobs on a node, by memory.
    #[test]
    fn wait_is_bounded_by_the_run_times_of_earlier_jobs(jobs in vec(random_job(), 1..40)) {
        let mut at = 0;
        let jobs: Vec<TraceJob> = jobs
            .into_iter()
            .enumerate()
            .map(|(id, (gap, tasks, size, seconds))| {
                at += gap;
                job(id, at, tasks, size, seconds)
            })
            .collect();
        let longest = jobs.iter().map(|job| job.runtime.seconds()).fold(0.0, f64::max);
        let found = times(&default(), jobs, CouplingLoss::NONE);
        for (before, (waited, _)) in found.iter().enumerate() {
            let max = (before + 1) as f64 * longest * 10.0 * 4.0 / 3.0;
            prop_assert!(*waited <= max, "job {before}: {waited} of {max}");
        }
    }
}
