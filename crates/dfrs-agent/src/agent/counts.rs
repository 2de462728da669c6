//! How many jobs there are of which kind, for those who watch.

use super::Agent;
use crate::daemons::Daemons;
use crate::slurm::Slurm;

/// Jobs by what becomes of them, and nodes. The waiting rest of an array is one job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Wait for their first start, or to begin again.
    pub waiting: u32,
    /// Run, and nothing is planned for them.
    pub running: u32,
    /// Are parked: suspended, with their memory in swap.
    pub parked: u32,
    /// Gave up their places by checkpoints, and wait.
    pub paused: u32,
    /// Are on their way from one of these to another.
    pub under_way: u32,
    /// Were suspended by others.
    pub suspended: u32,
    /// Nodes of the partitions.
    pub nodes: u32,
    /// Those that take work.
    pub nodes_up: u32,
    /// Those that can park jobs.
    pub nodes_can_park: u32,
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Counts them, as they were at the last pass. O(jobs + nodes).
    #[must_use]
    pub fn counts(&self) -> Counts {
        let nodes = self.seen.nodes();
        let mut counts = Counts {
            nodes: number(nodes.len()),
            nodes_up: number(nodes.iter().filter(|node| node.up).count()),
            nodes_can_park: number(self.can_park.len()),
            ..Counts::default()
        };
        for (_, record) in self.ledger.iter() {
            let life = &record.life;
            let kind = if life.is_under_way() {
                &mut counts.under_way
            } else if life.is_parked() {
                &mut counts.parked
            } else if life.is_paused() {
                &mut counts.paused
            } else if life.is_foreign() {
                &mut counts.suspended
            } else if life.is_running() {
                &mut counts.running
            } else {
                &mut counts.waiting
            };
            *kind += 1;
        }
        counts
    }

    /// The nodes whose daemon does not answer, as of the last pass, ascending.
    pub fn silent_nodes(&self) -> impl ExactSizeIterator<Item = &str> {
        self.silent.iter().map(String::as_str)
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
