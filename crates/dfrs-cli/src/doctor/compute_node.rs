//! The examination of a compute node: swap, memory, kernel, cgroup.conf, dfrsd.

use std::path::{Path, PathBuf};

use dfrs_node_proto::spare;
use dfrs_node_proto::swap::{KEPT_BY_ZSWAP, Swap};
use dfrs_proto::conf::Config;
use dfrs_proto::slurm_conf;

use super::carrying;
use super::cgroup::{self, Hierarchy};
use super::facts;
use super::finding::DoctorFindings;
use super::host::{Host, query_dfrsd};
use super::slurm::{SlurmSettings, records};

/// Where slurmd keeps what a configless controller sent, after the usual place.
const CONFIGLESS: &str = "/run/slurm/conf/slurm.conf";
const DEFAULT_CONF: &str = "/etc/slurm/slurm.conf";
/// Where the plugin expects dfrsd's socket.
const SOCKETS: &str = "/run/dfrs";

/// Examines this host as the node of this name.
pub fn examine(host: &impl Host, name: Option<&str>, findings: &mut DoctorFindings) {
    let name = name.map_or_else(|| own_name(host), str::to_owned);
    let text = |path: &str| host.text(Path::new(path)).unwrap_or_default();
    let hierarchy = Hierarchy::of_mounts(&text("/proc/mounts"));
    let swap = swap(host, &hierarchy, findings);
    if swap > 0 {
        memory(host, &name, findings);
    }
    kernel(host, &hierarchy, findings);
    constraints(host, swap > 0, findings);
    daemon(host, &name, findings);
    carrying::examine(host, findings);
}

/// The host's name up to the first dot, as slurmd and dfrsd take it.
fn own_name(host: &impl Host) -> String {
    let name = host.text(Path::new("/proc/sys/kernel/hostname"));
    let name = name.unwrap_or_default();
    name.trim().split('.').next().unwrap_or_default().to_owned()
}

