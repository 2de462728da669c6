//! The real surroundings: slurmctld through the C shim.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dfrs_agent::slurm::port::LogLevel;
use dfrs_proto::conf::Config;
use dfrs_proto::slurm_conf;

use crate::host::PluginHost;
use crate::log::Log;
use crate::measures::LockTimes;
use crate::node_link::NodeLink;
use crate::shim::{self, Calls};

/// slurmctld around the plugin.
#[derive(Default)]
pub struct SlurmctldHost {
    backfill_runs: AtomicBool,
}

impl PluginHost for SlurmctldHost {
    type Slurm = Calls;

    fn enter(&self) {
        shim::fence_enter();
    }

    fn conf_directory(&self) -> PathBuf {
        shim::conf_directory().unwrap_or_default().into()
    }

    fn state_directory(&self) -> PathBuf {
        shim::state_directory().unwrap_or_default().into()
    }

    fn conf_problem(&self, config: &Config) -> Option<String> {
        slurm_conf::refusal(&shim::facts(config), config)
    }

    fn partitions_changed_at(&self) -> i64 {
        shim::last_partition_update()
    }

    fn delivery_known(&self) -> bool {
        shim::delivery_known()
    }

    fn slurm_version(&self) -> &'static str {
        shim::SLURM_VERSION
    }

    fn hide_from_backfill(&self, partitions: &[String]) {
        if self.backfill_runs.swap(true, Ordering::Relaxed) {
            shim::backfill_reconfigure(partitions);
        } else if let Err(problem) = shim::backfill_start(partitions) {
            shim::log(
                LogLevel::Error,
                &format!("backfill does not start: {problem}; restart slurmctld"),
            );
        }
    }

    fn slurm(&self, config: &Config, given_back: &[String]) -> Calls {
        Calls::new(config, given_back)
    }

    fn node_link(&self) -> Arc<dyn NodeLink> {
        Arc::new(Fanout)
    }

    fn shared_log(&self) -> Log {
        Log::from_fn(shim::log)
    }

    fn lock_times(&self) -> LockTimes {
        shim::lock_times()
    }

    fn is_primary(&self) -> bool {
        shim::is_primary()
    }

    fn requeue_saved(&self) -> bool {
        shim::jobs_requeue_saved()
    }
}

/// Slurm's own fan-out to the nodes.
struct Fanout;

impl NodeLink for Fanout {
    fn push(&self, nodes: &[String], address: &str, data: &[u8]) -> Vec<String> {
        shim::push(nodes, address, data)
    }
}
