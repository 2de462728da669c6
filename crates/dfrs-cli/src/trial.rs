//! `dfrs trial`: what would last month have been with DFRS on top of the site's own queue?

mod from_slurm;

use std::path::{Path, PathBuf};

use clap::Args;
use dfrs_core::Bytes;
use dfrs_lab::trial::{SiteTrial, TrialOptions};
use dfrs_sim::trace::gpus_of_equal_nodes;
use dfrs_sim::trace::sacct::{Site, SiteGpus};

use crate::doctor::nodes::some_of;
use crate::site::{NodeKind, SiteNodes, SlurmConfFiles};
use crate::{doctor, site};

/// Says on one page what last month would have been with DFRS on top of the site's own queue.
///
/// DUMP comes from Slurm's accounting, as dfrs replay takes it; the command is below.
///
/// Four worlds are compared: as it was; all jobs under backfill; short jobs on one node in a DFRS partition on top of
/// all nodes, and all others under backfill; and all jobs handed over to DFRS. It ends with a verdict by fixed rules,
/// and the next steps. Lines that are malformed, and jobs that could not have run on such nodes, are reported on
/// standard error and left out. Exit code 2: the file cannot be read.
#[derive(Args)]
#[command(after_long_help = crate::replay::dump_help())]
// As for a replay.
#[command(mut_arg("mobility", |mobility| mobility.default_value("park=1")))]
#[command(mut_arg("policies", |policy| policy.help("The policy of DFRS (see dfrs sim --list-policies)")))]
pub struct TrialArguments {
    /// A dump of sacct, a journal of slurm-dfrs, or a trace (SWF, CSV); each plain or .gz. Left out: sacct writes the
    /// last 30 days of this cluster to dfrs-trial.txt, and scontrol says where its slurm.conf is
    #[arg(value_name = "DUMP")]
    file: Option<PathBuf>,
    #[command(flatten)]
    options: TrialOptions,
    /// The site's slurm.conf, for a dump of sacct: its nodes, for --nodes, --cpus-per-node, --memory-per-node, and
    /// --gpus-per-node with --gpu-nodes, where these are not given, and whether DFRS can run there
    #[arg(long, value_name = "FILE")]
    slurm_conf: Option<PathBuf>,
    /// Print one object
    #[arg(long)]
    json: bool,
    /// Refuse the file if a line is malformed or a job could not have run on such nodes
    #[arg(long)]
    strict: bool,
}

/// Compares the worlds: what goes to standard output and to standard error.
pub fn run(arguments: TrialArguments) -> Result<(String, String), String> {
    let mut options = arguments.options;
    let site = match (arguments.slurm_conf, &arguments.file) {
        (None, None) => Some(from_slurm::slurm_conf()?),
        (given, _) => given,
    };
    let gives_memory = is_given("--memory-per-node", std::env::args());
    let site = site.as_deref();
    let site = site.map(|path| TrialSite::read(path, gives_memory));
    let mut site = site.transpose()?;
    if let Some(site) = &mut site {
        site.machine.gpus = options.assume_nodes(&site.machine);
    }
    options
        .check()
        .map_err(|error| format!("dfrs trial: {error}"))?;
    let (file, made) = match arguments.file {
        Some(file) => (file, None),
        None => (
            from_slurm::dump(Path::new(""))?,
            Some(from_slurm::DUMP_FILE),
        ),
    };
    let trial = SiteTrial::new(&file, arguments.strict, &options)?;
    if arguments.json {
        return Ok((trial.json()?, trial.warnings().to_owned()));
    }
    let mut words = words_for_replay(std::env::args(), site.as_ref());
    words.splice(0..0, made.map(str::to_owned));
    let verdict = site.map_or_else(String::new, |site| site.verdict);
    Ok((verdict + &trial.page(&words), trial.warnings().to_owned()))
}

