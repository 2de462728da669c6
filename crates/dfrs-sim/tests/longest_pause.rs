//! A long job and others that come without end: for how long it is paused.

use dfrs_core::{Bytes, Mobility, Span, Time};
use dfrs_sim::trace::{NODE_CPU, NODE_MEMORY, Trace, TraceJob};
use dfrs_sim::{Scheduler, SimSettings, simulate};

const DAY: i64 = 86_400;

/// A job whose tasks need all CPU and three fifths of the memory of a node each; times are seconds.
fn job(id: &str, submit: i64, tasks: u32, runtime: i64, mobility: Mobility) -> TraceJob {
    TraceJob {
        mobility,
        ..TraceJob::new(
            id,
            Time::from_seconds(submit),
            tasks,
            NODE_CPU,
            Bytes(NODE_MEMORY.0 * 3 / 5),
            Span::from_seconds(runtime),
        )
    }
}

/// When the first of these jobs ends, in days.
fn first_ends(
    first: TraceJob,
    others: impl Iterator<Item = TraceJob>,
    policy: &str,
    settings: &SimSettings,
) -> f64 {
    let trace = Trace {
        jobs: [first].into_iter().chain(others).collect(),
        has_memory: true,
        ..Trace::default()
    };
    let scheduler: Scheduler = policy.parse().expect("a policy");
    let scheduler = scheduler.at_penalty(settings.penalty);
    let outcome = simulate(&trace, &scheduler, settings, None).expect("it ends");
    outcome.jobs[0].finish.seconds() / 86_400.0
}

/// How many days the long job takes where a new one of its size comes every ten minutes and runs for as long, for ten days.
fn long_job_takes(longest_pause: Option<Span>) -> f64 {
    let park = |id: &str, submit, runtime| job(id, submit, 1, runtime, Mobility::Park);
    let others = (1..10 * DAY / 600).map(|number| park(&number.to_string(), 600 * number, 600));
    let settings = SimSettings {
        longest_pause,
        penalty: Span::from_seconds(5),
        ..SimSettings::new(1)
    };
    let policy = "GreedyPMC*/move-per/OPT=VT/MINVT=600";
    first_ends(park("long", 0, 7200), others, policy, &settings)
}

#[test]
fn paused_job_is_not_starved_by_jobs_that_never_ran() {
    let unbounded = long_job_takes(None);
    let bounded = long_job_takes(SimSettings::new(1).longest_pause);
    assert!(unbounded > 9.5, "{unbounded} days");
    assert!(bounded < 1.2, "{bounded} days");
}

/// When a job on four nodes ends that takes two hours, where a new job on one node, which cannot be parked, comes every
/// 200 s and runs for 700 s, for ten days: the four nodes are never free at once by themselves.
fn wide_job_ends() -> f64 {
    let limited = |job: TraceJob| TraceJob {
        estimate: Some(job.runtime + Span::from_seconds(200)),
        ..job
    };
    let wide = limited(job("wide", 0, 4, 7200, Mobility::Park));
    let others = (1..10 * DAY / 200).map(|number| {
        let submit = 1000 + 200 * number;
        limited(job(&number.to_string(), submit, 1, 700, Mobility::Never))
    });
    first_ends(wide, others, "default", &SimSettings::new(4))
}

#[test]
fn a_wide_job_that_was_paused_for_too_long_has_its_nodes_kept_free() {
    let days = wide_job_ends();
    assert!((1.0..1.2).contains(&days), "{days} days");
}
