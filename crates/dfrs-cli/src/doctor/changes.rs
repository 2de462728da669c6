//! Which lines of a site's files have to change for DFRS: what the checks refuse is changed, and all is looked
//! at again: what is left then no line can change.

use dfrs_core::Bytes;
use dfrs_proto::conf::{Config, Mode};
use dfrs_proto::slurm_conf::{self, About, Finding, SlurmNode, Verdict};

use super::facts;
use super::nodes::some_of;
use super::slurm::ScontrolRecord;
use crate::site::{LineChange, SlurmConfFiles};

/// What takes the place of a burst buffer plugin, where a site has one of its own.
const WITHHOLDING: &str = "sched_interval=-1,defer,bf_interval=5,bf_max_time=30,bf_continue";

/// The nodes of a site and its partitions, which no change of a line touches: looked at once, as they are many.
pub struct SiteMembers {
    nodes: Vec<SlurmNode>,
    /// Of each partition, in the order of slurm.conf.
    members: Vec<Vec<usize>>,
}

impl SiteMembers {
    /// Of these files, whose nodes are `nodes`.
    pub fn of(files: &SlurmConfFiles, nodes: &[ScontrolRecord]) -> Self {
        let facts = facts::of(&files.settings(), &files.partition_records(), nodes);
        Self {
            nodes: facts.nodes,
            members: facts.partitions.into_iter().map(|it| it.nodes).collect(),
        }
    }

    fn examine(&self, files: &SlurmConfFiles, config: &Config) -> Vec<Finding> {
        let mut facts = facts::of(&files.settings(), &files.partition_records(), &[]);
        facts.nodes.clone_from(&self.nodes);
        for (partition, nodes) in facts.partitions.iter_mut().zip(&self.members) {
            partition.nodes.clone_from(nodes);
        }
        slurm_conf::examine(&facts, Some(config))
    }
}

/// The changes for one dfrs.conf.
pub struct ChangePlan {
    /// What was found in the files as they are.
    pub found: Vec<Finding>,
    /// What refuses DFRS whatever is written.
    pub left: Vec<Finding>,
    /// The lines.
    pub lines: Vec<LineChange>,
}

impl ChangePlan {
    /// For these files with this dfrs.conf.
    pub fn of(files: &SlurmConfFiles, nodes: &SiteMembers, config: &Config) -> Self {
        let mut changed = files.clone();
        for partition in &config.partitions {
            changed.ask_for_memory(&partition.name);
        }
        let found = nodes.examine(files, config);
        let needed = found
            .iter()
            .filter(|finding| is_needed(finding, config.mode));
        needed.for_each(|finding| change(&mut changed, finding, config));
        let mut left = nodes.examine(&changed, config);
        left.retain(|finding| finding.verdict == Verdict::Refused);
        Self {
            found,
            left,
            lines: changed.changes_since(files),
        }
    }

    /// What was found, with what a line changes as a step that is not done yet.
    pub fn steps(&self) -> Vec<Finding> {
        let is_left = |finding: &Finding| {
            let mut left = self.left.iter();
            left.any(|it| it.check == finding.check && it.about == finding.about)
        };
        let step = |finding: &Finding| {
            let mut step = finding.clone();
            if step.verdict == Verdict::Refused && !is_left(finding) {
                step.verdict = Verdict::Later;
            }
            step
        };
        together(self.found.iter().map(step))
    }
}

/// With one finding for all partitions that share nodes with one of DFRS, as they are many at some sites.
fn together(findings: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    let mut others: Vec<(usize, Vec<String>)> = Vec::new();
    for finding in findings {
        let is_alike = |it: &Finding| {
            let same = (it.check, it.verdict) == (finding.check, finding.verdict);
            same && it.about == finding.about
        };
        let first = all
            .iter()
            .position(is_alike)
            .filter(|_| finding.check == "shared_nodes");
        let (Some(first), Some(name)) = (first, other_partition(&finding.what)) else {
            all.push(finding);
            continue;
        };
        match others.iter_mut().find(|(index, _)| *index == first) {
            Some((_, names)) => names.push(name.to_owned()),
            None => others.push((first, vec![name.to_owned()])),
        }
    }
    for (index, names) in others {
        if let (Some(finding), Some(names)) = (all.get_mut(index), some_of(&names)) {
            finding.what += &format!("; so do {names}");
        }
    }
    all
}

/// Whether DFRS does not do in this mode what it is to do.
fn is_needed(finding: &Finding, mode: Mode) -> bool {
    match finding.verdict {
        Verdict::Refused => true,
        Verdict::Later => finding.check == "started" || mode == Mode::Full,
        Verdict::Warning => false,
    }
}

