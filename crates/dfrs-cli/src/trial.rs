//! `dfrs trial`: what would last month have been with DFRS on top of the site's own queue?

use std::path::PathBuf;

use clap::Args;
use dfrs_lab::trial::{SiteTrial, TrialOptions};

/// Says on one page what last month would have been with DFRS on top of the site's own queue.
///
/// DUMP comes from Slurm's accounting, as dfrs replay takes it (docs/replay.md has the command):
/// SLURM_TIME_FORMAT=%s sacct --allusers --duplicates --parsable2 --noconvert --format=JobID,Submit,Eligible,Start,End,NNodes,NCPUS,NTasks,ReqMem,AllocTRES,MaxRSS,TotalCPU,Suspended,Timelimit,State
///
/// Four worlds are compared: as it was; all jobs under backfill; short jobs on one node in a DFRS partition on top of
/// all nodes, and all others under backfill; and all jobs handed over to DFRS. It ends with a verdict by fixed rules,
/// and the next steps. Lines that are malformed, and jobs that could not have run on such nodes, are reported on
/// standard error and left out. Exit code 2: the file cannot be read.
#[derive(Args)]
// As for a replay.
#[command(mut_arg("mobility", |mobility| mobility.default_value("park=1")))]
#[command(mut_arg("policies", |policy| policy.help("The policy of DFRS (see dfrs sim --list-policies)")))]
pub struct TrialArguments {
    /// A dump of sacct, a journal of slurm-dfrs, or a trace (SWF, CSV); each plain or .gz
    #[arg(value_name = "DUMP")]
    file: PathBuf,
    #[command(flatten)]
    options: TrialOptions,
    /// Print one object
    #[arg(long)]
    json: bool,
    /// Refuse the file if a line is malformed or a job could not have run on such nodes
    #[arg(long)]
    strict: bool,
}

/// Compares the worlds: what goes to standard output and to standard error.
pub fn run(arguments: &TrialArguments) -> Result<(String, String), String> {
    let options = &arguments.options;
    options
        .check()
        .map_err(|error| format!("dfrs trial: {error}"))?;
    let trial = SiteTrial::new(&arguments.file, arguments.strict, options)?;
    let output = match arguments.json {
        true => trial.json()?,
        false => trial.page(&words_for_replay(std::env::args())),
    };
    Ok((output, trial.warnings().to_owned()))
}

/// The words of this call that `dfrs replay` takes, too. `words`: the program, the command, and its arguments.
fn words_for_replay(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.skip(2);
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word.as_str(), None),
        };
        match (option, value) {
            ("--json", _) => {}
            ("--node-cpus" | "--mobility-on-top", Some(_)) => {}
            // Its value is the next word.
            ("--node-cpus" | "--mobility-on-top", None) => _ = words.next(),
            _ => kept.push(word),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_trial_alone_are_not_for_replay() {
        let of = |line: &str| words_for_replay(line.split(' ').map(String::from)).join(" ");
        assert_eq!(of("dfrs trial a.csv --json --nodes 4"), "a.csv --nodes 4");
        assert_eq!(of("dfrs trial --node-cpus 8 a.csv"), "a.csv");
        assert_eq!(of("dfrs trial --mobility-on-top park=1 a.csv"), "a.csv");
        assert_eq!(
            of("dfrs trial --node-cpus=8 a.csv --strict"),
            "a.csv --strict"
        );
    }
}
