//! The linear constraints on yields.

mod rows;
mod segments;

use crate::model::{Job, Mapping, Node};
use crate::units::Span;
use rows::Rows;
use segments::Segments;

/// A job and where its tasks are.
#[derive(Clone, Copy)]
pub struct Placed<'a> {
    /// The job.
    pub job: &'a Job,
    /// The nodes of its tasks.
    pub mapping: &'a Mapping,
    /// The virtual time that it has there.
    pub virtual_time: Span,
}

impl<'a> Placed<'a> {
    /// A job that is there already, or keeps its work on the way there.
    pub(crate) fn new(job: &'a Job, mapping: &'a Mapping) -> Self {
        Self {
            job,
            mapping,
            virtual_time: job.virtual_time,
        }
    }
}

/// A job's place among those that yields are found for, or a constraint's place among constraints,
/// and the need of the job's tasks in the constraint, all together.
pub type Term = (u32, u64);

/// The constraints that can bind: nodes whose needs together exceed their capacity, adjacent nodes
/// that bind together being one. Sparse, by constraint and by job.
pub struct Constraints {
    /// What each constraint's yields times needs may add up to.
    capacity: Vec<u64>,
    /// How many nodes each constraint stands for.
    nodes: Vec<u32>,
    members: Vec<Term>,
    /// End of each constraint's part of `members`.
    member_ends: Vec<usize>,
    places: Vec<Term>,
    /// End of each job's part of `places`.
    place_ends: Vec<usize>,
}

impl Constraints {
    /// O(nodes + runs).
    pub(crate) fn new(nodes: &[Node], placed: &[Placed<'_>]) -> Self {
        let segments = Segments::of(placed, nodes.len());
        let rows = Rows::of(nodes, &segments);
        let mut constraints = Self {
            members: Vec::new(),
            member_ends: vec![0; rows.capacity.len()],
            places: Vec::new(),
            place_ends: Vec::with_capacity(placed.len()),
            capacity: Vec::new(),
            nodes: Vec::new(),
        };
        if rows.capacity.is_empty() {
            constraints.place_ends.resize(placed.len(), 0);
            return constraints;
        }
        constraints.list_places(&segments, &rows);
        constraints.list_members();
        constraints.capacity = rows.capacity;
        constraints.nodes = rows.nodes;
        constraints
    }

    /// Fills `places`, and counts each constraint's jobs in `member_ends`.
    fn list_places(&mut self, segments: &Segments, rows: &Rows) {
        self.places.reserve_exact(rows.max_terms(segments));
        for job in segments.by_job() {
            for segment in job {
                for row in rows.of_segment(segment) {
                    self.places.push((row, segment.need));
                    self.member_ends[row as usize] += 1;
                }
            }
            self.place_ends.push(self.places.len());
        }
    }

    /// Fills `members` from `places`.
    fn list_members(&mut self) {
        // At first where each part starts; every member moves it, and at last it is where the part
        // ends.
        let mut total = 0;
        for end in &mut self.member_ends {
            let count = std::mem::replace(end, total);
            total += count;
        }
        self.members = vec![(0, 0); total];
        let mut start = 0;
        for (job, end) in (0u32..).zip(&self.place_ends) {
            for (row, need) in &self.places[start..*end] {
                let next = &mut self.member_ends[*row as usize];
                self.members[*next] = (job, *need);
                *next += 1;
            }
            start = *end;
        }
    }

    /// What is left when each job has so much of its needs: needs become what it misses, and
    /// capacities what the others leave. Shares are from 0 to 1 and fit together. O(runs).
    pub(crate) fn take(&mut self, shares: &[f64]) {
        for row in 0..self.rows() {
            let taken = |(job, need): &Term| part(*need, shares[*job as usize]);
            let taken: u64 = self.members(row).iter().map(taken).sum();
            self.capacity[row] = self.capacity[row].saturating_sub(taken);
        }
        for (job, need) in &mut self.members {
            *need -= part(*need, shares[*job as usize]);
        }
        let mut start = 0;
        for (share, end) in shares.iter().zip(&self.place_ends) {
            for (_, need) in &mut self.places[start..*end] {
                *need -= part(*need, *share);
            }
            start = *end;
        }
    }

    /// What each constraint's yields times needs may add up to.
    // Precise enough: shares are real numbers.
    pub(crate) fn capacities(&self) -> impl Iterator<Item = f64> + '_ {
        self.capacity.iter().map(|capacity| *capacity as f64)
    }

