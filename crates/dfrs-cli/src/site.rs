//! A site by its files: slurm.conf, what it includes, and cgroup.conf beside it, as Slurm 24.11 reads them.
//! Nothing of the machine is looked at.

mod edit;
mod hosts;
mod known;
mod lines;
mod nodes;
mod pairs;
mod partitions;
mod records;
mod slurm_conf;
mod summary;
mod warning;

use std::path::{Path, PathBuf};
use std::rc::Rc;

pub use edit::LineChange;
pub use summary::{NodeKind, SiteNodes};
pub use warning::ReadWarning;

use nodes::ConfNodes;
use slurm_conf::{ConfOptions, Statements};
use warning::ReadWarnings;

/// What the files say.
#[derive(Clone, Debug)]
pub struct SlurmConfFiles {
    path: PathBuf,
    statements: Statements,
    nodes: Rc<ConfNodes>,
    /// Of each partition, in the order of the lines: where its nodes are in the list, ascending.
    members: Rc<[Vec<usize>]>,
    /// cgroup.conf, if it is there.
    cgroup: Option<ConfOptions>,
    warnings: ReadWarnings,
}

/// Reads slurm.conf, what it includes, and cgroup.conf, where it is beside it.
///
/// # Errors
///
/// One line, if slurm.conf or cgroup.conf cannot be read, is a template, or is something else.
pub fn read(path: &Path) -> Result<SlurmConfFiles, String> {
    let mut warnings = ReadWarnings::default();
    let statements = slurm_conf::read(path, &mut warnings)?;
    let nodes = ConfNodes::of(&statements.nodes, &mut warnings);
    let (lines, sets) = (&statements.partitions, &statements.node_sets);
    let members = partitions::members(lines, sets, &nodes, &mut warnings);
    let beside = path.with_file_name("cgroup.conf");
    let cgroup = beside.exists();
    let cgroup = cgroup.then(|| slurm_conf::read_options(&beside, &mut warnings));
    Ok(SlurmConfFiles {
        path: path.to_owned(),
        nodes: Rc::new(nodes),
        members: members.into(),
        cgroup: cgroup.transpose()?,
        statements,
        warnings,
    })
}

impl SlurmConfFiles {
    /// slurm.conf itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is odd about the files.
    pub fn warnings(&self) -> &[ReadWarning] {
        &self.warnings.all
    }

    /// What is missing without which Slurm does not start.
    pub fn missing_option(&self) -> Option<ReadWarning> {
        let is_missing = self.option("ClusterName").is_none() && self.missing_files().is_empty();
        is_missing.then(|| ReadWarning {
            what: "no ClusterName: Slurm 22.05 and later do not start without".into(),
            remedy: "write ClusterName=".into(),
        })
    }

    /// Files that slurm.conf includes and that are not there.
    pub fn missing_files(&self) -> &[String] {
        &self.warnings.missing
    }

    /// Whether cgroup.conf is beside slurm.conf.
    pub fn has_cgroup_conf(&self) -> bool {
        self.cgroup.is_some()
    }

    /// An option of the whole cluster, if slurm.conf has it.
    pub fn option(&self, key: &str) -> Option<&str> {
        let option = self.statements.options.get(&key.to_ascii_lowercase())?;
        Some(&option.value)
    }

    /// A field of a partition's line, with what it inherits; `None` if Slurm's default counts.
    pub fn partition_field(&self, partition: &str, key: &str) -> Option<&str> {
        let mut lines = self.statements.partitions.iter();
        let line = lines.find(|line| line.name == partition)?;
        line.fields.get(key).map(String::as_str)
    }

    /// The partitions, in the order of slurm.conf, each with its number of nodes.
    pub fn partition_sizes(&self) -> impl Iterator<Item = (&str, usize)> {
        let lines = self.statements.partitions.iter();
        let sizes = self.members.iter().map(Vec::len);
        lines.map(|line| line.name.as_str()).zip(sizes)
    }

    /// All nodes by kind; not those of `State=FUTURE`.
    pub fn site_nodes(&self) -> SiteNodes {
        SiteNodes::of(&self.nodes.all)
    }

    /// The nodes of a partition by kind.
    pub fn nodes_of(&self, partition: &str) -> SiteNodes {
        let mut lines = self.statements.partitions.iter();
        let index = lines.position(|line| line.name == partition);
        let members = index.and_then(|index| self.members.get(index));
        let nodes = members.into_iter().flatten();
        SiteNodes::of(nodes.filter_map(|&index| self.nodes.all.get(index)))
    }
}

#[cfg(test)]
pub(crate) mod tests;
