//! Jobs that use less than they requested, decisions that know it, and jobs that wait for their
//! tasks on other nodes.

mod common;

use common::{run, settings, times, trace, traces};
use dfrs_sim::{CouplingLoss, Needs, SimSettings, use_less};
use proptest::prelude::*;

fn with(needs: Needs, nodes: u32) -> SimSettings {
    SimSettings {
        needs,
        ..settings(nodes)
    }
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 0.01, "{found}, not {expected}");
}

#[test]
fn idle_job_frees_cpu_once_measured_and_loses_nothing() {
    let mut jobs = trace("idles,0,1,1.0,0.1,2000\ncomputes,0,1,1.0,0.1,600\n");
    jobs.jobs[0].uses = vec![10];
    let asked = run(&jobs, "Greedy*/OPT=MIN", with(Needs::Requested, 1));
    assert_eq!(times(&asked.outcome), [(0.0, 2000.0), (0.0, 1200.0)]);
    let known = run(&jobs, "Greedy*/OPT=MIN", with(Needs::Measured, 1));
    let ends = times(&known.outcome);
    near(ends[0].1, 2000.0);
    // Half of the node for a minute each time that the need falls by half, then 8 of 9 parts.
    let left = 600.0 - 60.0 * (1.0 / 2.0 + 1.0 / 1.5 + 1.0 / 1.25);
    near(ends[1].1, 180.0 + left * 9.0 / 8.0);
    assert!(known.violations.is_empty(), "{:?}", known.violations);
    assert_eq!(known.outcome.jobs[0].times_held_back, 0);
}

#[test]
fn job_is_held_back_for_two_seconds_when_its_idle_phase_ends() {
    let mut jobs = trace("wakes,0,1,1.0,0.1,2000\ncomputes,0,1,1.0,0.1,5000\n");
    jobs.jobs[0].uses = vec![10, 100];
    let run = run(&jobs, "Greedy*/OPT=MIN", with(Needs::Measured, 1));
    let wakes = &run.outcome.jobs[0];
    assert_eq!((wakes.times_held_back, wakes.held_back.seconds()), (1, 2.0));
    // In these it has a ninth of the node, and half of it afterwards.
    near(
        times(&run.outcome)[0].1,
        1002.0 + 2.0 * (1000.0 - 2.0 / 9.0),
    );
    assert!(run.violations.is_empty(), "{:?}", run.violations);
}

#[test]
fn job_is_not_held_back_when_its_node_has_room() {
    let mut jobs = trace("wakes,0,1,1.0,0.1,2000\n");
    jobs.jobs[0].uses = vec![10, 100];
    let run = run(&jobs, "Greedy*/OPT=MIN", with(Needs::Measured, 1));
    assert_eq!(times(&run.outcome), [(0.0, 2000.0)]);
    assert_eq!(run.outcome.jobs[0].times_held_back, 0);
}

fn coupled(hundredths: u32, nodes: u32) -> SimSettings {
    SimSettings {
        coupling_loss: CouplingLoss::from_hundredths(hundredths),
        ..settings(nodes)
    }
}

#[test]
fn coupled_job_is_slower_than_its_yield() {
    let jobs = trace("one,0,2,1.0,0.1,100\nother,0,2,1.0,0.1,100\n");
    let run = run(&jobs, "Greedy*/OPT=MIN", coupled(200, 2));
    // Both at yield 0.5 on two nodes: 1 + 2 * 0.5 times as long.
    assert_eq!(times(&run.outcome), [(0.0, 400.0), (0.0, 400.0)]);
    assert!(run.violations.is_empty(), "{:?}", run.violations);
}

#[test]
fn coupling_costs_nothing_on_one_node_or_at_full_yield() {
    let jobs = trace("wide,0,2,1.0,0.1,100\n");
    for (nodes, end) in [(1, 200.0), (2, 100.0)] {
        let run = run(&jobs, "Greedy*/OPT=MIN", coupled(200, nodes));
        assert_eq!(times(&run.outcome), [(0.0, end)]);
    }
}

proptest! {
    /// However much jobs lose, all finish, no sooner than without a loss alone, and the journal is valid.
    #[test]
    fn coupled_jobs_finish(jobs in traces(3), loss in 0u32..=400) {
        for policy in ["GreedyPMC*/move-per/OPT=VT/MINVT=600", "GreedyPM*/per/OPT=MIN/MINVT=600"] {
            let run = run(&jobs, policy, coupled(loss, 3));
            prop_assert!(run.violations.is_empty(), "{}: {:?}", policy, run.violations);
            for (job, record) in jobs.jobs.iter().zip(&run.outcome.jobs) {
                prop_assert!(record.finish >= job.submit + job.runtime);
            }
        }
    }

    /// A job that uses all that it requested gets what it always gets, whatever decisions go by.
    #[test]
    fn schedule_is_unchanged_when_jobs_use_all(jobs in traces(3)) {
        let mut all = jobs.clone();
        for job in &mut all.jobs {
            job.uses = vec![100; 2];
        }
        for policy in ["GreedyPMC*/move-per/OPT=VT/MINVT=600", "GreedyP*/OPT=MIN"] {
            let plain = run(&jobs, policy, settings(3));
            let asked = run(&all, policy, with(Needs::Requested, 3));
            let known = run(&all, policy, with(Needs::Measured, 3));
            prop_assert_eq!(times(&plain.outcome), times(&known.outcome));
            prop_assert_eq!(&asked.outcome.jobs, &known.outcome.jobs);
        }
    }

    /// However little jobs use, all finish, no sooner than alone, the journal is valid, and a job
    /// that is held back by what was measured is so for two seconds at most.
    #[test]
    fn every_job_finishes_when_needs_are_measured(jobs in traces(3), least in 1u8..=100, seed: u64) {
        let mut jobs = jobs;
        use_less(seed, least, &mut jobs);
        let policies = [
            "GreedyPMC*/move-per/OPT=VT/MINVT=600",
            "GreedyPM*/per/OPT=MIN/MINVT=600",
            "MCB8*/per/OPT=AVG",
            "/stretch-per/OPT=MAX",
        ];
        for policy in policies {
            let run = run(&jobs, policy, with(Needs::Measured, 3));
            prop_assert!(run.violations.is_empty(), "{}: {:?}", policy, run.violations);
            for (job, record) in jobs.jobs.iter().zip(&run.outcome.jobs) {
                prop_assert!(record.finish >= job.submit + job.runtime);
                prop_assert!(record.longest_held_back.seconds() <= 2.0);
            }
        }
    }
}
