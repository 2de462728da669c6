//! CPU allocation once tasks are mapped (TPDS, Section 4.6).
//!
//! All tasks of a job have the same yield. A node's constraint is that the sum over its tasks of
//! yield times need is at most its capacity.

use crate::constraints::{Constraints, Placed};
use crate::model::{Cluster, JobId, Node};
use crate::policy::{FurtherGoal, LeastYield, Optimisation, Policy};
use crate::units::{Span, Time, Yield};

mod filling;
mod floors;
mod youth;

use floors::Floors;

/// The yield that the policy gives every running job of the cluster, ascending by job, for the
/// mapping that it has now, whatever led to it: nodes that are draining, down, or over their memory
/// are no special case.
///
/// Runs on nodes that do not exist are left out. With [`Optimisation::Minimum`] jobs share in
/// proportion to their weights, with [`Optimisation::VirtualTime`] to these times what their
/// virtual time, number of tasks, mobility and memory say; there jobs on several nodes have at
/// least [`crate::Settings::parallel_least_yield`], or an equal share if that is less.
///
/// Before all this, jobs that require devices have [`LeastYield::OF_DEVICES`], or an equal share
/// among them, but with [`Optimisation::Further`].
///
/// O(jobs + (nodes + runs) log nodes), but for [`Optimisation::Further`], which takes what its goal
/// takes.
pub fn yields_of(policy: &Policy, cluster: &Cluster, now: Time) -> Vec<(JobId, Yield)> {
    let jobs = cluster.jobs.iter();
    let placed: Vec<Placed<'_>> = jobs
        .filter_map(|job| Some(Placed::new(job, job.running_on()?)))
        .collect();
    yields_of_placed(policy, cluster, now, &placed)
}

/// The yields of these jobs, which are all that run.
pub(crate) fn yields_of_placed(
    policy: &Policy,
    cluster: &Cluster,
    now: Time,
    placed: &[Placed<'_>],
) -> Vec<(JobId, Yield)> {
    let yields = allocate(&cluster.nodes, placed, &Goal::of(policy, now));
    let jobs = placed.iter().map(|placed| placed.job.id);
    jobs.zip(yields).collect()
}

/// What yields are good for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// [`Optimisation::Uniform`].
    Equal,
    /// [`Optimisation::Minimum`].
    ByWeight,
    /// [`Optimisation::VirtualTime`].
    ByVirtualTime,
    /// As [`Self::ByVirtualTime`], but jobs on several nodes have at least so much.
    AtLeast(LeastYield),
    /// As [`Self::ByVirtualTime`], but jobs on several nodes have all CPU that they need; the
    /// youngest first where they share a node, also with others.
    WholeCpus,
    /// What another crate knows.
    Further {
        goal: &'static dyn FurtherGoal,
        now: Time,
        period: Span,
    },
}

impl Goal {
    pub(crate) fn of(policy: &Policy, now: Time) -> Self {
        match policy.optimisation {
            Optimisation::Uniform => Self::Equal,
            Optimisation::Minimum => Self::ByWeight,
            Optimisation::VirtualTime if policy.reserves() => Self::WholeCpus,
            Optimisation::VirtualTime => policy
                .parallel_least_yield()
                .map_or(Self::ByVirtualTime, Self::AtLeast),
            Optimisation::Further(goal) => Self::Further {
                goal,
                now,
                period: policy.settings.period,
            },
        }
    }
}

