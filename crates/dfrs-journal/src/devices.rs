//! Devices of jobs and nodes by their names, whatever their types.

use dfrs_proto::devices::DevicesByKind;

/// The name of a kind without its type.
pub fn name_of(kind: &str) -> &str {
    kind.split(':').next().unwrap_or(kind)
}

/// A request without types.
pub fn by_name(devices: &DevicesByKind) -> DevicesByKind {
    let mut named = DevicesByKind::new();
    for kind in devices.keys() {
        let name = name_of(kind);
        named.insert(name.to_owned(), number_named(devices, name));
    }
    named
}

/// How many of a request have this name, whatever their type.
pub fn number_named(devices: &DevicesByKind, name: &str) -> u64 {
    let of_name = devices.iter().filter(|(kind, _)| name_of(kind) == name);
    of_name.fold(0, |sum, (_, count)| sum.saturating_add(*count))
}

#[cfg(test)]
mod tests {
    use dfrs_proto::devices::text;

    use super::*;

    #[test]
    fn devices_of_all_types_have_their_name() {
        let asked = [("gpu", 1), ("gpu:a100", 2), ("nic", 4)];
        let asked: DevicesByKind = asked.map(|(kind, count)| (kind.to_owned(), count)).into();
        assert_eq!(number_named(&asked, "gpu"), 3);
        assert_eq!(number_named(&asked, "shard"), 0);
        assert_eq!(text(&by_name(&asked)), "gpu:3,nic:4");
    }
}
