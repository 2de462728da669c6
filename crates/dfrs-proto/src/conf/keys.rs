//! The keys of `dfrs.conf`.
//!
//! A new key is declared beside its like and has a line in its list and a field of [`Config`] that
//! it sets. They are read in the order of the lists, so that a default can follow from
//! keys before it.

mod mobility;
mod partition;
mod paths;
mod policy;
#[cfg(any(test, feature = "fixtures"))]
#[path = "tests/print.rs"]
pub(super) mod print;
mod seconds;
mod studies;
mod swap_per_node;
mod words;

use super::key::Key;
use super::{Config, Partition};

pub(super) use mobility::all_mobilities;
pub(super) use partition::PARTITION;
pub use studies::OF_STUDIES;

/// The keys of the whole file.
pub const GLOBAL_KEYS: &[&Key<Config>] = &[
    &words::MODE,
    &policy::POLICY,
    &seconds::PERIOD,
    &policy::MOVES_PER_HOUR,
    &seconds::MOVE_COST,
    &studies::RUN_TIME_HINT,
    &studies::LOAD_CEILING,
    &studies::PARALLEL_LEAST_YIELD,
    &words::JOB_WEIGHT,
    &words::NEEDS,
    &seconds::CHECKPOINT_WAIT,
    &seconds::PARK_TIMEOUT,
    &seconds::SETTLE_TIME,
    &seconds::LONGEST_PAUSE,
    &seconds::TIME_TO_LIVE,
    &swap_per_node::SWAP_PER_NODE,
    &paths::JOURNAL,
    &paths::STATUS_DIRECTORY,
    &words::SHOW_YIELD_IN,
];

/// The keys of a line with `Partition=`, which is the first.
pub const PARTITION_KEYS: &[&Key<Partition>] = &[
    &partition::PARTITION,
    &partition::PARTITION_POLICY,
    &partition::LINEAR_SPEEDUP,
    &mobility::MOBILITY,
    &mobility::ALLOW_MOBILITY,
    &mobility::INTERACTIVE_MOBILITY,
];

/// The names of keys.
pub(super) fn names<Of>(keys: &[&Key<Of>]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}
