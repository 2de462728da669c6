//! What a site's nodes are, and how requests and use of its jobs are read.

use clap::{Args, ValueEnum};
use dfrs_core::Bytes;
use dfrs_sim::trace::sacct::{CpuRule, MemoryRule, Rules, Site, SiteGpus};
use dfrs_sim::trace::scaled;

/// The most memory of a node, in bytes.
const MAX_MEMORY_BYTES: u64 = 1 << 50;

/// Options that a dump of sacct needs; other files say it themselves.
#[derive(Args, Clone, Debug)]
pub struct SiteOptions {
    /// CPUs of a node as Slurm counts them (CPUTot of scontrol show node)
    #[arg(long, value_name = "NUMBER", help_heading = "Dumps of sacct", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    cpus_per_node: Option<u32>,
    /// Memory of a node that jobs can have (RealMemory of scontrol show node), in megabytes or with K, M,
    /// G or T
    #[arg(long, value_name = "SIZE", help_heading = "Dumps of sacct", value_parser = size)]
    memory_per_node: Option<Bytes>,
    /// GPUs of each node that has some: jobs that had GPUs get theirs, which none shares
    #[arg(long, value_name = "NUMBER", help_heading = "Dumps of sacct", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    gpus_per_node: Option<u32>,
    /// How many of the nodes have GPUs; left out: all
    #[arg(long, value_name = "NUMBER", help_heading = "Dumps of sacct", requires = "gpus_per_node", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    gpu_nodes: Option<u32>,
    /// What CPU jobs of a dump need
    #[arg(long, value_enum, help_heading = "Dumps of sacct", default_value_t = CpuArg::Measured)]
    cpu: CpuArg,
    /// What memory jobs of a dump require
    #[arg(long, value_enum, help_heading = "Dumps of sacct", default_value_t = MemoryArg::Requested)]
    memory: MemoryArg,
    /// What is added to measured memory, in percent
    #[arg(long, value_name = "PERCENT", help_heading = "Dumps of sacct", default_value_t = 20, value_parser = clap::value_parser!(u32).range(0..=1000))]
    memory_headroom: u32,
    /// Keep jobs that had GPUs (where --gpus-per-node is not given) or other devices, as if they had none; else
    /// they are left out
    #[arg(long, help_heading = "Dumps of sacct")]
    keep_gres: bool,
    /// Whether they are of another file, too: that this one is no dump is then no mistake.
    #[arg(skip)]
    are_of_others: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CpuArg {
    /// What they used on average, at most what they had (TotalCPU)
    Measured,
    /// All CPUs that they had (NCPUS)
    Requested,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MemoryArg {
    /// What they asked for (ReqMem), which Slurm keeps for them whether they use it or not
    Requested,
    /// What they used at most (MaxRSS) with a headroom, and no more than they asked for
    Measured,
}

impl SiteOptions {
    /// None given.
    pub(crate) fn none() -> Self {
        Self {
            cpus_per_node: None,
            memory_per_node: None,
            gpus_per_node: None,
            gpu_nodes: None,
            cpu: CpuArg::Measured,
            memory: MemoryArg::Requested,
            memory_headroom: 20,
            keep_gres: false,
            are_of_others: false,
        }
    }

    /// The same for two files, of which one may be no dump.
    pub fn for_others(&self) -> Self {
        Self {
            are_of_others: true,
            ..self.clone()
        }
    }

    /// The same, and jobs with other devices are kept: for what jobs held of CPUs and memory.
    pub(crate) fn keeping_gres(&self) -> Self {
        Self {
            keep_gres: true,
            ..self.clone()
        }
    }

    /// Takes this machine, of which so many nodes are in use, for what is not given. Returns its GPUs if they are
    /// taken: on all nodes in use if more have some.
    pub(crate) fn assume(&mut self, site: &Site, nodes: u32) -> Option<SiteGpus> {
        self.cpus_per_node.get_or_insert(site.cpus_per_node);
        self.memory_per_node.get_or_insert(site.memory_per_node);
        // With --gpus-per-node given, no --gpu-nodes means all nodes, and not those of slurm.conf.
        let gpus = site.gpus.filter(|_| self.gpus_per_node.is_none())?;
        let nodes = gpus.nodes.min(nodes);
        self.gpus_per_node = Some(gpus.per_node);
        self.gpu_nodes = Some(nodes);
        Some(SiteGpus { nodes, ..gpus })
    }

    /// The GPUs of so many nodes.
    fn gpus(&self, nodes: u32) -> Result<Option<SiteGpus>, String> {
        let Some(per_node) = self.gpus_per_node else {
            return Ok(None);
        };
        match self.gpu_nodes.unwrap_or(nodes) {
            more if more > nodes => Err(format!(
                "--gpu-nodes is {more}, and there are {nodes} nodes; give --nodes at least {more}"
            )),
            nodes => Ok(Some(SiteGpus { per_node, nodes })),
        }
    }

    /// Refuses what only a dump of sacct needs, for a file that is none.
    /// `what` says what it is.
    ///
    /// # Errors
    ///
    /// One line without the file's name: an option is given.
    pub fn for_no_dump(&self, what: &str) -> Result<(), String> {
        if self.are_of_others {
            return Ok(());
        }
        let given = [
            ("--cpus-per-node", self.cpus_per_node.is_some()),
            ("--memory-per-node", self.memory_per_node.is_some()),
            ("--gpus-per-node", self.gpus_per_node.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(format!(
                "is {what} and is no dump of sacct; leave out {option}, which only a dump needs"
            )),
            None => Ok(()),
        }
    }

    /// What users should know about options that have no effect on a file that is no dump.
    pub(crate) fn note_for_no_dump(&self) -> Option<String> {
        if self.are_of_others {
            return None;
        }
        let none = Self::none();
        let given = [
            ("--cpu", self.cpu != none.cpu),
            ("--memory", self.memory != none.memory),
            (
                "--memory-headroom",
                self.memory_headroom != none.memory_headroom,
            ),
            ("--keep-gres", self.keep_gres),
        ];
        let given = given.iter().filter(|(_, is_given)| *is_given);
        let names: Vec<&str> = given.map(|(name, _)| *name).collect();
        let verb = match names.len() {
            0 => return None,
            1 => "says",
            _ => "say",
        };
        let names = names.join(" and ");
        Some(format!(
            "the file is no dump of sacct, so {names} {verb} nothing"
        ))
    }

    /// The machine, or which option is missing.
    pub(crate) fn site(&self, nodes: Option<u32>) -> Result<Site, String> {
        let missing = |option: &str| {
            format!(
                "a dump of sacct does not say what nodes are like; give {option}, e.g. --nodes 40 --cpus-per-node 64 --memory-per-node 256G"
            )
        };
        let nodes = nodes.ok_or_else(|| missing("--nodes"))?;
        Ok(Site {
            nodes,
            gpus: self.gpus(nodes)?,
            cpus_per_node: self
                .cpus_per_node
                .ok_or_else(|| missing("--cpus-per-node"))?,
            memory_per_node: self
                .memory_per_node
                .ok_or_else(|| missing("--memory-per-node"))?,
        })
    }

    /// How jobs are taken.
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            cpu: match self.cpu {
                CpuArg::Measured => CpuRule::Measured,
                CpuArg::Requested => CpuRule::Requested,
            },
            memory: match self.memory {
                MemoryArg::Requested => MemoryRule::Requested,
                MemoryArg::Measured => MemoryRule::Measured,
            },
            headroom_percent: self.memory_headroom,
            keep_gres: self.keep_gres,
        }
    }
}

fn size(text: &str) -> Result<Bytes, String> {
    let (number, exponent) = match text.char_indices().last() {
        Some((place, unit)) if unit.is_ascii_alphabetic() => {
            let power = "KMGT".find(unit.to_ascii_uppercase());
            (&text[..place], power.map(|power| 10 * (power + 1)))
        }
        _ => (text, Some(20)),
    };
    let thousandths = scaled(number.as_bytes(), 3).and_then(|number| u128::try_from(number).ok());
    exponent
        .zip(thousandths)
        .and_then(|(exponent, thousandths)| u64::try_from((thousandths << exponent) / 1000).ok())
        .filter(|bytes| (1..=MAX_MEMORY_BYTES).contains(bytes))
        .map(Bytes)
        .ok_or_else(|| "allowed: megabytes (191000), or a number with K, M, G or T (187G)".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_slurm() {
        assert_eq!(size("191000"), Ok(Bytes(191_000 << 20)));
        assert_eq!(size("1.5G"), Ok(Bytes(3 << 29)));
        assert_eq!(size("2t"), Ok(Bytes(2 << 40)));
        for bad in ["", "0", "-1", "G", "1X", "1GB", "9999999T", "1é", "nan"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
