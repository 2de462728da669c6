//! Metrics by their definitions, on worlds that can be worked out by hand and on random ones.

mod common;

use common::{run, settings, trace};
use dfrs_sim::metrics::{SimSummary, Utilization, UtilizationStep, compare_with_best};
use dfrs_sim::trace::Trace;
use proptest::prelude::*;

fn steps(run: &common::Run) -> Vec<UtilizationStep> {
    let mut utilization = Utilization::default();
    let mut steps = Vec::new();
    for event in &run.events {
        utilization.take(event, &mut steps);
    }
    utilization.finish(&mut steps);
    steps
}

fn rows(steps: &[UtilizationStep]) -> Vec<(f64, f64, f64, f64)> {
    let steps = steps.iter();
    steps
        .map(|step| (step.time.seconds(), step.demand, step.used, step.stalled))
        .collect()
}

/// A long job is paused for a short one and pays 300 s when it comes back: 1,310 s, one pause.
#[test]
fn a_pause_by_the_hour_the_job_and_the_second() {
    let jobs = trace("long,0,2,0.5,0.3,1000\nnew,100,1,0.5,0.6,10\n");
    let run = run(&jobs, "GreedyP*/OPT=MIN", settings(1));
    let found = &run.summary;
    assert_eq!(
        (found.pauses, found.migrations, found.makespan),
        (1, 0, 1310.0)
    );
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
    close(found.pauses_per_hour, 3600.0 / 1310.0);
    close(found.pauses_per_job, 0.5);
    close(found.pause_gb_per_second, 0.6 * 8.0 / 1310.0);
    close(found.utilization, 1005.0 / 1310.0);
    close(found.mean_wait, 0.0);
    close(found.mean_turnaround, (1310.0 + 10.0) / 2.0);
    close(found.max_stretch_10s, 1.31);
    close(found.max_stretch_30s, 1.31);
    close(found.normalized_underutilization, 305.0 / 1005.0);
    // While the short one has the node, all of it is demanded; the stall uses nothing, and holds all.
    assert_eq!(
        rows(&steps(&run)),
        [
            (0.0, 1.0, 1.0, 0.0),
            (100.0, 1.0, 0.5, 0.0),
            (110.0, 1.0, 0.0, 1.0),
            (410.0, 1.0, 1.0, 0.0),
            (1310.0, 0.0, 0.0, 0.0),
        ]
    );
}

#[test]
fn a_migration_by_the_hour_the_job_and_the_second() {
    let jobs = trace("a,0,1,0.25,0.5,1000\nb,0,1,0.25,0.5,1000\nc,100,1,0.25,0.6,10\n");
    let found = run(&jobs, "GreedyPM*/OPT=MIN", settings(2)).summary;
    assert_eq!((found.migrations, found.makespan), (1, 1300.0));
    assert_eq!(found.migrations_per_hour, 1.0 / 1300.0 * 3600.0);
    assert_eq!(found.migrations_per_job, 1.0 / 3.0);
    assert_eq!(found.migration_gb_per_second, 4.0 / 1300.0);
    assert_eq!(found.pause_gb_per_second, 0.0);
}

#[test]
fn short_jobs_are_bounded_at_10_and_at_30_s() {
    let jobs = trace("a,0,1,1,0.6,40\nb,0,1,1,0.6,20\n");
    let found = run(&jobs, "FCFS", settings(1)).summary;
    assert_eq!((found.max_stretch, found.max_stretch_10s), (3.0, 3.0));
    assert_eq!((found.mean_stretch, found.mean_stretch_10s), (2.0, 2.0));
    assert_eq!((found.max_stretch_30s, found.mean_stretch_30s), (2.0, 1.5));
}

#[test]
fn policies_are_compared_with_the_best_of_them() {
    let jobs = trace("a,0,1,1,0.6,1000\nb,100,1,1,0.6,20\n");
    let of = |policy| run(&jobs, policy, settings(1)).summary;
    let mut found: [SimSummary; 2] = [of("FCFS"), of("GreedyP*/OPT=MIN")];
    found[0].compare_with_bound(2.0);
    assert_eq!(
        (found[0].bound, found[0].degradation),
        (Some(2.0), Some(23.0))
    );
    let best = found[0].max_stretch.min(found[1].max_stretch);
    assert!(found[0].max_stretch != found[1].max_stretch);
    compare_with_best(&mut found);
    for summary in &found {
        assert_eq!(summary.degradation_from_best, summary.max_stretch / best);
    }
    assert!(
        found
            .iter()
            .any(|summary| summary.degradation_from_best == 1.0)
    );
}

#[test]
fn metrics_are_finite_when_the_makespan_is_zero() {
    let found = run(&trace("a,5,1,1,0,0\n"), "EASY", settings(1)).summary;
    assert_eq!(found.makespan, 0.0);
    assert_eq!((found.utilization, found.pauses_per_hour), (0.0, 0.0));
    assert_eq!(
        (found.pause_gb_per_second, found.max_stretch_30s),
        (0.0, 1.0)
    );
}

fn traces() -> impl Strategy<Value = Trace> {
    let job = (0u32..2000, 1u32..=4, 1u32..=100, 0u32..=100, 0u32..3000);
    proptest::collection::vec(job, 1..14).prop_map(|jobs| {
        let lines = (1..)
            .zip(jobs)
            .map(|(id, (submit, tasks, cpu, memory, runtime))| {
                let (cpu, memory) = (f64::from(cpu) / 100.0, f64::from(memory) / 100.0);
                format!("{id},{submit},{tasks},{cpu},{memory},{runtime}\n")
            });
        trace(&lines.collect::<String>())
    })
}

proptest! {
    /// The areas under the steps are the demand and the work; between them lies the underutilization.
    #[test]
    fn utilization_adds_up(
        trace in traces(),
        policy in proptest::sample::select(dfrs_papers::all()),
    ) {
        let nodes = 4;
        let run = run(&trace, &policy.to_string(), settings(nodes));
        let steps = steps(&run);
        let area = |of: fn(&UtilizationStep) -> f64| -> f64 {
            let parts = steps.windows(2);
            parts.map(|pair| of(&pair[0]) * pair[1].time.since(pair[0].time).seconds()).sum()
        };
        let (demand, used) = (area(|step| step.demand), area(|step| step.used));
        let work: f64 = trace.jobs.iter()
            .map(|job| job.cpu.0 as f64 / 1e6 * f64::from(job.tasks) * job.runtime.seconds())
            .sum();
        prop_assert!((used - work).abs() <= 1e-6 * work + 1e-3, "{used} used for {work}");
        if work > 0.0 {
            let expected = (demand - work) / work;
            let found = run.summary.normalized_underutilization;
            prop_assert!((found - expected).abs() <= 1e-6 * (1.0 + expected), "{found}, {expected}");
            let expected = area(|step| step.stalled) / work;
            let found = run.summary.normalized_stalled;
            prop_assert!((found - expected).abs() <= 1e-6 * (1.0 + expected), "{found}, {expected}");
        }
        for step in &steps {
            prop_assert!(step.used + step.stalled <= step.demand + 1e-9, "{step:?}");
        }
        if let Some(last) = steps.last() {
            prop_assert_eq!((last.demand, last.used), (0.0, 0.0));
        }
    }
}
