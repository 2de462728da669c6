//! Pairs to a [`Config`].

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::Mobility;

use super::error::ConfError;
use super::key::{GivenText, Key};
use super::keys::{self, GLOBAL_KEYS, PARTITION, PARTITION_KEYS};
use super::lexer::{self, Pair};
use super::{Config, Mode, Partition, suggest};

pub(super) fn config(text: &str) -> Result<Config, ConfError> {
    let mut globals = GivenKeys::default();
    let mut partitions: Vec<Partition> = Vec::new();
    let mut names = BTreeSet::new();
    for pairs in lexer::lines(text)? {
        if pairs
            .iter()
            .any(|pair| pair.key.eq_ignore_ascii_case(PARTITION.name))
        {
            let line = pairs[0].line;
            let partition = partition(pairs)?;
            if !names.insert(partition.name.clone()) {
                let what = format!(
                    "partition '{}' is named a second time; keep one of the two lines",
                    partition.name
                );
                return Err(ConfError::at(line, what));
            }
            partitions.push(partition);
        } else {
            for pair in pairs {
                globals.add(pair, GLOBAL_KEYS)?;
            }
        }
    }
    let mut config = Config {
        partitions,
        ..Config::unset()
    };
    globals.apply(GLOBAL_KEYS, &mut config)?;
    if config.partitions.is_empty() && config.mode != Mode::Off {
        let what = "no partition is opened to DFRS; add a line 'Partition=NAME', or set Mode=off";
        return Err(ConfError::at(globals.line("Mode").unwrap_or(1), what));
    }
    Ok(config)
}

fn partition(pairs: Vec<Pair>) -> Result<Partition, ConfError> {
    let mut given = GivenKeys::default();
    for pair in pairs {
        given.add(pair, PARTITION_KEYS)?;
    }
    let mut partition = Partition::new("", Mobility::Park);
    given.apply(PARTITION_KEYS, &mut partition)?;
    Ok(partition)
}

/// Pairs by the documented spelling of their key, each at most once.
#[derive(Default)]
struct GivenKeys(BTreeMap<&'static str, Pair>);

impl GivenKeys {
    fn add<Of>(&mut self, pair: Pair, allowed: &[&Key<Of>]) -> Result<(), ConfError> {
        let allowed = keys::names(allowed);
        let Some(key) = allowed
            .iter()
            .find(|key| key.eq_ignore_ascii_case(&pair.key))
        else {
            return Err(ConfError::at(pair.line, not_allowed(&pair.key, allowed)));
        };
        if let Some(earlier) = self.0.get(key) {
            let what = format!(
                "{key} is given a second time (first on line {}); keep one",
                earlier.line
            );
            return Err(ConfError::at(pair.line, what));
        }
        self.0.insert(key, pair);
        Ok(())
    }

    fn line(&self, key: &str) -> Option<usize> {
        self.0.get(key).map(|pair| pair.line)
    }

    /// What is given for a key.
    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|pair| pair.value.as_str())
    }

    /// Puts in place what is given, and defaults of the others, in the order of the keys.
    fn apply<Of>(&self, keys: &[&Key<Of>], to: &mut Of) -> Result<(), ConfError> {
        for key in keys {
            let Some(text) = self.text(key.name).or_else(|| key.preset.text(to)) else {
                continue;
            };
            let given = GivenText {
                key: key.name,
                text,
            };
            let line = self.line(key.name).unwrap_or(1);
            (key.read)(to, &given).map_err(|what| ConfError::at(line, what))?;
        }
        Ok(())
    }
}

fn not_allowed(key: &str, mut allowed: Vec<&'static str>) -> String {
    let (global, of_partition) = (keys::names(GLOBAL_KEYS), keys::names(PARTITION_KEYS));
    let is_in = |keys: &[&str]| keys.iter().any(|known| known.eq_ignore_ascii_case(key));
    if is_in(&of_partition) {
        return format!(
            "{key} is about one partition; write it on that partition's line, after Partition=NAME"
        );
    }
    if is_in(&global) {
        return format!("{key} is not about one partition; write it on a line without Partition=");
    }
    if key.eq_ignore_ascii_case("Include") {
        return lexer::INCLUDE.to_owned();
    }
    let known = [global, of_partition].concat();
    match suggest::nearest(key, &known) {
        // What slurm.conf calls it.
        _ if key.eq_ignore_ascii_case("PartitionName") => {
            format!("unknown key '{key}'; did you mean '{}'?", PARTITION.name)
        }
        Some(_) => format!("unknown key '{key}'; {}", suggest::hint(key, &known)),
        None => {
            if !allowed.contains(&PARTITION.name) {
                allowed.push(PARTITION.name);
            }
            format!("unknown key '{key}'; {}", suggest::hint(key, &allowed))
        }
    }
}
