//! The offline bound, against a linear-program solver and against what schedulers reach.

mod common;

use common::{settings, trace};
use dfrs_core::Span;
use dfrs_sim::metrics::STRETCH_BOUND;
use dfrs_sim::trace::{Model, NODE_CPU, Trace};
use dfrs_sim::{SimSettings, offline_bound};
use good_lp::{Expression, ProblemVariables, Solution, SolverModel, constraint, microlp, variable};
use proptest::prelude::*;

/// What the bound may be below the least stretch that is possible: 1 / 8192, and rounding.
const PRECISION: f64 = 1.3e-4;

fn bound(jobs: &str, nodes: u32) -> f64 {
    offline_bound(&trace(jobs), nodes, STRETCH_BOUND)
}

fn about(found: f64, expected: f64) {
    let error = (expected - found) / expected;
    assert!(
        (-1e-9..=PRECISION).contains(&error),
        "{found} is not {expected}"
    );
}

#[test]
fn bounds_match_hand_calculations() {
    // No job delays another.
    assert_eq!(bound("a,0,1,1,0,100\nb,100,1,1,0,50\n", 1), 1.0);
    assert_eq!(bound("a,0,1,1,0,100\nb,0,1,1,0,50\n", 2), 1.0);
    assert_eq!(bound("a,0,1,0.5,0,100\nb,0,1,0.5,0,50\n", 1), 1.0);
    // Memory is no matter.
    assert_eq!(bound("a,0,1,0.5,1,100\nb,0,1,0.5,1,50\n", 1), 1.0);
    // Two of a kind; a short one before a long one; one that has to wait for both.
    about(bound("a,0,1,1,0,100\nb,0,1,1,0,100\n", 1), 2.0);
    about(bound("a,0,1,1,0,1000\nb,0,1,1,0,100\n", 1), 1.1);
    about(
        bound("a,0,1,1,0,100\nb,0,1,1,0,100\nc,100,1,1,0,50\n", 1),
        2.5,
    );
    // More tasks than nodes.
    about(bound("a,0,6,0.5,0,100\n", 1), 3.0);
    // Run times below the bound count as the bound; without work there is nothing to wait for.
    about(bound("a,0,1,1,0,6\nb,0,1,1,0,6\n", 1), 1.2);
    assert_eq!(bound("a,0,1,1,0,6\nb,0,1,1,0,4\n", 1), 1.0);
    assert_eq!(bound("a,0,3,1,0,0\nb,0,3,1,0,0\n", 1), 1.0);
    let jobs = trace("a,0,1,1,0,25\nb,0,1,1,0,20\n");
    about(offline_bound(&jobs, 1, Span::from_seconds(10)), 1.8);
    about(offline_bound(&jobs, 1, Span::from_seconds(30)), 1.5);
}

/// Whatever is done for the narrow job after the others are due is too little: it has to run beside
/// them, and they wait for it. (By 40 S: 80 + 20 + 100 - 60 S of work on two nodes.)
#[test]
fn a_job_cannot_make_up_for_lost_time() {
    let jobs = "narrow,0,1,1,0,100\nwide,0,2,1,0,40\nshort,0,1,1,0,20\n";
    about(bound(jobs, 2), 10.0 / 7.0);
}

#[test]
fn a_trace_without_jobs_has_the_least_bound() {
    assert_eq!(offline_bound(&Trace::default(), 4, STRETCH_BOUND), 1.0);
}

/// Times at the end of what a trace may name, as many tasks as it may have.
#[test]
fn largest_numbers_do_not_overflow() {
    let job = |id, submit| format!("{id},{submit},1048576,1,0,4294967296\n");
    let jobs = job("a", 0) + &job("b", 0) + &job("c", 4_294_967_296i64);
    about(bound(&jobs, 1 << 20), 2.0);
    // Beyond all times: what is known is that each takes so long alone.
    assert_eq!(bound(&jobs, 1), 1_048_576.0);
}

/// Linear System (1) with its variables multiplied by the work of the job, in node seconds: as much
/// work as possible. It has a solution iff that is all the work.
fn max_work(trace: &Trace, nodes: u32, stretch: f64) -> (f64, f64) {
    let jobs: Vec<(f64, f64, f64, f64)> = trace
        .jobs
        .iter()
        .map(|job| {
            let release = job.submit.seconds();
            let span = job.runtime.max(STRETCH_BOUND).seconds();
            let rate = job.cpu.0 as f64 / NODE_CPU.0 as f64 * f64::from(job.tasks);
            (
                release,
                release + stretch * span,
                rate,
                rate * job.runtime.seconds(),
            )
        })
        .collect();
    let mut times: Vec<f64> = jobs.iter().flat_map(|job| [job.0, job.1]).collect();
    times.sort_by(f64::total_cmp);
    let mut variables = ProblemVariables::new();
    let mut of_job = vec![Expression::default(); jobs.len()];
    let mut constraints = Vec::new();
    for ends in times.windows(2) {
        let length = ends[1] - ends[0];
        let mut of_interval = Expression::default();
        for (job, (release, due, rate, _)) in jobs.iter().enumerate() {
            if length > 0.0 && *release <= ends[0] && ends[1] <= *due {
                let part = variables.add(variable().min(0.0).max(rate * length));
                of_job[job] += part;
                of_interval += part;
            }
        }
        constraints.push(constraint!(of_interval <= f64::from(nodes) * length));
    }
    let mut all = Expression::default();
    for (done, (.., work)) in of_job.into_iter().zip(&jobs) {
        constraints.push(constraint!(done.clone() <= *work));
        all += done;
    }
    let problem = variables.maximise(all.clone()).using(microlp);
    let problem = constraints
        .into_iter()
        .fold(problem, |problem, constraint| problem.with(constraint));
    let solution = problem.solve().expect("a solution");
    (solution.eval(all), jobs.iter().map(|job| job.3).sum())
}

