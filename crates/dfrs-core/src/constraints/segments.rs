//! What jobs need where, by neighbouring nodes.

use std::ops::Range;

use super::Placed;

/// Neighbouring nodes on each of which a job needs the same CPU.
pub(super) struct Segment {
    pub(super) nodes: Range<u32>,
    /// The need of all tasks on one of the nodes, above 0.
    pub(super) need: u64,
}

impl Segment {
    /// The nodes' positions in the cluster.
    #[inline]
    pub(super) const fn nodes(&self) -> Range<usize> {
        self.nodes.start as usize..self.nodes.end as usize
    }
}

/// What some jobs need, job by job. Runs on nodes that do not exist are left out.
pub(super) struct Segments {
    all: Vec<Segment>,
    /// End of each job's part of `all`.
    ends: Vec<usize>,
}

impl Segments {
    /// O(runs).
    pub(super) fn of(placed: &[Placed<'_>], nodes: usize) -> Self {
        let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        let mut all = Vec::with_capacity(2 * placed.len());
        let mut ends = Vec::with_capacity(placed.len());
        for placed in placed {
            list(placed, nodes, &mut all);
            ends.push(all.len());
        }
        Self { all, ends }
    }

    /// Number of segments.
    pub(super) const fn len(&self) -> usize {
        self.all.len()
    }

    /// The segments of all jobs.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, Segment> {
        self.all.iter()
    }

    /// The segments of each job.
    pub(super) fn by_job(&self) -> impl Iterator<Item = &[Segment]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let job = &self.all[start..*end];
            start = *end;
            job
        })
    }
}

/// Adds what one job needs.
fn list(placed: &Placed<'_>, nodes: u32, all: &mut Vec<Segment>) {
    let Placed { job, mapping, .. } = placed;
    let mut runs = mapping.iter().peekable();
    while let Some(run) = runs.next() {
        let mut end = run.node.0.saturating_add(1);
        while runs
            .next_if(|next| next.node.0 == end && next.tasks == run.tasks)
            .is_some()
        {
            end = end.saturating_add(1);
        }
        let nodes = run.node.0..end.min(nodes);
        let need = job.cpu.times(run.tasks).0;
        if need > 0 && !nodes.is_empty() {
            all.push(Segment { nodes, need });
        }
    }
}
