//! The commands `dfrsd inspect`, `dump`, `release` and `restore`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::criu::PROGRAM;
use super::{Criu, Images, JobTree, NewStart, SitePolicy};
use crate::log;

/// What can be done with a job that is carried.
#[derive(Debug, Clone, Subcommand)]
pub enum CarryCommand {
    /// Say whether a job that runs here can be carried to another node, and if not, why
    Inspect {
        /// Which.
        #[command(flatten)]
        job: JobOption,
        /// What is where.
        #[command(flatten)]
        policy: PolicyOptions,
    },
    /// Make an image of a job that runs here, and leave it stopped; requeue it then
    Dump {
        /// Which.
        #[command(flatten)]
        job: JobOption,
        /// Where to.
        #[command(flatten)]
        images: ImagesOption,
        /// By what.
        #[command(flatten)]
        criu: CriuOption,
        /// What is where.
        #[command(flatten)]
        policy: PolicyOptions,
        /// All images together may have so many MiB [default: what is free]
        #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
        quota: Option<u64>,
        /// Name of this node, for the record [default: the host's name up to the first dot]
        #[arg(long, value_name = "NAME")]
        node: Option<String>,
    },
    /// Let a job go on here after a dump, and remove its image
    Release {
        /// Which.
        #[command(flatten)]
        job: JobOption,
        /// Where it is.
        #[command(flatten)]
        images: ImagesOption,
        /// Remove the image of a job that is not here: what it has computed is lost
        #[arg(long)]
        discard: bool,
    },
    /// Put a job's image in the place of its batch script; for spank_dfrs_carry.so only
    #[command(hide = true)]
    Restore {
        /// Which.
        #[command(flatten)]
        job: JobOption,
        /// The job's user, as a number
        #[arg(long)]
        uid: u32,
        /// How often the job was requeued
        #[arg(long)]
        restarts: u32,
        /// The task that Slurm knows
        #[arg(long)]
        monitor: u32,
        /// PID 1 of its namespace, as the node sees it
        #[arg(long)]
        init: u32,
        /// Where its image is.
        #[command(flatten)]
        images: ImagesOption,
        /// By what.
        #[command(flatten)]
        criu: CriuOption,
    },
}

/// Which job.
#[derive(Debug, Clone, Args)]
pub struct JobOption {
    /// Slurm's job id
    #[arg(long, value_name = "JOB", value_parser = clap::value_parser!(u32).range(1..))]
    pub job: u32,
}

/// Where images are.
#[derive(Debug, Clone, Args)]
pub struct ImagesOption {
    /// Directory of images, which all nodes see and only root can write to
    #[arg(long, value_name = "DIRECTORY")]
    pub images: PathBuf,
}

/// Which criu.
#[derive(Debug, Clone, Args)]
pub struct CriuOption {
    /// The program criu
    #[arg(long, value_name = "PATH", default_value = PROGRAM)]
    pub criu: PathBuf,
}

/// What a site says about its directories.
#[derive(Debug, Clone, Args)]
pub struct PolicyOptions {
    /// A directory that all nodes share, though it looks as if not; may be repeated
    #[arg(long, value_name = "DIRECTORY", value_parser = directory)]
    pub shared: Vec<String>,
    /// A directory that each node has to itself, besides /tmp, /var, /run, /dev/shm and /local; may be repeated
    #[arg(long, value_name = "DIRECTORY", value_parser = directory)]
    pub local: Vec<String>,
}

impl PolicyOptions {
    fn policy(&self) -> SitePolicy {
        SitePolicy::new(&self.shared, &self.local)
    }
}

