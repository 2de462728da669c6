//! Jobs that cannot move as in the papers.

mod common;

use common::{Run, events, run, settings, times, trace};
use dfrs_core::{Bytes, Mobility, NodeIndex, RunTimeHint, Span};
use dfrs_proto::journal::EventKind;
use dfrs_sim::trace::{NODE_MEMORY, Trace};
use dfrs_sim::{MobilityShares, Scheduler, SimSettings, round_limits};
use proptest::prelude::*;

/// Number of nodes of the random worlds.
const NODES: u32 = 4;

/// The jobs of the trace, all of one kind.
fn all(kind: &str, trace: &Trace) -> Trace {
    let mut trace = trace.clone();
    let shares: MobilityShares = format!("{kind}=1").parse().expect("shares");
    shares.draw(1, &mut trace);
    trace
}

/// Two jobs of more than half of a node each.
fn two_large_jobs() -> Trace {
    trace("long,0,1,1.0,0.6,1000\nnew,100,1,1.0,0.6,10\n")
}

#[test]
fn immobile_job_runs_to_its_end() {
    let run = run(
        &all("never", &two_large_jobs()),
        "GreedyPM*/per/OPT=MIN",
        settings(1),
    );
    assert_eq!(times(&run.outcome), [(0.0, 1000.0), (1000.0, 1010.0)]);
    assert_eq!((run.summary.pauses, run.summary.migrations), (0, 0));
    assert!(run.violations.is_empty(), "{:?}", run.violations);
}

#[test]
fn a_parked_job_comes_back_where_it_was() {
    // From 150 on node 1 is free, and node 0 is not until 600.
    let jobs = trace("long,0,1,1.0,0.6,1000\nx,1,1,1.0,0.6,149\nnew,100,1,1.0,0.6,500\n");
    let places = |kind: &str| {
        let run = run(&all(kind, &jobs), "GreedyP*/OPT=MIN", settings(2));
        assert!(run.violations.is_empty(), "{:?}", run.violations);
        let mut lines = events(&run);
        lines.retain(|line| line.contains("long") && !line.contains("yield"));
        lines[1..].join("; ")
    };
    let parked = "100 pause long; 600 resume long 0 after 300; 1800 finish long";
    assert_eq!(places("park"), parked);
    let moved = "100 pause long; 150 resume long 1 after 300; 1350 finish long";
    assert_eq!(places("checkpoint"), moved);
}

#[test]
fn a_requeued_job_begins_again_and_pays_nothing_else() {
    let run = run(
        &all("restart", &two_large_jobs()),
        "GreedyP*/OPT=MIN",
        settings(1),
    );
    assert_eq!(times(&run.outcome), [(0.0, 1110.0), (100.0, 110.0)]);
    assert_eq!(
        events(&run),
        [
            "0 start long 0",
            "0 yield long 1",
            "100 pause long, lost",
            "100 start new 0",
            "100 yield new 1",
            "110 finish new",
            "110 resume long 0 after 0",
            "1110 finish long",
        ]
    );
    assert_eq!((run.summary.pauses, run.summary.migrations), (1, 0));
    assert_eq!(run.summary.pause_gb, 0.0);
    assert!(run.violations.is_empty(), "{:?}", run.violations);
}

#[test]
fn a_job_that_is_restarted_elsewhere_has_not_migrated() {
    // At 100 both nodes hold one job of 0.5; the new one needs 0.6 on one node, so one goes.
    let jobs = trace("a,0,1,0.25,0.5,1000\nb,0,1,0.25,0.5,1000\nc,100,1,0.25,0.6,10\n");
    let run = run(&all("restart", &jobs), "GreedyPM*/OPT=MIN", settings(2));
    assert_eq!((run.summary.pauses, run.summary.migrations), (1, 0));
    let mut ends: Vec<f64> = times(&run.outcome).iter().map(|(_, end)| *end).collect();
    ends.sort_by(f64::total_cmp);
    assert_eq!(ends, [110.0, 1000.0, 1100.0]);
    assert!(run.violations.is_empty(), "{:?}", run.violations);
}

#[test]
fn each_kind_has_its_cost() {
    let finish_of_long = |kind: &str, settings: SimSettings| {
        let run = run(&all(kind, &two_large_jobs()), "GreedyP*/OPT=MIN", settings);
        times(&run.outcome)[0].1
    };
    let costs = SimSettings {
        park_cost: Some("20+10/GB".parse().expect("a cost")),
        checkpoint_cost: Some("5".parse().expect("a cost")),
        ..settings(1)
    };
    for kind in ["park", "checkpoint"] {
        assert_eq!(finish_of_long(kind, settings(1)), 1010.0 + 300.0, "{kind}");
    }
    assert_eq!(finish_of_long("park", costs), 1010.0 + 20.0 + 48.0); // 0.6 of 8 GB
    assert_eq!(finish_of_long("checkpoint", costs), 1010.0 + 5.0);
    assert_eq!(finish_of_long("restart", costs), 1110.0);
    assert_eq!(finish_of_long("never", costs), 1000.0);
}

