//! `dfrs status`: how the running plugin is.

pub(crate) mod paths;
mod shadow;
mod table;

pub(crate) use table::seconds as length;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};
use dfrs_proto::status::{BreakerState, Status, VERSION};

use crate::report::CommandOutcome;

/// A file that is older than this, in seconds, is not written any more: the plugin writes one every
/// ten.
const STALE: f64 = 60.0;
/// Exit code: DFRS does not schedule.
const NOT_SCHEDULING: u8 = 1;

/// Says how DFRS is: mode, queues, passes, slurmctld's locks, nodes that do not answer.
///
/// Reads the status file that the plugin keeps in slurmctld's StateSaveLocation, or where dfrs.conf
/// says. Exit code 0: DFRS does what its mode says. 1: it is off against its configuration, stands
/// down, or its slurmctld is gone. 2: there is no status that could be read.
#[derive(Args)]
pub struct StatusArguments {
    /// The status file, or its directory; by default what dfrs.conf and slurm.conf in SLURM_CONF's directory
    /// or /etc/slurm say
    file: Option<PathBuf>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = StatusFormat::Text)]
    format: StatusFormat,
    /// The same as --format json: the file as it is
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Says what DFRS would have done with the jobs that Slurm scheduled: replays the journal that dfrs.conf
    /// names in the simulator, under its policy; or these parts of a journal that was rotated, oldest first,
    /// each plain or .gz
    #[arg(long, value_name = "JOURNAL", num_args = 0.., conflicts_with = "file")]
    shadow: Option<Vec<PathBuf>>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StatusFormat {
    /// A table
    Text,
    /// One object
    Json,
}

/// Reads the file and prints it.
pub fn run(arguments: &StatusArguments) -> Result<CommandOutcome, String> {
    let json = arguments.json || arguments.format == StatusFormat::Json;
    if let Some(parts) = &arguments.shadow {
        return shadow::run(&paths::dfrs_conf(), parts, json).map(Into::into);
    }
    let path = paths::find(arguments.file.as_deref())?;
    let text = std::fs::read_to_string(&path).map_err(|error| {
        format!(
            "{}: {error}; does slurmctld run with SchedulerType=sched/dfrs, and may you read there? (StatusDirectory in dfrs.conf)",
            path.display()
        )
    })?;
    let status = parse(&text, &path)?;
    let age = now() - status.written;
    let output = match json {
        true => text,
        false => table::text(&status, age),
    };
    Ok(match trouble(&status, age) {
        None => output.into(),
        Some(trouble) => CommandOutcome {
            output,
            errors: format!("{}: {trouble}\n", path.display()),
            code: NOT_SCHEDULING,
        },
    })
}

/// The status that this file holds.
pub(crate) fn read(path: &Path) -> Result<Status, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text, path)
}

pub(crate) fn parse(text: &str, path: &Path) -> Result<Status, String> {
    let status: Status = serde_json::from_str(text).map_err(|error| {
        format!(
            "{}: is no status file: {error}; name the plugin's dfrs_status.json",
            path.display()
        )
    })?;
    if status.version == VERSION {
        Ok(status)
    } else {
        Err(format!(
            "{}: is of version {}; this dfrs reads version {VERSION}: use the one that came with the plugin",
            path.display(),
            status.version
        ))
    }
}

/// Why DFRS does not do what its mode says, if so, and what to do.
pub(crate) fn trouble(status: &Status, age: f64) -> Option<String> {
    let why = status
        .breaker
        .why
        .as_deref()
        .unwrap_or("no reason is known");
    if !status.running {
        return Some("slurmctld, or DFRS in it, has ended".to_owned());
    }
    if age > STALE {
        return Some(format!(
            "was written {} ago: slurmctld is gone, or the disk hangs; see slurmctld's log",
            table::seconds(age)
        ));
    }
    if let Some(problem) = &status.problem {
        return Some(format!("DFRS is off: {problem}"));
    }
    match status.breaker.state {
        BreakerState::StandingDown | BreakerState::Open if status.mode == "off" => None,
        BreakerState::StandingDown | BreakerState::Open => Some(format!(
            "breaker open, DFRS disabled: {why}; 'scontrol reconfigure' enables it again"
        )),
        BreakerState::Off | BreakerState::Closed => None,
    }
}

// Precise enough: milliseconds since 1970 are far below 2^53.
/// UNIX seconds.
pub(crate) fn now() -> f64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    elapsed.unwrap_or_default().as_millis() as f64 / 1000.0
}

#[cfg(test)]
mod tests;
