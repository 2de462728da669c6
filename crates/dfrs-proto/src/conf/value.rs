//! Values of single keys. Errors say what is allowed, without the place, which the caller knows.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use dfrs_core::policy::PolicyError;
use dfrs_core::{Bytes, Mobility, Policy, RunTimeHint, Span};

use super::{JobField, Mode, NeedsSource, Weighting, suggest};

const MICROSECONDS: i64 = 1_000_000;
const MEGABYTE: u64 = 1 << 20;

/// The words of an option and what they mean.
pub(super) type Keywords<T> = [(&'static str, T)];

pub(super) const MODES: &Keywords<Mode> = &[
    ("off", Mode::Off),
    ("shadow", Mode::Shadow),
    ("full", Mode::Full),
];

pub(super) const WEIGHTINGS: &Keywords<Weighting> = &[
    ("equal", Weighting::Equal),
    ("priority", Weighting::Priority),
];

pub(super) const NEEDS: &Keywords<NeedsSource> = &[
    ("requested", NeedsSource::Requested),
    ("measured", NeedsSource::Measured),
];

pub(super) const RUN_TIME_HINTS: &Keywords<RunTimeHint> = &[
    ("none", RunTimeHint::Nothing),
    ("limits", RunTimeHint::Limits),
];

pub(super) const JOB_FIELDS: &Keywords<Option<JobField>> = &[
    ("none", None),
    ("AdminComment", Some(JobField::AdminComment)),
    ("Extra", Some(JobField::Extra)),
];

pub(super) const MOBILITIES: &Keywords<Mobility> = &[
    ("park", Mobility::Park),
    ("checkpoint", Mobility::Checkpoint),
    ("restart", Mobility::Restart),
    ("never", Mobility::Never),
];

/// All mobilities that a job can request, in the order of the words.
pub(super) fn all_mobilities() -> Vec<Mobility> {
    MOBILITIES.iter().map(|(_, mobility)| *mobility).collect()
}

/// A list of mobilities with commas, `all` or `none`; in the order of the words, each once.
pub(super) fn mobilities(key: &str, value: &str) -> Result<Vec<Mobility>, String> {
    if value.eq_ignore_ascii_case("none") {
        return Ok(Vec::new());
    }
    let mut allowed = all_mobilities();
    if value.eq_ignore_ascii_case("all") {
        return Ok(allowed);
    }
    let mut given = Vec::new();
    for name in value.split(',') {
        given.push(word(key, name, MOBILITIES)?);
    }
    allowed.retain(|mobility| given.contains(mobility));
    Ok(allowed)
}

/// The mobilities that a job without a script can request; nothing given: nothing said.
pub(super) fn interactive(key: &str, value: &str) -> Result<Option<Mobility>, String> {
    if value.is_empty() {
        return Ok(None);
    }
    match word(key, value, MOBILITIES)? {
        mobility @ (Mobility::Park | Mobility::Never) => Ok(Some(mobility)),
        _ => Err(format!(
            "{key}={value} is impossible: a job without a script cannot be requeued; allowed: park, never"
        )),
    }
}

pub(super) fn word<T: Copy>(key: &str, value: &str, words: &Keywords<T>) -> Result<T, String> {
    if let Some((_, meaning)) = words
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(value))
    {
        return Ok(*meaning);
    }
    let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    Err(format!(
        "{key}={value} is not known; {}",
        suggest::hint(value, &known)
    ))
}

/// The word for a value, for printing.
pub(super) fn word_for<T: PartialEq>(words: &Keywords<T>, meaning: &T) -> &'static str {
    words
        .iter()
        .find(|(_, candidate)| candidate == meaning)
        .map_or("", |(word, _)| word)
}

pub(super) fn seconds(key: &str, value: &str, min: i64, max: i64) -> Result<Span, String> {
    match value.parse::<i64>() {
        Ok(seconds) if (min..=max).contains(&seconds) => Ok(Span(seconds * MICROSECONDS)),
        _ => Err(format!(
            "{key}={value} is wrong; allowed: whole seconds from {min} to {max}"
        )),
    }
}

pub(super) fn memory(key: &str, value: &str) -> Result<Bytes, String> {
    memory_bytes(value).map(Bytes).ok_or_else(|| {
        format!("{key}={value} is wrong; allowed: a whole number of megabytes, or with a suffix K, M, G or T, as in {key}=2G")
    })
}

