//! A scenario that is being read.

use std::collections::BTreeMap;

use dfrs_core::{Cluster, Events, NodeGroups, NodeSet, Policy, Time};

use super::Section;
use crate::ids;
use crate::names::NodeNames;
use crate::scenario::{Scenario, ScenarioOutcome};
use crate::units;
use crate::words::SizeBudget;

/// What was read of a scenario so far.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) title: String,
    pub(super) notes: Vec<String>,
    /// The line of the title, counted from 1.
    pub(super) line: usize,
    /// Whether a line but comments followed the title.
    pub(super) has_begun: bool,
    pub(super) policy: Option<Policy>,
    now: Option<Time>,
    pub(super) cluster: Cluster,
    pub(super) directory: NodeNames,
    /// The list of nodes that was read last behind a word, and what it stands for: they are long, and
    /// many jobs share one.
    pub(super) last_lists: BTreeMap<&'static str, (String, NodeSet)>,
    /// The groups of nodes that were read last, likewise.
    pub(super) last_groups: BTreeMap<&'static str, (String, NodeGroups)>,
    events: Events,
    pub(super) outcome: Option<ScenarioOutcome>,
    /// The line of `----`, counted from 0.
    separator: usize,
    /// The line behind the last one but comments, counted from 0.
    pub(super) end: usize,
    /// What the rest of the file may describe.
    pub(super) budget: SizeBudget,
}

impl Draft {
    /// `index` is the title's line, counted from 0.
    pub(super) fn new(title: &str, index: usize, budget: SizeBudget) -> Self {
        Self {
            budget,
            title: title.to_owned(),
            line: index + 1,
            end: index + 1,
            ..Self::default()
        }
    }

    /// A comment: a note if nothing but the title stands above.
    pub(super) fn note(&mut self, note: &str, index: usize) {
        if !self.has_begun {
            self.notes.push(note.to_owned());
            self.end = index + 1;
        }
    }

    pub(super) fn separate(&mut self, index: usize) -> Result<(), String> {
        self.separator = index;
        self.outcome = Some(ScenarioOutcome::default());
        Ok(())
    }

    pub(super) fn read_now(&mut self, words: &[&str]) -> Result<(), String> {
        let [word] = words else {
            return Err("'now' is followed by one time, e.g. now 1000s".into());
        };
        let now = units::time(word).map_err(|expected| format!("'now' must be {expected}"))?;
        match self.now.replace(now) {
            None => Ok(()),
            Some(_) => Err("'now' is given twice; leave one".into()),
        }
    }

    pub(super) fn read_event(&mut self, words: &[&str]) -> Result<(), String> {
        match words {
            ["ended"] => self.events.ended = true,
            ["nodes"] => self.events.nodes_changed = true,
            ["period"] => self.events.period = true,
            ["submitted", jobs @ ..] if !jobs.is_empty() => {
                for list in jobs {
                    let jobs = ids::expand(list, &mut self.budget)?;
                    self.events.submitted.extend(jobs);
                }
            }
            _ => {
                return Err("an event is one of: ended, submitted JOB..., nodes, period".into());
            }
        }
        Ok(())
    }

    /// The whole scenario and what is left of the budget, or what it lacks.
    pub(super) fn finish(self) -> Result<(Section, SizeBudget), String> {
        let policy = self.policy.ok_or("it has no policy; add 'policy NAME'")?;
        let now = self.now.ok_or("it has no time; add e.g. 'now 1000s'")?;
        let start = match self.outcome {
            Some(_) => self.separator,
            None => self.end,
        };
        let section = Section {
            expected: start..self.end,
            line: self.line,
            scenario: Scenario {
                title: self.title,
                notes: self.notes,
                policy,
                now,
                cluster: self.cluster,
                events: self.events,
                expected: self.outcome,
            },
        };
        Ok((section, self.budget))
    }
}
