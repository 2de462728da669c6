//! slurm.conf's lines about the whole cluster, and dfrs.conf. What the plugin refuses at its start
//! (`c_shim/configuration.c`) is an error here, too.

use std::path::Path;

use dfrs_core::{Bytes, Mobility};
use dfrs_proto::conf::{Config, Mode};

use super::finding::{Findings, Topic};
use super::host::Host;
use super::slurm::Settings;

/// What makes slurmctld run the plugin.
pub const START: &str = "write SchedulerType=sched/dfrs and restart slurmctld";
/// What keeps Slurm's own loops from jobs of DFRS.
const KEEP_AWAY: &str = "write BurstBufferType=burst_buffer/dfrs and restart slurmctld, or add sched_interval=-1,defer,bf_interval=5,bf_max_time=30 to SchedulerParameters";

/// How lines that act in slurmd are changed.
const IN_SLURMD: &str = "write it on all hosts, drain the nodes, and restart slurmctld and all slurmds when no job runs";

/// What slurmctld runs with. `config`: dfrs.conf, if there is one that is right.
pub fn examine(settings: &Settings, config: Option<&Config>, findings: &mut Findings) {
    scheduler(settings, config, findings);
    select(settings, findings);
    processes(settings, findings);
    memory(settings, config, findings);
    requeues(settings, config, findings);
    topology(settings, findings);
}

fn scheduler(settings: &Settings, config: Option<&Config>, findings: &mut Findings) {
    let mut topic = findings.topic("scheduler");
    if !is_started(settings) {
        topic.todo(
            format!(
                "slurm.conf: SchedulerType={}",
                settings.get("SchedulerType")
            ),
            START,
        );
    }
    let has = |option| settings.lists("SchedulerParameters", option);
    let withheld = is_withheld(settings);
    if !withheld && (!has("sched_interval=-1") || !has("defer")) {
        slurm_starts_jobs(settings, config, &mut topic);
    }
    if withheld && (has("sched_interval=-1") || has("defer")) {
        topic.warning(
            "slurm.conf: with BurstBufferType=burst_buffer/dfrs jobs of other partitions need not wait for backfill",
            "take sched_interval=-1 and defer out of SchedulerParameters",
        );
    }
    if settings.lists("PreemptMode", "GANG") {
        topic.error(
            "slurm.conf: PreemptMode=GANG: its time slicer suspends and resumes jobs as DFRS does",
            "take GANG out",
        );
    }
    if settings.lists("SlurmctldParameters", "enable_stepmgr") {
        topic.warning(
            "slurm.conf: SlurmctldParameters=enable_stepmgr: DFRS does not see when steps of such jobs begin, and may pause them too early",
            "leave it out, or make SettleTime in dfrs.conf long",
        );
    }
    topic.done("SchedulerType=sched/dfrs, and Slurm's own loops leave its jobs alone");
}

/// Slurm's own loops would start jobs of DFRS's partitions: that is wrong in Mode=full only.
fn slurm_starts_jobs(settings: &Settings, config: Option<&Config>, topic: &mut Topic) {
    let parameters = settings.get("SchedulerParameters");
    let what =
        format!("slurm.conf: SchedulerParameters={parameters}: Slurm starts DFRS's jobs itself");
    match config.map_or(Mode::Full, |config| config.mode) {
        Mode::Full if is_started(settings) => topic.error(what, KEEP_AWAY),
        Mode::Full => topic.todo(what, KEEP_AWAY),
        Mode::Shadow | Mode::Off => topic.todo(
            format!("{what}, as it should until Mode=full"),
            format!("before Mode=full: {KEEP_AWAY}"),
        ),
    }
}

/// Whether slurmctld runs the plugin.
pub fn is_started(settings: &Settings) -> bool {
    settings.is("SchedulerType", "sched/dfrs")
}

/// Whether a plugin of DFRS keeps its jobs from Slurm's own loops.
pub fn is_withheld(settings: &Settings) -> bool {
    settings.is("BurstBufferType", "burst_buffer/dfrs")
}

fn select(settings: &Settings, findings: &mut Findings) {
    let mut topic = findings.topic("select");
    let kind = settings.get("SelectType");
    if kind != "select/cons_tres" {
        topic.error(
            format!("slurm.conf: SelectType={kind}"),
            "write SelectType=select/cons_tres; this loses all jobs, running and pending, unless it was select/cons_res",
        );
    }
    let is_enough = |option: &str| settings.lists("SelectTypeParameters", option);
    if !["CR_CORE_MEMORY", "CR_CPU_MEMORY"]
        .into_iter()
        .any(is_enough)
    {
        topic.error(
            format!(
                "slurm.conf: SelectTypeParameters={}: memory has to be counted, and cores or CPUs",
                settings.get("SelectTypeParameters")
            ),
            "write SelectTypeParameters=CR_Core_Memory",
        );
    }
    topic.done(format!("{kind}, {}", settings.get("SelectTypeParameters")));
}

