//! Whether tasks are bound to cores, as `task/affinity` does it: DFRS shares CPU time.

use super::examination::Examination;
use super::facts::{SlurmNode, SlurmPartition, lists};
use super::finding::About;

/// Where all nodes of a job have the same `CpuBind`, that counts, else the partition's
/// (slurm.conf(5)).
pub(super) fn binding(examination: &mut Examination<'_>, partition: &SlurmPartition) {
    let has = |plugin| lists(&examination.facts.task_plugin, plugin);
    if !has("task/affinity") && !has("affinity") {
        return;
    }
    let name = &partition.name;
    let about = About::of(partition);
    let nodes: Vec<&SlurmNode> = examination.facts.nodes_of(partition).collect();
    let is_free = |node: &SlurmNode| is_none(&node.cpu_bind);
    let all_free = !nodes.is_empty() && nodes.iter().all(|node| is_free(node));
    let bound = nodes
        .iter()
        .find(|node| !node.cpu_bind.is_empty() && !is_free(node));
    if !all_free && !is_none(&partition.cpu_bind) {
        examination.warn(
            about,
            format!("slurm.conf: PartitionName={name}: TaskPlugin=task/affinity binds tasks to cores, and DFRS shares CPU time"),
            "write CpuBind=none for this partition",
        );
    } else if let Some(node) = bound {
        examination.warn(
            about,
            format!(
                "slurm.conf: NodeName={} CpuBind={} comes before CpuBind=none of partition {name}: TaskPlugin=task/affinity binds tasks to cores there",
                node.name, node.cpu_bind
            ),
            "take CpuBind out for the nodes of this partition, or write none",
        );
    } else if nodes.iter().any(|node| node.threads_per_core > 1) {
        examination.warn(
            about,
            format!("slurm.conf: PartitionName={name}: TaskPlugin=task/affinity binds jobs with --hint=nomultithread to the same first threads, whatever CpuBind says"),
            "take task/affinity out of TaskPlugin",
        );
    }
}

fn is_none(cpu_bind: &str) -> bool {
    cpu_bind.eq_ignore_ascii_case("none")
}
