//! MCB8: task mapping as vector packing (TPDS, Section 4.3; the heuristic is Leinberger's,
//! described in IPDPS 2010, Section III-B).
//!
//! **Problem.** At a fixed yield every task has a CPU requirement (yield times need) and a memory
//! requirement. Nodes are filled one after the other. Jobs are in two lists, those that require
//! more of a node's CPU than of its memory and the others, each descending by the larger
//! requirement. On each node the next task comes from the list that goes against the node's
//! imbalance (the CPU list while its CPU is used no more than its memory), or from the other list
//! if none of that one fits; it is a task of the first job of the list that fits.
//!
//! **Method.** Jobs of equal requirements are adjacent in both lists, so they are packed as one
//! group. The first group that fits is found by binary search along the sorted requirement and by a
//! tree of minima along the other one. When a node has been filled, as many equal nodes after it
//! are filled the same way at once as there are tasks for: they would be filled so one by one. What
//! remains is near-linear in nodes plus jobs.

use std::cell::OnceCell;

#[cfg(test)]
use crate::model::NodeIndex;
use crate::model::{Cluster, Job, JobId, Mapping};
use crate::policy::LoadCeiling;
use crate::stop::Stop;
use crate::units::{Cores, Yield};
use crate::usage::Usage;

mod bins;
mod fill;
mod groups;
mod list;
mod memory;
#[cfg(test)]
#[path = "packing/tests/reference.rs"]
mod reference;
mod required;

use bins::Bins;
use fill::{Filler, PackedNodes};
use groups::{Groups, LARGEST_CPU};
pub(crate) use memory::MemoryDemand;
pub(crate) use required::Pinned;

/// A yield as an exact fraction, so that whether tasks fit never depends on rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fraction {
    numerator: u64,
    denominator: u64,
}

impl Fraction {
    /// Nothing.
    pub(crate) const ZERO: Self = Self {
        numerator: 0,
        denominator: 1,
    };
    /// All.
    pub(crate) const ONE: Self = Self {
        numerator: 1,
        denominator: 1,
    };
    /// Halvings of [0, 1] until the gap is at most 0.01, the papers' accuracy: 1/128.
    const STEPS: u64 = 128;

    const fn new(numerator: u64, denominator: u64) -> Self {
        Self {
            numerator,
            denominator,
        }
    }

    /// The yield that all jobs can have on a node whose load is at this ceiling.
    pub(crate) fn least_yield(ceiling: LoadCeiling) -> Self {
        match u64::from(u32::from(ceiling)) {
            100 => Self::ONE,
            percent => Self::new(100, percent.min(Self::LARGEST)),
        }
    }

    /// Denominators stay below this, so that amounts below 2^40 can be multiplied by them.
    const LARGEST: u64 = 1 << 22;

    // Precise enough: both parts are below 2^22.
    pub(crate) fn as_yield(self) -> Yield {
        Yield(self.numerator as f64 / self.denominator as f64)
    }
}

/// The nodes that take tasks, once they are known.
pub(crate) type BinsOnce = OnceCell<Bins>;

/// What MCB8 maps, and onto what.
pub(crate) struct Packing<'a> {
    pub(crate) cluster: &'a Cluster,
    /// What is pinned, counted in.
    pub(crate) pinned: &'a Usage,
    /// Sum of the needs on each node of jobs that a grace period pins. If these alone need more CPU
    /// than the node has at a yield, that yield is not feasible. Jobs that could not move anyway do
    /// not count: no packing could help them.
    pub(crate) grace: &'a [Cores],
    /// What is mapped. All start unmapped.
    pub(crate) jobs: &'a [&'a Job],
    /// No mapping is looked for at a yield below this.
    pub(crate) least: Fraction,
    /// The nodes, found once for several packings of which `cluster` and `pinned` are the same and
    /// the jobs are some of those of the first.
    pub(crate) bins: &'a BinsOnce,
    /// When nothing is packed any more.
    pub(crate) stop: &'a Stop<'a>,
}

