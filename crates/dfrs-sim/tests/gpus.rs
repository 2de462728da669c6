//! Jobs with GPUs: whole ones, which nothing shares, beside CPUs that DFRS shares.

mod common;

use common::{settings, times, trace};
use dfrs_core::Amount;
use dfrs_sim::trace::{Model, NODE_GPUS, Trace, read, write_csv};

const HEADER: &str = "id,submit,tasks,cpu,mem,runtime,gpus\n";

fn gpu_trace(lines: &str) -> Trace {
    trace(&format!("{HEADER}{lines}"))
}

/// Finishes of all jobs in seconds.
fn finishes(trace: &Trace, scheduler: &str) -> Vec<f64> {
    let run = common::run(trace, scheduler, settings(1));
    assert!(
        run.violations.is_empty(),
        "{scheduler}: {:?}",
        run.violations
    );
    times(&run.outcome).iter().map(|times| times.1).collect()
}

#[test]
fn gpus_are_read_and_written_as_shares_of_a_node() {
    let read_trace = gpu_trace("a,0,2,0.5,0.1,10,0.125\nb,0,1,0.5,0.1,10,\nc,0,1,1,0,1,1\n");
    let gpus: Vec<Amount> = read_trace.jobs.iter().map(|job| job.gpus).collect();
    assert_eq!(gpus, [Amount(125_000), Amount(0), NODE_GPUS]);
    let mut text = Vec::new();
    write_csv(&read_trace, &mut text).expect("a Vec takes all");
    assert_eq!(
        trace(std::str::from_utf8(&text).expect("UTF-8")),
        read_trace
    );
    let bad = format!("{HEADER}a,0,1,0.5,0.1,10,1.5\n");
    let error = read(bad.as_bytes(), Model::Processors, true).expect_err("more than all");
    assert!(error.to_string().contains("gpus is \"1.5\""), "{error}");
}

#[test]
fn gpu_job_waits_for_cores_under_backfill_and_not_under_dfrs() {
    // A job without GPUs has all cores; a job with one of four GPUs needs a quarter of them.
    let both = gpu_trace("cpu,0,1,1,0.1,100,0\ngpu,10,1,0.25,0.1,100,0.25\n");
    assert_eq!(finishes(&both, "EASY/shared"), [100.0, 200.0]);
    let of_gpu_job = finishes(&both, "GreedyPM*/OPT=MIN")[1];
    assert!(of_gpu_job <= 10.0 + 100.0 / 0.8 + 1e-6, "{of_gpu_job}");
}

#[test]
fn gpu_job_starts_on_restricted_cores_when_others_have_the_rest() {
    // Three quarters of the cores are open. cpu2 waits for cpu1's; gpu has its GPU's sixteenth, and an open one: three
    // sixteenths are left beside cpu1.
    let three =
        gpu_trace("cpu1,0,1,0.5,0.1,100,0\ncpu2,0,1,0.5,0.1,100,0\ngpu,10,1,0.125,0.1,100,0.25\n");
    assert_eq!(finishes(&three, "EASY/restricted"), [100.0, 200.0, 110.0]);
    assert_eq!(finishes(&three, "EASY/shared"), [100.0, 100.0, 200.0]);
}

#[test]
fn job_without_gpus_never_fits_when_it_needs_restricted_cores() {
    let wide = gpu_trace("a,0,1,1,0.1,100,0\nb,0,1,1,0.1,100,1\n");
    let scheduler = "EASY/restricted".parse().expect("a scheduler");
    assert!(dfrs_sim::never_fits(&wide.jobs[0], &scheduler, 1, None).is_some());
    assert!(dfrs_sim::never_fits(&wide.jobs[1], &scheduler, 1, None).is_none());
}

#[test]
fn jobs_wait_for_gpus_that_others_hold() {
    let three = gpu_trace("a,0,1,0.1,0.1,100,0.5\nb,0,1,0.1,0.1,100,0.5\nc,0,1,0.1,0.1,100,0.5\n");
    for scheduler in [
        "FCFS/shared",
        "EASY/shared",
        "Conservative/shared",
        "GreedyP*/OPT=MIN",
    ] {
        let finishes = finishes(&three, scheduler);
        let late = finishes.iter().filter(|finish| **finish >= 200.0).count();
        assert!(late >= 1, "{scheduler}: {finishes:?}");
    }
}

#[test]
fn gpu_jobs_run_on_the_nodes_that_have_gpus() {
    for scheduler in [
        "FCFS/shared",
        "EASY/shared",
        "Conservative/shared",
        "EASY/gang2",
        "EASY/force2",
        "EASY/suspend",
        "EASY/restricted",
        "GreedyP*/OPT=MIN",
    ] {
        // Without GPUs it has what is not restricted.
        let cpu = if scheduler == "EASY/restricted" {
            0.75
        } else {
            1.0
        };
        let mut three = gpu_trace(&format!(
            "a,0,1,0.1,0.1,100,1\nb,0,1,0.1,0.1,100,1\nc,0,1,0.1,0.1,100,1\nd,0,3,{cpu},0.1,100,0\n"
        ));
        three.gpu_nodes = Some(1);
        let run = common::run(&three, scheduler, settings(3));
        assert!(
            run.violations.is_empty(),
            "{scheduler}: {:?}",
            run.violations
        );
        let mut finishes: Vec<f64> = times(&run.outcome)[..3]
            .iter()
            .map(|times| times.1)
            .collect();
        finishes.sort_by(f64::total_cmp);
        let one_by_one = finishes
            .windows(2)
            .all(|pair| pair[1] >= pair[0] + 100.0 - 1e-6);
        assert!(one_by_one, "{scheduler}: {finishes:?}");
    }
}

#[test]
fn job_for_more_gpus_than_all_nodes_have_never_fits() {
    let wide = gpu_trace("a,0,3,0.1,0.1,100,0.6\n");
    for scheduler in ["EASY/shared", "default"] {
        let scheduler = scheduler.parse().expect("a scheduler");
        assert!(dfrs_sim::never_fits(&wide.jobs[0], &scheduler, 2, None).is_some());
        assert!(dfrs_sim::never_fits(&wide.jobs[0], &scheduler, 3, None).is_none());
    }
}

#[test]
fn job_never_fits_when_the_nodes_with_gpus_are_too_few() {
    let two = gpu_trace("a,0,2,0.1,0.1,100,1\nb,0,2,1,0.1,100,0\n");
    let never = |job: usize, scheduler: &str, gpu_nodes| {
        let scheduler = scheduler.parse().expect("a scheduler");
        dfrs_sim::never_fits(&two.jobs[job], &scheduler, 3, gpu_nodes)
    };
    let batches = ["EASY/shared", "EASY/gang2", "EASY/force2", "EASY/suspend"];
    for scheduler in batches.into_iter().chain(["EASY/restricted"]) {
        let why = never(0, scheduler, Some(1)).expect("one node has GPUs");
        assert_eq!(why, "of its 2 tasks 1 have GPUs of their own");
        assert_eq!(never(0, scheduler, Some(2)), None);
    }
    let why = never(0, "default", Some(1)).expect("one node has GPUs");
    assert!(why.contains("GPUs of its 2 tasks"), "{why}");
    assert_eq!(never(0, "default", Some(2)), None);
    // Cores are restricted where there are GPUs only.
    assert_eq!(never(1, "EASY/restricted", Some(1)), None);
    let why = never(1, "EASY/restricted", Some(2)).expect("one whole node is open");
    assert!(why.contains("1 have CPUs that are not restricted"), "{why}");
}
