//! Small simulations whose every event can be worked out by hand.

mod common;

use common::{events, run, run_under, settings, times, trace};
use dfrs_core::{LoadCeiling, Policy, Span};
use dfrs_sim::trace::Trace;
use dfrs_sim::{JobRecord, Scheduler, simulate};

#[test]
fn two_jobs_share_a_node() {
    let jobs = trace("a,0,1,1.0,0.1,100\nb,50,1,1.0,0.1,100\n");
    let run = run(&jobs, "Greedy*/OPT=MIN", settings(1));
    // a does 50 s alone, then both have half: a ends at 150, b has done 50 s by then.
    assert_eq!(times(&run.outcome), [(0.0, 150.0), (50.0, 200.0)]);
    assert_eq!(
        events(&run),
        [
            "0 start a 0",
            "0 yield a 1",
            "50 start b 0",
            "50 yield a 0.5",
            "50 yield b 0.5",
            "150 finish a",
            "150 yield b 1",
            "200 finish b",
        ]
    );
    assert!(run.violations.is_empty(), "{:?}", run.violations);
    assert_eq!(run.summary.max_stretch, 1.5);
    assert_eq!(run.summary.makespan, 200.0);
    assert_eq!(run.summary.normalized_underutilization, 0.0);
}

#[test]
fn a_paused_job_pays_the_penalty_when_it_comes_back() {
    let jobs = trace("long,0,1,1.0,0.6,1000\nnew,100,1,1.0,0.6,10\n");
    let run = run(&jobs, "GreedyP*/OPT=MIN", settings(1));
    assert_eq!(
        times(&run.outcome),
        [(0.0, 110.0 + 300.0 + 900.0), (100.0, 110.0)]
    );
    assert_eq!(
        events(&run),
        [
            "0 start long 0",
            "0 yield long 1",
            "100 pause long",
            "100 start new 0",
            "100 yield new 1",
            "110 finish new",
            "110 resume long 0 after 300",
            "1310 finish long",
        ]
    );
    assert!(run.violations.is_empty(), "{:?}", run.violations);
    assert_eq!((run.summary.pauses, run.summary.migrations), (1, 0));
    assert!((run.summary.pause_gb - 0.6 * 8.0).abs() < 1e-12);
    // One CPU is demanded all the time; 300 s of it are the penalty.
    assert!((run.summary.normalized_underutilization - 300.0 / 1010.0).abs() < 1e-12);
    assert!((run.summary.normalized_stalled - 300.0 / 1010.0).abs() < 1e-12);
}

#[test]
fn a_job_that_moves_pays_the_penalty_and_only_the_moved_memory_counts() {
    // At 100 both nodes hold one job of 0.5; the new one needs 0.6 on one node, so one moves.
    let jobs = trace("a,0,1,0.25,0.5,1000\nb,0,1,0.25,0.5,1000\nc,100,1,0.25,0.6,10\n");
    let run = run(&jobs, "GreedyPM*/OPT=MIN", settings(2));
    assert_eq!((run.summary.pauses, run.summary.migrations), (0, 1));
    assert!((run.summary.migration_gb - 4.0).abs() < 1e-12);
    let mut ends: Vec<f64> = times(&run.outcome).iter().map(|(_, end)| *end).collect();
    ends.sort_by(f64::total_cmp);
    assert_eq!(ends, [110.0, 1000.0, 1300.0]);
    assert!(run.violations.is_empty(), "{:?}", run.violations);
}

#[test]
fn jobs_wait_for_the_period_under_a_periodic_policy() {
    let jobs = trace("a,0,1,0.5,0.1,60\nb,1,2,0.5,0.1,60\nc,600,1,0.5,0.1,60\n");
    let outcome = run(&jobs, "/per/OPT=MIN", settings(2)).outcome;
    // The period elapses at its multiples, after what is submitted then.
    assert_eq!(
        times(&outcome),
        [(0.0, 60.0), (600.0, 660.0), (600.0, 660.0)]
    );
    let shorter = "/per/OPT=MIN".parse::<Scheduler>().expect("a policy");
    let shorter = shorter.at_period(Some(Span::from_seconds(25)));
    let outcome = run_under(&jobs, &shorter, settings(2)).outcome;
    assert_eq!(times(&outcome)[1], (25.0, 85.0));
}

#[test]
fn a_job_without_work_ends_when_it_starts() {
    let jobs = trace("a,0,1,1.0,0.9,0\nb,0,1,1.0,0.9,0\nc,0,1,1.0,0.9,5\n");
    for policy in [
        "Greedy*",
        "GreedyPM*/per/OPT=MIN/MINVT=600",
        "MCB8*/per/OPT=MIN",
        "FCFS",
        "EASY",
    ] {
        let run = run(&jobs, policy, settings(1));
        assert_eq!(times(&run.outcome)[2], (0.0, 5.0), "{policy}");
        assert!(run.violations.is_empty(), "{policy}: {:?}", run.violations);
    }
}

