//! Pairs to a [`Config`].

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::Policy;

use super::error::Mistake;
use super::lexer::{self, Pair};
use super::{
    Config, DEFAULT_LINEAR_SPEEDUP, DEFAULT_POLICY, Mode, MoldableSettings, Partition, suggest,
    value,
};

pub(super) const GLOBAL_KEYS: &[&str] = &[
    "Mode",
    "Policy",
    "Period",
    "MovesPerHour",
    "MoveCost",
    "RunTimeHint",
    "LoadCeiling",
    "ParallelLeastYield",
    "JobWeight",
    "Needs",
    "CheckpointWait",
    "ParkTimeout",
    "SettleTime",
    "LongestPause",
    "TimeToLive",
    "SwapPerNode",
    "Journal",
    "StatusDirectory",
    "ShowYieldIn",
];
const PARTITION: &str = "Partition";
const LINEAR_SPEEDUP: &str = "LinearSpeedup";
/// What may be done with jobs that give up their places: those of a partition with `Policy=DEMT`
/// never do.
const MOBILITY_KEYS: [&str; 3] = ["Mobility", "AllowMobility", "InteractiveMobility"];
pub(super) const PARTITION_KEYS: &[&str] = &[
    PARTITION,
    "Policy",
    LINEAR_SPEEDUP,
    "Mobility",
    "AllowMobility",
    "InteractiveMobility",
];

pub(super) fn config(text: &str) -> Result<Config, Mistake> {
    let mut globals = Given::default();
    let mut partitions: Vec<Partition> = Vec::new();
    let mut names = BTreeSet::new();
    for pairs in lexer::lines(text)? {
        if pairs
            .iter()
            .any(|pair| pair.key.eq_ignore_ascii_case(PARTITION))
        {
            let line = pairs[0].line;
            let partition = partition(pairs)?;
            if !names.insert(partition.name.clone()) {
                let what = format!(
                    "partition '{}' is named a second time; keep one of the two lines",
                    partition.name
                );
                return Err(Mistake::new(line, what));
            }
            partitions.push(partition);
        } else {
            for pair in pairs {
                globals.add(pair, GLOBAL_KEYS)?;
            }
        }
    }
    let mode_line = globals.line("Mode").unwrap_or(1);
    let config = with_defaults(&globals, partitions)?;
    if config.partitions.is_empty() && config.mode != Mode::Off {
        let what = "no partition is opened to DFRS; add a line 'Partition=NAME', or set Mode=off";
        return Err(Mistake::new(mode_line, what));
    }
    Ok(config)
}

fn with_defaults(given: &Given, partitions: Vec<Partition>) -> Result<Config, Mistake> {
    let policy = policy(given)?;
    let period = policy.settings.period;
    Ok(Config {
        mode: given.get("Mode", "shadow", |key, text| {
            value::word(key, text, value::MODES)
        })?,
        policy,
        period,
        job_weight: given.get("JobWeight", "priority", |key, text| {
            value::word(key, text, value::WEIGHTINGS)
        })?,
        needs: given.get("Needs", "requested", |key, text| {
            value::word(key, text, value::NEEDS)
        })?,
        checkpoint_wait: given.get("CheckpointWait", "60", |key, text| {
            value::seconds(key, text, 1, 86_400)
        })?,
        park_timeout: given.get("ParkTimeout", "60", |key, text| {
            value::seconds(key, text, 5, 86_400)
        })?,
        settle_time: given.get("SettleTime", "10", |key, text| {
            value::seconds(key, text, 0, 3600)
        })?,
        longest_pause: given.get("LongestPause", "86400", value::longest_pause)?,
        time_to_live: given.get("TimeToLive", "60", |key, text| {
            value::seconds(key, text, 5, 86_400)
        })?,
        swap_per_node: given.get("SwapPerNode", "0", value::memory)?,
        journal: given.get("Journal", "none", value::journal)?,
        status_directory: given.get("StatusDirectory", "none", value::directory)?,
        show_yield_in: given.get("ShowYieldIn", "none", |key, text| {
            value::word(key, text, value::JOB_FIELDS)
        })?,
        partitions,
    })
}

/// The policy, sparing with moves, with the budget of `MovesPerHour`, the hints of moves and run
/// times, and the period of `Period`.
fn policy(given: &Given) -> Result<Policy, Mistake> {
    let mut policy = given.get("Policy", DEFAULT_POLICY, value::policy)?;
    policy.settings.keep_equal_jobs = true;
    policy.settings.budget.moves_per_job = given.get("MovesPerHour", "6", value::moves)?;
    let cost = if policy.weighs_moves() { "60" } else { "0" };
    policy.settings.penalty = given.get("MoveCost", cost, |key, text| {
        value::seconds(key, text, 0, 86_400)
    })?;
    policy.settings.run_time_hint = given.get("RunTimeHint", "none", |key, text| {
        value::word(key, text, value::RUN_TIME_HINTS)
    })?;
    policy.settings.load_ceiling = given.get("LoadCeiling", "none", value::or_none)?;
    policy.settings.parallel_least_yield =
        given.get("ParallelLeastYield", "none", value::or_none)?;
    policy.settings.period = given.get("Period", "600", |key, text| {
        value::seconds(key, text, 1, value::WEEK)
    })?;
    Ok(policy)
}

