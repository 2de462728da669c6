//! Devices (GRES, mostly GPUs): whole numbers by kind. A kind is all devices of a name (`gpu`), or those of
//! one type (`gpu:a100`); which ones a job gets is Slurm's choice.

use std::sync::Arc;

use dfrs_core::Amount;
use dfrs_proto::devices::DevicesByKind;

/// What a node has of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedDevices {
    /// The kind.
    pub kind: Arc<str>,
    /// How many there are; those with a type count as devices of their name, too.
    pub count: u64,
    /// How many Slurm has allocated to jobs, of whatever partition.
    pub allocated: u64,
}

impl ObservedDevices {
    /// How many of them no job holds.
    pub(crate) fn free(&self) -> u64 {
        self.count.saturating_sub(self.allocated)
    }
}

/// Those of a node that are of this kind.
pub(super) fn of_kind<'a>(node: &'a [ObservedDevices], kind: &str) -> Option<&'a ObservedDevices> {
    node.iter().find(|devices| *devices.kind == *kind)
}

/// What a job asks for of one kind, on each of its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedDevices {
    /// The kind.
    pub kind: Arc<str>,
    /// How many, at least 1.
    pub count: u64,
}

impl RequestedDevices {
    /// Whether they are of this kind: those of a type are also of their name.
    pub fn is_of(&self, kind: &str) -> bool {
        let rest = self.kind.strip_prefix(kind);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    }

    /// Whether the same device may be one of these and of those: a job that asks for a name gets
    /// any type.
    pub(super) fn may_be_of(&self, other: &Self) -> bool {
        self.is_of(&other.kind) || other.is_of(&self.kind)
    }
}

/// The kinds that were ever seen, by the position that they have in [`dfrs_core::Node::rigid`]. None is
/// ever taken out: a kind keeps its position.
#[derive(Clone, Debug, Default)]
pub(super) struct DeviceKinds(Vec<Arc<str>>);

impl DeviceKinds {
    /// Adds the kind, if it is new. O(kinds), which are few.
    pub(super) fn add(&mut self, kind: &Arc<str>) {
        if !self.0.contains(kind) {
            self.0.push(Arc::clone(kind));
        }
    }

    /// Adds the kinds of a node's devices.
    pub(super) fn add_all(&mut self, devices: &[ObservedDevices]) {
        devices.iter().for_each(|devices| self.add(&devices.kind));
    }

    /// What a job with this request holds on each of its nodes, by position; none where it asks for
    /// none.
    pub(super) fn on_each_node(&self, asked: &[RequestedDevices]) -> Vec<Amount> {
        if asked.is_empty() {
            return Vec::new();
        }
        let of = |kind: &str| {
            let counts = asked.iter().filter(|devices| devices.is_of(kind));
            Amount(counts.map(|devices| devices.count).sum())
        };
        self.0.iter().map(|kind| of(kind)).collect()
    }

    /// By position: what of the node's devices is left if so many of those that are allocated do not
    /// count. None where the node has none.
    pub(super) fn left_on(&self, node: &[ObservedDevices], discounted: &[Amount]) -> Vec<Amount> {
        if node.is_empty() {
            return Vec::new();
        }
        let left = |(position, kind): (usize, &Arc<str>)| {
            of_kind(node, kind).map_or(Amount(0), |devices| {
                let not = discounted.get(position).map_or(0, |amount| amount.0);
                let others = devices.allocated.saturating_sub(not);
                Amount(devices.count.saturating_sub(others))
            })
        };
        self.0.iter().enumerate().map(left).collect()
    }
}

/// The request as files say it.
pub fn requested_by_kind(asked: &[RequestedDevices]) -> DevicesByKind {
    let mut all = DevicesByKind::new();
    for devices in asked {
        *all.entry(devices.kind.to_string()).or_default() += devices.count;
    }
    all
}

/// What a node has, as files say it.
pub fn counted_by_kind(node: &[ObservedDevices]) -> DevicesByKind {
    let counts = node
        .iter()
        .map(|devices| (devices.kind.to_string(), devices.count));
    counts.collect()
}

/// Whether [`counted_by_kind`] of the node is `counted`; makes no copy where each kind is there once.
pub fn are_counted_so(node: &[ObservedDevices], counted: &DevicesByKind) -> bool {
    let is_so = |devices: &ObservedDevices| counted.get(&*devices.kind) == Some(&devices.count);
    let are_as_many = node.len() == counted.len();
    (are_as_many && node.iter().all(is_so)) || counted_by_kind(node) == *counted
}

/// As a user writes it: "gpu:2" or "gpu:a100:1,gpu:2".
pub fn text_of(asked: &[RequestedDevices]) -> String {
    let texts = asked
        .iter()
        .map(|devices| format!("{}:{}", devices.kind, devices.count));
    texts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(kind: &str, count: u64) -> RequestedDevices {
        let kind = kind.into();
        RequestedDevices { kind, count }
    }

    fn kinds(names: &[&str]) -> DeviceKinds {
        let mut kinds = DeviceKinds::default();
        names.iter().for_each(|name| kinds.add(&(*name).into()));
        kinds
    }

    #[test]
    fn device_of_a_type_is_also_one_of_its_name() {
        let kinds = kinds(&["gpu", "gpu:a100", "gpu:a10", "nic"]);
        let asked = [requested("gpu:a100", 2), requested("gpu", 1)];
        assert_eq!(kinds.on_each_node(&asked), [3, 2, 0, 0].map(Amount));
        assert!(kinds.on_each_node(&[]).is_empty());
        assert_eq!(text_of(&asked), "gpu:a100:2,gpu:1");
    }

    #[test]
    fn devices_of_two_requests_may_be_the_same_unless_their_types_differ() {
        let may = |one, other| requested(one, 1).may_be_of(&requested(other, 2));
        assert!(may("gpu", "gpu") && may("gpu", "gpu:a100") && may("gpu:a100", "gpu"));
        assert!(!may("gpu:a100", "gpu:v100") && !may("gpu:a100", "gpu:a10"));
        assert!(!may("gpu", "nic"));
    }

    #[test]
    fn left_is_what_others_than_the_discounted_do_not_hold() {
        let kinds = kinds(&["gpu", "gpu:a100", "nic"]);
        let node = |kind: &str, count, allocated| ObservedDevices {
            kind: kind.into(),
            count,
            allocated,
        };
        let node = [node("gpu", 4, 3), node("gpu:a100", 2, 2)];
        assert_eq!(kinds.left_on(&node, &[Amount(1)]), [2, 0, 0].map(Amount));
        assert_eq!(
            kinds.left_on(&node, &[Amount(9), Amount(1)]),
            [4, 1, 0].map(Amount)
        );
        assert!(kinds.left_on(&[], &[Amount(9)]).is_empty());
    }
}
