//! `dfrs doctor`: whether a controller or a node is as DFRS needs it.

mod cgroup;
mod compute_node;
mod controller;
mod facts;
mod finding;
pub(crate) mod host;
pub mod library;
mod nodes;
mod options;
mod partitions;
mod reservations;
mod running;
pub(crate) mod slurm;
#[cfg(test)]
mod tests;

use clap::Args;

use crate::report::CommandOutcome;
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
    /// Print one object
    #[arg(long)]
    json: bool,
}

/// Runs the checks and prints what was found.
pub fn run(arguments: &DoctorArguments) -> CommandOutcome {
    let mut findings = DoctorFindings::default();
    match &arguments.node {
        Some(name) => compute_node::examine(&LocalHost, name.as_deref(), &mut findings),
        None => controller::examine(&LocalHost, &mut findings),
    }
    findings.outcome(arguments.json)
}
