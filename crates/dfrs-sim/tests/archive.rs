//! Real traces: the figures that independent simulators agree on.

mod common;

use dfrs_core::{Bytes, Cores};
use dfrs_sim::metrics::{STRETCH_BOUND, SimSummary};
use dfrs_sim::trace::{Model, NODE_MEMORY};
use dfrs_sim::{Scheduler, simulate};

/// Mean wait, mean and largest bounded slowdown, and makespan of all 27,992 jobs on 100 processors.
/// Two public simulators agree on every start time behind these figures.
#[test]
fn fcfs_and_easy_have_the_published_figures_on_kth() {
    let Some(trace) = common::archive("KTH-SP2-1996-2.1-cln.swf.gz", Model::Processors) else {
        return;
    };
    assert_eq!((trace.jobs.len(), trace.nodes), (27_992, Some(100)));
    for (name, wait, mean, max, end) in [
        ("FCFS", "218980.575", "4297.0705", "66809.3", 28_781_494),
        ("EASY", "6112.525", "71.6495", "10017.2", 28_763_776),
    ] {
        let scheduler: Scheduler = name.parse().expect("a batch scheduler");
        let outcome = simulate(&trace, &scheduler, &common::settings(100), None).expect("an end");
        let summary = SimSummary::new(name.into(), &trace, 100, &outcome, STRETCH_BOUND);
        assert_eq!(format!("{:.3}", summary.mean_wait), wait, "{name}");
        assert_eq!(format!("{:.4}", summary.mean_stretch), mean, "{name}");
        assert_eq!(format!("{:.1}", summary.max_stretch), max, "{name}");
        assert_eq!(summary.makespan, f64::from(end), "{name}");
    }
}

/// The papers' counts: 202,876 jobs, of which 2,142 without memory and 1,823 below the floor get 10%.
#[test]
fn hpc2n_trace_has_the_papers_job_counts() {
    let Some(trace) = common::archive("HPC2N-2002-2.1-cln.swf.gz", Model::Hpc2n) else {
        return;
    };
    assert_eq!((trace.jobs.len(), trace.nodes), (202_876, Some(120)));
    let floor = Bytes(NODE_MEMORY.0 / 10);
    let at_floor = trace.jobs.iter().filter(|job| {
        let whole = job.cpu == Cores::from_cores(1);
        job.memory == if whole { floor.times(2) } else { floor }
    });
    assert_eq!(at_floor.count(), 2_142 + 1_823);
}
