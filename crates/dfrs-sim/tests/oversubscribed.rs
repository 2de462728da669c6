//! Jobs on the same cores at once, and jobs that suspend others: small cases worked out by hand, and what always holds.

mod common;

use common::known::{BOTH, NODES, traces, with};
use dfrs_core::{NodeIndex, Span};
use dfrs_proto::journal::EventKind;
use dfrs_sim::trace::{NODE_CPU, NODE_MEMORY, Trace};
use dfrs_sim::{Estimates, SimSettings};
use proptest::prelude::*;

/// Start and finish of every job in seconds, on so many nodes.
fn times(lines: &str, scheduler: &str, nodes: u32) -> Vec<(f64, f64)> {
    let trace = common::trace(lines);
    let settings = SimSettings {
        estimates: Estimates::User,
        ..common::settings(nodes)
    };
    let run = common::run(&trace, scheduler, settings);
    assert!(run.violations.is_empty(), "{:?}", run.violations);
    common::times(&run.outcome)
}

#[test]
fn two_jobs_have_half_a_core_each_when_both_need_it() {
    // Each does 50 in the first 100 s; then a is done, and b is alone.
    let lines = "a,0,1,1,0.5,50\nb,0,1,1,0.5,100\n";
    assert_eq!(times(lines, "EASY/force4", 1), [(0.0, 100.0), (0.0, 150.0)]);
}

#[test]
fn job_waits_for_memory_when_cores_could_be_shared() {
    let lines = "a,0,1,1,0.6,50\nb,0,1,1,0.6,100\n";
    assert_eq!(times(lines, "EASY/force4", 1), [(0.0, 50.0), (50.0, 150.0)]);
}

#[test]
fn fifth_job_waits_when_four_have_the_core() {
    let one = "1,1,0.1,100\n";
    let lines: String = ["a", "b", "c", "d", "e"]
        .map(|id| format!("{id},0,{one}"))
        .concat();
    let found = times(&lines, "EASY/force4", 1);
    assert_eq!(found[..4], [(0.0, 400.0); 4]);
    assert_eq!(found[4], (400.0, 500.0));
    assert!(
        times(&lines, "EASY/force5", 1)
            .iter()
            .all(|job| job.0 == 0.0)
    );
}

#[test]
fn idle_cores_come_before_those_of_others() {
    // b has the second half of the node, c shares with a: the first row is full, the second empty.
    let lines = "a,0,1,0.5,0.1,100\nb,0,1,0.5,0.1,100\nc,10,1,0.5,0.1,45\n";
    // a has done 10; then c needs 90 s for its 45, until 100, in which a does as much; 45 are left.
    assert_eq!(
        times(lines, "EASY/force2", 1),
        [(0.0, 145.0), (0.0, 100.0), (10.0, 100.0)]
    );
}

#[test]
fn parallel_job_is_as_slow_as_its_slowest_task() {
    // b's second task is alone on the second node.
    let lines = "a,0,1,1,0.1,100\nb,0,2,1,0.1,100\n";
    assert_eq!(times(lines, "EASY/force2", 2), [(0.0, 200.0), (0.0, 200.0)]);
}

#[test]
fn job_on_cores_of_several_rows_waits_for_one_row() {
    // a and b have both halves in the first row. c is in the second. d needs the whole node, and no row is empty: one
    // half is free in the second row only.
    let lines = "a,0,1,0.5,0.1,100\nb,0,1,0.5,0.1,200\nc,0,1,0.5,0.1,50\nd,0,1,1,0.1,10\n";
    let found = times(lines, "EASY/force2", 1);
    // c ends at 100 (a has done 50 then), and d has the second row alone.
    assert_eq!(found[2], (0.0, 100.0));
    // d does half of its work in what it has of a's and of b's half.
    assert_eq!(found[3], (100.0, 120.0));
    assert_eq!(found[0], (0.0, 160.0));
    assert_eq!(found[1], (0.0, 210.0));
}

#[test]
fn short_job_suspends_a_long_one_when_no_core_is_idle() {
    let header = "id,submit,tasks,cpu,mem,runtime,limit\n";
    let lines = format!("{header}long,0,1,1,0.5,8000,9000\nshort,100,1,1,0.5,600,3600\n");
    assert_eq!(
        times(&lines, "EASY/suspend", 1),
        [(0.0, 8600.0), (100.0, 700.0)]
    );
    // On an idle node it suspends none.
    assert_eq!(
        times(&lines, "EASY/suspend", 2),
        [(0.0, 8000.0), (100.0, 700.0)]
    );
}

#[test]
fn job_with_a_long_limit_suspends_none_when_its_run_time_is_known() {
    let header = "id,submit,tasks,cpu,mem,runtime,limit\n";
    let lines = format!("{header}long,0,1,1,0.5,8000,9000\nbrief,100,1,1,0.5,600,9000\n");
    let trace = common::trace(&lines);
    for estimates in BOTH {
        let settings = SimSettings {
            estimates,
            ..common::settings(1)
        };
        let run = common::run(&trace, "EASY/suspend", settings);
        let expected = [(0.0, 8000.0), (8000.0, 8600.0)];
        assert_eq!(common::times(&run.outcome), expected, "{estimates:?}");
    }
}

