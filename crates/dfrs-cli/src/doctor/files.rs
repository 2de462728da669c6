//! The examination of a site by its files alone: whether DFRS can run there, and what has to change.

use std::cmp::Reverse;
use std::path::Path;

use dfrs_proto::conf::{Config, Mode};
use dfrs_proto::slurm_conf::SlurmPartition;

use super::changes::{ChangePlan, SiteMembers};
use super::finding::{DoctorFindings, FindingLevel};
use super::site_verdict::{SiteVerdict, refusal, unknown};
use super::slurm::ScontrolRecord;
use super::{facts, nodes, options, partitions};
use crate::site::{self, SlurmConfFiles};

/// How many partitions are tried.
const MAX_CANDIDATES: usize = 16;

/// Examines slurm.conf and what is beside it.
pub fn examine(path: &Path, findings: &mut DoctorFindings) -> SiteVerdict {
    match site::read(path) {
        Ok(files) => examine_read(&files, findings),
        Err(error) => {
            let mut topic = findings.topic("slurm.conf");
            topic.error(error.clone(), "give the slurm.conf that slurmctld reads");
            unknown(&error)
        }
    }
}

/// The same of files that have been read.
pub fn examine_read(files: &SlurmConfFiles, findings: &mut DoctorFindings) -> SiteVerdict {
    describe(files, findings);
    let nodes = files.node_records();
    let members = SiteMembers::of(files, &nodes);
    match dfrs_conf(files, &members, findings) {
        Some((config, plan)) => {
            judge(files, &nodes, (&config, &plan), findings);
            if findings.worst() == FindingLevel::Error {
                return refusal(files, findings);
            }
            SiteVerdict {
                verdict: verdict(files, &members, &config, plan.lines.len()),
                changes: plan.lines,
            }
        }
        None => refusal(files, findings),
    }
}

/// What the files have, and what is odd about them.
fn describe(files: &SlurmConfFiles, findings: &mut DoctorFindings) {
    let mut topic = findings.topic("slurm.conf");
    let name = files.option("ClusterName").unwrap_or("without a name");
    let partitions = match files.partition_sizes().count() {
        1 => "1 partition".to_owned(),
        count => format!("{count} partitions"),
    };
    topic.ok(format!(
        "{}: cluster {name}, {partitions}, {}",
        files.path().display(),
        files.site_nodes()
    ));
    for warning in files.warnings().iter().chain(&files.missing_option()) {
        topic.warning(&warning.what, &warning.remedy);
    }
    if files.option("FrontendName").is_some() {
        topic.error(
            "FrontendName: jobs of all nodes are on one host, and DFRS needs dfrsd beside each slurmd",
            "use a Slurm with a slurmd on each node",
        );
    }
    let mut topic = findings.topic("select");
    if files.option("SelectType").is_none() {
        topic.warning(
            "slurm.conf: no SelectType: it is select/cons_tres from Slurm 23.11 on, and select/linear before",
            "write SelectType=select/cons_tres, which loses all jobs if it was select/linear",
        );
    } else if files.option("SelectType") == Some("select/cons_tres")
        && files.option("SelectTypeParameters").is_none()
    {
        topic.warning(
            "slurm.conf: no SelectTypeParameters: memory is counted from Slurm 24.05 on, and not before",
            "write SelectTypeParameters=CR_Core_Memory",
        );
    }
    if !files.has_cgroup_conf() {
        findings.topic("cgroup.conf").warning(
            "it is not beside slurm.conf: Slurm's defaults are looked at",
            "copy it there",
        );
    }
}

/// dfrs.conf beside slurm.conf, or one that names the partition that needs fewest changes; and the changes.
fn dfrs_conf(
    files: &SlurmConfFiles,
    members: &SiteMembers,
    findings: &mut DoctorFindings,
) -> Option<(Config, ChangePlan)> {
    let path = files.path().with_file_name("dfrs.conf");
    let mut topic = findings.topic("dfrs.conf");
    if let Ok(text) = std::fs::read_to_string(&path) {
        match Config::parse(&text, &path.to_string_lossy()) {
            Ok(config) => {
                topic.ok(format!("partitions {}", config.partition_list()));
                let plan = ChangePlan::of(files, members, &config);
                return Some((config, plan));
            }
            Err(error) => {
                topic.error(error.to_string(), "correct it, or take it away");
                return None;
            }
        }
    }
    let Some((name, config, plan)) = best(files, members) else {
        topic.error("slurm.conf has no partition", "write a PartitionName= line");
        return None;
    };
    topic.todo(
        format!("there is none beside slurm.conf: partition {name} is looked at, which needs fewest changes"),
        format!("write Partition={name}, or another one, and Mode=shadow first; install.md"),
    );
    Some((config, plan))
}

/// The partition that needs fewest changes, of the largest ones.
fn best<'a>(
    files: &'a SlurmConfFiles,
    members: &SiteMembers,
) -> Option<(&'a str, Config, ChangePlan)> {
    let mut partitions: Vec<(&str, usize)> = files.partition_sizes().collect();
    partitions.sort_by_key(|(_, size)| Reverse(*size));
    partitions.truncate(MAX_CANDIDATES);
    let candidates = partitions.into_iter().filter_map(|(name, size)| {
        let config = config_of(name)?;
        let plan = ChangePlan::of(files, members, &config);
        let state = files.partition_field(name, "state").unwrap_or("UP");
        let is_down = !state.eq_ignore_ascii_case("UP");
        let cost = (plan.left.len(), size == 0, is_down, plan.lines.len());
        Some((cost, (name, config, plan)))
    });
    // Of equals the first is taken, which is the largest.
    let best = candidates.min_by_key(|(cost, _)| *cost);
    best.map(|(_, candidate)| candidate)
}

