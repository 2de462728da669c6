//! Which file is replayed, and how it is read.

use std::path::{Path, PathBuf};

use dfrs_core::Span;
use dfrs_sim::Scheduler;

use crate::input::model::SwfModel;
use crate::input::site::SiteOptions;

/// A file to replay, and how it is read.
pub struct ReplayFile<'a> {
    /// The file: a dump of sacct, a journal, or a trace.
    pub file: &'a Path,
    /// Parts of a journal before it, oldest first.
    pub earlier: &'a [PathBuf],
    /// Number of nodes; none: what the file says.
    pub nodes: Option<u32>,
    /// What the processors and the memory of an SWF trace are on nodes.
    pub model: SwfModel,
    /// What a dump of sacct needs.
    pub site: &'a SiteOptions,
    /// Policies that must be able to start each job.
    pub policies: Vec<Scheduler>,
    /// Time between remaps where it is not the policies' own.
    pub period: Option<Span>,
    /// Whether a malformed line, or a job that could not have run, is refused and not left out.
    pub strict: bool,
}