/// Changes what a check found, if a line can.
fn change(files: &mut SlurmConfFiles, finding: &Finding, config: &Config) {
    let settings = files.settings();
    match finding.check {
        "started" => files.set_option("SchedulerType", Some("sched/dfrs")),
        "select" => select(files, settings.get("SelectType")),
        "slurm_starts" => withhold(files),
        "gang" => no_gang(
            files,
            settings.get("PreemptMode"),
            settings.get("PreemptType"),
        ),
        "processes" => processes(files),
        "cgroups" => files.set_cgroup_option("CgroupPlugin", None),
        "swap_space" if config.swap_per_node > Bytes(0) => {
            files.set_cgroup_option("ConstrainSwapSpace", Some("no"));
        }
        _ => {}
    }
    let About::Partition(name) = &finding.about else {
        return;
    };
    match finding.check {
        "oversubscribe" => files.set_partition_field(name, "OverSubscribe", Some("FORCE:1")),
        "exclusive_topology" => {
            files.set_partition_field(name, "ExclusiveTopo", None);
            files.set_partition_field(name, "Exclusive", None);
        }
        "shared_nodes" if !config.gives_whole_nodes(name) => {
            if let Some(other) = other_partition(&finding.what) {
                files.set_partition_field(other, "OverSubscribe", Some("NO"));
            }
        }
        "power_saving" => {
            files.set_partition_field(name, "PowerDownOnIdle", None);
            let excepted = with_item(settings.get("SuspendExcParts"), name);
            files.set_option("SuspendExcParts", Some(&excepted));
        }
        _ => {}
    }
}

/// The partition in `slurm.conf: PartitionName=long shares nodes with ...`.
fn other_partition(what: &str) -> Option<&str> {
    let (_, after) = what.split_once("PartitionName=")?;
    after.split(" shares nodes").next()
}

fn with_item(list: &str, item: &str) -> String {
    if list.is_empty() {
        item.to_owned()
    } else {
        format!("{list},{item}")
    }
}

/// Machines of Cray and IBM have plugins of their own, for which nothing else works.
fn select(files: &mut SlurmConfFiles, select_type: &str) {
    if ["select/linear", "select/cons_res", "select/serial"].contains(&select_type) {
        files.set_option("SelectType", Some("select/cons_tres"));
    }
    let settings = files.settings();
    let is_counted = |it: &str| settings.lists("SelectTypeParameters", it);
    if is_counted("CR_Core_Memory") || is_counted("CR_CPU_Memory") {
        return;
    }
    let parameters = files.option("SelectTypeParameters").unwrap_or("");
    let is_resource = |item: &str| {
        let item = item.to_ascii_uppercase();
        let units = ["CR_CORE", "CR_CPU", "CR_SOCKET"];
        item == "CR_MEMORY"
            || units
                .iter()
                .any(|unit| item == *unit || item == format!("{unit}_MEMORY"))
    };
    let items = parameters
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty());
    let (resources, flags): (Vec<&str>, Vec<&str>) = items.partition(|item| is_resource(item));
    let counts_threads = resources
        .iter()
        .any(|it| it.to_ascii_uppercase().starts_with("CR_CPU"));
    let counted = if counts_threads {
        "CR_CPU_Memory"
    } else {
        "CR_Core_Memory"
    };
    let all: Vec<&str> = [counted].into_iter().chain(flags).collect();
    files.set_option("SelectTypeParameters", Some(&all.join(",")));
}

/// Keeps Slurm's own loops from DFRS's jobs: by the plugin that is no burst buffer, or by options where a
/// site has a burst buffer.
fn withhold(files: &mut SlurmConfFiles) {
    let own = files.option("BurstBufferType").unwrap_or("none");
    if own.ends_with("none") {
        return files.set_option("BurstBufferType", Some("burst_buffer/dfrs"));
    }
    let key = |item: &str| item.split('=').next().unwrap_or("").to_ascii_lowercase();
    let replaced: Vec<String> = WITHHOLDING.split(',').map(key).collect();
    let parameters = files.option("SchedulerParameters").unwrap_or("");
    let kept = parameters.split(',').map(str::trim);
    let kept = kept.filter(|item| !item.is_empty() && !replaced.contains(&key(item)));
    let all: Vec<&str> = kept.chain(WITHHOLDING.split(',')).collect();
    files.set_option("SchedulerParameters", Some(&all.join(",")));
}

/// Without time slicing no job is preempted by suspending it (`PreemptMode=SUSPEND requires GANG too`).
fn no_gang(files: &mut SlurmConfFiles, mode: &str, preempt_type: &str) {
    let preempts = !["", "preempt/none"].contains(&preempt_type);
    let words = mode.split(',').map(str::trim);
    let kept = words.filter(|it| !it.eq_ignore_ascii_case("GANG"));
    let kept: Vec<&str> = kept
        .filter(|it| !it.eq_ignore_ascii_case("SUSPEND"))
        .collect();
    let mode = match (preempts, kept.is_empty()) {
        (false, _) => "OFF".to_owned(),
        (true, true) => "REQUEUE".to_owned(),
        (true, false) => kept.join(","),
    };
    files.set_option("PreemptMode", Some(&mode));
}

fn processes(files: &mut SlurmConfFiles) {
    let settings = files.settings();
    for (key, needed) in [
        ("ProctrackType", "proctrack/cgroup"),
        ("JobAcctGatherType", "jobacct_gather/cgroup"),
    ] {
        if !settings.is(key, needed) {
            files.set_option(key, Some(needed));
        }
    }
    let own = files.option("TaskPlugin").unwrap_or("");
    let has_cgroup = own.split(',').any(|it| it.trim().ends_with("cgroup"));
    if !has_cgroup {
        let own = if own.to_ascii_lowercase().contains("none") {
            ""
        } else {
            own
        };
        files.set_option("TaskPlugin", Some(&with_item(own, "task/cgroup")));
    }
}
