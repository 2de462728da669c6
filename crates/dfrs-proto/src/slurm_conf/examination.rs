//! What the checks look at, and what they found so far.

use super::facts::{SlurmFacts, SlurmPartition};
use super::finding::{About, Finding, Verdict};
use crate::conf::{self, Config, Mode};

pub(super) struct Examination<'a> {
    pub(super) facts: &'a SlurmFacts,
    /// dfrs.conf, if there is one that is right. Without, what holds for all of them is looked at.
    pub(super) config: Option<&'a Config>,
    /// Jobs are to be parked in swap.
    pub(super) parks: bool,
    /// The check that looks.
    pub(super) check: &'static str,
    pub(super) found: Vec<Finding>,
}

impl<'a> Examination<'a> {
    /// What is wanted in the end, if nothing says.
    pub(super) fn mode(&self) -> Mode {
        self.config.map_or(Mode::Full, |config| config.mode)
    }

    /// The `Partition=` lines.
    pub(super) fn lines(&self) -> &'a [conf::Partition] {
        self.config.map_or(&[], |config| &config.partitions)
    }

    /// Whether the partition's jobs get whole nodes.
    pub(super) fn gives_whole_nodes(&self, name: &str) -> bool {
        self.config
            .is_some_and(|config| config.gives_whole_nodes(name))
    }

    /// The partitions of slurm.conf that DFRS schedules, in the order of dfrs.conf.
    pub(super) fn managed(&self) -> impl Iterator<Item = &'a SlurmPartition> + use<'a> {
        let facts = self.facts;
        let lines = self.lines().iter();
        lines.filter_map(|line| facts.partition(&line.name))
    }

    /// Says what DFRS needs before it acts on jobs: a trial does without.
    pub(super) fn need(&mut self, about: About, what: impl Into<String>, remedy: &str) {
        if self.mode() == Mode::Full {
            self.refuse(about, what, remedy);
        } else {
            let remedy = format!("before Mode=full: {remedy}");
            self.add(Verdict::Later, about, what, remedy);
        }
    }

    pub(super) fn refuse(&mut self, about: About, what: impl Into<String>, remedy: &str) {
        self.add(Verdict::Refused, about, what, remedy);
    }

    pub(super) fn warn(&mut self, about: About, what: impl Into<String>, remedy: &str) {
        self.add(Verdict::Warning, about, what, remedy);
    }

    pub(super) fn add(
        &mut self,
        verdict: Verdict,
        about: About,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.found.push(Finding {
            check: self.check,
            verdict,
            about,
            what: what.into(),
            remedy: remedy.into(),
        });
    }
}