#[test]
fn short_job_waits_when_suspended_jobs_keep_the_memory() {
    let header = "id,submit,tasks,cpu,mem,runtime,limit\n";
    let lines = format!("{header}long,0,1,1,0.6,8000,9000\nshort,100,1,1,0.5,600,3600\n");
    assert_eq!(
        times(&lines, "EASY/suspend", 1),
        [(0.0, 8000.0), (8000.0, 8600.0)]
    );
}

#[test]
fn all_tasks_are_suspended_when_one_loses_its_core() {
    let header = "id,submit,tasks,cpu,mem,runtime,limit\n";
    let lines = format!(
        "{header}wide,0,2,1,0.1,8000,9000\nshort,100,1,1,0.1,600,3600\nlong,200,1,1,0.1,5000,9000\n"
    );
    // The cores of a suspended job are its own beside other long ones.
    assert_eq!(
        times(&lines, "EASY/suspend", 2),
        [(0.0, 8600.0), (100.0, 700.0), (8600.0, 13600.0)]
    );
}

/// What a run must keep at each event: CPU by yields, memory, and how many jobs have a part of each node.
fn check_nodes(trace: &Trace, scheduler: &str, rows: u64, estimates: Estimates) {
    let run = common::run(trace, scheduler, with(estimates));
    assert!(
        run.violations.is_empty(),
        "{scheduler}: {:?}",
        run.violations
    );
    let position = |id: &str| {
        trace
            .jobs
            .iter()
            .position(|job| job.id == id)
            .expect("known")
    };
    let mut places: Vec<Vec<NodeIndex>> = vec![Vec::new(); trace.jobs.len()];
    for event in &run.events {
        match &event.kind {
            EventKind::Start { job, nodes } => places[position(job)].clone_from(nodes),
            EventKind::Finish { job, .. } => places[position(job)].clear(),
            _ => {}
        }
        for node in 0..NODES {
            let tasks = |job: usize| places[job].iter().filter(|on| on.0 == node).count() as u64;
            let sum = |each: &dyn Fn(usize) -> u64| -> u64 {
                (0..places.len()).map(|job| tasks(job) * each(job)).sum()
            };
            assert!(
                sum(&|job| trace.jobs[job].memory.0) <= NODE_MEMORY.0,
                "{scheduler}"
            );
            assert!(
                sum(&|job| trace.jobs[job].allocated_cpu.0) <= rows * NODE_CPU.0,
                "{scheduler}"
            );
        }
    }
    assert!(
        places.iter().all(Vec::is_empty),
        "{scheduler}: every job ends"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn cores_are_given_out_as_often_as_said_and_memory_once(trace in traces()) {
        for estimates in BOTH {
            for (scheduler, rows) in [("EASY/force2", 2), ("EASY/force4", 4), ("EASY/suspend", 2)] {
                check_nodes(&trace, scheduler, rows, estimates);
            }
        }
    }

    /// Where memory allows no second task on a node, it makes no difference that cores could be shared.
    #[test]
    fn forced_sharing_is_easy_when_memory_is_taken(trace in traces()) {
        let mut trace = trace;
        for job in &mut trace.jobs {
            (job.cpu, job.allocated_cpu) = (NODE_CPU, NODE_CPU);
            job.memory = NODE_MEMORY;
        }
        for estimates in BOTH {
            let finishes = |scheduler: &str| -> Vec<_> {
                let outcome = common::run(&trace, scheduler, with(estimates)).outcome;
                outcome.jobs.iter().map(|job| job.finish).collect()
            };
            prop_assert_eq!(finishes("EASY/force4"), finishes("EASY"), "{:?}", estimates);
        }
    }

    /// Where all jobs are long, or all are short, none suspends another.
    #[test]
    fn suspending_is_easy_on_shared_nodes_when_one_partition_has_all_jobs(trace in traces(), is_long: bool) {
        let mut trace = trace;
        for job in &mut trace.jobs {
            let changed = |span: Span| match is_long {
                true => span + Span::from_seconds(3601),
                false => Span(span.0 / 40),
            };
            (job.runtime, job.estimate) = (changed(job.runtime), job.estimate.map(changed).filter(|limit| limit.0 > 0));
        }
        for estimates in BOTH {
            let starts = |scheduler: &str| -> Vec<_> {
                let outcome = common::run(&trace, scheduler, with(estimates)).outcome;
                outcome.jobs.iter().map(|job| job.start).collect()
            };
            prop_assert_eq!(starts("EASY/suspend"), starts("EASY/shared"), "{:?}", estimates);
        }
    }
}
