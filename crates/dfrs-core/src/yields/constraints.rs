//! The linear constraints on yields.

use crate::model::Node;

use super::Placed;

/// A job's place among those that yields are found for, or a constraint's place among constraints,
/// and the need of the job's tasks in the constraint, all together.
pub(super) type Term = (u32, u64);

/// Stands for the constraint of what never binds.
const NEVER_BINDS: u32 = u32::MAX;

/// The constraints that can bind: nodes whose needs together exceed their capacity. Sparse, by
/// constraint and by job.
pub(super) struct Constraints {
    /// What each constraint's yields times needs may add up to.
    pub(super) capacity: Vec<u64>,
    members: Vec<Term>,
    /// End of each constraint's part of `members`.
    member_ends: Vec<usize>,
    places: Vec<Term>,
    /// End of each job's part of `places`.
    place_ends: Vec<usize>,
}

impl Constraints {
    /// O(nodes + runs).
    pub(super) fn new(nodes: &[Node], placed: &[Placed<'_>]) -> Self {
        let resources = 1 + placed
            .iter()
            .map(|placed| placed.job.fluid_resources())
            .max()
            .unwrap_or(0);
        let mut total = vec![0u64; nodes.len() * resources];
        let mut needs = 0;
        for placed in placed {
            each_need(placed, nodes.len(), resources, |at, need| {
                total[at] = total[at].saturating_add(need);
                needs += 1;
            });
        }
        let mut constraints = Self {
            capacity: Vec::new(),
            members: Vec::new(),
            member_ends: Vec::new(),
            places: Vec::new(),
            place_ends: Vec::with_capacity(placed.len()),
        };
        let binding = constraints.find_binding(nodes, resources, &total);
        if constraints.capacity.is_empty() {
            constraints.place_ends.resize(placed.len(), 0);
            return constraints;
        }
        constraints.places.reserve_exact(needs);
        let mut counts = vec![0; constraints.capacity.len()];
        for placed in placed {
            each_need(placed, nodes.len(), resources, |at, need| {
                let row = binding[at];
                if row != NEVER_BINDS {
                    constraints.places.push((row, need));
                    counts[row as usize] += 1;
                }
            });
            constraints.place_ends.push(constraints.places.len());
        }
        constraints.list_members(&counts);
        constraints
    }

    /// Notes the capacities that can bind, and says which constraint each of them is.
    fn find_binding(&mut self, nodes: &[Node], resources: usize, total: &[u64]) -> Vec<u32> {
        let mut rows = Vec::with_capacity(total.len());
        for (node, totals) in nodes.iter().zip(total.chunks_exact(resources)) {
            for (resource, total) in totals.iter().enumerate() {
                let capacity = match resource {
                    0 => node.cpu.0,
                    resource => node.fluid.get(resource - 1).map_or(0, |amount| amount.0),
                };
                if *total > capacity {
                    rows.push(u32::try_from(self.capacity.len()).unwrap_or(NEVER_BINDS));
                    self.capacity.push(capacity);
                } else {
                    rows.push(NEVER_BINDS);
                }
            }
        }
        rows
    }

    /// Fills `members` from `places`.
    fn list_members(&mut self, counts: &[usize]) {
        let mut next = Vec::with_capacity(counts.len());
        let mut end = 0;
        for count in counts {
            next.push(end);
            end += count;
            self.member_ends.push(end);
        }
        self.members = vec![(0, 0); end];
        let mut start = 0;
        for (job, end) in (0u32..).zip(&self.place_ends) {
            for (row, need) in &self.places[start..*end] {
                let slot = &mut next[*row as usize];
                self.members[*slot] = (job, *need);
                *slot += 1;
            }
            start = *end;
        }
    }

    /// Number of constraints.
    pub(super) const fn len(&self) -> usize {
        self.capacity.len()
    }

    /// Number of jobs.
    pub(super) const fn jobs(&self) -> usize {
        self.place_ends.len()
    }

    /// The jobs of a constraint.
    #[inline]
    pub(super) fn members(&self, row: usize) -> &[Term] {
        let start = if row == 0 {
            0
        } else {
            self.member_ends[row - 1]
        };
        &self.members[start..self.member_ends[row]]
    }

    /// The constraints of a job.
    #[inline]
    pub(super) fn places(&self, job: usize) -> &[Term] {
        let start = if job == 0 {
            0
        } else {
            self.place_ends[job - 1]
        };
        &self.places[start..self.place_ends[job]]
    }

    /// Lowers yields that rounding has raised above what there is: those of each constraint that is
    /// exceeded, in proportion. O(runs).
    #[expect(clippy::cast_precision_loss, reason = "shares are real numbers")]
    pub(super) fn keep(&self, yields: &mut [f64]) {
        for (row, capacity) in self.capacity.iter().enumerate() {
            let members = || self.members(row).iter();
            let used: f64 = members()
                .map(|(job, need)| yields[*job as usize] * *need as f64)
                .sum();
            let capacity = *capacity as f64;
            if used > capacity {
                for (job, _) in members() {
                    yields[*job as usize] *= capacity / used;
                }
            }
        }
    }

    /// 1/max(1, Λ), Λ being the greatest load: the largest yield that all jobs can have.
    #[expect(clippy::cast_precision_loss, reason = "shares are real numbers")]
    pub(super) fn uniform(&self) -> f64 {
        let shares = (0..self.len()).map(|row| {
            let total: u128 = self
                .members(row)
                .iter()
                .map(|(_, need)| u128::from(*need))
                .sum();
            self.capacity[row] as f64 / total as f64
        });
        shares.fold(1.0, f64::min)
    }
}

/// Calls back for each node and fluid resource that the job needs, with their place among all and the
/// need of its tasks there.
#[inline]
fn each_need(
    placed: &Placed<'_>,
    nodes: usize,
    resources: usize,
    mut each: impl FnMut(usize, u64),
) {
    let Placed { job, mapping } = placed;
    let further = job.fluid_resources();
    if further == 0 && job.has_one_kind() && mapping.has_one_kind() {
        for run in mapping.iter().filter(|run| run.node.index() < nodes) {
            let need = job.cpu.times(run.tasks).0;
            if need > 0 {
                each(run.node.index() * resources, need);
            }
        }
        return;
    }
    for part in mapping.parts().filter(|part| part.node.index() < nodes) {
        let first = part.node.index() * resources;
        let mut need = |at, need: u64| {
            if need > 0 {
                each(at, need);
            }
        };
        need(first, job.cpu_of(part).0);
        for resource in 0..further {
            need(first + 1 + resource, job.fluid_of(part, resource).0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, JobId, Mapping, NodeIndex};
    use crate::units::{Bytes, Cores, Time};

    #[test]
    fn only_yields_of_what_is_exceeded_are_lowered() {
        let nodes = [100, 300].map(|cpu| Node::new("", Cores(cpu), Bytes(1)));
        let jobs = [(0, 100), (0, 100), (1, 400)].map(|(node, cpu)| {
            let job = Job::new(JobId(0), Time(0), 1, Cores(cpu), Bytes(0));
            (job, Mapping::from_tasks([NodeIndex(node)]))
        });
        let placed: Vec<Placed<'_>> = jobs
            .iter()
            .map(|(job, mapping)| Placed { job, mapping })
            .collect();
        let mut yields = [1.0, 0.25, 0.5];
        Constraints::new(&nodes, &placed).keep(&mut yields);
        let expected = [0.8, 0.2, 0.5];
        let close = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-12;
        assert!(yields.iter().zip(&expected).all(close), "{yields:?}");
    }
}
