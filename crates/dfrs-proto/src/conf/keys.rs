//! The keys of `dfrs.conf`, a file each.
//!
//! A new key is a file here and a line in its list, beside the field of [`Config`] that it sets.
//! They are read and printed in the order of the lists, so that a default can follow from keys
//! before it.

mod allow_mobility;
mod checkpoint_wait;
mod interactive_mobility;
mod job_weight;
mod journal;
mod linear_speedup;
mod load_ceiling;
mod longest_pause;
mod mobility;
mod mode;
mod move_cost;
mod moves_per_hour;
mod needs;
mod parallel_least_yield;
mod park_timeout;
mod partition;
mod partition_policy;
mod period;
mod policy;
mod run_time_hint;
mod settle_time;
mod show_yield_in;
mod status_directory;
mod swap_per_node;
mod time_to_live;

use dfrs_core::PolicySetting;

use super::key::{Key, KeyPurpose};
use super::{Config, Partition};

pub(super) use mobility::all_mobilities;

/// The keys of the whole file.
pub const GLOBAL_KEYS: &[&Key<Config>] = &[
    &mode::KEY,
    &policy::KEY,
    &period::KEY,
    &moves_per_hour::KEY,
    &move_cost::KEY,
    &run_time_hint::KEY,
    &load_ceiling::KEY,
    &parallel_least_yield::KEY,
    &job_weight::KEY,
    &needs::KEY,
    &checkpoint_wait::KEY,
    &park_timeout::KEY,
    &settle_time::KEY,
    &longest_pause::KEY,
    &time_to_live::KEY,
    &swap_per_node::KEY,
    &journal::KEY,
    &status_directory::KEY,
    &show_yield_in::KEY,
];

/// The keys of a line with `Partition=`, which is the first.
pub const PARTITION_KEYS: &[&Key<Partition>] = &[
    &partition::KEY,
    &partition_policy::KEY,
    &linear_speedup::KEY,
    &mobility::KEY,
    &allow_mobility::KEY,
    &interactive_mobility::KEY,
];

/// The key whose lines are about one partition.
pub(super) const PARTITION: &Key<Partition> = &partition::KEY;

/// The keys of studies, each with the setting of policies that it is.
pub fn of_studies() -> impl Iterator<Item = (&'static Key<Config>, &'static PolicySetting)> {
    GLOBAL_KEYS.iter().filter_map(|key| match key.purpose {
        KeyPurpose::Study(setting) => Some((*key, setting)),
        KeyPurpose::Operation => None,
    })
}

/// The names of keys.
pub(super) fn names<Of>(keys: &[&Key<Of>]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
}
