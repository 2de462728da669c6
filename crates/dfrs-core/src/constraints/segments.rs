//! What jobs need where, by neighbouring nodes.

use std::ops::Range;

use super::Placed;

/// Neighbouring nodes on each of which a job needs the same amount of a fluid resource.
pub(super) struct Segment {
    pub(super) nodes: Range<u32>,
    /// 0: CPU, and then the further fluid resources.
    pub(super) resource: u32,
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
    /// Number of fluid resources, CPU included.
    pub(super) resources: usize,
}

impl Segments {
    /// O(runs).
    pub(super) fn of(placed: &[Placed<'_>], nodes: usize) -> Self {
        let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        let mut all = Vec::with_capacity(2 * placed.len());
        let mut ends = Vec::with_capacity(placed.len());
        let mut further = 0;
        for placed in placed {
            further = further.max(placed.job.fluid.len());
            list(placed, nodes, &mut all);
            ends.push(all.len());
        }
        Self {
            all,
            ends,
            resources: 1 + further,
        }
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
    let further = job.fluid.len();
    let mut add = |nodes: Range<u32>, resource, need| {
        if need > 0 && !nodes.is_empty() {
            all.push(Segment {
                nodes,
                resource,
                need,
            });
        }
    };
    if further == 0 {
        let mut runs = mapping.iter().peekable();
        while let Some(run) = runs.next() {
            let mut end = run.node.0.saturating_add(1);
            while runs
                .next_if(|next| next.node.0 == end && next.tasks == run.tasks)
                .is_some()
            {
                end = end.saturating_add(1);
            }
            add(run.node.0..end.min(nodes), 0, job.cpu.times(run.tasks).0);
        }
        return;
    }
    for run in mapping.iter().copied().filter(|run| run.node.0 < nodes) {
        let node = run.node.0..run.node.0 + 1;
        add(node.clone(), 0, job.cpu_of(run).0);
        for (resource, number) in (0..further).zip(1..) {
            add(node.clone(), number, job.fluid_of(run, resource).0);
        }
    }
}
