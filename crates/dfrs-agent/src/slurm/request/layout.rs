//! On how many nodes a job's tasks go, and how many on each.

use dfrs_core::{Layout, NodeSet};

use crate::saturating_u32;
use crate::slurm::observation::Observation;
use crate::slurm::records::{ObservedJob, ObservedNode};
use crate::slurm::request::memory::tasks_in_whole_node;
use crate::slurm::request::whole_nodes::whole_node;

/// The layout of a job that may use these nodes (`None`: all): `--ntasks-per-node`, `-N` and
/// `--prefer`, and what follows from its nodes and its memory. O(its list of nodes); O(nodes) where it gets whole
/// nodes and these differ.
pub fn layout_of(
    job: &ObservedJob,
    eligible: Option<NodeSet>,
    observation: &Observation,
) -> Layout {
    let request = &job.request;
    let listed = eligible.as_ref().filter(|_| request.all_eligible);
    let listed = listed.map_or(0, |nodes| nodes.len());
    let least_nodes = request.min_nodes.max(saturating_u32(listed));
    let spread = (least_nodes > 1).then(|| request.tasks.div_ceil(least_nodes));
    let stated = (request.tasks_per_node > 0).then_some(request.tasks_per_node);
    let max_tasks_per_node = stated
        .into_iter()
        .chain(spread)
        .chain(tasks_in_whole_node(job, observation))
        .min();
    // Most often so few tasks on a node are enough: at most two on each put three on two nodes.
    let by_tasks =
        max_tasks_per_node.map_or(1, |max_tasks| request.tasks.div_ceil(max_tasks.max(1)));
    let preferred = request.preferred.as_ref();
    Layout {
        max_tasks_per_node,
        max_nodes: max_nodes_of(job, least_nodes, observation),
        min_nodes: (least_nodes > by_tasks).then_some(least_nodes),
        eligible,
        together: None,
        preferred: preferred.map(|nodes| observation.node_set(nodes)),
        few_of: None,
    }
}

/// `-N`, else for a job whose memory is per node (`--mem`), or that gets whole nodes: as many as
/// Slurm alone would give its tasks on the nodes that it may use, since each further one would cost
/// that memory, or all of a node, again. Else any number. No more than its partition lets it have.
fn max_nodes_of(job: &ObservedJob, least_nodes: u32, observation: &Observation) -> Option<u32> {
    let bound = (job.request.partition_max_nodes > 0).then_some(job.request.partition_max_nodes);
    let wanted = wanted_nodes(job, least_nodes, observation);
    wanted.into_iter().chain(bound).min()
}

/// The bound of [`max_nodes_of`] without that of the partition.
fn wanted_nodes(job: &ObservedJob, least_nodes: u32, observation: &Observation) -> Option<u32> {
    if job.request.max_nodes > 0 {
        return Some(job.request.max_nodes);
    }
    if job.request.memory_per_cpu && !job.wants_whole_nodes() {
        return None;
    }
    let cpus = max_cpus_of(job, observation).max(1);
    let needed = job
        .request
        .tasks
        .saturating_mul(job.request.cpus_per_task)
        .div_ceil(cpus);
    let spread = if job.request.tasks_per_node > 0 {
        job.request.tasks.div_ceil(job.request.tasks_per_node)
    } else {
        1
    };
    let by_memory =
        tasks_in_whole_node(job, observation).map_or(1, |most| job.request.tasks.div_ceil(most));
    Some(needed.max(least_nodes).max(spread).max(by_memory))
}

/// CPUs of that node which has most, of those that the job may use. O(its list), O(nodes) where it
/// gets whole nodes and these differ.
fn max_cpus_of(job: &ObservedJob, observation: &Observation) -> u32 {
    let differ = job.wants_whole_nodes() && !observation.has_equal_memory();
    let whole = differ.then(|| whole_node(job, observation));
    let cpus = |node: &ObservedNode| (!node.has_other_size(whole)).then_some(node.cpus);
    if job.request.eligible.is_none() && whole.is_none() {
        return observation.max_node_cpus();
    }
    let nodes = observation.nodes_for(&job.request);
    nodes.filter_map(cpus).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{job, nodes};

    fn bounds_of(job: &ObservedJob) -> Layout {
        bounds_in(job, &Observation::new([], nodes(4)))
    }

    fn bounds_in(job: &ObservedJob, observation: &Observation) -> Layout {
        let eligible = job.request.eligible.as_ref();
        let eligible: Option<NodeSet> = eligible.map(|nodes| observation.node_set(nodes));
        layout_of(job, eligible, observation)
    }

    #[test]
    fn job_with_memory_per_node_gets_as_few_nodes_as_with_slurm_alone() {
        let per_node = |tasks| job(1, tasks).requesting(|request| request.memory_per_cpu = false);
        assert_eq!(bounds_of(&per_node(2)).max_nodes, Some(1));
        assert_eq!(bounds_of(&per_node(9)).max_nodes, Some(3));
        assert_eq!(
            bounds_of(&per_node(2).requesting(|request| request.min_nodes = 2)).max_nodes,
            Some(2)
        );
        assert_eq!(
            bounds_of(&per_node(3).requesting(|request| request.tasks_per_node = 1)).max_nodes,
            Some(3)
        );
        assert_eq!(
            bounds_of(&per_node(2).requesting(|request| request.max_nodes = 4)).max_nodes,
            Some(4)
        );
    }

    #[test]
    fn memory_per_cpu_job_has_no_max_nodes_unless_exclusive() {
        assert_eq!(bounds_of(&job(1, 9)).max_nodes, None);
        let whole = job(1, 9).requesting(|request| request.exclusive = true);
        assert_eq!(bounds_of(&whole).max_nodes, Some(3));
    }

    #[test]
    fn max_nodes_counts_only_nodes_that_the_job_may_use() {
        let mut nodes = nodes(4);
        nodes[3].cpus = 64;
        let observation = Observation::new([], nodes);
        let on = |eligible: Option<&[u32]>| {
            let job = job(1, 9).requesting(|request| {
                request.memory_per_cpu = false;
                request.eligible = eligible.map(Into::into);
            });
            bounds_in(&job, &observation).max_nodes
        };
        assert_eq!(on(None), Some(1));
        assert_eq!(on(Some(&[0, 1, 2])), Some(3));
        assert_eq!(on(Some(&[])), Some(9));
    }

    #[test]
    fn min_nodes_is_set_only_where_task_bounds_do_not_imply_it() {
        let least = |tasks, min_nodes| {
            let asks = job(1, tasks).requesting(|request| request.min_nodes = min_nodes);
            bounds_of(&asks).min_nodes
        };
        assert_eq!((least(4, 3), least(6, 4)), (Some(3), Some(4)));
        assert_eq!((least(4, 1), least(4, 2), least(3, 3)), (None, None, None));
    }

    #[test]
    fn min_nodes_bounds_the_tasks_on_each_node() {
        assert_eq!(
            bounds_of(&job(1, 7).requesting(|request| request.min_nodes = 2)).max_tasks_per_node,
            Some(4)
        );
        let listed = job(1, 3).requesting(|request| {
            request.eligible = Some([0, 1, 2].into());
            request.all_eligible = true;
        });
        assert_eq!(bounds_of(&listed).max_tasks_per_node, Some(1));
    }
}
