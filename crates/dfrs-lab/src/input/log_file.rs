//! Which file is read, how, and what for.

use std::path::{Path, PathBuf};

use super::model::SwfModel;
use super::site::SiteOptions;

/// A file of jobs, and how it is read.
pub struct LogFile<'a> {
    /// The file: a trace, a dump of sacct or, for a replay, a journal.
    pub file: &'a Path,
    /// Parts of a journal before it, oldest first.
    pub earlier: &'a [PathBuf],
    /// What its jobs are for.
    pub purpose: LogPurpose,
    /// Number of nodes; none: what the file says.
    pub nodes: Option<u32>,
    /// CPUs of a node, where the file is no dump of sacct; none: what the file says.
    pub node_cpus: Option<u32>,
    /// What the processors and the memory of an SWF trace are on nodes.
    pub model: SwfModel,
    /// What a dump of sacct needs.
    pub site: &'a SiteOptions,
    /// Whether a malformed line, or a job that can never start, is refused and not left out.
    pub strict: bool,
}

/// What the jobs of a file are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPurpose {
    /// To compare schedulers, on any machine. All of them get the same jobs, and when these started
    /// is not asked.
    Simulation,
    /// To compare with what happened at the site, on its machine. Where the file says when jobs
    /// started, that counts; batch schedulers that share no nodes get jobs as they would count them.
    Replay,
}