#[test]
fn a_job_that_cannot_keep_the_ceiling_on_load_starts_and_stays() {
    // Twice the CPU that there is, and a small one beside it.
    let jobs = trace("a,1,8,1,0.1,20000\nb,2,1,0.5,0.1,100\n");
    for policy in [
        "/per",
        "/stretch-per/OPT=MAX",
        "Greedy/per",
        "Greedy*/per",
        "GreedyPM/per/OPT=MIN/MINVT=600",
        "DYNMCB8",
        "DYNMCB8-ASAP-PER 600",
        "MCB8/per",
        "MCB8*",
    ] {
        let mut policy: Policy = dfrs_papers::policy(policy).expect("a policy");
        policy.settings.load_ceiling = Some(LoadCeiling::from_percent(150));
        let run = run_under(&jobs, &Scheduler::Dfrs(policy.clone()), settings(4));
        assert_eq!(run.summary.pauses, 0, "{policy}");
        assert!(run.violations.is_empty(), "{policy}: {:?}", run.violations);
    }
}

#[test]
fn a_policy_with_backoff_tries_again_later() {
    let jobs = trace("a,0,1,1.0,0.9,5\nb,1,1,1.0,0.9,5\n");
    let outcome = run(&jobs, "GREEDY", settings(1)).outcome;
    // Tried at 1, 1 + 2 and 3 + 4.
    assert_eq!(times(&outcome), [(0.0, 5.0), (7.0, 12.0)]);
}

#[test]
fn backfill_uses_end_times_and_spare_nodes() {
    // 4 nodes: a leaves 1 free until 100; b needs all 4; c ends by 100, d does not.
    let jobs = trace("a,0,3,1,0,100\nb,1,4,1,0,10\nc,2,1,1,0,98\nd,3,1,1,0,98\n");
    let of = |policy| times(&run(&jobs, policy, settings(4)).outcome);
    assert_eq!(
        of("FCFS"),
        [(0.0, 100.0), (100.0, 110.0), (110.0, 208.0), (110.0, 208.0)]
    );
    assert_eq!(
        of("EASY"),
        [(0.0, 100.0), (100.0, 110.0), (2.0, 100.0), (110.0, 208.0)]
    );
    assert_eq!(of("EASY/no-shadow"), of("FCFS"));
    // b needs 3 only: the fourth node is left for the first job that comes.
    let jobs = trace("a,0,3,1,0,100\nb,1,3,1,0,10\nc,2,1,1,0,900\nd,3,1,1,0,900\n");
    let of = |policy| times(&run(&jobs, policy, settings(4)).outcome);
    assert_eq!(
        of("EASY")[1..],
        [(100.0, 110.0), (2.0, 902.0), (110.0, 1010.0)]
    );
    assert_eq!(of("EASY/no-shadow"), of("EASY"));
}

/// Sixty jobs on four nodes that they overload.
fn overloaded_trace() -> Trace {
    let jobs: String = (0..60)
        .map(|job| {
            format!(
                "{job},{},{},0.{},0.{},{}\n",
                job * 37 % 900,
                job % 4 + 1,
                job % 9 + 1,
                job * 7 % 9 + 1,
                job * 91 % 3000
            )
        })
        .collect();
    trace(&jobs)
}

#[test]
fn repeated_simulation_is_identical() {
    let jobs = overloaded_trace();
    let first = run(&jobs, "GreedyPM*/per/OPT=MIN/MINVT=600", settings(4));
    let second = run(&jobs, "GreedyPM*/per/OPT=MIN/MINVT=600", settings(4));
    assert_eq!(first.events, second.events);
    assert!(first.violations.is_empty(), "{:?}", first.violations);
}

/// A job that is slowed and sped up some tens of thousands of times by others takes exactly as long as its
/// work over its yields.
#[test]
fn a_year_of_changing_yields_is_exact() {
    // Every 1500 s a job comes for 500 s of work: at half speed 1000 s, in which the long one does 500 s.
    let (period, work, year) = (1500, 500, 365 * 86_400);
    let mut lines = format!("long,0,1,1,0,{year}\n");
    let mut left = year;
    let mut others: i64 = 0;
    while left > period - work {
        let submit = others * period + period - 2 * work;
        lines += &format!("{others},{submit},1,1,0,{work}\n");
        left -= period - work;
        others += 1;
    }
    let run = run(&trace(&lines), "Greedy*/OPT=MIN", settings(1));
    assert!(others > 30_000 && run.violations.is_empty());
    let finish = run.outcome.jobs[0].finish;
    assert_eq!(
        finish,
        dfrs_core::Time::from_seconds(others * period + left)
    );
    assert_eq!(run.summary.makespan, (year + others * work) as f64);
}

/// Whichever jobs run, and beside whatever else, the result is the same.
#[test]
fn results_do_not_depend_on_threads() {
    let jobs = overloaded_trace();
    let policies = dfrs_papers::catalogue();
    let alone: Vec<_> = policies[..24]
        .iter()
        .map(|policy| ends(&jobs, policy))
        .collect();
    let together: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = policies[..24]
            .iter()
            .map(|policy| scope.spawn(|| ends(&jobs, policy)))
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|ends| ends.expect("no panic")).collect()
    });
    assert_eq!(alone, together);
}

fn ends(trace: &Trace, policy: &Policy) -> Vec<JobRecord> {
    let settings = settings(4);
    let scheduler = Scheduler::Dfrs(policy.clone()).at_penalty(settings.penalty);
    let outcome = simulate(trace, &scheduler, &settings, None);
    outcome.unwrap_or_else(|error| panic!("{error}")).jobs
}
