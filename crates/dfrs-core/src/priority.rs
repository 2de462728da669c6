//! Which job comes first.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::model::{Job, JobId};
use crate::units::{Span, Time};

/// How a job's priority follows from its flow time (time since submission) and its virtual time
/// (integral of its yield), both in seconds. A job without virtual time always has infinite
/// priority, also at the instant of its submission, when its flow time is 0 as well; so has one
/// that [comes first](Job::starved).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PriorityFunction {
    /// flow / vt² (TPDS, Section 4.1): the default.
    #[default]
    FlowOverVirtualTimeSquared,
    /// 1 / vt: good results, but paused jobs may starve (TPDS, Section 4.1).
    InverseVirtualTime,
    /// flow / vt: never starves, but does not favour short jobs (TPDS, Section 4.1).
    FlowOverVirtualTime,
    /// max(30 s, flow) / vt² (IPDPS 2010, Section III-A).
    BoundedFlowOverVirtualTimeSquared,
}

impl PriorityFunction {
    /// The bound of [`Self::BoundedFlowOverVirtualTimeSquared`].
    const BOUND: Span = Span::from_seconds(30);

    /// A job's place in the order of priorities at `now`: its value times its weight, infinite
    /// without virtual time, and if it comes first.
    pub fn of(self, job: &Job, now: Time) -> Priority {
        let value = if job.virtual_time <= Span::ZERO || job.starved {
            f64::INFINITY
        } else {
            let flow = job.flow_time(now).seconds();
            let virtual_time = job.virtual_time.seconds();
            job.weight.factor()
                * match self {
                    Self::FlowOverVirtualTimeSquared => flow / (virtual_time * virtual_time),
                    Self::InverseVirtualTime => 1.0 / virtual_time,
                    Self::FlowOverVirtualTime => flow / virtual_time,
                    Self::BoundedFlowOverVirtualTimeSquared => {
                        flow.max(Self::BOUND.seconds()) / (virtual_time * virtual_time)
                    }
                }
        };
        Priority {
            value: value.to_bits(),
            weight: job.weight.0.max(1),
            submit: Reverse(job.submit),
            id: Reverse(job.id),
        }
    }
}

/// A job's place in the total order of priorities: greater comes first. Ties of the value go to the
/// greater weight, then the earlier submission, then the lower identity, so that no two jobs tie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority {
    /// Bits of a real number: those of numbers that are not negative are in the numbers' order.
    value: u64,
    weight: u32,
    submit: Reverse<Time>,
    id: Reverse<JobId>,
}

impl Priority {
    /// The priority function's value times the job's weight; infinite without virtual time.
    pub const fn value(&self) -> f64 {
        f64::from_bits(self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Bytes, Cores, Weight};

    fn job(id: u64, submit: i64, virtual_time: i64) -> Job {
        let mut job = Job::new(JobId(id), Time::from_seconds(submit), 1, Cores(1), Bytes(1));
        job.virtual_time = Span::from_seconds(virtual_time);
        job
    }

    fn value(function: PriorityFunction, submit: i64, virtual_time: i64) -> f64 {
        function
            .of(&job(1, submit, virtual_time), Time::from_seconds(100))
            .value()
    }

    #[test]
    fn each_function_has_its_papers_value() {
        use PriorityFunction as F;
        assert_eq!(value(F::FlowOverVirtualTimeSquared, 20, 4), 5.0);
        assert_eq!(value(F::InverseVirtualTime, 20, 4), 0.25);
        assert_eq!(value(F::FlowOverVirtualTime, 20, 4), 20.0);
        assert_eq!(value(F::BoundedFlowOverVirtualTimeSquared, 20, 4), 5.0);
        assert_eq!(
            value(F::BoundedFlowOverVirtualTimeSquared, 90, 4),
            30.0 / 16.0
        );
    }

    #[test]
    fn no_virtual_time_is_infinite_even_at_submission() {
        assert_eq!(value(PriorityFunction::default(), 100, 0), f64::INFINITY);
        assert_eq!(value(PriorityFunction::default(), 40, 0), f64::INFINITY);
    }

    #[test]
    fn starved_job_has_infinite_priority_before_later_jobs() {
        let now = Time::from_seconds(100);
        let first = Job {
            starved: true,
            ..job(2, 10, 50)
        };
        let of = |job: &Job| PriorityFunction::default().of(job, now);
        assert_eq!(of(&first).value(), f64::INFINITY);
        assert!(of(&first) > of(&job(1, 20, 0)));
    }

    #[test]
    fn ties_go_to_weight_then_submission_then_identity() {
        let now = Time::from_seconds(100);
        let of = |job: &Job| PriorityFunction::default().of(job, now);
        assert!(of(&job(2, 10, 0)) > of(&job(1, 20, 0)));
        assert!(of(&job(1, 10, 0)) > of(&job(2, 10, 0)));
        let mut heavy = job(3, 30, 0);
        heavy.weight = Weight(2000);
        assert!(of(&heavy) > of(&job(1, 10, 0)));
        assert_eq!(of(&job(1, 10, 5)), of(&job(1, 10, 5)));
        assert_ne!(of(&job(1, 10, 5)), of(&job(2, 10, 5)));
    }

    #[test]
    fn rank_is_multiplied_by_the_weight() {
        let mut heavy = job(1, 20, 4);
        heavy.weight = Weight(2500);
        assert_eq!(
            PriorityFunction::default()
                .of(&heavy, Time::from_seconds(100))
                .value(),
            12.5
        );
    }
}
