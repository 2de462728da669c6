//! What the papers add to traces that have no CPU needs and no memory requirements.

use dfrs_core::{Bytes, Cores};

use super::Stream;
use crate::trace::{NODE_CPU, NODE_CPUS, NODE_MEMORY, Trace};

/// The annotation of the papers' synthetic traces (IPDPS 2010, Section IV.C), for quad-core nodes.
///
/// A job of one task is sequential and needs a quarter of its node's CPU; every task of another job
/// needs a whole one. In 55% of the jobs a task requires 10% of a node's memory; in the others
/// 10x%, with x one of 2 to 10, each as likely. What the trace had is overwritten. The requirement of
/// a job depends on the seed and on its place in the trace alone.
pub fn annotate(trace: &mut Trace, seed: u64) {
    let mut random = Stream::Memory.of(seed);
    for job in &mut trace.jobs {
        job.cpu = if job.tasks == 1 {
            Cores(NODE_CPU.0 / 4)
        } else {
            NODE_CPU
        };
        let is_small = random.chance(0.55);
        let tenths = 2 + random.one_of(9);
        let tenths = if is_small { 1 } else { tenths };
        job.memory = Bytes(NODE_MEMORY.0 / 10 * u64::from(tenths));
    }
    trace.count_cpus(NODE_CPUS);
    trace.has_memory = true;
}
