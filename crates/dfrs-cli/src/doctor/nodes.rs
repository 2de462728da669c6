//! The nodes of DFRS's partitions, as slurmctld sees them.

use dfrs_proto::conf::Config;

use super::finding::Findings;
use super::slurm::{Record, Settings};

/// How many names are shown.
const MOST_NAMES: usize = 5;

/// Those of DFRS's partitions.
pub fn managed<'a>(config: &Config, nodes: &'a [Record]) -> Vec<&'a Record> {
    let is_ours = |name: &str| config.schedules(name);
    nodes
        .iter()
        .filter(|node| node.items("Partitions").any(is_ours))
        .collect()
}

/// Looks at their states, versions and what DFRS does not share out.
pub fn examine(settings: &Settings, managed: &[&Record], findings: &mut Findings) {
    let mut topic = findings.topic("nodes");
    // As IDLE+CLOUD+POWERED_DOWN, or DOWN*.
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
    let tell = "scontrol show node says why";
    for (found, what, remedy) in [
        (states(&["DOWN", "FAIL", "UNKNOWN", "FUTURE"]), "down", tell),
        (states(&["DRAIN"]), "draining", tell),
        (
            states(&["POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN"]),
            "powered down",
            "DFRS does not wake nodes: scontrol update nodename=... state=power_up",
        ),
        (
            of_others,
            "slurmd of another release than slurmctld",
            "upgrade them",
        ),
        (
            names(managed, |node| !node.get("Gres").is_empty()),
            "with GRES: jobs that ask for it are not started by DFRS",
            "put them into a partition that DFRS does not schedule",
        ),
        (
            names(managed, |node| {
                let said = |key| !["", "0"].contains(&node.get(key));
                said("CoreSpecCount") || said("CPUSpecList")
            }),
            "with CoreSpecCount or CpuSpecList: DFRS's jobs may run on these cores, too",
            "keep CPU time for the system: as many cores by --reserve-cpu in /etc/default/dfrsd",
        ),
    ] {
        if let Some(found) = found {
            topic.warning(format!("{what}: {found}"), remedy);
        }
    }
    if managed.is_empty() {
        topic.error(
            "DFRS's partitions have no nodes",
            "give them some in slurm.conf",
        );
    }
    topic.done(format!("all {} take work", managed.len()));
}

/// The names of those, as many as one reads; `None` if there are none.
fn names(nodes: &[&Record], is_one: impl Fn(&Record) -> bool) -> Option<String> {
    let found: Vec<&str> = nodes
        .iter()
        .filter(|node| is_one(node))
        .map(|node| node.get("NodeName"))
        .collect();
    some_of(&found)
}

/// The first names of a list.
pub fn some_of(names: &[impl AsRef<str>]) -> Option<String> {
    let shown: Vec<&str> = names.iter().take(MOST_NAMES).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(MOST_NAMES) {
        _ if names.is_empty() => None,
        0 => Some(shown.join(", ")),
        more => Some(format!("{} and {more} more", shown.join(", "))),
    }
}