#[test]
fn job_is_not_parked_when_swap_is_too_small() {
    let parked = all("park", &two_large_jobs());
    for (swap, end) in [
        (0, 1000.0),
        (NODE_MEMORY.0 / 2, 1000.0),
        (NODE_MEMORY.0, 1310.0),
    ] {
        let settings = SimSettings {
            swap: Bytes(swap),
            ..settings(1)
        };
        let run = run(&parked, "GreedyP*/OPT=MIN", settings);
        assert_eq!(times(&run.outcome)[0].1, end, "{swap}");
    }
}

/// Traces with drawn kinds of mobility.
fn mixes() -> impl Strategy<Value = Trace> {
    let shares = proptest::sample::select(vec![
        "never=1",
        "park=1",
        "restart=1",
        "park=0.4,restart=0.3,never=0.3",
        "park=0.5",
        "restart=0.5,never=0.2",
    ]);
    (common::traces(NODES), shares, any::<u64>()).prop_map(|(mut trace, shares, seed)| {
        let shares: MobilityShares = shares.parse().expect("shares");
        shares.draw(seed, &mut trace);
        trace
    })
}

/// Where a job was placed, one entry for each time.
type Places = Vec<Vec<NodeIndex>>;

/// What happened to this job: its places, how often it was paused, and migrated.
fn life(run: &Run, id: &str) -> (Places, usize, usize) {
    let (mut places, mut pauses, mut migrations) = (Vec::new(), 0, 0);
    for event in &run.events {
        match &event.kind {
            EventKind::Start { job, nodes } | EventKind::Resume { job, nodes, .. } if job == id => {
                places.push(nodes.clone());
            }
            EventKind::Migrate { job, .. } if job == id => migrations += 1,
            EventKind::Pause { job, .. } if job == id => pauses += 1,
            _ => {}
        }
    }
    (places, pauses, migrations)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Debug builds also check every plan.
    #[test]
    fn no_job_moves_beyond_its_mobility(
        trace in mixes(),
        policy in prop_oneof![
            3 => proptest::sample::select(dfrs_papers::catalogue()),
            1 => proptest::sample::select(dfrs_papers::all().split_off(dfrs_papers::catalogue().len())),
        ],
        penalty in prop_oneof![Just(0u32), Just(300), Just(5000)],
        swap in prop_oneof![Just(0u64), Just(1), Just(2)],
        run_time_hint in prop_oneof![Just(RunTimeHint::Nothing), Just(RunTimeHint::Limits)],
    ) {
        let mut trace = trace;
        round_limits(1, &mut trace);
        let settings = SimSettings {
            penalty: Span::from_seconds(penalty.into()),
            swap: Bytes(swap * NODE_MEMORY.0 / 2),
            ..settings(NODES)
        };
        let name = policy.to_string();
        let mut policy = policy;
        policy.settings.run_time_hint = run_time_hint;
        let run = common::run_under(&trace, &Scheduler::Dfrs(policy), settings);
        prop_assert!(run.violations.is_empty(), "{name}: {:?}", run.violations);
        for (job, record) in trace.jobs.iter().zip(&run.outcome.jobs) {
            prop_assert!(record.start >= job.submit);
            prop_assert!(record.finish >= record.start + job.runtime);
            let (places, pauses, migrations) = life(&run, &job.id);
            prop_assert_eq!(pauses, record.pauses as usize);
            match job.mobility {
                Mobility::Never => prop_assert_eq!((places.len(), pauses, migrations), (1, 0, 0)),
                Mobility::Park => {
                    prop_assert!(places.iter().all(|place| *place == places[0]), "{places:?}");
                    prop_assert_eq!((pauses + 1, migrations), (places.len(), 0));
                    prop_assert!(swap > 0 || pauses == 0);
                }
                Mobility::Restart => prop_assert_eq!(migrations, 0),
                Mobility::Checkpoint | Mobility::Carry => {}
            }
        }
    }
}

#[test]
fn limits_are_round_and_true() {
    let lines: String = (1..=200)
        .map(|id| format!("{id},0,1,1,0,{}.5\n", id * id * 20))
        .collect();
    let mut drawn = trace(&lines);
    drawn.jobs[0].estimate = Some(Span::from_seconds(7));
    round_limits(1, &mut drawn);
    assert_eq!(drawn.jobs[0].estimate, Some(Span::from_seconds(7)));
    let hours = [0.25, 1.0, 4.0, 24.0, 168.0];
    for job in &drawn.jobs[1..] {
        let limit = job.estimate.expect("a limit").seconds();
        assert!(limit >= job.runtime.seconds() && limit >= 900.0);
        let is_round = hours
            .iter()
            .any(|hours| (hours * 3600.0 - limit).abs() < 1e-9);
        assert!(is_round || limit > 168.0 * 3600.0, "{limit}");
        // No more than five times the run time, rounded up.
        let below = hours.iter().rev().find(|hours| **hours * 3600.0 < limit);
        assert!(below.is_none_or(|below| below * 3600.0 < 5.0 * job.runtime.seconds()));
    }
    // The kind depends on the seed and the job alone.
    let mut one = trace("77,0,1,1,0,118580.5\n");
    round_limits(1, &mut one);
    assert_eq!(one.jobs[0].estimate, drawn.jobs[76].estimate);
    let other = (2..20).any(|seed| {
        let mut other = trace(&lines);
        round_limits(seed, &mut other);
        other.jobs[50].estimate != drawn.jobs[50].estimate
    });
    assert!(other);
}
