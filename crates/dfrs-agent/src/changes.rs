//! What changed, numbered in its order: each reader follows from where it was when it read last.

use std::collections::{BTreeMap, BTreeSet};

use crate::slurm::node_changes::NodeChanges;

/// Something that is different from before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeEntry {
    /// A job's record, here or in Slurm.
    Job(u32),
    /// Where a job is, or was.
    JobPlaces(u32),
    /// What else a job is planned by.
    JobPlanning(u32),
    /// What else the reason of a job is made of.
    JobReason(u32),
    /// Whether, or where, decisions leave a job out: both of these.
    JobExclusion(u32),
    /// A node, by Slurm's index.
    Node(u32),
    /// What jobs have of a node, or may have, or that some are to be ended there: the plan and the
    /// orders look again.
    NodeUse(u32),
    /// Nodes came, went or have other positions.
    AllNodes,
}

/// Who follows what changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeReader {
    /// The roster of the core.
    Plan,
    /// Whether nodes have more room than at the last decision.
    Room,
    /// The shares of CPU.
    Shares,
    /// The orders for the nodes.
    Orders,
    /// The journal.
    Journal,
    /// The state file.
    State,
    /// The reasons that squeue shows.
    Reasons,
    /// The yields that Slurm's tools show.
    Yields,
}

impl ChangeReader {
    const ALL: [Self; 8] = [
        Self::Plan,
        Self::Room,
        Self::Shares,
        Self::Orders,
        Self::Journal,
        Self::State,
        Self::Reasons,
        Self::Yields,
    ];

    const fn follows(self, change: ChangeEntry) -> bool {
        match change {
            ChangeEntry::Job(_) => matches!(
                self,
                Self::Plan | Self::Journal | Self::State | Self::Reasons | Self::Yields
            ),
            ChangeEntry::JobPlaces(_) => matches!(self, Self::Shares),
            ChangeEntry::JobPlanning(_) => matches!(self, Self::Plan),
            ChangeEntry::JobReason(_) => matches!(self, Self::Reasons),
            ChangeEntry::JobExclusion(_) => matches!(self, Self::Plan | Self::Reasons),
            ChangeEntry::NodeUse(_) => matches!(self, Self::Plan | Self::Orders),
            ChangeEntry::Node(_) | ChangeEntry::AllNodes => matches!(
                self,
                Self::Plan | Self::Room | Self::Shares | Self::Orders | Self::Journal
            ),
        }
    }
}

/// What changed for one reader.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct UnreadChanges {
    /// Jobs, by Slurm's id.
    pub jobs: BTreeSet<u32>,
    /// Nodes.
    pub nodes: NodeChanges,
}

/// The changes that not all readers have read, each once, by the number of its last time.
#[derive(Clone, Debug, Default)]
pub struct ChangeLog {
    last: u64,
    numbers: BTreeMap<ChangeEntry, u64>,
    in_order: BTreeMap<u64, ChangeEntry>,
    /// The number of the last change that each reader has read.
    cursors: [u64; ChangeReader::ALL.len()],
}

impl ChangeLog {
    /// Notes a change. O(log n).
    pub fn note(&mut self, change: ChangeEntry) {
        self.last += 1;
        if let Some(before) = self.numbers.insert(change, self.last) {
            self.in_order.remove(&before);
        }
        self.in_order.insert(self.last, change);
    }

    /// Notes that these nodes are different.
    pub fn note_nodes(&mut self, nodes: &NodeChanges) {
        if nodes.all {
            self.note(ChangeEntry::AllNodes);
        }
        self.extend(nodes.some.iter().map(|node| ChangeEntry::Node(*node)));
    }