impl Packing<'_> {
    /// The mapping of every job, in the order of `jobs`, at the highest yield for which MCB8 finds
    /// one, and that yield: 1, else found by bisection of [0, 1] to 1/128, else the least. `None`
    /// if there is none even then.
    ///
    /// O((nodes + groups log groups) × kinds of nodes + jobs log jobs + runs) for each of at most 9
    /// yields, groups being jobs of equal requirements.
    pub(crate) fn search(&self) -> Option<(Fraction, Vec<Mapping>)> {
        let needs: Vec<u64> = self
            .jobs
            .iter()
            .map(|job| job.cpu.0.min(LARGEST_CPU))
            .collect();
        let groups = Groups::new(self.jobs, &needs);
        // What rules of other jobs set apart is filled one by one, with the same result.
        let bins = self.bins.get_or_init(|| {
            let load = |node| self.pinned.load(node);
            Bins::new(self.cluster, self.pinned, load, self.jobs)
        });
        let mut filler = Filler::new(self, &groups, bins);
        let mut best: Option<(Fraction, PackedNodes)> = None;
        bisect(self.least, |at| {
            let feasible = self.allows(self.grace, at) && filler.pack(at);
            if feasible {
                let found = best.get_or_insert_with(|| (at, PackedNodes::default()));
                found.0 = at;
                filler.swap_found(&mut found.1);
            }
            feasible
        });
        best.map(|(at, found)| (at, found.mappings(&groups, bins, self.jobs)))
    }

    /// Whether no node's grace jobs alone need more CPU than it has at this yield.
    fn allows(&self, grace: &[Cores], at: Fraction) -> bool {
        grace.iter().zip(&self.cluster.nodes).all(|(needed, node)| {
            let needed = u128::from(needed.0) * u128::from(at.numerator);
            needed <= u128::from(node.cpu.0) * u128::from(at.denominator)
        })
    }
}

/// Tries yields in the order of the search; the last feasible one is the answer.
fn bisect(least: Fraction, mut feasible: impl FnMut(Fraction) -> bool) {
    if feasible(Fraction::ONE) {
        return;
    }
    let (mut low, mut high) = (0, Fraction::STEPS);
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        let allowed = middle * least.denominator >= least.numerator * Fraction::STEPS;
        if allowed && feasible(Fraction::new(middle, Fraction::STEPS)) {
            low = middle;
        } else if allowed {
            high = middle;
        } else {
            break;
        }
    }
    if low == 0 {
        feasible(least);
    }
}