fn processes(settings: &Settings, findings: &mut Findings) {
    let mut topic = findings.topic("processes");
    for (key, value) in [
        ("ProctrackType", "proctrack/cgroup"),
        ("JobAcctGatherType", "jobacct_gather/cgroup"),
    ] {
        if !settings.is(key, value) {
            topic.error(
                format!(
                    "slurm.conf: {key}={}: dfrsd acts on the cgroups of jobs",
                    settings.get(key)
                ),
                format!("write {key}={value}; {IN_SLURMD}"),
            );
        }
    }
    if !settings.lists("TaskPlugin", "task/cgroup") {
        topic.error(
            format!(
                "slurm.conf: TaskPlugin={}: jobs have no wall around their memory",
                settings.get("TaskPlugin")
            ),
            format!("add task/cgroup; {IN_SLURMD}"),
        );
    }
    topic.done("jobs are in cgroups");
}

fn memory(settings: &Settings, config: Option<&Config>, findings: &mut Findings) {
    let mut topic = findings.topic("cgroup.conf");
    let parks = config.is_some_and(|config| config.swap_per_node > Bytes(0));
    constraints(settings, parks, &mut topic);
    topic.done("ConstrainRAMSpace=yes, ConstrainSwapSpace=no");
}

/// What cgroup.conf says, as slurmctld or as a node has it. `parks`: swap is used.
pub fn constraints(settings: &Settings, parks: bool, topic: &mut Topic) {
    if !settings.is("ConstrainRAMSpace", "yes") {
        topic.warning(
            "ConstrainRAMSpace is not yes: a job may take memory that others were promised",
            format!("write ConstrainRAMSpace=yes in cgroup.conf; {IN_SLURMD}"),
        );
    }
    if settings.is("ConstrainSwapSpace", "yes") {
        let what = "ConstrainSwapSpace=yes: Slurm forbids the swap that parked jobs need";
        let remedy = format!("write ConstrainSwapSpace=no in cgroup.conf; {IN_SLURMD}");
        if parks {
            topic.error(what, remedy);
        } else {
            topic.warning(what, remedy);
        }
    }
}

fn requeues(settings: &Settings, config: Option<&Config>, findings: &mut Findings) {
    let moves = |mobility| matches!(mobility, Mobility::Checkpoint | Mobility::Restart);
    let partitions = config.map_or(&[][..], |config| &config.partitions);
    let wanting = partitions
        .iter()
        .find(|partition| moves(partition.mobility));
    if let (Some(partition), "0") = (wanting, settings.get("JobRequeue")) {
        findings.topic("requeue").warning(
            format!(
                "slurm.conf: JobRequeue=0: jobs of partition {} can only move if they ask for --requeue",
                partition.name
            ),
            "write JobRequeue=1, or another Mobility in dfrs.conf",
        );
    }
}

/// What Slurm calls a network without a shape, over the years.
const FLAT: [&str; 4] = ["", "topology/none", "topology/default", "topology/flat"];

fn topology(settings: &Settings, findings: &mut Findings) {
    let plugin = settings.get("TopologyPlugin");
    if !FLAT.contains(&plugin) {
        findings.topic("topology").warning(
            format!("slurm.conf: TopologyPlugin={plugin}: DFRS knows no topology: it puts tasks on any nodes, and Slurm refuses places that are not connected"),
            "give DFRS partitions whose nodes are all connected, of one switch or block if jobs want it",
        );
    }
}

/// dfrs.conf, if it is right.
pub fn dfrs_conf(
    host: &impl Host,
    path: &Path,
    slurm_user: Option<u32>,
    findings: &mut Findings,
) -> Option<Config> {
    let mut topic = findings.topic("dfrs.conf");
    let text = match host.text(path) {
        Ok(text) => text,
        Err(error) => {
            topic.error(
                format!("{}: {error}", path.display()),
                "copy slurm-conf/dfrs.conf there, and name a partition",
            );
            return None;
        }
    };
    let config = match Config::parse(&text, &path.to_string_lossy()) {
        Ok(config) => config,
        Err(error) => {
            topic.error(error.to_string(), "then: scontrol reconfigure");
            return None;
        }
    };
    if config.mode == Mode::Off {
        topic.warning("Mode=off: DFRS does nothing", "write Mode=shadow or full");
    }
    let journal = config.journal.as_deref().and_then(Path::parent);
    writable(host, "Journal", journal, slurm_user, &mut topic);
    let status = config.status_directory.as_deref();
    writable(host, "StatusDirectory", status, slurm_user, &mut topic);
    let names = config.partition_list();
    topic.done(format!("Policy={}, partitions {names}", config.policy));
    Some(config)
}

/// Whether SlurmUser can write in a directory.
fn writable(
    host: &impl Host,
    key: &str,
    directory: Option<&Path>,
    slurm_user: Option<u32>,
    topic: &mut Topic,
) {
    let Some(directory) = directory else { return };
    let shown = directory.display();
    match host.owner(directory) {
        Err(error) => topic.error(
            format!("{key}: {shown}: {error}"),
            format!("make it, for SlurmUser to write, or take {key} out of dfrs.conf"),
        ),
        Ok(owner) if !owner.is_directory => topic.error(
            format!("{key}: {shown} is no directory"),
            "name another one in dfrs.conf",
        ),
        // Of groups nothing is known.
        Ok(owner)
            if slurm_user.is_some_and(|user| user != owner.uid) && owner.mode & 0o022 == 0 =>
        {
            topic.error(
                format!("{key}: SlurmUser cannot write in {shown}"),
                "chown it to SlurmUser, or name another one in dfrs.conf",
            );
        }
        Ok(_) => {}
    }
}
