//! What a check found.

use super::facts::SlurmPartition;

/// What a finding means for DFRS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// A step of the installation that is not done yet: DFRS works as it is now, and would not in
    /// `Mode=full`.
    Later,
    /// DFRS works, but not as well as it could.
    Warning,
    /// The plugin leaves all partitions to Slurm's own backfill.
    Refused,
}

/// What a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// What starts jobs.
    Scheduler,
    /// What Slurm counts of nodes.
    Select,
    /// How Slurm holds a job's processes.
    Processes,
    /// cgroup.conf.
    Cgroups,
    /// dfrs.conf, beside this Slurm.
    DfrsConf,
    /// How jobs are paused.
    Pauses,
    /// Whether jobs come back to the queue.
    Requeue,
    /// Whether jobs can be carried.
    Carrying,
    /// The network's shape.
    Topology,
    /// The partition of this name, of DFRS.
    Partition(String),
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check's name.
    pub check: &'static str,
    /// What it means.
    pub verdict: Verdict,
    /// What it is about.
    pub about: About,
    /// What is wrong, and where.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

impl About {
    pub(super) fn of(partition: &SlurmPartition) -> Self {
        Self::Partition(partition.name.clone())
    }
}