/// What slurm.conf says of the site.
struct TrialSite {
    /// Its GPUs are those that the trial takes from slurm.conf.
    machine: Site,
    /// Whether DFRS can run there, in lines for the page.
    verdict: String,
}

impl TrialSite {
    /// Takes all nodes for as large as most of them are, but for their GPUs: as many nodes as hold all of them have as
    /// many as the node that has most. `gives_memory`: an option says how much memory they have, which comes before
    /// what slurm.conf says.
    fn read(path: &Path, gives_memory: bool) -> Result<Self, String> {
        let files = site::read(path)?;
        let nodes = files.site_nodes();
        let missing = |what: &str| format!("{}: {what}", path.display());
        let (kind, _) = nodes.kinds.first().ok_or_else(|| {
            let instead = "give --nodes, --cpus-per-node and --memory-per-node in place of --slurm-conf";
            match some_of(files.missing_files()) {
                Some(names) => missing(&format!("has no nodes, and {names}, which it includes, cannot be read; copy that beside it, or {instead}")),
                None => missing(&format!("has no nodes; {instead}")),
            }
        })?;
        let memory = kind.memory.or_else(|| gives_memory.then_some(0));
        let memory = memory.ok_or_else(|| {
            missing("most nodes have no RealMemory; give --memory-per-node, as \"slurmd -C\" prints it on one of them")
        })?;
        let too_many = |_| missing("has more nodes, or CPUs of one, than can be simulated");
        Ok(Self {
            machine: Site {
                nodes: u32::try_from(nodes.count).map_err(too_many)?,
                cpus_per_node: u32::try_from(kind.cpus).map_err(too_many)?,
                memory_per_node: Bytes(memory.saturating_mul(1 << 20)),
                gpus: gpus(&nodes),
            },
            verdict: format!(
                "{}: {nodes}\n{}{}{}\n\n",
                path.display(),
                difference(&nodes).unwrap_or_default(),
                oddities(&files),
                doctor::site_verdict_of(&files)
            ),
        })
    }
}

/// Whether an option is among the words of a call.
fn is_given(option: &str, mut words: impl Iterator<Item = String>) -> bool {
    words.any(|word| word.split('=').next() == Some(option))
}

/// The words of this call that `dfrs replay` takes, too. `words`: the program, the command, and its arguments. `site`:
/// what `--slurm-conf` has said.
fn words_for_replay(words: impl Iterator<Item = String>, site: Option<&TrialSite>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.skip(2);
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word.as_str(), None),
        };
        match (option, value) {
            ("--json", _) => {}
            ("--node-cpus" | "--mobility-on-top" | "--slurm-conf", Some(_)) => {}
            // Its value is the next word.
            ("--node-cpus" | "--mobility-on-top" | "--slurm-conf", None) => _ = words.next(),
            _ => kept.push(word),
        }
    }
    for (option, value) in site.map(TrialSite::options).into_iter().flatten() {
        if !is_given(option, kept.iter().cloned()) {
            kept.extend([option.to_owned(), value]);
        }
    }
    kept
}

impl TrialSite {
    /// Those of `dfrs replay` that say the same.
    fn options(&self) -> Vec<(&'static str, String)> {
        let machine = &self.machine;
        let megabytes = machine.memory_per_node.0 >> 20;
        let mut options = vec![
            ("--nodes", machine.nodes.to_string()),
            ("--cpus-per-node", machine.cpus_per_node.to_string()),
            ("--memory-per-node", megabytes.to_string()),
        ];
        if let Some(gpus) = machine.gpus {
            options.push(("--gpus-per-node", gpus.per_node.to_string()));
            options.push(("--gpu-nodes", gpus.nodes.to_string()));
        }
        options
    }
}

