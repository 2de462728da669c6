//! What the plugin needs of slurmctld beside the agent's calls.

use std::path::PathBuf;
use std::sync::Arc;

use dfrs_agent::slurm::port::{LogLevel, Slurm};
use dfrs_proto::conf::Config;

use crate::log::Log;
use crate::measures::LockTimes;
use crate::node_link::NodeLink;

/// What the thread needs of its host, made new at each start and reload.
pub trait PluginHost: Send + 'static {
    /// The calls into Slurm.
    type Slurm: Slurm;
    /// The thread that all other calls come from begins.
    fn enter(&self) {}
    /// Directory of slurm.conf and dfrs.conf.
    fn conf_directory(&self) -> PathBuf;
    /// Slurm's StateSaveLocation.
    fn state_directory(&self) -> PathBuf;
    /// One line on what in slurm.conf has to change before DFRS can schedule, if anything.
    fn conf_problem(&self, config: &Config) -> Option<String>;
    /// When partitions were last changed: UNIX seconds, by Slurm's clock.
    fn partitions_changed_at(&self) -> i64;
    /// Whether it is known which nodes a message has not reached.
    fn delivery_known(&self) -> bool;
    /// The version of this Slurm.
    fn slurm_version(&self) -> &'static str;
    /// Has Slurm's own backfill schedule all partitions but these.
    fn hide_from_backfill(&self, partitions: &[String]);
    /// The calls into Slurm, for these partitions; `given_back` are some that DFRS looks at and does not
    /// schedule.
    fn slurm(&self, config: &Config, given_back: &[String]) -> Self::Slurm;
    /// The way to the nodes.
    fn node_link(&self) -> Arc<dyn NodeLink>;
    /// The way to slurmctld's log, for threads.
    fn shared_log(&self) -> Log;
    /// How slurmctld's locks were waited for and held.
    fn lock_times(&self) -> LockTimes;
    /// Whether this slurmctld is the one that controls the cluster.
    fn is_primary(&self) -> bool;
    /// Requeues the jobs that have succeeded after a warning. Returns whether others are likely to do so soon.
    fn requeue_saved(&self) -> bool {
        false
    }
    /// Writes to slurmctld's log.
    fn log(&self, level: LogLevel, message: &str) {
        self.shared_log().write(level, message);
    }
}
