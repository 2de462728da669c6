//! The nodes of DFRS's partitions, as slurmctld sees them.

use dfrs_proto::conf::Config;
use dfrs_proto::text;

use super::finding::{DoctorFindings, Topic};
use super::slurm::{ScontrolRecord, SlurmSettings};

/// How many names are shown.
const MAX_NAMES: usize = 5;

/// The nodes of DFRS's partitions.
pub fn managed<'a>(config: &Config, nodes: &'a [ScontrolRecord]) -> Vec<&'a ScontrolRecord> {
    let is_ours = |name: &str| config.schedules(name);
    nodes
        .iter()
        .filter(|node| node.items("Partitions").any(is_ours))
        .collect()
}

/// Looks at their states, versions and what DFRS does not share out.
pub fn examine(
    settings: &SlurmSettings,
    managed: &[&ScontrolRecord],
    findings: &mut DoctorFindings,
) {
    let mut topic = findings.topic("nodes");
    // States such as IDLE+CLOUD+POWERED_DOWN, or DOWN*.
    let states = |words: &[&str]| {
        names(managed, |node| {
            let mut parts = node.get("State").split('+');
            parts.any(|part| words.iter().any(|word| part.starts_with(word)))
        })
    };
    let release = settings.get("SLURM_VERSION");
    let of_others = names(managed, |node| {
        !["", "N/A", release].contains(&node.get("Version"))
    });
    let show_reason = "scontrol show node says why";
    for (found, what, remedy) in [
        (
            states(&["DOWN", "FAIL", "UNKNOWN", "FUTURE"]),
            "down",
            show_reason,
        ),
        (states(&["DRAIN"]), "draining", show_reason),
        (
            states(&["POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN"]),
            "powered down",
            "DFRS does not power up nodes: scontrol update nodename=... state=power_up",
        ),
        (
            of_others,
            "slurmd of another release than slurmctld",
            "upgrade them",
        ),
    ] {
        if let Some(found) = found {
            topic.warning(format!("{what}: {found}"), remedy);
        }
    }
    reserved_cores(managed, &mut topic);
    if managed.is_empty() {
        topic.error(
            "DFRS's partitions have no nodes",
            "give them some in slurm.conf",
        );
    }
    topic.done(format!("all {} take work", managed.len()));
}

/// Says which nodes keep cores from jobs.
pub fn reserved_cores(managed: &[&ScontrolRecord], topic: &mut Topic) {
    let reserves = |node: &ScontrolRecord| {
        let is_set = |key| !["", "0"].contains(&node.get(key));
        is_set("CoreSpecCount") || is_set("CPUSpecList")
    };
    if let Some(found) = names(managed, reserves) {
        topic.warning(
            format!("with CoreSpecCount or CpuSpecList: DFRS's jobs may run on these cores, too: {found}"),
            "keep CPU time for the system: as many cores by --reserve-cpu in /etc/default/dfrsd",
        );
    }
}

/// The names of those, as many as one reads; `None` if there are none.
fn names(nodes: &[&ScontrolRecord], is_one: impl Fn(&ScontrolRecord) -> bool) -> Option<String> {
    let found: Vec<&str> = nodes
        .iter()
        .filter(|node| is_one(node))
        .map(|node| node.get("NodeName"))
        .collect();
    some_of(&found)
}

/// The first names of a list; `None` if it is empty.
pub fn some_of(names: &[impl AsRef<str>]) -> Option<String> {
    let shown = names.iter().map(AsRef::as_ref);
    (!names.is_empty()).then(|| text::some_of(shown, MAX_NAMES))
}
