//! Whether nodes stay up when nothing runs there.

use super::examination::Examination;
use super::facts::{Idle, SlurmFacts, SlurmPartition};
use super::finding::About;

pub(super) fn power_saving(examination: &mut Examination<'_>, partition: &SlurmPartition) {
    let (facts, name) = (examination.facts, &partition.name);
    if !facts.power.has_programs {
        return;
    }
    let what = |line| {
        format!(
            "slurm.conf: PartitionName={name}: DFRS does not power up nodes that power saving ({line}) has powered down"
        )
    };
    if partition.powers_down_on_idle {
        let remedy = "take PowerDownOnIdle out: it ignores SuspendExcParts and SuspendExcNodes";
        examination.refuse(About::of(partition), what("PowerDownOnIdle"), remedy);
    } else if goes_down(facts, partition) && !is_excepted(facts, partition) {
        let remedy = format!("add {name} to SuspendExcParts, or its nodes to SuspendExcNodes");
        examination.refuse(About::of(partition), what("SuspendTime"), &remedy);
    }
}

fn goes_down(facts: &SlurmFacts, partition: &SlurmPartition) -> bool {
    match partition.idle {
        Idle::AsAll => facts.power.idle == Idle::GoesDown,
        own => own == Idle::GoesDown,
    }
}

/// Whether each of its nodes is excepted, by itself or with a partition.
fn is_excepted(facts: &SlurmFacts, partition: &SlurmPartition) -> bool {
    let list = &facts.power.excepted_partitions;
    let is_listed = |name: &str| list.split(',').any(|item| item.trim() == name);
    if is_listed(&partition.name) {
        return true;
    }
    let others: Vec<&SlurmPartition> = facts
        .partitions
        .iter()
        .filter(|other| is_listed(&other.name))
        .collect();
    let is_with_other = |node: usize| {
        let mut others = others.iter();
        others.any(|other| other.nodes.binary_search(&node).is_ok())
    };
    let is_up = |&node: &usize| {
        let name = facts.nodes.get(node).map_or("", |node| &node.name);
        facts.power.excepts(name) || is_with_other(node)
    };
    !partition.nodes.is_empty() && partition.nodes.iter().all(is_up)
}