/// Traces of some jobs, some of which come at once.
fn traces(max_jobs: usize) -> impl Strategy<Value = Trace> {
    let submit = prop_oneof![0u32..300, Just(0), Just(100)];
    let share = prop_oneof![Just(100u32), Just(25), 1u32..=100];
    let runtime = prop_oneof![1 => Just(0u32), 2 => 1u32..15, 4 => 10u32..300, 1 => 300u32..3_000];
    let job = (submit, 1u32..=4, share, 0u32..=30, runtime);
    proptest::collection::vec(job, 1..max_jobs).prop_map(|jobs| {
        let lines = (1..)
            .zip(jobs)
            .map(|(id, (submit, tasks, cpu, memory, runtime))| {
                let (cpu, memory) = (f64::from(cpu) / 100.0, f64::from(memory) / 100.0);
                format!("{id},{submit},{tasks},{cpu},{memory},{runtime}.5\n")
            });
        trace(&lines.collect::<String>())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// At the bound and a little, the system has a solution; below the bound it has none.
    #[test]
    fn a_linear_program_agrees(trace in traces(24), nodes in 1u32..=4) {
        let found = offline_bound(&trace, nodes, STRETCH_BOUND);
        let (done, work) = max_work(&trace, nodes, found * (1.0 + PRECISION));
        prop_assert!(done >= work * (1.0 - 1e-9), "{found}: {done} of {work}");
        if found > 1.0 {
            let (done, work) = max_work(&trace, nodes, found * (1.0 - 1e-5));
            prop_assert!(done < work * (1.0 - 1e-12), "{found}: {done} of {work}");
        }
    }

    /// No schedule is better, whatever the penalty.
    #[test]
    fn no_schedule_is_better(
        trace in traces(16),
        policy in proptest::sample::select(dfrs_papers::all()),
        penalty in prop_oneof![Just(0i64), Just(300)],
        batch in proptest::sample::select(vec!["FCFS", "EASY", "EASY/no-shadow"]),
    ) {
        let nodes = 4;
        let found = offline_bound(&trace, nodes, STRETCH_BOUND);
        let settings = SimSettings { penalty: Span::from_seconds(penalty), ..settings(nodes) };
        for scheduler in [policy.to_string(), batch.to_owned()] {
            let reached = common::run(&trace, &scheduler, settings).summary.max_stretch;
            prop_assert!(reached >= found, "{scheduler}: {reached} is below {found}");
        }
    }

    /// More nodes and more time can only help, and fewer jobs.
    #[test]
    fn bound_does_not_rise_with_more_nodes_or_fewer_jobs(trace in traces(40)) {
        let of = |trace: &Trace, nodes, bound| offline_bound(trace, nodes, Span::from_seconds(bound));
        let found = of(&trace, 2, 10);
        let slack = 1.0 + PRECISION;
        prop_assert!(found >= 1.0);
        prop_assert!(of(&trace, 3, 10) <= found * slack);
        prop_assert!(of(&trace, 2, 30) <= found * slack);
        let mut fewer = trace.clone();
        fewer.jobs.pop();
        prop_assert!(of(&fewer, 2, 10) <= found * slack);
    }
}

/// The bound of a whole trace, which falls into many segments, is the largest of its parts' at least.
#[test]
fn kth_is_no_better_than_its_parts() {
    let Some(trace) = common::archive("KTH-SP2-1996-2.1-cln.swf.gz", Model::Processors) else {
        return;
    };
    let whole = offline_bound(&trace, 100, STRETCH_BOUND);
    let parts = trace.jobs.chunks(500).map(|jobs| {
        let jobs = jobs.to_vec();
        offline_bound(
            &Trace {
                jobs,
                ..trace.clone()
            },
            100,
            STRETCH_BOUND,
        )
    });
    let max = parts.fold(1.0, f64::max);
    assert!(
        max > 2.0 && whole >= max / (1.0 + PRECISION),
        "{whole}, {max}"
    );
}