fn partition(pairs: Vec<Pair>) -> Result<Partition, Mistake> {
    let mut given = Given::default();
    for pair in pairs {
        given.add(pair, PARTITION_KEYS)?;
    }
    let name = given.get(PARTITION, "", |_, text| value::partition_name(text))?;
    if let Some(moldable) = moldable(&given)? {
        return Ok(Partition::whole_nodes(name, moldable));
    }
    Ok(Partition {
        name,
        mobility: given.get("Mobility", "park", |key, text| {
            value::word(key, text, value::MOBILITIES)
        })?,
        allowed: given.get("AllowMobility", "all", value::mobilities)?,
        interactive: given.get("InteractiveMobility", "", value::interactive)?,
        moldable: None,
    })
}

/// What the moldable jobs of a partition are like, if its policy is DEMT.
fn moldable(given: &Given) -> Result<Option<MoldableSettings>, Mistake> {
    let is_moldable = given.get("Policy", "", value::partition_policy)?;
    let out_of_place: &[&str] = if is_moldable {
        &MOBILITY_KEYS
    } else {
        &[LINEAR_SPEEDUP]
    };
    for key in out_of_place {
        if let Some(line) = given.line(key) {
            let why = if is_moldable {
                "Policy=DEMT never pauses or moves a job"
            } else {
                "only Policy=DEMT has moldable jobs"
            };
            let what = format!("{key} has no place on this Partition= line: {why}; take it out");
            return Err(Mistake::new(line, what));
        }
    }
    let default = DEFAULT_LINEAR_SPEEDUP.to_string();
    let linear_speedup = given.get(LINEAR_SPEEDUP, &default, value::linear_speedup)?;
    Ok(is_moldable.then_some(MoldableSettings { linear_speedup }))
}

/// Pairs by the documented spelling of their key, each at most once.
#[derive(Default)]
struct Given(BTreeMap<&'static str, Pair>);

impl Given {
    fn add(&mut self, pair: Pair, allowed: &'static [&'static str]) -> Result<(), Mistake> {
        let Some(key) = allowed
            .iter()
            .find(|key| key.eq_ignore_ascii_case(&pair.key))
        else {
            return Err(Mistake::new(pair.line, not_allowed(&pair.key, allowed)));
        };
        if let Some(earlier) = self.0.get(key) {
            let what = format!(
                "{key} is given a second time (first on line {}); keep one",
                earlier.line
            );
            return Err(Mistake::new(pair.line, what));
        }
        self.0.insert(key, pair);
        Ok(())
    }

    fn line(&self, key: &str) -> Option<usize> {
        self.0.get(key).map(|pair| pair.line)
    }

    fn get<T>(
        &self,
        key: &str,
        default: &str,
        read: impl Fn(&str, &str) -> Result<T, String>,
    ) -> Result<T, Mistake> {
        let (line, text) = self
            .0
            .get(key)
            .map_or((1, default), |pair| (pair.line, pair.value.as_str()));
        read(key, text).map_err(|what| Mistake::new(line, what))
    }
}

fn not_allowed(key: &str, allowed: &[&str]) -> String {
    let is_in = |keys: &[&str]| keys.iter().any(|known| known.eq_ignore_ascii_case(key));
    if is_in(PARTITION_KEYS) {
        return format!(
            "{key} is about one partition; write it on that partition's line, after Partition=NAME"
        );
    }
    if is_in(GLOBAL_KEYS) {
        return format!("{key} is not about one partition; write it on a line without Partition=");
    }
    if key.eq_ignore_ascii_case("Include") {
        return lexer::INCLUDE.to_owned();
    }
    let known: Vec<&str> = GLOBAL_KEYS.iter().chain(PARTITION_KEYS).copied().collect();
    match suggest::nearest(key, &known) {
        // What slurm.conf calls it.
        _ if key.eq_ignore_ascii_case("PartitionName") => {
            format!("unknown key '{key}'; did you mean '{PARTITION}'?")
        }
        Some(_) => format!("unknown key '{key}'; {}", suggest::hint(key, &known)),
        None => {
            let mut allowed = allowed.to_vec();
            if !allowed.contains(&PARTITION) {
                allowed.push(PARTITION);
            }
            format!("unknown key '{key}'; {}", suggest::hint(key, &allowed))
        }
    }
}
