//! Dumps of Slurm's accounting, as `sacct --parsable2` prints them: what a site's jobs requested,
//! what they used, and when they ran. Column formats are those of Slurm's `src/sacct/print.c`,
//! 20.11 to 26.05.
//!
//! [`read_dump`] reads what the dump says; [`to_trace`] makes of it what can be simulated.

mod array_ids;
mod convert;
mod delimiter;
mod fields;
mod generic;
mod header;
mod records;
mod state;
mod steps;

use std::io::{self, BufRead};

use dfrs_core::{Bytes, Span, Time};

use super::bad_line::BadLine;
use super::limits::InvalidLimits;
use super::lines::{Lines, decompressed};
use records::Records;

pub use convert::{
    Assumed, CpuRule, LeftOut, MemoryRule, Rules, Site, SiteGpus, SiteTrace, to_trace,
};
pub use header::{is_dump, names_columns};

/// A constant can be put into another one by a macro only.
macro_rules! columns {
    () => {
        "JobID,Submit,Eligible,Start,End,NNodes,NCPUS,NTasks,ReqMem,AllocTRES,MaxRSS,TotalCPU,Suspended,Timelimit,State"
    };
}

/// The columns that are of use, as `--format` takes them.
pub const COLUMNS: &str = columns!();

/// The command that makes a dump with everything that is of use.
pub const COMMAND: &str = concat!(
    "SLURM_TIME_FORMAT=%s sacct --allusers --duplicates --parsable2 --noconvert ",
    "--starttime=2026-10-01 --endtime=2026-11-01 --format=",
    columns!()
);

/// The most lines that a dump may have. Each takes up to about 300 bytes of memory.
const MAX_LINES: usize = 8_000_000;

/// Why there is no dump.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// The input cannot be read to its end.
    #[error("line {line}: cannot be read: {source}")]
    Io {
        /// Counted from 1.
        line: usize,
        /// What the system says.
        source: io::Error,
    },
    /// The first line does not name columns.
    #[error("line {line}: {what}; make the dump with: {COMMAND}")]
    Header {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A line is malformed, and none may be.
    #[error("{0}; correct it, or leave out --strict to skip such lines")]
    Strict(BadLine),
    /// The dump has more lines than any real one.
    #[error("has more than {MAX_LINES} lines; split it")]
    TooMany,
    /// The dump is of more than one machine, and jobs of these have the same ids.
    #[error(
        "line {line}: is of cluster {other}, and lines before it of {first}; make a dump of each, with sacct --clusters={first}, and replay them one by one"
    )]
    Clusters {
        /// Counted from 1.
        line: usize,
        /// The cluster of the lines before.
        first: String,
        /// The cluster of this line.
        other: String,
    },
    /// There is a header and nothing else.
    #[error(
        "has no job that ran and ended, nor another line behind its header; is the period right (--starttime, --endtime, --partition), and may you see the jobs of all users? Make the dump with: {COMMAND}"
    )]
    HeaderOnly,
    /// No job of the dump ran from start to end.
    #[error("has no job that ran and ended{}; is the period right? Make the dump with: {COMMAND}", first(.0))]
    Empty(Option<BadLine>),
}

fn first(bad: &Option<BadLine>) -> String {
    bad.as_ref()
        .map_or(String::new(), |bad| format!(" ({bad})"))
}

/// One run of a job at the site: from its start to its end. A job that was requeued has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SacctRun {
    /// The line of the dump, counted from 1.
    pub line: usize,
    /// The job's id as the dump has it; later runs of the same job end in `#2`, `#3` and so on.
    pub id: String,
    /// When it could have started: when it was submitted or, where the dump says so, became eligible.
    pub submit: Time,
    /// When it started, not before `submit`.
    pub start: Time,
    /// When it ended, not before `start`.
    pub end: Time,
    /// How long it was suspended in between, as far as the dump says.
    pub suspended: Span,
    /// Nodes that it had, at least 1.
    pub nodes: u32,
    /// CPUs that it had on all of them, at least 1.
    pub cpus: u32,
    /// Memory that Slurm kept for it on each node because it requested some; none if unknown or 0.
    pub requested: Option<Bytes>,
    /// Memory that Slurm kept for it on each node, if it requested none and the dump says so.
    pub allocated: Option<Bytes>,
    /// The most memory that its steps had at one time on one node, as far as the dump says it, on
    /// its own line if not on those of its steps; none if it was not measured.
    pub resident: Option<Bytes>,
    /// CPU time that it used; none if it was not measured.
    pub cpu_time: Option<Span>,
    /// The time limit of the job; none if there was none, or it is not known.
    pub limit: Option<Span>,
    /// The first of the devices that it had (GPUs, as a rule), as the dump writes it: `gres/gpu=4`.
    pub gres: Option<Box<str>>,
    /// GPUs that it had on all nodes, if these are all of its devices and their number is known.
    pub gpus: Option<u32>,
    /// The first of the licences and burst buffers that it had: `license/solver=2`.
    pub licenses: Option<Box<str>>,
}