/// Bytes of swap that parked jobs can use, as dfrsd counts them.
fn swap(host: &impl Host, hierarchy: &Hierarchy, findings: &mut DoctorFindings) -> u64 {
    let mut topic = findings.topic("swap");
    let text = |path: &str| host.text(Path::new(path)).unwrap_or_default();
    let swap = Swap::parse(&text("/proc/swaps"));
    let is_cached = matches!(hierarchy, Hierarchy::V1(_))
        && text("/sys/module/zswap/parameters/enabled").trim() == "Y";
    let bytes = if is_cached { 0 } else { swap.usable(None) };
    let trouble = if is_cached && swap.outside_ram_bytes > 0 {
        Some(KEPT_BY_ZSWAP)
    } else {
        swap.warning()
    };
    if let Some(trouble) = trouble {
        let (what, remedy) = split_remedy(trouble);
        topic.warning(what, remedy);
    } else if bytes == 0 {
        topic.warning(
            "there is none: no job is parked here",
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

/// What dfrsd says is wrong, and what to do: its words have that at their end.
fn split_remedy(trouble: &str) -> (&str, &str) {
    let otherwise = (trouble, "see dfrsd's log: journalctl --unit dfrsd");
    trouble.rsplit_once("; ").unwrap_or(otherwise)
}

/// Whether Slurm leaves memory for what parked jobs keep in RAM (ADR 44).
fn memory(host: &impl Host, name: &str, findings: &mut DoctorFindings) {
    let text = host.text(Path::new("/proc/meminfo")).unwrap_or_default();
    let (Some(installed), Some(given)) = (spare::installed(&text), job_memory_bytes(host, name))
    else {
        return; // dfrsd is checked, too
    };
    let mut topic = findings.topic("memory");
    let spare = spare::for_parked_jobs(installed, given);
    let mebibytes = |bytes: u64| bytes >> 20;
    if spare < spare::MIN_BYTES_PER_JOB {
        topic.warning(
            format!(
                "Slurm gives {} of {} MiB to jobs, and half of the rest is what parked ones may keep in RAM: that is less than {} MiB, and no job is parked here",
                mebibytes(given),
                mebibytes(installed),
                mebibytes(spare::MIN_BYTES_PER_JOB)
            ),
            "lower RealMemory, or raise MemSpecLimit, in slurm.conf",
        );
    }
    topic.done(format!(
        "{} MiB, of which Slurm gives {} to jobs; parked ones may keep {} MiB in RAM",
        mebibytes(installed),
        mebibytes(given),
        mebibytes(spare)
    ));
}

/// Memory for jobs in bytes, as slurmctld says. A node that cannot reach slurmctld is not judged by
/// it.
fn job_memory_bytes(host: &impl Host, name: &str) -> Option<u64> {
    let shown = host.run("scontrol", &["--oneliner", "show", "node", name]);
    let records = records(&shown.ok()?);
    let mebibytes = |key| records.first()?.get(key).parse::<u64>().ok();
    let real = mebibytes("RealMemory")?;
    let reserved = mebibytes("MemSpecLimit").unwrap_or(0);
    Some(real.saturating_sub(reserved).saturating_mul(1 << 20))
}

/// What dfrs.conf counts on, where there is one: it need not be on nodes.
fn swap_per_node(host: &impl Host) -> Option<u64> {
    let (file, text) = slurm_conf_sibling(host, "dfrs.conf")?;
    let config = Config::parse(&text, &file.to_string_lossy()).ok()?;
    Some(config.swap_per_node.0)
}

/// A file of this name beside slurm.conf, and where it is.
pub(super) fn slurm_conf_sibling(host: &impl Host, name: &str) -> Option<(PathBuf, String)> {
    let named = host.variable("SLURM_CONF");
    let places = named
        .as_deref()
        .into_iter()
        .chain([DEFAULT_CONF, CONFIGLESS]);
    let mut files = places.map(|place| Path::new(place).with_file_name(name));
    files.find_map(|file| host.text(&file).ok().map(|text| (file, text)))
}

fn kernel(host: &impl Host, hierarchy: &Hierarchy, findings: &mut DoctorFindings) {
    let mut topic = findings.topic("kernel");
    let read = |path: &str| host.text(Path::new(path)).unwrap_or_default();
    let release = read("/proc/sys/kernel/osrelease");
    let release = release.trim();
    let offered = read("/sys/fs/cgroup/cgroup.controllers");
    cgroup::examine(hierarchy, &offered, release, &mut topic);
    let version = match hierarchy {
        Hierarchy::V2 => "v2",
        _ => "v1",
    };
    topic.done(format!("Linux {release}, cgroup {version}"));
}

/// cgroup.conf as slurmd here has it. `parks`: jobs can be parked here.
fn constraints(host: &impl Host, parks: bool, findings: &mut DoctorFindings) {
    let mut topic = findings.topic("cgroup.conf");
    let Some((file, text)) = slurm_conf_sibling(host, "cgroup.conf") else {
        topic.warning(
            "not found beside slurm.conf",
            "copy slurm-conf/cgroup.conf there, or set SLURM_CONF",
        );
        return;
    };
    let cgroups = facts::cgroups(&SlurmSettings::parse(&text));
    topic.shared(&slurm_conf::examine_cgroups(&cgroups, parks));
    topic.done(file.display().to_string());
}

/// dfrsd: whether it runs, whose orders it takes, and which version it is.
fn daemon(host: &impl Host, name: &str, findings: &mut DoctorFindings) {
    // What dfrsd says, too, is said once.
    let findings_text = findings.text();
    let mut topic = findings.topic("dfrsd");
    let socket: PathBuf = [SOCKETS, name, "dfrsd.sock"].iter().collect();
    let status = match query_dfrsd(host, Some(name)) {
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
                "takes orders from uid={}, and SlurmUser is uid={user}",
                owner.uid
            ),
            "write DFRSD_OPTIONS=--controller-user ... into /etc/default/dfrsd",
        ),
        _ => {}
    }
    if status.generation.is_none() {
        topic.warning(
            "no orders from slurmctld since it started",
            "if the node is in a DFRS partition: see slurmctld's and slurmd's logs",
        );
    } else if status.failed_open {
        let silence = status.heard_seconds_ago.unwrap_or_default();
        topic.warning(
            format!(
                "no valid orders from slurmctld for {silence:.0} s: CPU caps lifted, frozen jobs stay frozen"
            ),
            "see slurmctld's and slurmd's logs",
        );
    }
    for trouble in status
        .troubles
        .iter()
        .filter(|it| !findings_text.contains(*it))
    {
        let (what, remedy) = split_remedy(trouble);
        topic.warning(what, remedy);
    }
    topic.done(format!(
        "{software} for node {name}, cgroup {}, {:.2} cores for jobs",
        status.cgroup, status.capacity_cores
    ));
}

/// SlurmUser, as slurmctld says. A node that cannot reach slurmctld is not judged by it.
fn slurm_user(host: &impl Host) -> Option<u32> {
    let text = host.run("scontrol", &["show", "config"]).ok()?;
    SlurmSettings::parse(&text).uid("SlurmUser")
}
