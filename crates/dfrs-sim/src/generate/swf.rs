//! A generated workload in the Standard Workload Format.

use std::io::{self, Write};

use super::lublin::{JobType, RigidJob};

/// Writes the jobs as SWF, version 2.2: numbered from 1; one processor for each node, allocated
/// (field 5) and requested (field 8); completed (field 11, 1); queue 0 for interactive and 1 for
/// batch jobs (field 15). All else is unknown. `note` says how they were made.
///
/// # Errors
///
/// The errors of `output`.
pub fn write_swf(
    jobs: &[RigidJob],
    nodes: u32,
    note: &str,
    output: &mut impl Write,
) -> io::Result<()> {
    let count = jobs.len();
    writeln!(output, "; Version: 2.2")?;
    writeln!(output, "; Note: {note}")?;
    writeln!(output, "; MaxJobs: {count}\n; MaxRecords: {count}")?;
    writeln!(output, "; UnixStartTime: 0\n; TimeZoneString: UTC")?;
    writeln!(output, "; MaxNodes: {nodes}\n; MaxProcs: {nodes}")?;
    writeln!(output, "; Queue: 0 interactive\n; Queue: 1 batch")?;
    for (place, job) in jobs.iter().enumerate() {
        let queue = match job.job_type {
            JobType::Interactive => 0,
            JobType::Batch => 1,
        };
        let (number, submit, runtime, size) =
            (place + 1, job.submit_seconds, job.runtime_seconds, job.size);
        writeln!(
            output,
            "{number} {submit} -1 {runtime} {size} -1 -1 {size} -1 -1 1 -1 -1 -1 {queue} -1 -1 -1"
        )?;
    }
    Ok(())
}
