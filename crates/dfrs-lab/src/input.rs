//! How a log becomes jobs, for every command: a trace, a dump of sacct, or a journal.
//!
//! [`read`] has it read by the reader of its kind (`source/`), refuses a machine that is far too
//! small, and leaves out jobs that one of the schedulers can never start. What differs between
//! commands, their [`LogPurpose`] says.

mod log_file;
mod model;
mod site;
mod source;

use dfrs_sim::Scheduler;

pub use log_file::{LogFile, LogPurpose};
pub use model::SwfModel;
pub use site::SiteOptions;
pub use source::{JournalFacts, LeftOutCount, LogJobs};

/// Reads the jobs that all of these schedulers can start; there is at least one.
///
/// # Errors
///
/// One line: the file cannot be read or is no log, the machine is far too small, or no job is left.
pub fn read(log: &LogFile, schedulers: &[Scheduler]) -> Result<LogJobs, String> {
    let in_file = |error| format!("{}: {error}", log.file.display());
    let mut source = source::read_file(log)?;
    source
        .refuse_overload(log.purpose, schedulers)
        .map_err(in_file)?;
    source
        .drop_unschedulable(log, schedulers)
        .map_err(in_file)?;
    let shares = schedulers
        .iter()
        .any(|scheduler| matches!(scheduler, Scheduler::Dfrs(_)));
    // A replay says it on its page.
    if log.purpose == LogPurpose::Simulation && shares && !source.trace.has_memory {
        source.warn(
            log.file,
            "note: a plain SWF trace is run with jobs that require no memory and all of their processors; see --model",
        );
    }
    source.report_left_out(log.file);
    Ok(source)
}
