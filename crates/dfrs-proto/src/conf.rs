//! `dfrs.conf`: the options of DFRS, in the style of `slurm.conf`.
//!
//! A file is lines of `Key=Value`, several on a line if need be, keys in any case. `#` starts a
//! comment anywhere in a line, a backslash makes the next character an ordinary one, a backslash at
//! the end of a line joins it to the next, and a value with spaces stands in double quotes: the
//! rules of `slurm.conf` (`_strip_comments()`, `_strip_continuation()` and `_strip_escapes()` in
//! Slurm 22.05's `parse_config.c`). A line with `Partition=` opens a partition to DFRS; its other
//! keys are about that partition. `Include` is not supported: the whole configuration is one file.
//!
//! Nothing is guessed: an unknown key, a value out of range, a key given twice or a partition named
//! twice is an error, and a file with an error gives no [`Config`] at all.

mod error;
mod key;
pub mod keys;
mod lexer;
mod parse;
mod suggest;
#[cfg(test)]
mod tests;
mod value;

use std::path::PathBuf;

use dfrs_core::{Bytes, Mobility, Policy, Span};

pub use error::ConfError;
pub use key::{Key, Preset};

/// How much DFRS does on a live cluster: the rungs of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Nothing: Slurm's own backfill schedules every partition.
    Off,
    /// Decides and records what it would do, changes nothing; Slurm's own backfill schedules every
    /// partition.
    #[default]
    Shadow,
    /// Schedules its partitions.
    Full,
}

impl Mode {
    /// As in dfrs.conf.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Shadow => "shadow",
            Self::Full => "full",
        }
    }
}

/// What a job's weight follows from: how much its priority counts, and which share of a full node's
/// CPU it gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weighting {
    /// All jobs weigh the same, as in the papers.
    Equal,
    /// Slurm's priority, compared with that of the others.
    #[default]
    Priority,
}

/// What CPU a job counts with in decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NeedsSource {
    /// The CPU that the job requested.
    #[default]
    Requested,
    /// The CPU that the job was measured to use, while that is less than it requested.
    Measured,
}

/// A partition that DFRS schedules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The partition's name, as in `slurm.conf` (case matters).
    pub name: String,
    /// How its jobs can give up their place, unless a job says otherwise. Default:
    /// [`Mobility::Park`].
    pub mobility: Mobility,
    /// `AllowMobility`: what users may choose for their jobs by a word in the comment; other words
    /// count as none. In the order of [`Mobility`]'s words. Default: everything.
    pub allowed: Vec<Mobility>,
    /// `InteractiveMobility`: how jobs without a script (`salloc`, `srun`) can give up their place,
    /// unless they say otherwise: [`Mobility::Park`] or [`Mobility::Never`], as they cannot be
    /// requeued. Default, `None`: as the partition's other jobs, as far as they can.
    pub interactive: Option<Mobility>,
    /// `Policy=DEMT`: its jobs are moldable and get whole nodes, and nothing of them is ever paused
    /// or moved. Default, `None`: fractions of nodes, by [`Config::policy`].
    pub moldable: Option<MoldableSettings>,
}

/// What the moldable jobs of a partition are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoldableSettings {
    /// `LinearSpeedup`: a job that says nothing of its speedup is as many times as fast as it has
    /// nodes, up to so many, and no faster on more. 1 to 100000. Default:
    /// [`DEFAULT_LINEAR_SPEEDUP`].
    pub linear_speedup: u32,
}

impl Partition {
    /// A partition with the defaults.
    pub fn new(name: impl Into<String>, mobility: Mobility) -> Self {
        Self {
            name: name.into(),
            mobility,
            allowed: keys::all_mobilities(),
            interactive: None,
            moldable: None,
        }
    }

    /// Whether its jobs share nodes: no policy of its own gives them whole ones.
    pub fn shares_nodes(&self) -> bool {
        self.moldable.is_none()
    }

    /// A partition with whole nodes for moldable jobs.
    pub fn whole_nodes(name: impl Into<String>, moldable: MoldableSettings) -> Self {
        Self {
            allowed: Vec::new(),
            moldable: Some(moldable),
            ..Self::new(name, Mobility::Never)
        }
    }
}

/// A text of a job's that Slurm's own tools show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobField {
    /// `AdminComment`.
    AdminComment,
    /// `Extra`, which Slurm's tools show from 23.02 on.
    Extra,
}

