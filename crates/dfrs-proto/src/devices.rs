//! Devices (Slurm's GRES, mostly GPUs) in files that others read: whole numbers by kind.

use std::collections::BTreeMap;

/// How many of each kind, as Slurm names kinds: `gpu`, and `gpu:a100` for those of a type. Of a node, the devices of a
/// type count as devices of their name, too; of a job's request they do not.
pub type DevicesByKind = BTreeMap<String, u64>;

/// As a user writes it: `gpu:2` or `gpu:1,gpu:a100:2`; empty for none.
pub fn text(devices: &DevicesByKind) -> String {
    let texts = devices
        .iter()
        .map(|(kind, count)| format!("{kind}:{count}"));
    texts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_written_as_a_user_does() {
        let asked = [("gpu", 1), ("gpu:a100", 2), ("nic", 4)];
        let asked: DevicesByKind = asked.map(|(kind, count)| (kind.to_owned(), count)).into();
        assert_eq!(text(&asked), "gpu:1,gpu:a100:2,nic:4");
        assert_eq!(text(&DevicesByKind::new()), "");
    }
}
