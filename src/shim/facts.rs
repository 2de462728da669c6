//! What is in slurm.conf and cgroup.conf, from slurmctld's memory, as the checks want it that `dfrs
//! doctor` makes, too.

use std::ffi::c_char;

use dfrs_proto::conf::{Config, Mode};
use dfrs_proto::slurm_conf::{
    CgroupConf, Idle, PowerSaving, SlurmFacts, SlurmNode, SlurmPartition,
};

use super::bindings;
use super::c_values::{comma_separated, text_at};
use super::calls::{delivery_known, has_extra};
use super::decode::{part, slice_at};

/// Looks at slurmctld's configuration; from then on snapshots go by this dfrs.conf's partitions with whole
/// nodes. What nothing is refused for is left as it is by default.
pub fn facts(config: &Config) -> SlurmFacts {
    let whole = comma_separated(&config.whole_node_partitions());
    let starts = config.mode == Mode::Full;
    // SAFETY: reads the NUL-terminated list; what it returns is not null, and is freed once, below.
    unsafe {
        let raw = bindings::dfrs_conf_look(whole.as_ptr(), starts);
        let facts = raw.as_ref().map(|raw| of(raw)).unwrap_or_default();
        bindings::dfrs_conf_free(raw);
        facts
    }
}

/// # Safety
///
/// Each count of `raw` is that of its array; its texts are null or NUL-terminated.
unsafe fn of(raw: &bindings::dfrs_conf_t) -> SlurmFacts {
    let has = |flag| raw.flags & flag != 0;
    // SAFETY: the caller's promise.
    let text = |pointer: *mut c_char| unsafe { text_at(pointer) };
    // SAFETY: the caller's promise.
    let (partitions, members, nodes) = unsafe {
        (
            slice_at(raw.partitions, raw.partition_count),
            slice_at(raw.members, raw.member_count),
            slice_at(raw.nodes, raw.node_count),
        )
    };
    let node = |name: &*mut c_char| SlurmNode {
        name: text(*name),
        ..SlurmNode::default()
    };
    let partition = |raw: &bindings::dfrs_conf_partition_t| {
        let members = part(members, raw.member_offset, raw.member_count);
        partition(raw, text(raw.name), members)
    };
    SlurmFacts {
        is_withheld: has(bindings::DFRS_CONF_WITHHELD),
        scheduler_parameters: text(raw.scheduler_parameters),
        select_type: text(raw.select_type),
        counts_memory: has(bindings::DFRS_CONF_COUNTS_MEMORY),
        counts_cores: has(bindings::DFRS_CONF_COUNTS_CORES),
        slices_time: has(bindings::DFRS_CONF_SLICES_TIME),
        proctrack_type: text(raw.proctrack_type),
        task_plugin: text(raw.task_plugin),
        gather_type: text(raw.gather_type),
        has_extra: has_extra(),
        is_delivery_known: delivery_known(),
        power: PowerSaving {
            has_programs: has(bindings::DFRS_CONF_SAVES_POWER),
            idle: idle(raw.idle),
            excepted_nodes: text(raw.excepted_nodes),
            excepted_partitions: text(raw.excepted_partitions),
        },
        cgroups: CgroupConf {
            plugin: text(raw.cgroup_plugin),
            constrains_swap: has(bindings::DFRS_CONF_CONSTRAINS_SWAP),
            ..CgroupConf::default()
        },
        partitions: partitions.iter().map(partition).collect(),
        nodes: nodes.iter().map(node).collect(),
        ..SlurmFacts::default()
    }
}

fn partition(
    raw: &bindings::dfrs_conf_partition_t,
    name: String,
    members: &[u32],
) -> SlurmPartition {
    let has = |flag| raw.flags & flag != 0;
    SlurmPartition {
        name,
        is_forced_to_one: has(bindings::DFRS_PARTITION_FORCED_TO_ONE),
        has_exclusive_topology: has(bindings::DFRS_PARTITION_EXCLUSIVE_TOPOLOGY),
        powers_down_on_idle: has(bindings::DFRS_PARTITION_POWERS_DOWN_ON_IDLE),
        idle: idle(raw.idle),
        takes_jobs: has(bindings::DFRS_PARTITION_TAKES_JOBS),
        shares_no_cores: has(bindings::DFRS_PARTITION_SHARES_NO_CORES),
        nodes: members.iter().map(|&index| index as usize).collect(),
        ..SlurmPartition::default()
    }
}

fn idle(raw: u32) -> Idle {
    match raw {
        bindings::DFRS_IDLE_STAYS_UP => Idle::StaysUp,
        bindings::DFRS_IDLE_GOES_DOWN => Idle::GoesDown,
        _ => Idle::AsAll,
    }
}
