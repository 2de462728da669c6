//! What `scontrol show` would say of a site with these files, as far as DFRS's checks look at it.

use super::SlurmConfFiles;
use super::known::{self, OptionAge};
use super::nodes::ConfNode;
use super::slurm_conf::{ConfFields, NamedLine};
use crate::doctor::slurm::{ScontrolRecord, SlurmSettings};

/// What Slurm 24.11 takes for options that are not there, where the checks need a word.
const DEFAULTS: [(&str, &str); 9] = [
    ("SchedulerType", "sched/backfill"),
    ("SelectType", "select/cons_tres"),
    ("ProctrackType", "proctrack/cgroup"),
    ("TaskPlugin", "task/none"),
    ("JobAcctGatherType", "jobacct_gather/none"),
    ("PreemptMode", "OFF"),
    ("PreemptType", "preempt/none"),
    ("JobRequeue", "1"),
    ("SuspendTime", "INFINITE"),
];

impl SlurmConfFiles {
    /// Options of slurm.conf and cgroup.conf, with Slurm's defaults.
    pub fn settings(&self) -> SlurmSettings {
        let defaults = DEFAULTS.map(|(key, value)| (key, value.to_owned()));
        let resources = self
            .default_resources()
            .map(|it| ("SelectTypeParameters", it));
        // What stands in slurm.conf by mistake, as options of cgroup.conf do, counts nowhere.
        let own = self.statements.options.values();
        let own = own.filter(|it| known::of_cluster(&it.key) != OptionAge::Unknown);
        let options = own.chain(self.cgroup.iter().flat_map(|options| options.values()));
        let options = options.map(|it| (it.key.as_str(), shown(&it.key, &it.value)));
        SlurmSettings::of(defaults.into_iter().chain(resources).chain(options))
    }

    fn default_resources(&self) -> Option<String> {
        let select = self.option("SelectType").unwrap_or("select/cons_tres");
        (select == "select/cons_tres").then(|| "CR_CORE_MEMORY".to_owned())
    }

    /// A record for each partition.
    pub fn partition_records(&self) -> Vec<ScontrolRecord> {
        let mode = self.option("PreemptMode").unwrap_or("OFF");
        let partitions = self.statements.partitions.iter();
        partitions.map(|line| partition(line, mode)).collect()
    }

    /// A record for each node that is there.
    pub fn node_records(&self) -> Vec<ScontrolRecord> {
        let mut partitions = vec![String::new(); self.nodes.all.len()];
        for (line, members) in self.statements.partitions.iter().zip(self.members.iter()) {
            for &index in members {
                if let Some(list) = partitions.get_mut(index) {
                    let comma = if list.is_empty() { "" } else { "," };
                    *list += &format!("{comma}{}", line.name);
                }
            }
        }
        let nodes = self.nodes.all.iter().zip(partitions);
        nodes.map(|(it, partitions)| node(it, partitions)).collect()
    }
}

/// As Slurm shows an option.
fn shown(key: &str, value: &str) -> String {
    let is_memory = ["DefMemPerCPU", "DefMemPerNode"]
        .iter()
        .any(|it| it.eq_ignore_ascii_case(key));
    if is_memory {
        memory(value)
    } else {
        value.to_owned()
    }
}

/// A default memory of 0 is all of the node's.
fn memory(value: &str) -> String {
    let value = if value == "0" { "UNLIMITED" } else { value };
    value.to_owned()
}

