//! `dfrs doctor`: whether a controller or a node is as DFRS needs it.

mod carrying;
mod cgroup;
mod changes;
mod compute_node;
mod controller;
mod facts;
mod files;
mod finding;
pub(crate) mod host;
pub mod library;
pub(crate) mod nodes;
mod options;
mod partitions;
mod reservations;
mod running;
mod site_verdict;
pub(crate) mod slurm;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::Args;

use crate::report::CommandOutcome;
use crate::site::SlurmConfFiles;
use finding::DoctorFindings;
use host::LocalHost;

/// Says whether this controller or node is fit for DFRS: one line for each finding, with its remedy.
///
/// Looks at what Slurm's daemons run with (scontrol show ...), at dfrs.conf, the plugin's file, the status
/// file, and with --node at swap, cgroups, the kernel and dfrsd. Changes nothing. Best run as root or
/// SlurmUser, who may read all of it. Exit code 0: all is as it should be, or still to be written into
/// slurm.conf. 1: the worst is a warning: DFRS works, but not as well as it could. 2: there is an error: DFRS
/// does not work, or would not.
#[derive(Args)]
pub struct DoctorArguments {
    /// Look at this compute node, not at the controller; NAME is Slurm's name of it, by default the host's
    /// name up to the first dot
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    #[allow(clippy::option_option, reason = "--node, and whether it has a name")]
    node: Option<Option<String>>,
    /// Look at this slurm.conf, what it includes, and cgroup.conf and dfrs.conf beside it, and at nothing of
    /// this machine: whether DFRS can run there, and which lines have to change
    #[arg(long, value_name = "FILE", conflicts_with = "node")]
    slurm_conf: Option<PathBuf>,
    /// Print one object
    #[arg(long)]
    json: bool,
}

/// Whether DFRS can run where these are the files, in a line.
pub fn site_verdict_of(files: &SlurmConfFiles) -> String {
    files::examine_read(files, &mut DoctorFindings::default()).verdict
}

/// Runs the checks and prints what was found.
pub fn run(arguments: &DoctorArguments) -> CommandOutcome {
    let mut findings = DoctorFindings::default();
    if let Some(path) = &arguments.slurm_conf {
        let verdict = files::examine(path, &mut findings);
        return findings.outcome_with(Some(&verdict), arguments.json);
    }
    match &arguments.node {
        Some(name) => compute_node::examine(&LocalHost, name.as_deref(), &mut findings),
        None => controller::examine(&LocalHost, &mut findings),
    }
    findings.outcome(arguments.json)
}