impl SacctRun {
    /// How long it ran: without the time in which it was suspended.
    pub fn elapsed(&self) -> Span {
        Span(self.end.since(self.start).0 - self.suspended.0)
    }

    /// The time of all CPUs that it had, used or not.
    pub fn core_time(&self) -> Span {
        Span(self.elapsed().0.saturating_mul(i64::from(self.cpus)))
    }
}

/// What a dump says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dump {
    /// What ran from start to end, ascending by submission.
    pub runs: Vec<SacctRun>,
    /// The first malformed lines, ascending, at most 100.
    pub bad: Vec<BadLine>,
    /// How many lines are malformed. Each of them is left out.
    pub bad_lines: usize,
    /// Invalid limits of runs that are there.
    pub invalid_limits: InvalidLimits,
    /// Jobs that had not ended when the dump was made; each task that the line of an array stands for is one.
    pub unfinished: usize,
    /// Jobs that ran and ended by their state, of which it is not known when: Slurm calls such runaway jobs.
    pub endless: usize,
    /// Jobs that ended (were cancelled, as a rule) before they started; of arrays as above.
    pub never_ran: usize,
    /// Runs of jobs that other runs came before: requeued or resized ones.
    pub repeated: usize,
    /// Repeated runs that began before the run before them had ended, as runs of one job never do.
    pub overlapping: usize,
    /// Components of heterogeneous jobs; each counts as a job of its own.
    pub components: usize,
    /// Lines of steps whose job is not in the dump.
    pub stray_steps: usize,
    /// Lines of steps whose job is in the dump.
    pub steps: usize,
    /// Whether submission is when jobs became eligible (column Eligible).
    pub eligible: bool,
    /// Whether it says how much memory jobs used (column MaxRSS).
    pub has_memory: bool,
    /// Whether it says which devices jobs had (columns AllocTRES, ReqTRES, AllocGRES, ReqGRES).
    pub has_gres: bool,
    /// Whether times are instants (UNIX seconds, or with an offset from UTC) rather than local time.
    pub unix_time: bool,
}

/// Reads a dump, which may be compressed with gzip. A malformed line is left out and reported, or
/// with `strict` refused; an invalid limit is unknown and reported, or refused. O(n log n).
///
/// # Errors
///
/// See [`DumpError`].
pub fn read_dump(input: impl BufRead, strict: bool) -> Result<Dump, DumpError> {
    let input = decompressed(input).map_err(|source| DumpError::Io { line: 1, source })?;
    let mut lines = Lines::new(input);
    let mut records: Option<Records> = None;
    loop {
        let text = match lines.next() {
            Ok(Some(text)) => text.to_vec(),
            Ok(None) => break,
            Err(source) => {
                let line = lines.number;
                return Err(DumpError::Io { line, source });
            }
        };
        if text.is_empty() {
            continue;
        }
        if lines.number > MAX_LINES {
            return Err(DumpError::TooMany);
        }
        match &mut records {
            Some(records) => records.add(lines.number, &text)?,
            None => {
                let line = lines.number;
                let columns =
                    header::Columns::of(&text).map_err(|what| DumpError::Header { line, what })?;
                records = Some(Records::new(columns, strict));
            }
        }
    }
    match records {
        Some(records) => records.finish(),
        None => Err(DumpError::Header {
            line: 1,
            what: "the file is empty".into(),
        }),
    }
}
