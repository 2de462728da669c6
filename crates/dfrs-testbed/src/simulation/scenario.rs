//! A scenario: a cluster, what users and operators do, and what goes wrong, as data and as text.
//!
//! ```text
//! nodes 3 cpus=4 memory=1000 partition=a
//! swap 10000 speed=500 keeps
//! conf Mode=full
//! conf Partition=a Mobility=park
//! at 0.5 submit 1 tasks=2 cpus=1 memory=300 work=60
//! at 20 suspend 1
//! heal 120
//! ```
//!
//! Times are seconds since the start. Jobs are named by the numbers that they are submitted with,
//! nodes by their positions. At `heal` all that went wrong is mended and all holds are lifted;
//! after that everything has to finish.

use std::fmt::Write;

use dfrs_core::{Span, Time};

use super::notation;
use crate::model::acts::Act;
use crate::model::{ClusterModel, ModelSettings, counted};
use dfrs_agent::slurm::devices::{RequestedDevices, text_of};
use dfrs_agent::slurm::records::ObservedNode;

/// UNIX seconds at which every scenario begins.
const BEGINS: i64 = 1_000_000;
pub(super) const SECOND: i64 = 1_000_000;

/// Nodes that are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeGroup {
    /// How many.
    pub count: u32,
    /// CPUs of each.
    pub cpus: u32,
    /// MiB of each.
    pub memory_mib: u64,
    /// Their partition.
    pub partition: String,
    /// Devices of each, as `Gres=` of slurm.conf says: those of a type apart.
    pub devices: Vec<RequestedDevices>,
}

/// A cluster and what happens to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialScenario {
    /// Its nodes.
    pub nodes: Vec<NodeGroup>,
    /// Its latencies.
    pub settings: ModelSettings,
    /// Its dfrs.conf, line by line.
    pub conf: Vec<String>,
    /// What happens, and when: since the start, in order.
    pub acts: Vec<(Span, Act)>,
    /// When all that went wrong is mended.
    pub heal: Span,
    /// Nodes that stay drained then.
    pub keep_drained: Vec<u32>,
}

impl TrialScenario {
    /// Reads a scenario.
    ///
    /// # Errors
    ///
    /// The first malformed line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut scenario = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            scenario
                .read(line)
                .map_err(|problem| format!("line {number}: {problem}: {line}"))?;
        }
        scenario.acts.sort_by_key(|(at, _)| *at);
        Ok(scenario)
    }

    fn read(&mut self, line: &str) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "nodes" => self.nodes.push(notation::nodes(rest)?),
            "swap" => notation::swap(rest, &mut self.settings)?,
            "conf" => self.conf.push(rest.to_owned()),
            "calls" => self.settings.call = notation::seconds(rest)?,
            "limit" => self.settings.user_limit = Some(notation::number(rest)?),
            "jitter" => self.settings.jitter = Some(notation::number(rest)?),
            "heal" => self.heal = notation::seconds(rest)?,
            "keep-drained" => self.keep_drained.push(notation::number(rest)?),
            "at" => {
                let (at, act) = rest
                    .split_once(' ')
                    .ok_or("a time and an act are missing")?;
                self.acts
                    .push((notation::seconds(at)?, notation::act(act)?));
            }
            _ => {
                return Err(
                    "allowed: nodes, swap, calls, conf, limit, jitter, at, heal, keep-drained"
                        .into(),
                );
            }
        }
        Ok(())
    }

    /// The model of its cluster, in which nothing has happened.
    pub fn model(&self) -> ClusterModel {
        let mut all = Vec::new();
        for group in &self.nodes {
            for _ in 0..group.count {
                let index = u32::try_from(all.len()).unwrap_or(u32::MAX);
                let node = ObservedNode {
                    devices: counted(&group.devices),
                    ..ObservedNode::plain(index, group.cpus, group.memory_mib)
                };
                all.push((node, group.partition.clone()));
            }
        }
        ClusterModel::new(all, self.settings.clone(), Self::begins())
    }

    /// The model's time at the start.
    pub fn begins() -> Time {
        Time(BEGINS * SECOND)
    }
}

impl std::fmt::Display for TrialScenario {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        for nodes in &self.nodes {
            let NodeGroup {
                count,
                cpus,
                memory_mib: memory,
                partition,
                devices,
            } = nodes;
            let gres = match text_of(devices) {
                gres if gres.is_empty() => gres,
                gres => format!(" gres={gres}"),
            };
            let _ = writeln!(
                text,
                "nodes {count} cpus={cpus} memory={memory} partition={partition}{gres}"
            );
        }
        let settings = &self.settings;
        let keeps = if settings.keeps_swap { " keeps" } else { "" };
        let (swap, speed) = (settings.swap_mib, settings.swap_mib_per_second);
        let _ = writeln!(text, "swap {swap} speed={speed}{keeps}");
        if settings.call.0 > 0 {
            let _ = writeln!(text, "calls {}", notation::decimal(settings.call));
        }
        if let Some(limit) = settings.user_limit {
            let _ = writeln!(text, "limit {limit}");
        }
        if let Some(jitter) = settings.jitter {
            let _ = writeln!(text, "jitter {jitter}");
        }
        for line in &self.conf {
            let _ = writeln!(text, "conf {line}");
        }
        for node in &self.keep_drained {
            let _ = writeln!(text, "keep-drained {node}");
        }
        for (at, act) in &self.acts {
            let _ = writeln!(
                text,
                "at {} {}",
                notation::decimal(*at),
                notation::print(act)
            );
        }
        let _ = writeln!(text, "heal {}", notation::decimal(self.heal));
        formatter.write_str(&text)
    }
}
