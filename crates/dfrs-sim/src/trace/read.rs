//! Reading a trace of any format.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use hashbrown::hash_table::{Entry, HashTable};

use super::file::open;
use super::lines::{Lines, decompressed};
use super::model::Model;
use super::{Trace, TraceJob, csv, swf};

/// The most jobs that a trace may have. Each takes about 150 bytes of memory.
const MOST_JOBS: u32 = 8_000_000;

/// How many of the lines that make no sense are kept to be told.
pub(super) const MOST_TOLD: usize = 100;

/// A line that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadLine {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong, and what is expected.
    pub what: String,
}

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
    /// A line makes no sense, and none may.
    #[error("{0}; correct it, or leave out --strict to skip such lines")]
    Strict(BadLine),
    /// No line is a job.
    #[error("has no job{}; expected is SWF, or CSV with the columns {}", first(.0), csv::HEADER)]
    Empty(Option<BadLine>),
    /// More jobs than anybody can mean.
    #[error("has more than {MOST_JOBS} jobs; split it")]
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
    /// The first lines that make no sense, ascending, at most 100.
    pub bad: Vec<BadLine>,
    /// How many lines make no sense. Each of them is left out.
    pub bad_lines: usize,
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

/// Reads a trace, which may be compressed with gzip. Its first line tells the format: CSV has commas
/// and SWF has not, comments (`;` in SWF, `#` in CSV) aside. What processors and memory of SWF are on
/// nodes, `model` says. A line that makes no sense is left out
/// and told, or with `strict` refused; so is one whose id another line had before it. O(n log n).
///
/// No input takes more than about 150 bytes of memory for each of at most 8 million jobs, nor more
/// time than 4 GiB of text take; what is longer is refused, and so is a line of more than 64 KiB.
///
/// # Errors
///
/// See [`TraceError`].
pub fn read(input: impl BufRead, model: Model, strict: bool) -> Result<Reading, TraceError> {
    let input = decompressed(input).map_err(|source| TraceError::Io { line: 1, source })?;
    let mut lines = Lines::new(input);
    let mut collector = Collector::new(strict);
    let mut format = None;
    for line in 1.. {
        let text = match lines.next() {
            Ok(Some(text)) => text,
            Ok(None) => break,
            Err(source) => return Err(TraceError::Io { line, source }),
        };
        match text.first() {
            None | Some(b'#') => continue,
            Some(b';') => {
                let found = swf::processors(text).map(|count| model.nodes(count));
                collector.trace.nodes = collector.trace.nodes.or(found);
                continue;
            }
            Some(_) => {}
        }
        let is_first = format.is_none();
        let is_csv = *format.get_or_insert_with(|| text.contains(&b','));
        collector.trace.has_memory = is_csv || model.has_memory();
        if is_first && csv::is_header(text) {
            continue;
        }
        let job = if is_csv {
            csv::job(text)
        } else {
            swf::job(text, model)
        };
        collector.add(line, job)?;
    }
    collector.finish()
}

struct Collector {
    strict: bool,
    trace: Trace,
    /// The line of each job.
    lines: Vec<usize>,
    /// The places of all jobs in the trace, by their ids. Nobody sees their order.
    places: HashTable<u32>,
    hasher: RandomState,
    bad: Vec<BadLine>,
    bad_lines: usize,
}

impl Collector {
    fn new(strict: bool) -> Self {
        Self {
            strict,
            trace: Trace::default(),
            lines: Vec::new(),
            places: HashTable::new(),
            hasher: RandomState::new(),
            bad: Vec::new(),
            bad_lines: 0,
        }
    }

    fn add(&mut self, line: usize, job: Result<TraceJob, String>) -> Result<(), TraceError> {
        let job = match job {
            Ok(job) => job,
            Err(what) => return self.refuse(BadLine { line, what }),
        };
        let (jobs, hasher) = (&mut self.trace.jobs, &self.hasher);
        let id_of = |place: &u32| jobs[*place as usize].id.as_str();
        let entry = self.places.entry(
            hasher.hash_one(job.id.as_str()),
            |place| id_of(place) == job.id,
            |place| hasher.hash_one(id_of(place)),
        );
        match entry {
            Entry::Occupied(earlier) => {
                let earlier = self.lines[*earlier.get() as usize];
                let what = format!("job {} is on line {earlier} already", job.id);
                self.refuse(BadLine { line, what })
            }
            Entry::Vacant(place) => {
                let count = u32::try_from(jobs.len())
                    .ok()
                    .filter(|count| *count < MOST_JOBS);
                place.insert(count.ok_or(TraceError::TooMany)?);
                jobs.push(job);
                self.lines.push(line);
                Ok(())
            }
        }
    }

    fn refuse(&mut self, bad: BadLine) -> Result<(), TraceError> {
        if self.strict {
            return Err(TraceError::Strict(bad));
        }
        self.bad_lines += 1;
        if self.bad.len() < MOST_TOLD {
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
        })
    }
}