fn partition(line: &NamedLine, mode_of_all: &str) -> ScontrolRecord {
    let fields = &line.fields;
    let text = |key: &str| fields.get(key).cloned().unwrap_or_default();
    let or = |key: &str, default: &str| fields.get(key).cloned().unwrap_or(default.to_owned());
    ScontrolRecord::of([
        ("PartitionName", line.name.clone()),
        ("Nodes", text("nodes")),
        ("OverSubscribe", oversubscribe(fields)),
        ("ExclusiveTopo", yes_or_no(has_exclusive_topology(fields))),
        (
            "PowerDownOnIdle",
            yes_or_no(is_yes(&text("powerdownonidle"))),
        ),
        ("SuspendTime", text("suspendtime")),
        ("State", state(&or("state", "UP"))),
        ("CpuBind", text("cpubind")),
        ("PriorityTier", or("prioritytier", "1")),
        ("PreemptMode", preempt_mode(&or("preemptmode", mode_of_all))),
        ("DefMemPerCPU", memory(&text("defmempercpu"))),
        ("DefMemPerNode", memory(&text("defmempernode"))),
    ])
}

/// As `scontrol` shows it: with the number of jobs.
fn oversubscribe(fields: &ConfFields) -> String {
    let is_whole = fields.get("exclusive").is_some_and(|it| {
        ["NODE", "TOPO"]
            .iter()
            .any(|word| it.eq_ignore_ascii_case(word))
    });
    let word = fields.get("oversubscribe").map_or("NO", String::as_str);
    let word = word.to_ascii_uppercase();
    let count = word
        .split_once(':')
        .map(|(_, count)| count.parse::<i64>().unwrap_or(0));
    match (word.split(':').next().unwrap_or(""), count) {
        _ if is_whole => "EXCLUSIVE".to_owned(),
        ("YES" | "FORCE", None) => format!("{word}:4"),
        ("YES", Some(..=1)) | ("FORCE", Some(..=0)) => "NO".to_owned(),
        _ => word,
    }
}

fn has_exclusive_topology(fields: &ConfFields) -> bool {
    let is = |key: &str, test: fn(&str) -> bool| fields.get(key).is_some_and(|it| test(it));
    is("exclusivetopo", is_yes) || is("exclusive", |it| it.eq_ignore_ascii_case("TOPO"))
}

fn yes_or_no(yes: bool) -> String {
    if yes { "YES" } else { "NO" }.to_owned()
}

/// As Slurm reads words that mean yes.
fn is_yes(word: &str) -> bool {
    ["yes", "up", "true", "1"]
        .iter()
        .any(|yes| word.eq_ignore_ascii_case(yes))
}

/// Slurm looks at the beginning only.
fn state(word: &str) -> String {
    let states = ["DOWN", "UP", "DRAIN", "INACTIVE"];
    let begins = |state: &&&str| {
        word.get(..state.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(state))
    };
    let found = states.iter().find(begins);
    (*found.unwrap_or(&"UP")).to_owned()
}

/// What happens to a job that is preempted: time slicing is no part of it.
fn preempt_mode(mode: &str) -> String {
    let is_kept = |word: &&str| !word.eq_ignore_ascii_case("GANG");
    let kept: Vec<&str> = mode.split(',').map(str::trim).filter(is_kept).collect();
    if kept.is_empty() {
        "OFF".to_owned()
    } else {
        kept.join(",")
    }
}

fn node(node: &ConfNode, partitions: String) -> ScontrolRecord {
    let text = |key: &str| node.fields.get(key).cloned().unwrap_or_default();
    ScontrolRecord::of([
        ("NodeName", node.name.clone()),
        ("Partitions", partitions),
        ("State", node_state(&text("state"))),
        ("CPUTot", node.cpus().to_string()),
        ("ThreadsPerCore", node.threads_per_core().to_string()),
        ("RealMemory", node.memory().unwrap_or(1).to_string()),
        ("Gres", node.gres()),
        ("CpuBind", text("cpubind")),
        ("CoreSpecCount", text("corespeccount")),
        ("CPUSpecList", text("cpuspeclist")),
    ])
}

/// `UNKNOWN` is what most sites write: the node says itself how it is.
fn node_state(word: &str) -> String {
    let word = word.to_ascii_uppercase();
    match word.as_str() {
        "" | "UNKNOWN" | "UP" | "IDLE" => "IDLE".to_owned(),
        "CLOUD" => "IDLE+CLOUD".to_owned(),
        _ => word,
    }
}
