//! Machines that are far too small for a trace: jobs pile up, and a simulation of thousands of jobs that
//! share a few nodes takes hours.

use std::fmt;

use dfrs_core::Span;

use crate::trace::{MAX_NODES, Trace, TraceJob};

/// A trace on a machine that is too small for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overload {
    /// The work of all jobs over what all nodes do from the first submission to the time at which the last
    /// job would end if none had to wait; above 1.
    pub load: f64,
    /// How often a simulation looks at a job, roughly: the number of decisions times that of the jobs in
    /// the system. A core looks at some millions a second.
    pub job_checks: f64,
    /// So many nodes can do the work of the jobs that run there as fast as they come.
    pub sufficient_nodes: u32,
}

impl Overload {
    /// How far the machine is too small for the jobs that run on it; `None` if its nodes can do their work
    /// while they come. `runs` says whether a job runs on so many nodes at all. O(jobs × log nodes).
    pub fn of(
        trace: &Trace,
        nodes: u32,
        period: Span,
        runs: impl Fn(&TraceJob, u32) -> bool,
    ) -> Option<Self> {
        let lasts = length(trace.jobs.iter().filter(|job| runs(job, nodes)))?;
        let all_work = |nodes| {
            let jobs = trace.jobs.iter().filter(|job| runs(job, nodes));
            jobs.map(TraceJob::work).sum::<f64>()
        };
        let load = |nodes| all_work(nodes) / f64::from(nodes) / lasts;
        if load(nodes) <= 1.0 {
            return None;
        }
        // Precise enough: a rough number.
        let jobs = trace.jobs.iter().filter(|job| runs(job, nodes)).count() as f64;
        // Jobs come and end; periods elapse until the work is done.
        let decisions = 2.0 * jobs + all_work(nodes) / f64::from(nodes) / period.seconds();
        // What is not done when the last job comes has piled up since the first one.
        let in_system = (jobs / 2.0 * (1.0 - 1.0 / load(nodes))).max(1.0);
        let (mut too_few, mut enough) = (nodes, MAX_NODES);
        while enough - too_few > 1 {
            let middle = too_few.midpoint(enough);
            if load(middle) > 1.0 {
                too_few = middle;
            } else {
                enough = middle;
            }
        }
        Some(Self {
            load: load(nodes),
            job_checks: decisions * in_system,
            sufficient_nodes: enough,
        })
    }
}

impl fmt::Display for Overload {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "the machine is too small: it needs {:.1} times as long for the work as the jobs take to come; use --nodes {} or more, or a shorter trace",
            self.load, self.sufficient_nodes
        )
    }
}

/// Seconds from the first submission to the end of the last job if none waits; `None` if that is nothing.
fn length<'a>(jobs: impl Iterator<Item = &'a TraceJob> + Clone) -> Option<f64> {
    let first = jobs.clone().map(|job| job.submit).min()?;
    let last = jobs.map(|job| job.submit + job.runtime).max()?;
    Some(last.since(first).seconds()).filter(|seconds| *seconds > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Model, read};

    fn trace(lines: &str) -> Trace {
        let reading = read(lines.as_bytes(), Model::Processors, true);
        reading.expect("a trace").trace
    }

    /// On so many nodes, one for each task, with a period of 100 s.
    fn overload(lines: &str, nodes: u32) -> Option<Overload> {
        let runs = |job: &TraceJob, nodes| job.tasks <= nodes;
        Overload::of(&trace(lines), nodes, Span::from_seconds(100), runs)
    }

    #[test]
    fn a_machine_that_does_the_work_in_time_is_large_enough() {
        // 350 s of work in 100 s: from the first submission to the end of b.
        let jobs = "a,0,2,0.5,0,100\nb,50,1,1,0,50\nc,0,2,1,0,100\n";
        assert_eq!(overload(jobs, 4), None);
        let found = overload(jobs, 2).expect("two nodes are too few");
        assert_eq!((found.load, found.sufficient_nodes), (1.75, 4));
        // One node holds b alone, which it does in time. What takes no time is no load.
        assert_eq!(overload(jobs, 1), None);
        assert_eq!(overload("a,5,1,1,0,0\n", 1), None);
    }

    #[test]
    fn job_checks_grow_with_pending_jobs_and_periods() {
        let jobs: String = (0..100)
            .map(|id| format!("{id},{id},1,1,0,101\n"))
            .collect();
        let found = overload(&jobs, 1).expect("one node is too few");
        // 10,100 s of work in 200 s: 200 events and 101 periods. All but two of 100 jobs pile up.
        assert_eq!((found.load, found.sufficient_nodes), (50.5, 51));
        assert!((found.job_checks - 301.0 * 50.0 * (1.0 - 1.0 / 50.5)).abs() < 1e-6);
    }

    #[test]
    fn a_larger_machine_holds_more_jobs_and_must_do_their_work_too() {
        // Four nodes would do the work of a, c and d; with three more tasks of b it takes seven.
        let jobs = "a,0,1,1,0,100\nb,0,3,1,0,100\nc,0,1,1,0,100\nd,0,2,1,0,100\n";
        assert_eq!(overload(jobs, 1).expect("too few").sufficient_nodes, 7);
    }

    #[test]
    fn overload_message_is_one_line() {
        let found = overload("a,0,2,1,0,100\nb,0,1,1,0,100\n", 2);
        assert_eq!(
            found.expect("too few").to_string(),
            "the machine is too small: it needs 1.5 times as long for the work as the jobs take to come; use --nodes 3 or more, or a shorter trace"
        );
    }
}
