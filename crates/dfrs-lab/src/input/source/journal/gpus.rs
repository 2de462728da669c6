//! GPUs of a journal's nodes and jobs, as the simulator takes them.

use dfrs_core::Amount;
use dfrs_journal::devices::{name_of, number_named};
use dfrs_proto::devices::DevicesByKind;
use dfrs_proto::journal::PlatformNode;
use dfrs_sim::trace::{NODE_GPUS, gpus_of_equal_nodes};

/// What GPUs are called in Slurm.
const NAME: &str = "gpu";

/// The GPUs of all nodes: the node that has most, and as many like it as hold all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalGpus {
    /// GPUs of a node that has some; 0 if none has.
    per_node: u64,
    /// Nodes that have some.
    nodes: u32,
}

impl JournalGpus {
    /// Those of these nodes. O(nodes).
    pub fn of<'a>(nodes: impl Iterator<Item = &'a PlatformNode>) -> Self {
        // It counts those of all types.
        let here = |node: &PlatformNode| node.devices.get(NAME).copied().unwrap_or(0);
        let (per_node, nodes) = gpus_of_equal_nodes(nodes.map(|node| (here(node), 1)));
        let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        Self { per_node, nodes }
    }

    /// How many of so many nodes have some; none if no node has some, or all have.
    pub fn nodes_of(self, nodes: u32) -> Option<u32> {
        (self.per_node > 0 && self.nodes < nodes).then_some(self.nodes)
    }

    /// The part of a node's GPUs that each task of a job has which holds `devices` on each of its nodes.
    ///
    /// # Errors
    ///
    /// What the job needs, if no node has as many.
    pub fn of_task(
        self,
        devices: &DevicesByKind,
        (nodes, tasks): (usize, u32),
    ) -> Result<Amount, String> {
        let held = number_named(devices, NAME);
        if held == 0 {
            return Ok(Amount(0));
        }
        if held > self.per_node {
            let most = self.per_node;
            return Err(format!(
                "needs {held} GPUs on a node, of which none has more than {most}"
            ));
        }
        let on_all = u128::from(NODE_GPUS.0) * u128::from(held) * nodes.max(1) as u128;
        let part = on_all / (u128::from(self.per_node) * u128::from(tasks.max(1)));
        let part = u64::try_from(part).unwrap_or(u64::MAX);
        Ok(Amount(part.clamp(1, NODE_GPUS.0)))
    }
}

/// Whether a job holds devices that no simulation counts.
pub fn has_others(devices: &DevicesByKind) -> bool {
    devices
        .iter()
        .any(|(kind, number)| *number > 0 && name_of(kind) != NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(all: &[(&str, u64)]) -> DevicesByKind {
        let all = all.iter();
        all.map(|(kind, number)| ((*kind).to_owned(), *number))
            .collect()
    }

    fn gpus_of(nodes: &[&[(&str, u64)]]) -> JournalGpus {
        let nodes: Vec<PlatformNode> = nodes
            .iter()
            .map(|all| PlatformNode {
                name: "n".to_owned(),
                cpu: 1.0,
                mem: 1.0,
                devices: devices(all),
            })
            .collect();
        JournalGpus::of(nodes.iter())
    }

    #[test]
    fn gpus_are_on_as_few_nodes_as_hold_them_all() {
        let typed: &[(&str, u64)] = &[("gpu", 4), ("gpu:a100", 4), ("nic", 9)];
        let gpus = gpus_of(&[&[], typed, &[("gpu", 2)], &[("gpu", 1)]]);
        let (per_node, nodes) = (4, 2);
        assert_eq!(gpus, JournalGpus { per_node, nodes });
        assert_eq!(gpus.nodes_of(4), Some(2));
        assert_eq!(gpus.nodes_of(2), None);
        assert_eq!(gpus_of(&[&[("nic", 1)]]).nodes_of(1), None);
        let most = gpus_of(&[&[("gpu", u64::MAX)], &[("gpu", u64::MAX)]]);
        assert_eq!(most.nodes, 1);
    }

    #[test]
    fn task_has_its_part_of_what_its_job_holds() {
        let gpus = gpus_of(&[&[("gpu", 4)]]);
        let of = |held: &[(&str, u64)], at| gpus.of_task(&devices(held), at);
        assert_eq!(
            of(&[("gpu", 1), ("gpu:a100", 1)], (1, 1)),
            Ok(Amount(500_000))
        );
        assert_eq!(of(&[("gpu", 4)], (2, 8)), Ok(Amount(250_000)));
        assert_eq!(of(&[("nic", 9)], (1, 1)), Ok(Amount(0)));
        assert_eq!(of(&[("gpu", 1)], (1, u32::MAX)), Ok(Amount(1)));
        let error = of(&[("gpu", 5)], (1, 1)).expect_err("too many");
        assert_eq!(
            error,
            "needs 5 GPUs on a node, of which none has more than 4"
        );
    }

    #[test]
    fn devices_other_than_gpus_are_seen() {
        assert!(has_others(&devices(&[("gpu", 1), ("nic:fast", 1)])));
        assert!(!has_others(&devices(&[("gpu:a100", 1), ("nic", 0)])));
    }
}
