//! Drains: the reason of a node that is to be empty says how many parked jobs are there, and the
//! log which.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};

use crate::changes::ChangeEntry;
use crate::daemons::Daemons;
use crate::pass::Agent;
use crate::saturating_u32;
use crate::slurm::job_name::job_name;
use crate::slurm::node_changes::NodeChanges;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm};
use crate::slurm::records::{ObservedJob, ObservedNode, ObservedState};

/// How often the note is repeated: an administrator who gives a node another reason removes the
/// note with the former one, and DFRS cannot distinguish a node that is to be rebooted from others.
const REPEAT_INTERVAL: Span = Span::from_seconds(10);

/// What was said of the nodes on which parked jobs live.
#[derive(Debug, Default)]
pub(in crate::pass) struct Drains {
    reported: BTreeMap<String, NodeReport>,
    /// When all of it was last said.
    all: Time,
}

/// What was said of one node, and whether it was up and down then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NodeReport {
    parked: u32,
    up: bool,
    down: bool,
}

impl Drains {
    /// Whether the report is news. A node without parked jobs is news only where there were some,
    /// or if it is not known what an earlier slurmctld had reported of it.
    fn note(&mut self, name: &str, now: NodeReport, is_unknown: bool) -> bool {
        let before = if now.parked > 0 {
            self.reported.insert(name.to_owned(), now)
        } else {
            self.reported.remove(name)
        };
        is_unknown || before != Some(now).filter(|now| now.parked > 0)
    }

    /// Nodes that are there no more.
    fn forget_others(&mut self, observation: &Observation) -> Vec<String> {
        let gone = self.reported.keys();
        let gone = gone.filter(|name| observation.node(name).is_none());
        let gone: Vec<String> = gone.cloned().collect();
        for name in &gone {
            self.reported.remove(name);
        }
        gone
    }
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Reports how many parked jobs are on these nodes, where that is news, and now and then for
    /// all nodes that have some. O(jobs there).
    pub(in crate::pass) fn report_parked(
        &mut self,
        nodes: &NodeChanges,
        observation: &Observation,
        now: Time,
    ) {
        let mut news = BTreeSet::new();
        if nodes.all {
            news.extend(self.nodes.drains.forget_others(observation));
        }
        for position in observation.positions(nodes) {
            let node = &observation.nodes()[position];
            let report = NodeReport {
                parked: self.parked_on(position, observation),
                up: node.up,
                down: node.down,
            };
            if self.nodes.drains.note(&node.name, report, nodes.all) {
                news.insert(node.name.clone());
                // The reasons of these jobs change, too: no decision need follow.
                let here = observation.jobs_on(position);
                let here = here.map(|job| ChangeEntry::JobReason(job.id));
                self.lists.changes.extend(here);
            }
        }
        if now.0 - self.nodes.drains.all.0 >= REPEAT_INTERVAL.0 {
            self.nodes.drains.all = now;
            news.extend(self.nodes.drains.reported.keys().cloned());
        }
        let reported = &self.nodes.drains.reported;
        let parked = |name: &String| reported.get(name).map_or(0, |report| report.parked);
        let news: Vec<(String, u32)> = news
            .into_iter()
            .map(|name| {
                let parked = parked(&name);
                (name, parked)
            })
            .collect();
        if !news.is_empty() {
            self.slurm.set_parked(&news);
        }
    }

    /// How many parked jobs live on the node at this position.
    fn parked_on(&self, position: usize, observation: &Observation) -> u32 {
        let here = observation.jobs_on(position);
        let parked = here.filter(|job| self.is_parked_there(job)).count();
        saturating_u32(parked)
    }

    /// Whether Slurm shows it as suspended, and it depends on DFRS to come back.
    fn is_parked_there(&self, job: &ObservedJob) -> bool {
        job.state == ObservedState::Suspended && self.depends_on_dfrs(job.id)
    }

    /// Says of nodes that begin to drain which jobs are parked there: they look empty, and are not.
    pub(in crate::pass) fn log_drains(&mut self, nodes: &[u32], observation: &Observation) {
        for index in nodes {
            let Some(position) = observation.node_position(*index) else {
                continue;
            };
            let ObservedNode { name, .. } = &observation.nodes()[position];
            let here = observation.jobs_on(position);
            let parked = here.filter(|job| self.depends_on_dfrs(job.id));
            let parked: Vec<String> = parked.map(|job| job_name(job.id, Some(job))).collect();
            if !parked.is_empty() {
                let text = format!(
                    "node {name} drains, and is not empty though it may look so: parked there are {}, \
                     which resume there before other jobs start",
                    parked.join(", ")
                );
                self.slurm.log(LogLevel::Info, &text);
            }
        }
    }
}
