//! Reading a trace of any format.

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::bad_line::{BadLine, MAX_REPORTED};
use super::file::open;
use super::ids::Ids;
use super::kind::foreign_text;
use super::limits::{InvalidLimits, JobLine};
use super::lines::{Lines, decompressed, truncated};
use super::model::Model;
use super::{Trace, csv, sacct, swf};

/// The most jobs that a trace may have. Each takes about 150 bytes of memory.
const MAX_JOBS: usize = 8_000_000;

/// The most bytes of comments, empty lines and malformed lines, of which a short one counts as
/// [`MIN_COUNTED_BYTES`] bytes. A file that has more is something else than a trace, and reading on
/// would show nothing new.
const MAX_OTHER_BYTES: usize = 256 << 20;
const MIN_COUNTED_BYTES: usize = 64;

/// What is read as a trace, for people.
pub const TRACES: &str = "SWF, or CSV with commas between the columns id,submit,tasks,cpu,mem,runtime, plain or compressed with gzip";

/// Why there is no trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened.
    #[error("cannot be opened: {0}; check the path and its permissions")]
    Open(io::Error),
    /// The input cannot be read to its end.
    #[error("line {line}: cannot be read: {source}")]
    Io {
        /// Counted from 1.
        line: usize,
        /// What the system says.
        source: io::Error,
    },
    /// A line is malformed, and none may be.
    #[error("{0}; correct it, or leave out --strict to skip such lines")]
    Strict(BadLine),
    /// The file is another program's; the text says of which, and what to do.
    #[error("{0}")]
    Foreign(String),
    /// No line is a job.
    #[error("has no job{}; expected is {TRACES}", first(.0))]
    Empty(Option<BadLine>),
    /// Hardly anything in it is a job.
    #[error(
        "line {line}: {} MiB of lines up to here are no jobs; is this a trace?",
        MAX_OTHER_BYTES >> 20
    )]
    NoTrace {
        /// Counted from 1.
        line: usize,
    },
    /// The columns that it names are not those of a trace.
    #[error("{0}")]
    Header(BadLine),
    /// The file is a dump of sacct, which [`sacct::read_dump`] reads.
    #[error("is a dump of sacct, no trace; dfrs sim and dfrs replay take it")]
    Dump,
    /// A model of what SWF says is for SWF only.
    #[error("is CSV, and --model hpc2n is for SWF; leave it out")]
    NoModel,
    /// The file has more jobs than any real trace.
    #[error("has more than {MAX_JOBS} jobs; split it")]
    TooMany,
}

fn first(bad: &Option<BadLine>) -> String {
    bad.as_ref()
        .map_or(String::new(), |bad| format!(" ({bad})"))
}

/// A trace, and what of the file is not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The trace.
    pub trace: Trace,
    /// The first malformed lines, ascending, at most 100.
    pub bad: Vec<BadLine>,
    /// How many lines are malformed. Each of them is left out.
    pub bad_lines: usize,
    /// Invalid limits of jobs that are in the trace.
    pub invalid_limits: InvalidLimits,
}

/// Reads a trace from a file, which may be compressed with gzip. See [`read`].
///
/// # Errors
///
/// See [`TraceError`].
pub fn read_file(path: &Path, model: Model, strict: bool) -> Result<Reading, TraceError> {
    let file = open(path).map_err(TraceError::Open)?;
    read(BufReader::with_capacity(1 << 16, file), model, strict)
}

/// Reads a trace, which may be compressed with gzip. Its first line shows the format: CSV has
/// commas and SWF has not, except in comments (`;` in SWF, `#` in CSV). What processors and memory
/// of SWF are on nodes, `model` says; CSV says it itself, and only takes the default. A malformed
/// line is left out and reported, or with `strict` refused; so is a line whose id another line had
/// before it. An invalid limit is unknown and reported, or with `strict` refused. O(n log n).
///
/// No input takes more than about 150 bytes of memory for each of at most 8 million jobs, nor more
/// time than 4 GiB of text take; what is longer is refused, and so is a line of more than 64 KiB, or a file with more than 256 MiB of
/// lines that are no jobs.
///
/// # Errors
///
/// See [`TraceError`].
pub fn read(input: impl BufRead, model: Model, strict: bool) -> Result<Reading, TraceError> {
    let in_first = |source| TraceError::Io { line: 1, source };
    let mut input = decompressed(input).map_err(in_first)?;
    let head = input
        .fill_buf()
        .map_err(|source| in_first(truncated(&source)))?;
    if let Some(what) = foreign_text(head) {
        return Err(TraceError::Foreign(what));
    }
    let mut lines = Lines::new(input);
    let mut collector = Collector::new(model, strict);
    for line in 1.. {
        match lines.next() {
            Ok(Some(text)) => collector.take(line, text)?,
            Ok(None) => break,
            Err(source) => return Err(TraceError::Io { line, source }),
        }
    }
    collector.finish()
}

