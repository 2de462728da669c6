//! A long job and others that come without end: for how long it is paused.

use dfrs_core::{Bytes, Mobility, Span, Time};
use dfrs_sim::trace::{NODE_CPU, NODE_MEMORY, Trace, TraceJob};
use dfrs_sim::{Settings, simulate};

const DAY: i64 = 86_400;

/// How long the long job takes where a new one of its size comes every ten minutes and runs for as long, for ten days.
fn long_job_takes(longest_pause: Option<Span>) -> f64 {
    let memory = Bytes(NODE_MEMORY.0 * 3 / 5);
    let job = |id: &str, submit: i64, runtime: i64| TraceJob {
        mobility: Mobility::Park,
        ..TraceJob::new(
            id,
            Time::from_seconds(submit),
            1,
            NODE_CPU,
            memory,
            Span::from_seconds(runtime),
        )
    };
    let others = (1..10 * DAY / 600).map(|number| job(&number.to_string(), 600 * number, 600));
    let trace = Trace {
        jobs: [job("long", 0, 7200)].into_iter().chain(others).collect(),
        has_memory: true,
        ..Trace::default()
    };
    let scheduler = "GreedyPMC*/move-per/OPT=VT/MINVT=600"
        .parse()
        .expect("a policy");
    let settings = Settings {
        longest_pause,
        penalty: Span::from_seconds(5),
        ..Settings::new(1)
    };
    let outcome = simulate(&trace, &scheduler, &settings, None).expect("it ends");
    outcome.jobs[0].finish.seconds()
}

#[test]
fn who_ran_once_is_not_behind_all_who_never_ran_for_ever() {
    let days = |longest| long_job_takes(longest) / 86_400.0;
    let (unbounded, bounded) = (days(None), days(Settings::new(1).longest_pause));
    assert!(unbounded > 9.5, "{unbounded} days");
    assert!(bounded < 1.2, "{bounded} days");
}

/// When a job on four nodes ends that takes two hours, where a new job on one node, which cannot be parked, comes every
/// 200 s and runs for 700 s, for ten days: the four nodes are never free at once by themselves.
fn wide_job_ends() -> f64 {
    let memory = Bytes(NODE_MEMORY.0 * 3 / 5);
    let job = |id: &str, submit: i64, tasks: u32, runtime: i64| TraceJob {
        estimate: Some(Span::from_seconds(runtime + 200)),
        ..TraceJob::new(
            id,
            Time::from_seconds(submit),
            tasks,
            NODE_CPU,
            memory,
            Span::from_seconds(runtime),
        )
    };
    let wide = TraceJob {
        mobility: Mobility::Park,
        ..job("wide", 0, 4, 7200)
    };
    let others = (1..10 * DAY / 200).map(|number| TraceJob {
        mobility: Mobility::Never,
        ..job(&number.to_string(), 1000 + 200 * number, 1, 700)
    });
    let trace = Trace {
        jobs: [wide].into_iter().chain(others).collect(),
        has_memory: true,
        ..Trace::default()
    };
    let scheduler = "default".parse().expect("a policy");
    let outcome = simulate(&trace, &scheduler, &Settings::new(4), None).expect("it ends");
    outcome.jobs[0].finish.seconds()
}

#[test]
fn a_wide_job_that_was_paused_for_too_long_has_its_nodes_kept_free() {
    let days = wide_job_ends() / 86_400.0;
    assert!((1.0..1.2).contains(&days), "{days} days");
}
