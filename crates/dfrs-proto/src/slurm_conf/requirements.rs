//! What dfrs.conf requires of Slurm.

use dfrs_core::Bytes;

use super::facts::{SlurmFacts, SlurmPartition};
use super::finding::{About, Findings, Verdict};
use crate::conf::{self, Config, Mode};

/// dfrs.conf, if there is one that is right. Without, what holds for all of them is looked at.
#[derive(Clone, Copy)]
pub(super) struct Requirements<'a> {
    pub(super) config: Option<&'a Config>,
    /// Jobs are to be parked in swap.
    pub(super) parks: bool,
}

impl<'a> Requirements<'a> {
    pub(super) fn by(config: Option<&'a Config>) -> Self {
        let parks = config.is_some_and(|config| config.swap_per_node > Bytes(0));
        Self { config, parks }
    }

    /// What is wanted in the end, if nothing says.
    pub(super) fn mode(self) -> Mode {
        self.config.map_or(Mode::Full, |config| config.mode)
    }

    /// The `SlurmPartition=` lines.
    pub(super) fn lines(self) -> &'a [conf::Partition] {
        self.config.map_or(&[], |config| &config.partitions)
    }

    pub(super) fn schedules(self, name: &str) -> bool {
        self.config.is_some_and(|config| config.schedules(name))
    }

    /// Whether the partition's jobs get whole nodes.
    pub(super) fn gives_whole_nodes(self, name: &str) -> bool {
        self.config
            .is_some_and(|config| config.gives_whole_nodes(name))
    }

    /// The partitions of slurm.conf that DFRS schedules, in the order of dfrs.conf.
    pub(super) fn managed(self, facts: &'a SlurmFacts) -> impl Iterator<Item = &'a SlurmPartition> {
        self.lines()
            .iter()
            .filter_map(|line| facts.partition(&line.name))
    }

    /// Says what DFRS needs before it acts on jobs: a trial does without.
    pub(super) fn need(self, findings: &mut Findings, about: About, what: String, remedy: &str) {
        if self.mode() == Mode::Full {
            findings.refuse(about, what, remedy);
        } else {
            let remedy = format!("before Mode=full: {remedy}");
            findings.add(Verdict::Later, about, what, remedy);
        }
    }
}
