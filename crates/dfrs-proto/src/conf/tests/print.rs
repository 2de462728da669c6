//! A [`Config`] as the text of a `dfrs.conf`, for tests and fuzzers.

use std::fmt;
use std::path::Path;

use dfrs_core::{Bytes, LeastYield, LoadCeiling, Mobility, RunTimeHint, Span};

use super::mobility::{MOBILITIES, all_mobilities};
use super::partition::DEMT;
use super::words::{JOB_FIELDS, MODES, NEEDS_SOURCES, WEIGHTINGS};
use super::{GLOBAL_KEYS, PARTITION_KEYS};
use crate::conf::value::{Keywords, NONE, UNLIMITED};
use crate::conf::{Config, Partition};

const MEGABYTE: u64 = 1 << 20;

/// Every key with its value, defaults too; [`Config::parse`] reads it back to the same value.
impl fmt::Display for Config {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for key in GLOBAL_KEYS {
            writeln!(out, "{}={}", key.name, value(self, key.name))?;
        }
        self.partitions
            .iter()
            .try_for_each(|partition| writeln!(out, "{partition}"))
    }
}

/// Its line.
impl fmt::Display for Partition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = PARTITION_KEYS.iter().filter_map(|key| {
            let value = partition_value(self, key.name)?;
            Some(format!("{}={value}", key.name))
        });
        out.write_str(&Vec::from_iter(pairs).join(" "))
    }
}

/// The value of a key, as text that is read to the same value.
pub(in crate::conf) fn value(config: &Config, key: &str) -> String {
    let settings = &config.policy.settings;
    match key {
        "Mode" => word_for(MODES, &config.mode),
        "Policy" => quoted(&config.policy.to_string()),
        "Period" => whole_seconds(settings.period),
        "MovesPerHour" => or_unlimited(settings.budget.moves_per_job),
        "MoveCost" => whole_seconds(settings.penalty),
        "RunTimeHint" => (RunTimeHint::SETTING.show)(settings),
        "LoadCeiling" => (LoadCeiling::SETTING.show)(settings),
        "ParallelLeastYield" => (LeastYield::SETTING.show)(settings),
        "JobWeight" => word_for(WEIGHTINGS, &config.job_weight),
        "Needs" => word_for(NEEDS_SOURCES, &config.needs),
        "CheckpointWait" => whole_seconds(config.checkpoint_wait),
        "ParkTimeout" => whole_seconds(config.park_timeout),
        "SettleTime" => whole_seconds(config.settle_time),
        "LongestPause" => or_unlimited(config.longest_pause.map(whole_seconds)),
        "TimeToLive" => whole_seconds(config.time_to_live),
        "SwapPerNode" => memory(config.swap_per_node),
        "Journal" => path(config.journal.as_deref()),
        "StatusDirectory" => path(config.status_directory.as_deref()),
        "ShowYieldIn" => word_for(JOB_FIELDS, &config.show_yield_in),
        _ => panic!("a new key, {key}: say here how it is printed"),
    }
}

/// The same for a key of a partition's line; none: it has no place there, or says nothing.
pub(in crate::conf) fn partition_value(partition: &Partition, key: &str) -> Option<String> {
    let unless_moldable = |text| partition.moldable.is_none().then_some(text);
    match key {
        "Partition" => Some(quoted(&partition.name)),
        "Policy" => partition.moldable.map(|_| DEMT.into()),
        "LinearSpeedup" => Some(partition.moldable?.linear_speedup.to_string()),
        "Mobility" => unless_moldable(word_for(MOBILITIES, &partition.mobility)),
        "AllowMobility" => match &partition.allowed {
            all if *all == all_mobilities() => None,
            allowed => unless_moldable(words(allowed)),
        },
        "InteractiveMobility" => Some(word_for(MOBILITIES, &partition.interactive?)),
        _ => panic!("a new key, {key}: say here how it is printed"),
    }
}

fn words(allowed: &[Mobility]) -> String {
    let words = allowed.iter();
    let words = words.map(|mobility| word_for(MOBILITIES, mobility));
    match Vec::from_iter(words) {
        none if none.is_empty() => NONE.into(),
        words => words.join(","),
    }
}

fn word_for<T: PartialEq>(words: &Keywords<T>, meaning: &T) -> String {
    let word = words.iter().find(|(_, candidate)| candidate == meaning);
    word.map_or(String::new(), |(word, _)| (*word).to_owned())
}

/// In whole megabytes if it is a whole number of them, else in kilobytes.
fn memory(bytes: Bytes) -> String {
    if bytes.0.is_multiple_of(MEGABYTE) {
        (bytes.0 / MEGABYTE).to_string()
    } else {
        format!("{}K", bytes.0 >> 10)
    }
}

fn path(path: Option<&Path>) -> String {
    quoted(&path.map_or(NONE.into(), Path::to_string_lossy))
}

fn or_unlimited(limit: Option<impl fmt::Display>) -> String {
    limit.map_or(UNLIMITED.into(), |limit| limit.to_string())
}

fn whole_seconds(span: Span) -> String {
    (span.0 / 1_000_000).to_string()
}

/// In quotes, so that blanks stay; with a backslash before what the reader would act on.
fn quoted(text: &str) -> String {
    let mut result = String::from('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '#' | '\n') {
            result.push('\\');
        }
        result.push(c);
    }
    result.push('"');
    result
}
