//! Whether all nodes are alike to Slurm.

use super::facts::SlurmFacts;
use super::finding::{About, Findings};
use super::requirements::Requirements;

/// What Slurm calls a network without a shape, over the years.
const FLAT: [&str; 4] = ["", "topology/none", "topology/default", "topology/flat"];

pub(super) fn check(facts: &SlurmFacts, _: Requirements<'_>, findings: &mut Findings) {
    let plugin = facts.topology_plugin.as_str();
    if !FLAT.contains(&plugin) {
        findings.warn(
            About::Topology,
            format!("slurm.conf: TopologyPlugin={plugin}: DFRS knows no topology: it puts tasks on any nodes, and Slurm refuses places that are not connected"),
            "give DFRS partitions whose nodes are all connected, of one switch or block if jobs want it",
        );
    }
}
