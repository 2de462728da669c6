//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::capacity::CapacityOptions;
use crate::carry::CarryCommand;
use crate::parking;

/// Caps, freezes and measures the jobs of this node, as the scheduler plugin says.
#[derive(Debug, Parser)]
#[command(name = "dfrsd", version, args_conflicts_with_subcommands = true)]
pub struct Options {
    /// What to do instead of serving.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// How to serve.
    #[command(flatten)]
    pub serve: ServeOptions,
}

/// What the program does besides serving.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print what a running dfrsd enforces at this moment
    Status {
        /// Which.
        #[command(flatten)]
        address: Address,
        /// Print JSON instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Send a message (JSON) to a running dfrsd, as the scheduler plugin does
    Send {
        /// Which.
        #[command(flatten)]
        address: Address,
        /// File with the message; standard input if not given
        file: Option<PathBuf>,
    },
    /// Carry a job to another node.
    #[command(flatten)]
    Carry(CarryCommand),
}

/// Which daemon.
#[derive(Debug, Clone, Args)]
pub struct Address {
    /// Slurm's name of the node [default: the host's name up to the first dot]
    #[arg(long, value_name = "NAME", value_parser = node_name)]
    pub node: Option<String>,
    /// Directory with one directory a node, in which the socket is
    #[arg(long, value_name = "DIRECTORY", default_value = "/run/dfrs")]
    pub socket_dir: PathBuf,
}

/// How to serve.
#[derive(Debug, Args)]
pub struct ServeOptions {
    /// Who.
    #[command(flatten)]
    pub address: Address,
    /// Where cgroups are mounted
    #[arg(long, value_name = "DIRECTORY", default_value = "/sys/fs/cgroup")]
    pub cgroup_root: PathBuf,
    /// Keep so many cores from jobs
    #[arg(long, value_name = "CORES", default_value_t = 0.0, value_parser = cores)]
    pub reserve_cpu: f64,
    /// Cores of the node, before the reserve [default: what the node's own cgroup allows]
    #[arg(long, value_name = "CORES", value_parser = positive_cores)]
    pub cpu_capacity: Option<f64>,
    /// Slurm's own user (SlurmUser), name or number; root's messages are accepted, too
    #[arg(long, value_name = "NAME", default_value = "root")]
    pub controller_user: String,
    /// Append what jobs used to this file, as JSON lines [default: nowhere]
    #[arg(long, value_name = "FILE")]
    pub measurements: Option<PathBuf>,
    /// Longest interval of a measurement, in seconds
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub measure_interval: u64,
    /// How often jobs are looked at to which something happens, in milliseconds; others every 250
    #[arg(long, value_name = "MS", default_value_t = 50, value_parser = clap::value_parser!(u64).range(5..=10_000))]
    pub interval: u64,
    /// Without any message for so many seconds from the start, lift caps that were found
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub message_timeout: u64,
    /// What may stay in RAM of a parked job at most, in MiB; never more than a sixteenth of it
    #[arg(long, value_name = "MIB", default_value_t = parking::MAX_TOLERATED_BYTES >> 20, value_parser = clap::value_parser!(u64).range(32..=1 << 20))]
    pub parked_resident: u64,
    /// Carry jobs: write their images into this directory, which all nodes see and only root can
    /// write to
    #[arg(long, value_name = "DIRECTORY")]
    pub images: Option<PathBuf>,
    /// All images together may have so many MiB [default: what is free]
    #[arg(long, value_name = "MIB", requires = "images", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub image_quota: Option<u64>,
    /// The program criu
    #[arg(long, value_name = "PATH", default_value = crate::carry::CRIU)]
    pub criu: PathBuf,
    /// Let running jobs use swap beyond the memory that they asked for
    #[arg(long)]
    pub jobs_may_swap: bool,
}

impl Address {
    /// The node's name.
    pub fn node_name(&self) -> String {
        self.node.clone().unwrap_or_else(short_host_name)
    }

    /// The directory of the node's socket.
    pub fn directory(&self) -> PathBuf {
        self.socket_dir.join(self.node_name())
    }

    /// The node's socket.
    pub fn socket(&self) -> PathBuf {
        self.directory().join(crate::facts::SOCKET)
    }
}

impl ServeOptions {
    /// The options about the node's CPUs.
    pub fn capacity(&self) -> CapacityOptions {
        CapacityOptions {
            fixed: self.cpu_capacity,
            reserved: self.reserve_cpu,
        }
    }

    /// How often jobs are looked at.
    pub fn interval(&self) -> Duration {
        Duration::from_millis(self.interval)
    }
}

/// The host's name up to the first dot.
pub fn short_host_name() -> String {
    let system = rustix::system::uname();
    let name = system.nodename().to_string_lossy().into_owned();
    name.split('.').next().unwrap_or_default().to_string()
}

/// A name becomes part of paths: it must not lead elsewhere.
fn node_name(text: &str) -> Result<String, String> {
    let ordinary = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    if text.is_empty() || text.starts_with('.') || !text.chars().all(ordinary) {
        return Err("letters, digits, '-', '_' and '.' only, as slurm.conf's NodeName".to_string());
    }
    Ok(text.to_string())
}

fn cores(text: &str) -> Result<f64, String> {
    let cores: f64 = text
        .parse()
        .map_err(|_| "a number of cores, as 0.5".to_string())?;
    if (0.0..=1e6).contains(&cores) {
        Ok(cores)
    } else {
        Err("0 or more cores".to_string())
    }
}

fn positive_cores(text: &str) -> Result<f64, String> {
    cores(text).and_then(|cores| {
        if cores > 0.0 {
            Ok(cores)
        } else {
            Err("more than 0 cores".to_string())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(line.split(' '))
    }

    #[test]
    fn the_defaults_serve_this_host() {
        let options = parse("dfrsd").unwrap();
        assert!(options.command.is_none());
        assert_eq!(options.serve.interval(), Duration::from_millis(50));
        let name = options.serve.address.node_name();
        assert!(!name.is_empty() && !name.contains('.'));
    }

    #[test]
    fn addresses_are_built_from_the_node() {
        let options = parse("dfrsd status --node n1 --socket-dir /tmp/x --json").unwrap();
        let Some(Command::Status {
            address,
            json: true,
        }) = options.command
        else {
            panic!()
        };
        assert_eq!(address.socket(), PathBuf::from("/tmp/x/n1/dfrsd.sock"));
    }

    #[test]
    fn wrong_values_are_refused() {
        for line in [
            "dfrsd --node ../etc",
            "dfrsd --node .",
            "dfrsd --reserve-cpu -1",
            "dfrsd --reserve-cpu=nan",
            "dfrsd --cpu-capacity 0",
            "dfrsd --cpu-capacity many",
            "dfrsd --interval 0",
            "dfrsd --color red",
            "dfrsd --parked-resident 31",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
