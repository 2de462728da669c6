//! The examination of a compute node: kernel, swap, cgroup.conf, dfrsd.

use std::path::{Path, PathBuf};

use dfrs_proto::conf::Config;
use dfrs_proto::report::NodeStatus;
use dfrs_proto::swap::Swap;

use super::cgroup::{self, Hierarchy};
use super::finding::Findings;
use super::host::Host;
use super::options;
use super::slurm::Settings;

/// Where slurmd keeps what a configless controller sent, after the usual place.
const CONFIGLESS: &str = "/run/slurm/conf/slurm.conf";
const DEFAULT_CONF: &str = "/etc/slurm/slurm.conf";
/// Where the plugin expects dfrsd's socket.
const SOCKETS: &str = "/run/dfrs";

/// Examines this host as the node of this name.
pub fn examine(host: &impl Host, name: Option<&str>, findings: &mut Findings) {
    let name = name.map_or_else(|| own_name(host), str::to_owned);
    let swap = swap(host, findings);
    kernel(host, findings);
    constraints(host, swap > 0, findings);
    daemon(host, &name, findings);
}

/// The host's name up to the first dot, as slurmd and dfrsd take it.
fn own_name(host: &impl Host) -> String {
    let name = host.text(Path::new("/proc/sys/kernel/hostname"));
    let name = name.unwrap_or_default();
    name.trim().split('.').next().unwrap_or_default().to_owned()
}

/// Bytes of swap that parked jobs can use.
fn swap(host: &impl Host, findings: &mut Findings) -> u64 {
    let mut topic = findings.topic("swap");
    let swaps = host.text(Path::new("/proc/swaps")).unwrap_or_default();
    let swap = Swap::parse(&swaps);
    let bytes = swap.outside;
    let what = match (bytes, swap.in_ram) {
        (0, 0) => Some("there is none: no job is parked here"),
        (0, _) => Some("all of it is zram, in RAM: no job is parked here"),
        _ => None,
    };
    if let Some(what) = what {
        topic.warning(
            what,
            "add swap on a disk (swapon) of at least SwapPerNode in dfrs.conf",
        );
    }
    if let Some(wanted) = swap_per_node(host).filter(|wanted| bytes > 0 && *wanted > bytes) {
        topic.warning(
            format!(
                "{} MiB, and SwapPerNode in dfrs.conf is {} MiB: DFRS counts on that here, too",
                bytes >> 20,
                wanted >> 20
            ),
            "add swap, or write SwapPerNode= as much as the smallest node has",
        );
    }
    topic.done(format!("{} MiB", bytes >> 20));
    bytes
}

/// What dfrs.conf counts on, where there is one: it need not be on nodes.
fn swap_per_node(host: &impl Host) -> Option<u64> {
    let (file, text) = beside_slurm_conf(host, "dfrs.conf")?;
    let config = Config::parse(&text, &file.to_string_lossy()).ok()?;
    Some(config.swap_per_node.0)
}

/// A file of this name beside slurm.conf, and where it is.
fn beside_slurm_conf(host: &impl Host, name: &str) -> Option<(PathBuf, String)> {
    let named = host.variable("SLURM_CONF");
    let places = named
        .as_deref()
        .into_iter()
        .chain([DEFAULT_CONF, CONFIGLESS]);
    let mut files = places.map(|place| Path::new(place).with_file_name(name));
    files.find_map(|file| host.text(&file).ok().map(|text| (file, text)))
}

fn kernel(host: &impl Host, findings: &mut Findings) {
    let mut topic = findings.topic("kernel");
    let read = |path: &str| host.text(Path::new(path)).unwrap_or_default();
    let hierarchy = Hierarchy::of_mounts(&read("/proc/mounts"));
    let release = read("/proc/sys/kernel/osrelease");
    let release = release.trim();
    let offered = read("/sys/fs/cgroup/cgroup.controllers");
    cgroup::examine(&hierarchy, &offered, release, &mut topic);
    let version = match hierarchy {
        Hierarchy::V2 => "v2",
        _ => "v1",
    };
    topic.done(format!("Linux {release}, cgroup {version}"));
}

/// cgroup.conf as slurmd here has it. `parks`: jobs can be parked here.
fn constraints(host: &impl Host, parks: bool, findings: &mut Findings) {
    let mut topic = findings.topic("cgroup.conf");
    let Some((file, text)) = beside_slurm_conf(host, "cgroup.conf") else {
        topic.warning(
            "not found beside slurm.conf",
            "copy slurm-conf/cgroup.conf there, or set SLURM_CONF",
        );
        return;
    };
    options::constraints(&Settings::parse(&text), parks, &mut topic);
    topic.done(file.display().to_string());
}

/// dfrsd: whether it runs, whom it obeys, and which version it is.
fn daemon(host: &impl Host, name: &str, findings: &mut Findings) {
    let mut topic = findings.topic("dfrsd");
    let socket: PathBuf = [SOCKETS, name, "dfrsd.sock"].iter().collect();
    let status = match ask(host, name) {
        Ok(status) => status,
        Err(error) => {
            topic.error(
                error,
                format!("as root: systemctl enable --now dfrsd; its node is {name} (--node)"),
            );
            return;
        }
    };
    let software = status.software.as_deref().unwrap_or("of an older version");
    let ours = env!("CARGO_PKG_VERSION");
    if software != ours {
        topic.warning(
            format!("runs slurm-dfrs {software}, this is {ours}"),
            "install both of one version: systemctl restart dfrsd",
        );
    }
    match (host.owner(&socket), slurm_user(host)) {
        (Ok(owner), Some(user)) if owner.uid != user => topic.error(
            format!(
                "obeys user {}, and slurm.conf's SlurmUser is {user}",
                owner.uid
            ),
            "write DFRSD_OPTIONS=--controller-user ... into /etc/default/dfrsd",
        ),
        _ => {}
    }
    if status.generation.is_none() {
        topic.warning(
            "has heard nothing from slurmctld since its start",
            "if the node is in a DFRS partition: see slurmctld's and slurmd's logs",
        );
    } else if status.failed_open {
        topic.warning(
            "has heard nothing from slurmctld for too long, and has lifted all caps",
            "see slurmctld's and slurmd's logs",
        );
    }
    topic.done(format!(
        "{software} for node {name}, cgroup {}, {:.2} cores for jobs",
        status.cgroup, status.capacity_cores
    ));
}

fn ask(host: &impl Host, name: &str) -> Result<NodeStatus, String> {
    let answer = host.run("dfrsd", &["status", "--json", "--node", name])?;
    serde_json::from_str(&answer).map_err(|error| format!("dfrsd answers strangely: {error}"))
}

/// By what the controller says; a node that cannot ask it is not judged by it.
fn slurm_user(host: &impl Host) -> Option<u32> {
    let text = host.run("scontrol", &["show", "config"]).ok()?;
    Settings::parse(&text).uid("SlurmUser")
}