/// What is wrong with taking all nodes for as large as most of them are, in a line; none if all are.
fn difference(nodes: &SiteNodes) -> Option<String> {
    let (most, _) = nodes.kinds.first()?;
    let is_alike = |kind: &NodeKind| (kind.cpus, kind.memory) == (most.cpus, most.memory);
    let others = nodes.kinds.iter().filter(|(kind, _)| !is_alike(kind));
    let others: usize = others.map(|(_, count)| count).sum();
    let cpus = nodes.kinds.iter().fold(0_u64, |sum, (kind, count)| {
        sum.saturating_add(kind.cpus.saturating_mul(*count as u64))
    });
    let simulated = most.cpus.saturating_mul(nodes.count as u64);
    (others > 0).then(|| {
        format!(
            "Simulated are {} nodes as most are: {others} are others, and {simulated} CPUs are {cpus} at the site.\n",
            nodes.count
        )
    })
}

/// What keeps Slurm from reading slurm.conf, or is not read as it was meant, and what to do: a line each.
fn oddities(files: &SlurmConfFiles) -> String {
    let missing = files.missing_option();
    let warnings = files.warnings().iter().chain(&missing);
    warnings
        .map(|warning| format!("Note: {}: {}.\n", warning.what, warning.remedy))
        .collect()
}

/// The GPUs of these nodes; none if slurm.conf gives them none.
fn gpus(nodes: &SiteNodes) -> Option<SiteGpus> {
    let kinds = nodes.kinds.iter();
    let kinds = kinds.map(|(kind, count)| (kind.gpus(), *count as u64));
    let (per_node, nodes) = gpus_of_equal_nodes(kinds);
    Some(SiteGpus {
        per_node: u32::try_from(per_node).ok().filter(|most| *most > 0)?,
        nodes: u32::try_from(nodes).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_are_not_as_most_are_named() {
        let kind = |cpus: u64, gres: &str| NodeKind {
            cpus,
            threads_per_core: 1,
            memory: Some(1000),
            gres: gres.to_owned(),
        };
        let alike = vec![(kind(8, ""), 6), (kind(8, "gpu:1"), 2)];
        let mut nodes = SiteNodes {
            count: 8,
            kinds: alike,
        };
        assert_eq!(difference(&nodes), None);
        nodes.kinds.push((kind(16, ""), 1));
        nodes.count = 9;
        assert_eq!(
            difference(&nodes).as_deref(),
            Some(
                "Simulated are 9 nodes as most are: 1 are others, and 72 CPUs are 80 at the site.\n"
            )
        );
    }

    #[test]
    fn gpus_are_on_as_few_nodes_as_hold_them_all() {
        let kind = |gres: &str, count: usize| {
            let gres = gres.to_owned();
            let kind = NodeKind {
                cpus: 8,
                threads_per_core: 1,
                memory: None,
                gres,
            };
            (kind, count)
        };
        let of = |kinds: Vec<(NodeKind, usize)>| gpus(&SiteNodes { count: 9, kinds });
        let mixed = vec![
            kind("", 6),
            kind("gpu:a100:2,gpu:v100:2,nic:1", 2),
            kind("gpu:1", 1),
        ];
        let expected = SiteGpus {
            per_node: 4,
            nodes: 3,
        };
        assert_eq!(of(mixed), Some(expected));
        assert_eq!(of(vec![kind("shard:40", 1)]), None);
    }

    #[test]
    fn words_of_trial_alone_are_not_for_replay() {
        let of = |line: &str| words_for_replay(line.split(' ').map(String::from), None).join(" ");
        assert_eq!(of("dfrs trial a.csv --json --nodes 4"), "a.csv --nodes 4");
        assert_eq!(of("dfrs trial --node-cpus 8 a.csv"), "a.csv");
        assert_eq!(of("dfrs trial --mobility-on-top park=1 a.csv"), "a.csv");
        assert_eq!(
            of("dfrs trial --node-cpus=8 a.csv --strict"),
            "a.csv --strict"
        );
        assert_eq!(of("dfrs trial --slurm-conf slurm.conf a.txt"), "a.txt");
    }
}