/// All options, with the defaults filled in. [`Config::parse`] makes one. Units, ranges and
/// defaults are those of the key that each field names ([`keys`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `Mode`.
    pub mode: Mode,
    /// `Policy`, by its name in the papers. In its settings, the time between two remaps of all
    /// jobs is `Period`, the budget has `MovesPerHour`, the penalty is `MoveCost`, the hint of run
    /// times `RunTimeHint`, what the load of a node may grow to `LoadCeiling`, and what jobs on
    /// several nodes get at least `ParallelLeastYield`.
    pub policy: Policy,
    /// `JobWeight`.
    pub job_weight: Weighting,
    /// `Needs`.
    pub needs: NeedsSource,
    /// `CheckpointWait`: how long a job has, after its warning signal, to write its checkpoint
    /// before it is requeued.
    pub checkpoint_wait: Span,
    /// `ParkTimeout`: how long nodes have to freeze a job and to push its memory to swap; after
    /// that the job goes on where it was.
    pub park_timeout: Span,
    /// `SettleTime`: how long a job runs, after its start, after it came back and after the start
    /// of each of its steps, before it may be paused or moved.
    pub settle_time: Span,
    /// `LongestPause`: a job that has been paused, or parked, for so long comes back before all
    /// others, and then keeps its place for an eighth of that. `None`: no bound.
    pub longest_pause: Option<Span>,
    /// `TimeToLive`: how long a node keeps its CPU caps when it receives nothing from slurmctld.
    pub time_to_live: Span,
    /// `SwapPerNode`: how much of each node's swap parked jobs may fill. 0: nothing is parked.
    pub swap_per_node: Bytes,
    /// `Journal`: absolute path of the file in which slurmctld records every event and decision.
    pub journal: Option<PathBuf>,
    /// `StatusDirectory`: absolute path of the directory in which slurmctld keeps the status file.
    /// `None`: Slurm's `StateSaveLocation`.
    pub status_directory: Option<PathBuf>,
    /// `ShowYieldIn`: where Slurm's own tools show what each job gets.
    pub show_yield_in: Option<JobField>,
    /// The `Partition=` lines, in the order of the file.
    pub partitions: Vec<Partition>,
}

/// The policy of a `dfrs.conf` that names none, and of a replay: the one that is named `default`,
/// by its name in the notation of the papers (docs/policy.md).
pub const DEFAULT_POLICY: &str = "GreedyPMCR*/move-per/OPT=VT/MINVT=600";

/// How far the speedup of a moldable job is linear, if neither it nor `LinearSpeedup` says
/// anything.
pub const DEFAULT_LINEAR_SPEEDUP: u32 = 8;

impl Config {
    /// Before any key is read, defaults included, which are those of the keys.
    fn unset() -> Self {
        Self {
            mode: Mode::default(),
            policy: Policy::own(),
            job_weight: Weighting::default(),
            needs: NeedsSource::default(),
            checkpoint_wait: Span::ZERO,
            park_timeout: Span::ZERO,
            settle_time: Span::ZERO,
            longest_pause: None,
            time_to_live: Span::ZERO,
            swap_per_node: Bytes::ZERO,
            journal: None,
            status_directory: None,
            show_yield_in: None,
            partitions: Vec::new(),
        }
    }

    /// Reads a `dfrs.conf`. Pure; `file_name` only appears in errors. O(length of `text`).
    ///
    /// # Errors
    ///
    /// The first mistake in the file, with its line and what to write instead.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, ConfError> {
        parse::config(text).map_err(|mistake| ConfError {
            file: file_name.to_owned(),
            ..mistake
        })
    }

    /// Names of the partitions that DFRS schedules, in the order of the file.
    pub fn partition_names(&self) -> Vec<String> {
        let names = self.partitions.iter().map(|partition| &partition.name);
        names.cloned().collect()
    }

    /// The names of the partitions, comma-separated.
    pub fn partition_list(&self) -> String {
        self.partition_names().join(",")
    }

    /// Whether DFRS schedules the partition of this name.
    pub fn schedules(&self, name: &str) -> bool {
        self.partition(name).is_some()
    }

    /// What the moldable jobs of the partition of this name are like, if that is what its jobs are.
    pub fn moldable(&self, name: &str) -> Option<MoldableSettings> {
        self.partition(name)?.moldable
    }

    /// Whether DFRS schedules the partition of this name, and its jobs share nodes.
    pub fn shares_nodes(&self, name: &str) -> bool {
        self.partition(name).is_some_and(Partition::shares_nodes)
    }

    /// Whether DFRS schedules the partition of this name, and its jobs get whole nodes.
    pub fn gives_whole_nodes(&self, name: &str) -> bool {
        let partition = self.partition(name);
        partition.is_some_and(|partition| !partition.shares_nodes())
    }

    /// Names of the partitions whose jobs get whole nodes, in the order of the file.
    pub fn whole_node_partitions(&self) -> Vec<String> {
        let partitions = self.partitions.iter();
        let whole = partitions.filter(|partition| !partition.shares_nodes());
        whole.map(|partition| partition.name.clone()).collect()
    }

    /// The partition of this name, if DFRS schedules it.
    pub fn partition(&self, name: &str) -> Option<&Partition> {
        self.partitions
            .iter()
            .find(|partition| partition.name == name)
    }
}