fn memory_bytes(value: &str) -> Option<u64> {
    let (digits, unit) = match value.char_indices().last()? {
        (at, suffix @ ('k' | 'K' | 'm' | 'M' | 'g' | 'G' | 't' | 'T')) => {
            (&value[..at], unit_bytes(suffix))
        }
        _ => (value, MEGABYTE),
    };
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

fn unit_bytes(suffix: char) -> u64 {
    match suffix.to_ascii_uppercase() {
        'K' => 1 << 10,
        'G' => 1 << 30,
        'T' => 1 << 40,
        _ => MEGABYTE,
    }
}

pub(super) fn journal(key: &str, value: &str) -> Result<Option<PathBuf>, String> {
    if value.eq_ignore_ascii_case("none") {
        return Ok(None);
    }
    if value.starts_with('/') && !value.ends_with('/') {
        return Ok(Some(PathBuf::from(value)));
    }
    Err(format!(
        "{key}={value} is wrong; allowed: a file's absolute path, or none"
    ))
}

pub(super) fn directory(key: &str, value: &str) -> Result<Option<PathBuf>, String> {
    if value.eq_ignore_ascii_case("none") {
        return Ok(None);
    }
    if value.starts_with('/') {
        return Ok(Some(PathBuf::from(value)));
    }
    Err(format!(
        "{key}={value} is wrong; allowed: a directory's absolute path, or none"
    ))
}

pub(super) fn partition_name(value: &str) -> Result<String, String> {
    if value.contains(|c: char| c == ',' || c.is_whitespace() || c.is_control()) {
        return Err(format!(
            "Partition={value} is wrong; write one Partition= line for each partition"
        ));
    }
    if value.eq_ignore_ascii_case("DEFAULT") {
        return Err(format!(
            "Partition={value} is not supported; repeat the keys on each Partition= line"
        ));
    }
    Ok(value.to_owned())
}

/// How often one job may be paused or moved within an hour; `None`: without limit.
pub(super) fn moves(key: &str, value: &str) -> Result<Option<u32>, String> {
    or_unlimited(value, || {
        let number = value.parse().ok().filter(|max| (1..=3600).contains(max));
        number.ok_or_else(|| {
            format!("{key}={value} is wrong; allowed: a whole number from 1 to 3600")
        })
    })
}

/// A week, in seconds.
pub(super) const WEEK: i64 = 604_800;

/// For how long a job may be paused; `None`: for any time.
pub(super) fn longest_pause(key: &str, value: &str) -> Result<Option<Span>, String> {
    or_unlimited(value, || seconds(key, value, 60, WEEK))
}

/// A value that may be left out, `None`, by the word for nothing.
pub(super) fn or_none<T>(key: &str, value: &str) -> Result<Option<T>, String>
where
    T: FromStr<Err: fmt::Display>,
{
    if value.eq_ignore_ascii_case(NONE) {
        return Ok(None);
    }
    let read: Result<T, _> = value.parse();
    read.map(Some)
        .map_err(|allowed| format!("{key}={value} is wrong; {allowed}, or {NONE}"))
}

/// The word for nothing.
pub(super) const NONE: &str = "none";

/// The word for no limit.
pub(super) const UNLIMITED: &str = "unlimited";

/// What `limit` makes of the value; `None`: no limit.
fn or_unlimited<T>(
    value: &str,
    limit: impl FnOnce() -> Result<T, String>,
) -> Result<Option<T>, String> {
    if value.eq_ignore_ascii_case(UNLIMITED) {
        return Ok(None);
    }
    limit()
        .map(Some)
        .map_err(|error| format!("{error}, or {UNLIMITED}"))
}

/// The name of the policy that partitions of moldable jobs have.
const DEMT: &str = "DEMT";

/// Whether a partition's jobs are moldable; nothing given: they are not.
pub(super) fn partition_policy(key: &str, value: &str) -> Result<bool, String> {
    if value.is_empty() || value.eq_ignore_ascii_case(DEMT) {
        return Ok(!value.is_empty());
    }
    Err(format!(
        "{key}={value} on a Partition= line is wrong; allowed: DEMT (the policy of all other partitions stands on a line of its own)"
    ))
}

/// The most nodes that make a job as many times as fast.
pub(super) fn linear_speedup(key: &str, value: &str) -> Result<u32, String> {
    let number = value.parse().ok();
    let number = number.filter(|max| (1..=100_000).contains(max));
    number.ok_or_else(|| {
        format!("{key}={value} is wrong; allowed: a whole number of nodes from 1 to 100000")
    })
}

/// A policy by its name.
pub(super) fn policy(key: &str, value: &str) -> Result<Policy, String> {
    if value.eq_ignore_ascii_case(DEMT) {
        return Err(format!(
            "{key}=DEMT is about one partition; write it on that partition's line, after Partition=NAME"
        ));
    }
    value.parse().map_err(|error: PolicyError| {
        if matches!(error, PolicyError::Further { .. }) {
            return error.to_string();
        }
        let names: Vec<String> = Policy::all().iter().map(Policy::to_string).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        match suggest::nearest(value, &known) {
            Some(name) => format!("{key}={value} is not known; did you mean '{name}'?"),
            None => error.to_string(),
        }
    })
}
