//! Kinds of jobs that gain or lose by different things.

use dfrs_core::Amount;
use dfrs_sim::trace::{MAX_SHORT, Trace, TraceJob};
use serde::Serialize;

/// A kind of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialGroup {
    /// On one node, with a time limit of at most [`MAX_SHORT`]: those that go to a DFRS partition on top.
    Short,
    /// Others on one node.
    OneNode,
    /// On several nodes.
    SeveralNodes,
    /// With GPUs, on any number of nodes.
    Gpus,
    /// All of them together.
    All,
}

impl TrialGroup {
    /// All, in the order in which they are shown.
    pub const EVERY: [Self; 5] = [
        Self::Short,
        Self::OneNode,
        Self::SeveralNodes,
        Self::Gpus,
        Self::All,
    ];

    /// The kind of this job. A task of a trace is on one node.
    pub fn of(job: &TraceJob) -> Self {
        match job {
            job if job.gpus > Amount(0) => Self::Gpus,
            job if job.tasks > 1 => Self::SeveralNodes,
            job if job.is_short() => Self::Short,
            _ => Self::OneNode,
        }
    }

    /// What its jobs are called, in the plural.
    pub fn name(self) -> &'static str {
        match self {
            Self::Short => "short jobs on one node",
            Self::OneNode => "other jobs on one node",
            Self::SeveralNodes => "jobs on several nodes",
            Self::Gpus => "jobs with GPUs",
            Self::All => "all jobs",
        }
    }

    /// Positions of its jobs in the trace.
    pub fn jobs(self, trace: &Trace) -> Vec<usize> {
        let jobs = trace.jobs.iter().enumerate();
        let of_it = jobs.filter(|(_, job)| self == Self::All || Self::of(job) == self);
        of_it.map(|(position, _)| position).collect()
    }
}

/// How many jobs on one node were done within [`MAX_SHORT`], but had a longer limit: a shorter one would make them
/// short jobs.
pub fn count_of_long_limits(trace: &Trace) -> usize {
    let others = TrialGroup::OneNode.jobs(trace);
    let ran_short = |job: &&usize| trace.jobs[**job].runtime <= MAX_SHORT;
    others.iter().filter(ran_short).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfrs_core::{Bytes, Cores, Span, Time};

    fn job(tasks: u32, seconds: i64, limit: Option<i64>) -> TraceJob {
        let runtime = Span::from_seconds(seconds);
        let cpu = Cores::from_cores(1);
        TraceJob {
            estimate: limit.map(Span::from_seconds),
            ..TraceJob::new("1", Time::ZERO, tasks, cpu, Bytes(1), runtime)
        }
    }

    #[test]
    fn job_is_short_by_its_limit_or_without_one_by_its_run_time() {
        for (job, group) in [
            (job(1, 10, Some(3600)), TrialGroup::Short),
            (job(1, 10, Some(3601)), TrialGroup::OneNode),
            (job(1, 3600, None), TrialGroup::Short),
            (job(1, 3601, None), TrialGroup::OneNode),
            (job(2, 10, Some(60)), TrialGroup::SeveralNodes),
        ] {
            assert_eq!(TrialGroup::of(&job), group, "{job:?}");
        }
        let with_gpus = TraceJob {
            gpus: Amount(1),
            ..job(1, 10, None)
        };
        assert_eq!(TrialGroup::of(&with_gpus), TrialGroup::Gpus);
    }

    #[test]
    fn each_job_is_in_one_group_and_in_all() {
        let jobs = vec![
            job(1, 10, None),
            job(1, 10, Some(7200)),
            job(1, 7200, None),
            job(3, 10, None),
        ];
        let trace = Trace {
            jobs,
            ..Trace::default()
        };
        let of = |group: TrialGroup| group.jobs(&trace);
        assert_eq!(of(TrialGroup::Short), [0]);
        assert_eq!(of(TrialGroup::OneNode), [1, 2]);
        assert_eq!(of(TrialGroup::SeveralNodes), [3]);
        assert!(of(TrialGroup::Gpus).is_empty());
        assert_eq!(of(TrialGroup::All), [0, 1, 2, 3]);
        assert_eq!(count_of_long_limits(&trace), 1);
    }
}