/// Does it; what it prints is on stdout.
///
/// # Errors
///
/// One line: why it was not done, or, of `inspect`, that the job cannot be carried.
pub fn run(command: &CarryCommand) -> Result<(), String> {
    match command {
        CarryCommand::Inspect { job, policy } => inspect(job.job, &policy.policy()),
        CarryCommand::Dump {
            job,
            images,
            criu,
            policy,
            quota,
            node,
        } => {
            let quota = quota.map(|quota| quota.saturating_mul(1 << 20));
            let images = Images::open(&images.images, quota)?;
            let criu = Criu::new(&criu.criu)?;
            let node = node.clone().unwrap_or_else(crate::options::short_host_name);
            let tree = JobTree::find(job.job)?;
            let dumped = super::dump(&tree, &images, &criu, &policy.policy(), &node)
                .map_err(|failure| failure.text)?;
            let mended = dumped.mended.len();
            let size = dumped.bytes.div_ceil(1 << 20);
            println!(
                "{}: image of {size} MiB, {mended} interrupted waits corrected",
                log::job(job.job)
            );
            Ok(())
        }
        CarryCommand::Release {
            job,
            images,
            discard,
        } => release(job.job, &images.images, *discard),
        CarryCommand::Restore {
            job,
            uid,
            restarts,
            monitor,
            init,
            images,
            criu,
        } => {
            let start = NewStart {
                job: job.job,
                uid: *uid,
                restarts: *restarts,
                monitor: *monitor,
                init: *init,
            };
            let images = Images::open(&images.images, None)?;
            super::restore(&start, &images, &Criu::new(&criu.criu)?)
        }
    }
}

fn inspect(job: u32, policy: &SitePolicy) -> Result<(), String> {
    let tree = JobTree::find(job)?;
    let found = super::inspect(&tree, policy)?;
    for obstacle in &found.obstacles {
        println!("{obstacle}");
    }
    if !found.obstacles.is_empty() {
        return Err(format!("{} cannot be carried", log::job(job)));
    }
    let (processes, size) = (found.processes, found.bytes.div_ceil(1 << 20));
    println!(
        "{} can be carried: {processes} processes, {size} MiB",
        log::job(job)
    );
    Ok(())
}

fn release(job: u32, images: &Path, discard: bool) -> Result<(), String> {
    let images = Images::open(images, None)?;
    match super::release_job(job, &images) {
        Err(_) if discard && JobTree::find(job).is_err() => images.remove(job),
        Err(error) if !discard => Err(format!(
            "{error}; its image, if there is one, is kept: --discard removes that of a job that is \
             not here"
        )),
        released => released,
    }
}

fn directory(text: &str) -> Result<String, String> {
    let is_plain = text.starts_with('/') && !text.split('/').any(|part| part == "..");
    is_plain
        .then(|| text.to_owned())
        .ok_or_else(|| "a whole path, as /scratch".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Command, Options};
    use clap::Parser;

    fn parse(line: &str) -> Option<CarryCommand> {
        match Options::try_parse_from(line.split(' ')).ok()?.command? {
            Command::Carry(command) => Some(command),
            _ => None,
        }
    }

    #[test]
    fn lines_of_the_plugin_and_of_administrators_are_understood() {
        let restore = parse(
            "dfrsd restore --job 7 --uid 1000 --restarts 1 --monitor 90 --init 91 --images /i",
        );
        let Some(CarryCommand::Restore {
            restarts: 1,
            init: 91,
            criu,
            ..
        }) = restore
        else {
            panic!("{restore:?}")
        };
        assert_eq!(criu.criu, Path::new(PROGRAM));
        for line in [
            "dfrsd inspect --job 7",
            "dfrsd inspect --job 7 --shared /tmp/a --shared /b --local /scratch",
            "dfrsd dump --job 7 --images /i --criu /usr/bin/criu --quota 5",
            "dfrsd release --job 7 --images /i --discard",
        ] {
            assert!(parse(line).is_some(), "{line}");
        }
        for line in [
            "dfrsd inspect",
            "dfrsd inspect --job 0",
            "dfrsd inspect --job x",
            "dfrsd inspect --job 7 --local scratch",
            "dfrsd inspect --job 7 --shared /a/../tmp",
            "dfrsd dump --job 7",
            "dfrsd dump --job 7 --images /i --quota 0",
            "dfrsd restore --job 7 --images /i",
        ] {
            assert!(parse(line).is_none(), "{line}");
        }
    }

    #[test]
    fn job_that_is_not_here_is_an_error_of_one_line() {
        let job = JobOption { job: 4_000_000_000 };
        let policy = PolicyOptions {
            shared: Vec::new(),
            local: Vec::new(),
        };
        let error = run(&CarryCommand::Inspect { job, policy }).unwrap_err();
        assert!(!error.contains('\n') && error.contains("JobId=4000000000"));
    }
}