/// The shortest dfrs.conf for a partition, if it takes its name.
fn config_of(partition: &str) -> Option<Config> {
    Config::parse(&format!("Mode=full\nPartition={partition}\n"), "dfrs.conf").ok()
}

/// Says what the checks found.
fn judge(
    files: &SlurmConfFiles,
    nodes: &[ScontrolRecord],
    (config, plan): (&Config, &ChangePlan),
    findings: &mut DoctorFindings,
) {
    let steps = plan.steps();
    options::examine(&steps, &files.settings(), findings);
    partitions::examine(&steps, config, &files.partition_records(), findings);
    whole_nodes(files, config, findings);
    jobs_of_others(files, config, findings);
    let managed = nodes::managed(config, nodes);
    nodes_of_files(files, config, &managed, findings);
}

/// Says whose jobs have whole nodes now, and will not have them.
fn whole_nodes(files: &SlurmConfFiles, config: &Config, findings: &mut DoctorFindings) {
    let mut topic = findings.topic("partition");
    for partition in &config.partitions {
        let name = partition.name.as_str();
        let own = files.partition_field(name, "oversubscribe").unwrap_or("");
        if own.eq_ignore_ascii_case("EXCLUSIVE") && !config.gives_whole_nodes(name) {
            topic.warning(
                format!("{name}: OverSubscribe=EXCLUSIVE: its jobs have nodes of their own, and will share them"),
                "choose another partition, or Policy=DEMT in dfrs.conf for moldable jobs",
            );
        }
    }
}

/// Says what the lines about `SelectType` change for jobs of the partitions that stay Slurm's.
fn jobs_of_others(files: &SlurmConfFiles, config: &Config, findings: &mut DoctorFindings) {
    let settings = files.settings();
    let facts = facts::of(&settings, &files.partition_records(), &[]);
    let is_managed = |name: &str| config.partitions.iter().any(|it| it.name == name);
    let mut others = facts.partitions;
    others.retain(|it| !is_managed(&it.name));
    let names_of = |is_one: &dyn Fn(&SlurmPartition) -> bool| {
        let found = others.iter().filter(|it| is_one(it));
        nodes::some_of(&found.map(|it| it.name.as_str()).collect::<Vec<_>>())
    };
    let mut topic = findings.topic("select");
    let is_exclusive = |it: &SlurmPartition| {
        let own = files.partition_field(&it.name, "oversubscribe");
        own.is_some_and(|own| own.eq_ignore_ascii_case("EXCLUSIVE"))
    };
    let shared = names_of(&|it| !is_exclusive(it));
    if let Some(names) = shared.filter(|_| settings.is("SelectType", "select/linear")) {
        topic.warning(
            format!("SelectType=select/linear gives jobs whole nodes, and select/cons_tres does not: jobs of these partitions will share nodes: {names}"),
            "write OverSubscribe=EXCLUSIVE for those that are to have whole nodes",
        );
    }
    let parameters = settings.get("SelectTypeParameters").to_ascii_uppercase();
    let is_counted = parameters.contains("MEMORY") || facts.has_default_memory;
    let unlimited = names_of(&|it| !it.has_default_memory && !is_exclusive(it));
    if let Some(names) = unlimited.filter(|_| !is_counted) {
        topic.warning(
            format!("once memory is counted, a job without a memory request takes all of its nodes' in these partitions, too, and does not share them: {names}"),
            "write DefMemPerCPU= for all partitions, at most a node's RealMemory divided by its CPUs",
        );
    }
}

fn nodes_of_files(
    files: &SlurmConfFiles,
    config: &Config,
    managed: &[&ScontrolRecord],
    findings: &mut DoctorFindings,
) {
    let mut topic = findings.topic("nodes");
    nodes::reserved_cores(managed, &mut topic);
    for partition in &config.partitions {
        let name = partition.name.as_str();
        let nodes = files.nodes_of(name);
        let unknown = nodes.kinds.iter().filter(|(kind, _)| kind.memory.is_none());
        let unknown: usize = unknown.map(|(_, count)| count).sum();
        if nodes.count == 0 && files.option("MaxNodeCount").is_some() {
            topic.warning(
                format!("no node of partition {name} is in slurm.conf: those that join later are not looked at"),
                "run dfrs doctor on the controller when they are there",
            );
        } else if nodes.count == 0 {
            topic.error(
                format!("no node of partition {name} is in slurm.conf"),
                "write NodeName= lines, and their names in Nodes= of the partition",
            );
        } else if unknown > 0 {
            topic.todo(
                format!("{unknown} of {name} have no RealMemory: Slurm gives their jobs 1 MB"),
                "write RealMemory= as \"slurmd -C\" prints it",
            );
        } else {
            topic.ok(format!("{name}: {nodes}"));
        }
    }
}

fn verdict(
    files: &SlurmConfFiles,
    members: &SiteMembers,
    config: &Config,
    changes: usize,
) -> String {
    let lines = match changes {
        0 => return "DFRS can run here as the files are".to_owned(),
        1 => "1 change".to_owned(),
        _ => format!("{changes} changes"),
    };
    let trial = Config {
        mode: Mode::Shadow,
        ..config.clone()
    };
    let on_trial = ChangePlan::of(files, members, &trial).lines.len();
    if config.mode == Mode::Full && on_trial < changes {
        format!("DFRS can run here after {lines}; on trial (Mode=shadow) after {on_trial} of them")
    } else {
        format!("DFRS can run here after {lines}")
    }
}