    /// What the constraint's yields times needs may add up to.
    pub fn capacity(&self, row: usize) -> u64 {
        self.capacity[row]
    }

    /// Number of constraints.
    pub const fn rows(&self) -> usize {
        self.capacity.len()
    }

    /// Number of jobs.
    pub const fn jobs(&self) -> usize {
        self.place_ends.len()
    }

    /// How many nodes the constraint stands for.
    pub fn nodes(&self, row: usize) -> usize {
        self.nodes[row] as usize
    }

    /// The jobs of a constraint.
    #[inline]
    pub fn members(&self, row: usize) -> &[Term] {
        part_of(&self.members, &self.member_ends, row)
    }

    /// The constraints of a job.
    #[inline]
    pub fn places(&self, job: usize) -> &[Term] {
        part_of(&self.places, &self.place_ends, job)
    }

    /// Lowers yields that rounding has raised above what there is: those of each node that is
    /// exceeded, in proportion. O(runs).
    // Precise enough: shares are real numbers.
    pub fn keep(&self, yields: &mut [f64]) {
        for (row, capacity) in self.capacity.iter().enumerate() {
            let members = || self.members(row).iter();
            let capacity = *capacity as f64;
            // Once for each node, because what was lowered is rounded too.
            for _ in 0..self.nodes(row) {
                let used: f64 = members()
                    .map(|(job, need)| yields[*job as usize] * *need as f64)
                    .sum();
                if used <= capacity {
                    break;
                }
                for (job, _) in members() {
                    yields[*job as usize] *= capacity / used;
                }
            }
        }
    }

    /// 1/max(1, Λ), Λ being the greatest load: the largest yield that all jobs can have.
    pub fn uniform(&self) -> f64 {
        let shares = (0..self.rows()).map(|row| self.equal_share(row));
        shares.fold(1.0, f64::min)
    }

    /// The largest yield that all jobs of the constraint can have. O(jobs of the constraint).
    // Precise enough: shares are real numbers.
    pub(crate) fn equal_share(&self, row: usize) -> f64 {
        let members = self.members(row).iter();
        let total: u128 = members.map(|(_, need)| u128::from(*need)).sum();
        self.capacity[row] as f64 / total as f64
    }
}

/// The part at this index, of those that end there.
#[inline]
fn part_of<'a>(all: &'a [Term], ends: &[usize], index: usize) -> &'a [Term] {
    let start = index.checked_sub(1).map_or(0, |before| ends[before]);
    &all[start..ends[index]]
}