    /// What this reader has not read yet; it has from now on. O(changes since then).
    pub fn take(&mut self, reader: ChangeReader) -> UnreadChanges {
        let mut changed = UnreadChanges::default();
        for change in self.unread(reader) {
            match change {
                ChangeEntry::Job(job)
                | ChangeEntry::JobPlaces(job)
                | ChangeEntry::JobPlanning(job)
                | ChangeEntry::JobReason(job)
                | ChangeEntry::JobExclusion(job) => _ = changed.jobs.insert(job),
                ChangeEntry::Node(node) | ChangeEntry::NodeUse(node) => {
                    _ = changed.nodes.some.insert(node)
                }
                ChangeEntry::AllNodes => changed.nodes.all = true,
            }
        }
        self.skip(reader);
        changed
    }

    /// Whether there is anything that this reader has not read. O(changes since then).
    pub fn has_unread(&self, reader: ChangeReader) -> bool {
        self.unread(reader).next().is_some()
    }

    /// This reader needs nothing of what changed so far.
    pub fn skip(&mut self, reader: ChangeReader) {
        self.cursors[reader as usize] = self.last;
        let read_by_all = self.cursors.into_iter().min().unwrap_or(0);
        while let Some(first) = self
            .in_order
            .first_entry()
            .filter(|first| *first.key() <= read_by_all)
        {
            self.numbers.remove(&first.remove());
        }
    }

    fn unread(&self, reader: ChangeReader) -> impl Iterator<Item = ChangeEntry> {
        let after = self.cursors[reader as usize] + 1;
        let changes = self.in_order.range(after..).map(|(_, change)| *change);
        changes.filter(move |change| reader.follows(*change))
    }
}

impl Extend<ChangeEntry> for ChangeLog {
    fn extend<I: IntoIterator<Item = ChangeEntry>>(&mut self, changes: I) {
        changes.into_iter().for_each(|change| self.note(change));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reader_reads_what_it_follows_once() {
        let mut log = ChangeLog::default();
        log.extend([
            ChangeEntry::Job(7),
            ChangeEntry::JobPlaces(8),
            ChangeEntry::JobReason(9),
        ]);
        log.note_nodes(&NodeChanges {
            all: true,
            some: BTreeSet::from([3]),
        });
        assert_eq!(log.take(ChangeReader::Reasons).jobs, BTreeSet::from([7, 9]));
        assert_eq!(log.take(ChangeReader::Reasons), UnreadChanges::default());
        log.note(ChangeEntry::Job(7));
        assert_eq!(log.take(ChangeReader::Reasons).jobs, BTreeSet::from([7]));
        let shares = log.take(ChangeReader::Shares);
        assert_eq!(shares.jobs, BTreeSet::from([8]));
        assert!(shares.nodes.all && shares.nodes.some.contains(&3));
        assert!(log.has_unread(ChangeReader::Plan) && !log.has_unread(ChangeReader::Shares));
        log.skip(ChangeReader::Plan);
        assert_eq!(log.take(ChangeReader::Plan), UnreadChanges::default());
    }

    #[test]
    fn change_is_removed_when_every_reader_has_read_it() {
        let mut log = ChangeLog::default();
        for job in 0..1000 {
            log.note(ChangeEntry::Job(job % 10));
        }
        assert_eq!(log.in_order.len(), 10);
        for reader in ChangeReader::ALL {
            assert!(!log.in_order.is_empty());
            log.skip(reader);
        }
        assert!(log.in_order.is_empty() && log.numbers.is_empty());
    }

    #[test]
    fn every_change_has_a_reader() {
        let all = [
            ChangeEntry::Job(1),
            ChangeEntry::JobPlaces(1),
            ChangeEntry::JobPlanning(1),
            ChangeEntry::JobReason(1),
            ChangeEntry::JobExclusion(1),
            ChangeEntry::Node(1),
            ChangeEntry::NodeUse(1),
            ChangeEntry::AllNodes,
        ];
        for change in all {
            assert!(
                ChangeReader::ALL
                    .iter()
                    .any(|reader| reader.follows(change))
            );
        }
    }
}