/// Maps all jobs of the cluster from the beginning by MCB8, wherever they are now, and returns the
/// highest yield for which it found a mapping (to 1/128; TPDS, Section 4.3) and the mapping of
/// every job, ascending by job. Mobility, grace periods and priorities play no part: this is the
/// bare algorithm that a remap is built on. Layouts, held memory and the states of nodes are
/// respected.
///
/// Where nodes differ, the fractions that MCB8 compares are those of the node that is being filled.
///
/// `None` if MCB8 places not all of them, whatever the yield; it is a heuristic, so that another
/// mapping may exist. O((nodes + jobs log jobs) × kinds of nodes + runs) for each of at most 9
/// yields. The yields that the mapping then allows, which may be higher, are those of
/// [`crate::yields_of`].
pub fn pack_all(cluster: &Cluster) -> Option<(Yield, Vec<(JobId, Mapping)>)> {
    let jobs: Vec<&Job> = cluster.jobs.iter().collect();
    let packing = Packing {
        cluster,
        pinned: &Usage::empty(cluster, None),
        grace: &[],
        jobs: &jobs,
        least: Fraction::ZERO,
        bins: &BinsOnce::default(),
        stop: &Stop::never(),
    };
    let (at, mappings) = packing.search()?;
    Some((
        at.as_yield(),
        jobs.iter().map(|job| job.id).zip(mappings).collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Layout, Node, NodeState, Run};
    use crate::units::{Amount, Bytes, Time};
    use proptest::prelude::*;

    /// As many cases as `PROPTEST_CASES` says, else 1000.
    fn cases() -> u32 {
        let given = std::env::var("PROPTEST_CASES").ok();
        given.and_then(|cases| cases.parse().ok()).unwrap_or(1000)
    }

    fn amount(max: u64) -> impl Strategy<Value = u64> {
        // Few distinct values give ties and groups, many give neither.
        prop_oneof![
            Just(0),
            Just(max / 10),
            Just(max / 4),
            Just(max / 2),
            Just(max),
            0..max + max / 10
        ]
    }

    fn node(plain: bool) -> BoxedStrategy<Node> {
        let simple =
            prop_oneof![3 => Just((100, 100)), 1 => Just((400, 100)), 1 => (0u64..300, 0u64..300)];
        if plain {
            return simple
                .prop_map(|(cpu, memory)| Node::new("", Cores(cpu), Bytes(memory)))
                .boxed();
        }
        (
            simple,
            prop_oneof![5 => Just(0u64), 1 => 0u64..60],
            0u8..8,
            0u64..4,
        )
            .prop_map(|((cpu, memory), held, state, further)| Node {
                held_memory: Bytes(held),
                state: if state == 0 {
                    NodeState::Draining
                } else {
                    NodeState::Up
                },
                rigid: vec![Amount(further)],
                ..Node::new("", Cores(cpu), Bytes(memory))
            })
            .boxed()
    }

    fn job(plain: bool, nodes: u32) -> BoxedStrategy<Job> {
        let tasks = prop_oneof![4 => Just(1u32), 3 => 1u32..8, 1 => 1u32..40];
        let simple = (tasks, amount(100), amount(100)).prop_map(|(tasks, cpu, memory)| {
            Job::new(JobId(0), Time(0), tasks, Cores(cpu), Bytes(memory))
        });
        if plain {
            return simple.boxed();
        }
        let eligible =
            proptest::collection::btree_set((0..nodes).prop_map(NodeIndex), 0..=nodes as usize);
        let layout = (
            proptest::option::weighted(0.2, 0u32..4),
            proptest::option::weighted(0.3, 0u32..5),
            proptest::option::weighted(0.2, eligible),
        );
        let further = (
            prop_oneof![4 => Just(0u64), 1 => 0u64..40],
            prop_oneof![4 => Just(0u64), 1 => 0u64..3],
            prop_oneof![4 => Just(0u64), 1 => 0u64..3],
        );
        (simple, layout, further)
            .prop_map(
                |(
                    mut job,
                    (max_tasks_per_node, max_nodes, eligible),
                    (per_node, further, once),
                )| {
                    let eligible = eligible.map(|nodes| nodes.into_iter().collect());
                    job.layout = Layout {
                        max_tasks_per_node,
                        max_nodes,
                        min_nodes: None,
                        together: None,
                        preferred: None,
                        few_of: None,
                        eligible,
                    };
                    job.memory_per_node = Bytes(per_node);
                    if further > 0 {
                        job.rigid = vec![Amount(further)];
                    }
                    if once > 0 {
                        job.rigid_per_node = vec![Amount(once)];
                    }
                    job
                },
            )
            .boxed()
    }

    /// A cluster, jobs to pack, and jobs that are pinned with one task each on the given node.
    fn instance(plain: bool) -> impl Strategy<Value = (Cluster, Vec<(Job, u32)>)> {
        (1u32..14).prop_flat_map(move |count| {
            let nodes = proptest::collection::vec(node(plain), count as usize);
            let repeated = (nodes, 1usize..4).prop_map(|(nodes, times)| {
                nodes
                    .into_iter()
                    .flat_map(|node| std::iter::repeat_n(node, times))
                    .collect::<Vec<_>>()
            });
            let jobs = proptest::collection::vec(job(plain, count), 0..30);
            let pinned = proptest::collection::vec((job(true, count), 0..count), 0..4);
            let ids = Just((0..30u64).collect::<Vec<_>>()).prop_shuffle();
            (repeated, jobs, pinned, ids).prop_map(|(nodes, mut jobs, pinned, ids)| {
                for (job, id) in jobs.iter_mut().zip(ids) {
                    job.id = JobId(id);
                }
                (Cluster { nodes, jobs }, pinned)
            })
        })
    }

    fn agree(
        cluster: &Cluster,
        pins: &[(Job, u32)],
        least: Fraction,
    ) -> Result<bool, TestCaseError> {
        let mut pinned = Usage::empty(cluster, None);
        let mut grace = vec![Cores::ZERO; cluster.nodes.len()];
        for (job, node) in pins {
            let run = Run {
                node: NodeIndex(*node),
                tasks: 1,
            };
            pinned.add(job, &Mapping::new(vec![run]));
            grace[*node as usize] += job.cpu;
        }
        let jobs: Vec<&Job> = cluster.jobs.iter().collect();
        let packing = Packing {
            cluster,
            pinned: &pinned,
            grace: &grace,
            jobs: &jobs,
            least,
            bins: &BinsOnce::default(),
            stop: &Stop::never(),
        };
        let fast = packing.search();
        prop_assert_eq!(&fast, &packing.plain_search());
        Ok(fast.is_some())
    }

    /// Nodes of 100 CPU and 100 memory, and one job for each (tasks, CPU, memory).
    fn simple(nodes: usize, jobs: &[(u32, u64, u64)]) -> Cluster {
        let jobs = (0..).zip(jobs).map(|(id, (tasks, cpu, memory))| {
            Job::new(JobId(id), Time(0), *tasks, Cores(*cpu), Bytes(*memory))
        });
        Cluster {
            nodes: vec![Node::new("", Cores(100), Bytes(100)); nodes],
            jobs: jobs.collect(),
        }
    }

    #[test]
    fn the_yield_that_is_found_is_reported() {
        let at =
            |nodes, jobs: &[(u32, u64, u64)]| pack_all(&simple(nodes, jobs)).map(|(at, _)| at.0);
        assert_eq!(at(2, &[(2, 100, 10)]), Some(1.0));
        assert_eq!(at(2, &[(4, 100, 10)]), Some(0.5));
        assert_eq!(at(1, &[(3, 100, 10)]), Some(42.0 / 128.0));
        // Too little CPU for any yield of the bisection, but memory for all.
        assert_eq!(at(1, &[(1000, 100, 0)]), Some(0.0));
        assert_eq!(at(2, &[(3, 1, 60)]), None);
        assert_eq!(at(0, &[(1, 1, 1)]), None);
        assert_eq!(at(0, &[(1, 0, 0)]), None);
        assert_eq!(at(0, &[]), Some(1.0));
    }

    #[test]
    fn a_node_is_filled_against_its_imbalance() {
        // CPU 60/memory 20 first, then 30/70 against it, and what is left over goes to node 1.
        let cluster = simple(2, &[(1, 60, 20), (1, 30, 70), (1, 50, 10), (1, 10, 40)]);
        let (at, found) = pack_all(&cluster).unwrap();
        let nodes: Vec<u32> = found
            .iter()
            .map(|(_, mapping)| mapping.runs()[0].node.0)
            .collect();
        assert_eq!((at, nodes), (Yield::ONE, vec![0, 0, 1, 1]));
    }

    #[test]
    fn ceilings_bound_the_least_yield() {
        assert_eq!(
            Fraction::least_yield(LoadCeiling::from_percent(0)),
            Fraction::ONE
        );
        assert_eq!(
            Fraction::least_yield(LoadCeiling::from_percent(100)),
            Fraction::ONE
        );
        assert_eq!(
            Fraction::least_yield(LoadCeiling::from_percent(101)),
            Fraction::new(100, 101)
        );
        assert_eq!(
            Fraction::least_yield(LoadCeiling::from_percent(u32::MAX)),
            Fraction::new(100, 1 << 22)
        );
    }

    #[test]
    fn yields_are_tried_from_1_by_bisection_and_then_the_least() {
        let tried = |least: Fraction, feasible: u64| {
            let mut tried = Vec::new();
            bisect(least, |at| {
                tried.push((at.numerator, at.denominator));
                at.numerator * 128 <= feasible * at.denominator
            });
            tried
        };
        let at = |numerators: &[u64]| numerators.iter().map(|at| (*at, 128)).collect::<Vec<_>>();
        assert_eq!(tried(Fraction::ZERO, 128), [(1, 1)]);
        assert_eq!(tried(Fraction::ZERO, 5)[1..], at(&[64, 32, 16, 8, 4, 6, 5]));
        let mut none = at(&[64, 32, 16, 8, 4, 2, 1]);
        none.push((0, 1));
        assert_eq!(tried(Fraction::ZERO, 0)[1..], none);
        let quarter = Fraction::new(1, 4);
        assert_eq!(tried(quarter, 10), [(1, 1), (64, 128), (32, 128), (1, 4)]);
        assert_eq!(tried(quarter, 33)[1..], at(&[64, 32, 48, 40, 36, 34, 33]));
    }

    #[test]
    fn fast_packing_matches_reference_on_small_instances() {
        let sizes: Vec<(u32, u64, u64)> = [1, 3]
            .into_iter()
            .flat_map(|tasks| [30, 50, 100].map(|cpu| (tasks, cpu)))
            .flat_map(|(tasks, cpu)| [20, 50, 60].map(|memory| (tasks, cpu, memory)))
            .collect();
        for first in &sizes {
            for second in &sizes {
                for third in &sizes {
                    agree(&simple(3, &[*first, *second, *third]), &[], Fraction::ZERO).unwrap();
                }
            }
        }
    }

    #[test]
    fn rules_end_runs_of_equal_nodes_and_keep_equal_jobs_apart() {
        // What is special about one of two jobs that are equal otherwise.
        let rules: [fn(&mut Job); 6] = [
            |job| job.layout.max_tasks_per_node = Some(1),
            |job| job.layout.max_nodes = Some(2),
            |job| job.layout.eligible = Some([1, 2, 4].map(NodeIndex).into_iter().collect()),
            |job| (job.memory, job.memory_per_node) = (Bytes(0), job.memory),
            |job| job.rigid = vec![Amount(1)],
            |job| job.rigid_per_node = vec![Amount(1)],
        ];
        for rule in rules {
            for special in 0..2 {
                for tasks in 1..8 {
                    let mut cluster = simple(6, &[(tasks, 30, 40), (tasks, 30, 40), (12, 10, 20)]);
                    rule(&mut cluster.jobs[special]);
                    for node in [1, 4, 5] {
                        cluster.nodes[node].rigid = vec![Amount(1)];
                    }
                    agree(&cluster, &[], Fraction::ZERO).unwrap();
                    cluster.jobs.remove(1 - special);
                    agree(&cluster, &[], Fraction::ZERO).unwrap();
                }
            }
        }
    }

    #[test]
    fn run_of_equal_nodes_ends_before_a_requested_node() {
        // Node 1 is filled as node 2 would be if job 0 did not request it.
        let mut cluster = simple(4, &[(2, 10, 60), (8, 10, 30)]);
        cluster.jobs[0].layout.eligible = Some([0, 2].map(NodeIndex).into_iter().collect());
        assert!(agree(&cluster, &[], Fraction::ZERO).unwrap());
    }

    #[test]
    fn each_of_equal_jobs_requires_its_memory_per_node() {
        let mut cluster = simple(2, &[(1, 10, 30), (1, 10, 30)]);
        for job in &mut cluster.jobs {
            job.memory_per_node = Bytes(30);
        }
        assert!(agree(&cluster, &[], Fraction::ZERO).unwrap());
    }

    #[test]
    fn a_job_that_may_use_no_nodes_fits_nowhere() {
        let mut cluster = simple(1, &[(1, 10, 10)]);
        cluster.jobs[0].layout.max_nodes = Some(0);
        assert_eq!(pack_all(&cluster), None);
    }

    #[test]
    fn only_jobs_without_need_go_to_nodes_without_cpu() {
        let mut cluster = simple(1, &[(1, 1, 10)]);
        cluster.nodes[0].cpu = Cores::ZERO;
        assert_eq!(pack_all(&cluster), None);
        cluster.jobs[0].cpu = Cores::ZERO;
        assert_eq!(pack_all(&cluster).map(|(at, _)| at), Some(Yield::ONE));
    }

    #[test]
    fn nodes_that_differ_in_rigid_resources_alone_differ() {
        // All jobs require them, so that no job says by lacking them that there are any.
        for tasks in 1..8 {
            let mut cluster = simple(6, &[(tasks, 30, 20), (8, 10, 10)]);
            for (node, amount) in cluster.nodes.iter_mut().zip([3, 1, 0, 5, 5, 2]) {
                node.rigid = vec![Amount(amount)];
            }
            for job in &mut cluster.jobs {
                job.rigid = vec![Amount(1)];
            }
            assert!(agree(&cluster, &[], Fraction::ZERO).unwrap(), "{tasks}");
        }
    }

    #[test]
    fn devices_per_node_are_taken_once_on_a_node() {
        for (once, tasks, fits) in [(2, 8, true), (3, 1, false), (1, 16, true)] {
            let mut cluster = simple(2, &[(tasks, 10, 10)]);
            for node in &mut cluster.nodes {
                node.rigid = vec![Amount(2)];
            }
            cluster.jobs[0].rigid_per_node = vec![Amount(once)];
            assert_eq!(agree(&cluster, &[], Fraction::ZERO).unwrap(), fits);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases()))]

        #[test]
        fn fast_packing_matches_reference((cluster, pins) in instance(true)) {
            agree(&cluster, &pins, Fraction::ZERO)?;
        }

        #[test]
        fn fast_packing_matches_reference_with_rules((cluster, pins) in instance(false), ceiling in 50u32..1000) {
            agree(&cluster, &pins, Fraction::least_yield(LoadCeiling::from_percent(ceiling)))?;
        }
    }
}