struct Collector {
    model: Model,
    strict: bool,
    /// What the first line that is no comment says.
    is_csv: Option<bool>,
    columns: csv::CsvColumns,
    trace: Trace,
    /// The line of each job.
    lines: Vec<usize>,
    ids: Ids,
    bad: Vec<BadLine>,
    bad_lines: usize,
    invalid_limits: InvalidLimits,
    /// The length of all lines that are no jobs.
    other: usize,
}

impl Collector {
    fn new(model: Model, strict: bool) -> Self {
        Self {
            model,
            strict,
            is_csv: None,
            columns: csv::CsvColumns::default(),
            trace: Trace::default(),
            lines: Vec::new(),
            ids: Ids::default(),
            bad: Vec::new(),
            bad_lines: 0,
            invalid_limits: InvalidLimits::default(),
            other: 0,
        }
    }

    fn take(&mut self, line: usize, text: &[u8]) -> Result<(), TraceError> {
        let jobs = self.trace.jobs.len();
        match text.first() {
            None | Some(b'#') => {}
            Some(b';') => {
                let found = swf::processors(text).map(|count| self.model.nodes(count));
                self.trace.nodes = self.trace.nodes.or(found);
            }
            Some(_) => self.take_job(line, text)?,
        }
        if self.trace.jobs.len() == jobs {
            self.other += text.len().max(MIN_COUNTED_BYTES);
        }
        match self.other > MAX_OTHER_BYTES {
            true => Err(TraceError::NoTrace { line }),
            false => Ok(()),
        }
    }

    fn take_job(&mut self, line: usize, text: &[u8]) -> Result<(), TraceError> {
        let is_first = self.is_csv.is_none();
        if is_first && sacct::is_dump(text) {
            return Err(TraceError::Dump);
        }
        let is_csv = *self.is_csv.get_or_insert_with(|| text.contains(&b','));
        if is_csv && self.model != Model::default() {
            return Err(TraceError::NoModel);
        }
        self.trace.has_memory = is_csv || self.model.has_memory();
        if is_first
            && is_csv
            && let Some(columns) = csv::header(text)
        {
            self.columns = columns.map_err(|what| TraceError::Header(BadLine { line, what }))?;
            return Ok(());
        }
        let job = match is_csv {
            true => csv::job(text, &self.columns),
            false => swf::job(text, self.model),
        };
        match job {
            Ok(job) => self.add(line, job),
            Err(what) => self.refuse(BadLine { line, what }),
        }
    }

    fn add(&mut self, line: usize, found: JobLine) -> Result<(), TraceError> {
        let JobLine { job, invalid_limit } = found;
        let invalid_limit = invalid_limit.map(|what| BadLine { line, what });
        if let (true, Some(bad)) = (self.strict, &invalid_limit) {
            return Err(TraceError::Strict(bad.clone()));
        }
        let jobs = &mut self.trace.jobs;
        if let Some(earlier) = self.ids.find(jobs, &job.id) {
            let earlier = self.lines[earlier];
            let what = format!("job {} is on line {earlier} already", job.id);
            return self.refuse(BadLine { line, what });
        }
        if jobs.len() >= MAX_JOBS {
            return Err(TraceError::TooMany);
        }
        jobs.push(job);
        invalid_limit
            .into_iter()
            .for_each(|bad| self.invalid_limits.add(bad));
        self.lines.push(line);
        Ok(())
    }

    fn refuse(&mut self, bad: BadLine) -> Result<(), TraceError> {
        if self.strict {
            return Err(TraceError::Strict(bad));
        }
        self.bad_lines += 1;
        if self.bad.len() < MAX_REPORTED {
            self.bad.push(bad);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Reading, TraceError> {
        if self.trace.jobs.is_empty() {
            return Err(TraceError::Empty(self.bad.into_iter().next()));
        }
        self.trace.jobs.sort_by_key(|job| job.submit);
        Ok(Reading {
            trace: self.trace,
            bad: self.bad,
            bad_lines: self.bad_lines,
            invalid_limits: self.invalid_limits,
        })
    }
}
