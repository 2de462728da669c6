//! Greedy placement of jobs with tasks of different kinds.

use crate::model::{Cluster, Job, Mapping};
use crate::units::{Amount, Bytes, Cores};
use crate::usage::Usage;

/// Places one kind after the other beside those before, each as a job of one kind. `None` if a kind
/// then finds no place, though in another order or with tasks elsewhere all might fit: that is
/// vector packing, and this is Greedy. O(kinds × nodes + tasks log tasks).
///
/// First come the kinds whose tasks are hardest to place: those that require most of the further
/// rigid resources, of the first of them above all; of these the ones that require most memory,
/// then most CPU, then as listed.
pub(super) fn place(cluster: &Cluster, usage: &Usage, job: &Job) -> Option<Mapping> {
    let kinds = job.by_kind();
    let mut order: Vec<usize> = (0..kinds.len()).collect();
    order.sort_by(|one, other| hardness(&kinds[*other]).cmp(&hardness(&kinds[*one])));
    let mut usage = usage.clone();
    let mut found = vec![Mapping::default(); kinds.len()];
    for kind in order {
        found[kind] = super::place_kind(cluster, &usage, &kinds[kind])?;
        usage.add(&kinds[kind], &found[kind]);
    }
    Some(Mapping::of_kinds(&found))
}

/// What the order of kinds goes by.
fn hardness(kind: &Job) -> (&[Amount], Bytes, Cores) {
    (&kind.rigid, kind.memory + kind.memory_per_node, kind.cpu)
}
