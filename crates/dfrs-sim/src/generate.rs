//! Synthetic traces: the model of Lublin and Feitelson with the papers' CPU needs and memory
//! requirements, at any load.

mod annotate;
mod arrivals;
mod load;
mod lublin;
mod swf;

pub use annotate::annotate;
pub use load::{LoadError, offered_load, scale_to_load};
pub use lublin::{JobType, Lublin, RigidJob};
pub use swf::write_swf;

use crate::trace::{NODE_CPU, Trace, TraceJob};
use dfrs_core::{Bytes, Span, Time};
use dfrs_random::Random;

const MICROSECONDS: i64 = 1_000_000;

/// What a sequence of random numbers is for.
#[derive(Clone, Copy, Debug)]
enum Stream {
    /// Sizes, run times and submissions.
    Jobs = 0,
    /// Memory requirements.
    Memory = 1,
}

impl Stream {
    fn of(self, seed: u64) -> Random {
        Random::new(seed, self as u64)
    }
}

impl Lublin {
    /// The trace of this seed with the papers' annotations: jobs 1, 2, … with the CPU needs and memory
    /// requirements of [`annotate()`], all times in whole seconds.
    pub fn trace(&self, seed: u64) -> Trace {
        let mut trace = to_trace(&self.jobs(seed), self.nodes);
        annotate(&mut trace, seed);
        trace
    }

    /// The jobs of this seed at this load, rounded to whole seconds. They differ from [`Self::jobs`] in
    /// their submissions only.
    ///
    /// # Errors
    ///
    /// See [`scale_to_load`].
    pub fn jobs_at_load(&self, seed: u64, load: f64) -> Result<Vec<RigidJob>, LoadError> {
        let mut jobs = self.jobs(seed);
        let mut trace = to_trace(&jobs, self.nodes);
        scale_to_load(&mut trace, self.nodes, load)?;
        for (job, scaled) in jobs.iter_mut().zip(&trace.jobs) {
            let seconds = (scaled.submit.0 + MICROSECONDS / 2) / MICROSECONDS;
            job.submit_seconds = seconds.unsigned_abs();
        }
        Ok(jobs)
    }

    /// As [`Self::jobs_at_load`], with the annotations of [`Self::trace`].
    ///
    /// # Errors
    ///
    /// See [`scale_to_load`].
    pub fn trace_at_load(&self, seed: u64, load: f64) -> Result<Trace, LoadError> {
        let mut trace = to_trace(&self.jobs_at_load(seed, load)?, self.nodes);
        annotate(&mut trace, seed);
        Ok(trace)
    }
}

/// Jobs of a task for each node, which needs all of it and requires no memory.
fn to_trace(jobs: &[RigidJob], nodes: u32) -> Trace {
    let microseconds = |seconds: u64| {
        i64::try_from(seconds)
            .unwrap_or(i64::MAX)
            .saturating_mul(MICROSECONDS)
    };
    let jobs = jobs.iter().enumerate().map(|(place, job)| {
        TraceJob::new(
            (place + 1).to_string(),
            Time(microseconds(job.submit_seconds)),
            job.size,
            NODE_CPU,
            Bytes::ZERO,
            Span(microseconds(job.runtime_seconds)),
        )
    });
    Trace {
        jobs: jobs.collect(),
        nodes: Some(nodes),
        ..Trace::default()
    }
}