/// This part of a need, rounded up to a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "no more than the need"
)]
fn part(need: u64, share: f64) -> u64 {
    ((need as f64 * share).ceil() as u64).min(need)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, JobId, Mapping, NodeIndex, Run};
    use crate::units::{Bytes, Cores, Time};
    use proptest::prelude::*;

    fn nodes() -> impl Strategy<Value = Vec<Node>> {
        let capacity = prop_oneof![4 => Just(2u64), 1 => 0u64..4];
        proptest::collection::vec(capacity, 1..9).prop_map(|capacities| {
            let node = |cpu| Node::new("", Cores(cpu), Bytes(1));
            capacities.into_iter().map(node).collect()
        })
    }

    /// Jobs with two tasks on one of their nodes at most; some nodes do not exist.
    fn jobs() -> impl Strategy<Value = Vec<(Job, Mapping)>> {
        let place = (0u32..10, 1u32..7, 0u32..10);
        let job = (0u64..4, place).prop_map(|(cpu, (first, count, twice))| {
            let job = Job::new(JobId(0), Time(0), 1, Cores(cpu), Bytes(0));
            let run = |node| Run {
                node: NodeIndex(node),
                tasks: 1 + u32::from(node == twice),
            };
            (job, (first..first + count).map(run).collect())
        });
        proptest::collection::vec(job, 0..6)
    }

    /// The constraint of each node that can bind: its capacity and its jobs.
    fn by_node(nodes: &[Node], placed: &[Placed<'_>]) -> Vec<(u64, Vec<Term>)> {
        let mut found = Vec::new();
        for (index, node) in (0u32..).zip(nodes) {
            let members: Vec<Term> = (0u32..)
                .zip(placed)
                .map(|(place, Placed { job, mapping, .. })| {
                    let tasks = mapping.tasks_on(NodeIndex(index));
                    (place, job.cpu.times(tasks).0)
                })
                .filter(|(_, need)| *need > 0)
                .collect();
            if members.iter().map(|(_, need)| need).sum::<u64>() > node.cpu.0 {
                found.push((node.cpu.0, members));
            }
        }
        found.sort();
        found
    }

    proptest! {
        #[test]
        fn every_node_that_can_bind_is_in_some_constraint(nodes in nodes(), jobs in jobs()) {
            let placed: Vec<Placed<'_>> = jobs
                .iter()
                .map(|(job, mapping)| Placed::new(job, mapping))
                .collect();
            let constraints = Constraints::new(&nodes, &placed);
            let mut found = Vec::new();
            let mut terms = Vec::new();
            for (number, row) in (0u32..).zip(0..constraints.rows()) {
                let members = constraints.members(row).to_vec();
                terms.extend(members.iter().map(|(job, need)| (*job, number, *need)));
                let each = (constraints.capacity[row], members);
                found.extend(std::iter::repeat_n(each, constraints.nodes(row)));
            }
            found.sort();
            prop_assert_eq!(found, by_node(&nodes, &placed));
            terms.sort_unstable();
            let places = (0u32..).zip(&jobs).flat_map(|(job, _)| {
                let places = constraints.places(job as usize).iter();
                places.map(move |(row, need)| (job, *row, *need))
            });
            prop_assert_eq!(terms, places.collect::<Vec<_>>());
        }
    }

    #[test]
    fn adjacent_nodes_share_a_constraint_when_needs_are_equal() {
        let count = |capacities: &[u64], runs: &[(u32, u32)]| {
            let nodes: Vec<Node> = capacities
                .iter()
                .map(|cpu| Node::new("", Cores(*cpu), Bytes(1)))
                .collect();
            let job = Job::new(JobId(0), Time(0), 1, Cores(4), Bytes(0));
            let run = |(node, tasks): &(u32, u32)| Run {
                node: NodeIndex(*node),
                tasks: *tasks,
            };
            let mapping = runs.iter().map(run).collect();
            let placed = [Placed::new(&job, &mapping)];
            Constraints::new(&nodes, &placed).nodes
        };
        assert_eq!(count(&[1; 4], &[(0, 1), (1, 1), (2, 1), (3, 1)]), [4]);
        assert_eq!(count(&[1; 4], &[(0, 1), (1, 1), (2, 2), (3, 2)]), [2, 2]);
        assert_eq!(count(&[1; 4], &[(0, 1), (1, 1), (3, 1)]), [2, 1]);
        assert_eq!(
            count(&[1, 2, 2, 5], &[(0, 1), (1, 1), (2, 1), (3, 1)]),
            [1, 2]
        );
    }

    #[test]
    fn only_yields_on_exceeded_nodes_are_lowered() {
        let nodes = [100, 300].map(|cpu| Node::new("", Cores(cpu), Bytes(1)));
        let jobs = [(0, 100), (0, 100), (1, 400)].map(|(node, cpu)| {
            let job = Job::new(JobId(0), Time(0), 1, Cores(cpu), Bytes(0));
            (job, Mapping::from_tasks([NodeIndex(node)]))
        });
        let placed: Vec<Placed<'_>> = jobs
            .iter()
            .map(|(job, mapping)| Placed::new(job, mapping))
            .collect();
        let mut yields = [1.0, 0.25, 0.5];
        Constraints::new(&nodes, &placed).keep(&mut yields);
        let expected = [0.8, 0.2, 0.5];
        let close = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-12;
        assert!(yields.iter().zip(&expected).all(close), "{yields:?}");
    }
}
