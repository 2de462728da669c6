//! A [`Config`] as the text of a `dfrs.conf`.

use std::fmt;
use std::path::Path;

use dfrs_core::{Bytes, Span};

use super::{Config, Partition, value};

/// Every key with its value, defaults too; [`Config::parse`] reads it back to the same value.
impl fmt::Display for Config {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "Mode={}", value::word_for(value::MODES, &self.mode))?;
        writeln!(out, "Policy={}", quoted(&self.policy.to_string()))?;
        writeln!(out, "Period={}", seconds(self.period))?;
        let moves = self.policy.settings.budget.moves_per_job;
        writeln!(out, "MovesPerHour={}", or_unlimited(moves))?;
        let settings = &self.policy.settings;
        writeln!(out, "MoveCost={}", seconds(settings.penalty))?;
        let hint = value::word_for(value::RUN_TIME_HINTS, &settings.run_time_hint);
        writeln!(out, "RunTimeHint={hint}")?;
        writeln!(out, "LoadCeiling={}", or_none(settings.load_ceiling))?;
        let least = settings.parallel_least_yield;
        writeln!(out, "ParallelLeastYield={}", or_none(least))?;
        let weighting = value::word_for(value::WEIGHTINGS, &self.job_weight);
        writeln!(out, "JobWeight={weighting}")?;
        let needs = value::word_for(value::NEEDS, &self.needs);
        writeln!(out, "Needs={needs}")?;
        writeln!(out, "CheckpointWait={}", seconds(self.checkpoint_wait))?;
        writeln!(out, "ParkTimeout={}", seconds(self.park_timeout))?;
        writeln!(out, "SettleTime={}", seconds(self.settle_time))?;
        let longest = self.longest_pause.map(seconds);
        writeln!(out, "LongestPause={}", or_unlimited(longest))?;
        writeln!(out, "TimeToLive={}", seconds(self.time_to_live))?;
        writeln!(out, "SwapPerNode={}", memory(self.swap_per_node))?;
        writeln!(out, "Journal={}", path(self.journal.as_deref()))?;
        let directory = path(self.status_directory.as_deref());
        writeln!(out, "StatusDirectory={directory}")?;
        let field = value::word_for(value::JOB_FIELDS, &self.show_yield_in);
        writeln!(out, "ShowYieldIn={field}")?;
        self.partitions
            .iter()
            .try_for_each(|partition| writeln!(out, "{partition}"))
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moldable) = self.moldable {
            let (name, linear) = (quoted(&self.name), moldable.linear_speedup);
            return write!(out, "Partition={name} Policy=DEMT LinearSpeedup={linear}");
        }
        let mobility = value::word_for(value::MOBILITIES, &self.mobility);
        write!(out, "Partition={} Mobility={mobility}", quoted(&self.name))?;
        if self.allowed != value::all_mobilities() {
            let words = self.allowed.iter();
            let words = words.map(|mobility| value::word_for(value::MOBILITIES, mobility));
            let words: Vec<&str> = words.collect();
            let none = if words.is_empty() { "none" } else { "" };
            write!(out, " AllowMobility={none}{}", words.join(","))?;
        }
        match &self.interactive {
            Some(mobility) => {
                let mobility = value::word_for(value::MOBILITIES, mobility);
                write!(out, " InteractiveMobility={mobility}")
            }
            None => Ok(()),
        }
    }
}

fn path(path: Option<&Path>) -> String {
    quoted(&path.map_or("none".into(), Path::to_string_lossy))
}

fn or_none(limit: Option<impl fmt::Display>) -> String {
    limit.map_or(value::NONE.into(), |limit| limit.to_string())
}

fn or_unlimited(limit: Option<impl fmt::Display>) -> String {
    limit.map_or(value::UNLIMITED.into(), |limit| limit.to_string())
}

fn seconds(span: Span) -> i64 {
    span.0 / 1_000_000
}

/// In whole megabytes if it is a whole number of them, else in kilobytes.
fn memory(bytes: Bytes) -> String {
    if bytes.0.is_multiple_of(1 << 20) {
        (bytes.0 >> 20).to_string()
    } else {
        format!("{}K", bytes.0 >> 10)
    }
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
