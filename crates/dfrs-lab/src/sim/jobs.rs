//! `--jobs-csv`: a line for each job, as batsim writes and evalys reads it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use dfrs_core::{NodeIndex, Span};
use dfrs_proto::journal::{EventKind, JournalEvent};
use dfrs_sim::SimOutcome;
use dfrs_sim::metrics::stretch;
use dfrs_sim::trace::Trace;

use super::files::create;
use crate::outputs::refused;

/// The nodes of each job's first start.
#[derive(Default)]
pub struct Starts(BTreeMap<String, String>);

impl Starts {
    /// Notes it, if it is a start.
    pub fn take(&mut self, event: &JournalEvent) {
        if let EventKind::Start { job, nodes } = &event.kind
            && !self.0.contains_key(job)
        {
            self.0.insert(job.clone(), intervals(nodes));
        }
    }

    fn of(&self, job: &str) -> &str {
        self.0.get(job).map_or("", String::as_str)
    }
}

/// Nodes as evalys has sets of resources: `0-3 5`.
fn intervals(nodes: &[NodeIndex]) -> String {
    let mut nodes: Vec<u32> = nodes.iter().map(|node| node.0).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let runs = nodes.chunk_by(|one, next| one + 1 == *next);
    let texts = runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run[0].to_string(),
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// Writes one line for each job, with the names of columns that batsim and evalys use. Times are
/// seconds; `requested_time` is the time limit that the job's user requested, the run time where
/// the trace does not say; `stretch` is bounded.
pub fn write(
    path: &Path,
    trace: &Trace,
    starts: &Starts,
    outcome: &SimOutcome,
    bound: Span,
) -> Result<(), String> {
    let mut out = create(path)?;
    let mut write_lines = || -> io::Result<()> {
        writeln!(
            out,
            "job_id,submission_time,requested_number_of_resources,requested_time,success,starting_time,\
             execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,\
             workload_name,pauses,migrations"
        )?;
        for (job, record) in trace.jobs.iter().zip(&outcome.jobs) {
            writeln!(
                out,
                "{},{},{},{},1,{},{},{},{},{},{},{},w0,{},{}",
                job.id,
                job.submit.seconds(),
                job.tasks,
                job.estimate.unwrap_or(job.runtime).seconds(),
                record.start.seconds(),
                record.finish.since(record.start).seconds(),
                record.finish.seconds(),
                record.start.since(job.submit).seconds(),
                record.finish.since(job.submit).seconds(),
                stretch(job, record, bound),
                starts.of(&job.id),
                record.pauses,
                record.migrations,
            )?;
        }
        out.flush()
    };
    write_lines().map_err(|error| refused(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_printed_as_intervals() {
        let text = |nodes: &[u32]| {
            let nodes: Vec<NodeIndex> = nodes.iter().copied().map(NodeIndex).collect();
            intervals(&nodes)
        };
        assert_eq!(text(&[5, 0, 1, 1, 2]), "0-2 5");
        assert_eq!(text(&[7]), "7");
        assert_eq!(text(&[]), "");
    }
}