/// The largest yield that these jobs can all have: 1/max(1, Λ).
pub(crate) fn smallest_yield(nodes: &[Node], placed: &[Placed<'_>]) -> f64 {
    Constraints::new(nodes, placed).uniform()
}

/// The yields of these jobs, in their order.
pub(crate) fn allocate(nodes: &[Node], placed: &[Placed<'_>], goal: &Goal) -> Vec<Yield> {
    let mut constraints = Constraints::new(nodes, placed);
    let of_devices = match goal {
        Goal::Further { .. } => None,
        _ => Floors::of_devices(&constraints, placed),
    };
    if let Some(floors) = &of_devices {
        floors.take_from(&mut constraints);
    }
    let young = || placed.iter().map(|placed| youth::weight(nodes, placed));
    let yields = match goal {
        Goal::Equal => vec![constraints.uniform(); placed.len()],
        Goal::ByWeight => {
            let weights = placed.iter().map(|placed| placed.job.weight.0.max(1));
            filling::max_min(&constraints, weights.collect())
        }
        Goal::ByVirtualTime => filling::max_min(&constraints, young().collect()),
        Goal::AtLeast(_) | Goal::WholeCpus => {
            let floors = match goal {
                Goal::AtLeast(least) => Floors::of(&constraints, placed, *least),
                _ => Floors::of_whole_cpus(&constraints, placed),
            };
            floors.take_from(&mut constraints);
            floors.add_to(filling::max_min(&constraints, young().collect()))
        }
        Goal::Further { goal, now, period } => goal.yields(&constraints, placed, *now, *period),
    };
    let yields = match of_devices {
        Some(floors) => floors.add_to(yields),
        None => yields,
    };
    yields.into_iter().map(Yield).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, JobState, Mapping, NodeIndex};
    use crate::units::{Bytes, Cores, Time, Weight};

    fn cluster(capacities: &[u64], jobs: &[(u64, &[u32])]) -> Cluster {
        let nodes = capacities
            .iter()
            .map(|cpu| Node::new("n", Cores(*cpu), Bytes(1)))
            .collect();
        let jobs = (0..).zip(jobs).map(|(id, (need, nodes))| {
            let mut job = Job::new(
                JobId(id),
                Time(0),
                u32::try_from(nodes.len()).unwrap(),
                Cores(*need),
                Bytes(0),
            );
            job.state = JobState::Running(Mapping::from_tasks(
                nodes.iter().map(|node| NodeIndex(*node)),
            ));
            job
        });
        Cluster {
            nodes,
            jobs: jobs.collect(),
        }
    }

    fn yields(cluster: &Cluster, optimisation: Optimisation) -> Vec<f64> {
        let policy = Policy {
            optimisation,
            ..Policy::recommended()
        };
        let found = yields_of(&policy, cluster, Time::ZERO);
        found
            .into_iter()
            .map(|(_, share)| (share.0 * 1e6).round() / 1e6)
            .collect()
    }

    #[test]
    fn all_jobs_have_full_yield_when_cpu_suffices() {
        let cluster = cluster(&[100, 100], &[(50, &[0, 1]), (50, &[0])]);
        assert_eq!(yields(&cluster, Optimisation::Minimum), [1.0, 1.0]);
        assert_eq!(yields(&cluster, Optimisation::Uniform), [1.0, 1.0]);
    }

    #[test]
    fn the_least_is_as_large_as_possible_and_then_the_next() {
        // Node 0 is needed twice over, node 1 by 1.5.
        let cluster = cluster(&[100, 100], &[(100, &[0]), (100, &[0, 1]), (50, &[1])]);
        assert_eq!(yields(&cluster, Optimisation::Minimum), [0.5, 0.5, 1.0]);
        assert_eq!(yields(&cluster, Optimisation::Uniform), [0.5, 0.5, 0.5]);
    }

    #[test]
    fn max_min_has_several_levels() {
        let cluster = cluster(
            &[100, 100],
            &[(100, &[0]), (100, &[0]), (100, &[0, 1]), (100, &[1])],
        );
        assert_eq!(
            yields(&cluster, Optimisation::Minimum),
            [0.333333, 0.333333, 0.333333, 0.666667]
        );
    }

    #[test]
    fn tasks_on_one_node_count_each_and_nodes_differ() {
        let cluster = cluster(&[400, 100], &[(200, &[0, 0, 0]), (100, &[0, 1])]);
        assert_eq!(
            yields(&cluster, Optimisation::Minimum),
            [0.571429, 0.571429]
        );
    }

    #[test]
    fn weights_share_in_proportion_up_to_the_need() {
        let mut cluster = cluster(&[100], &[(100, &[0]), (100, &[0]), (10, &[0])]);
        cluster.jobs[1].weight = Weight(2000);
        cluster.jobs[2].weight = Weight(9000);
        assert_eq!(yields(&cluster, Optimisation::Minimum), [0.3, 0.6, 1.0]);
    }

    #[test]
    fn jobs_without_need_and_unknown_nodes_do_no_harm() {
        let cluster = cluster(&[0], &[(0, &[0]), (100, &[0]), (100, &[7])]);
        assert_eq!(yields(&cluster, Optimisation::Minimum), [1.0, 0.0, 1.0]);
    }
}
