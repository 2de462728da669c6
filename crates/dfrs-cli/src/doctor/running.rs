//! The plugin that runs, by its status file.

use std::path::Path;

use dfrs_core::Bytes;
use dfrs_proto::conf::Config;
use dfrs_proto::status::Status;

use super::finding::DoctorFindings;
use super::host::Host;
use super::nodes::some_of;
use crate::status;

/// What the plugin says of itself, in the file that this configuration names.
pub fn examine(
    host: &impl Host,
    file: &Path,
    config: &Config,
    now: f64,
    findings: &mut DoctorFindings,
) {
    let mut topic = findings.topic("plugin");
    let status = match read(host, file) {
        Ok(status) => status,
        Err(error) => {
            topic.error(error, "restart slurmctld, and see its log");
            return;
        }
    };
    if let Some(trouble) = status::trouble(&status, now - status.written) {
        topic.error(trouble, "see slurmctld's log");
    }
    let ours = env!("CARGO_PKG_VERSION");
    if status.software != ours {
        topic.warning(
            format!(
                "slurmctld runs slurm-dfrs {}, this is {ours}",
                status.software
            ),
            "install both of one version, and restart slurmctld",
        );
    }
    topic.done(format!(
        "slurm-dfrs {}, mode {}",
        status.software, status.mode
    ));
    if status.running && status.mode != "off" {
        daemons(&status, config, findings);
    }
}

fn read(host: &impl Host, file: &Path) -> Result<Status, String> {
    let text = host
        .text(file)
        .map_err(|error| format!("{}: {error}", file.display()))?;
    status::parse(&text, file)
}

fn daemons(status: &Status, config: &Config, findings: &mut DoctorFindings) {
    let mut topic = findings.topic("dfrsd");
    let nodes = &status.nodes;
    if let Some(names) = some_of(&nodes.silent_names) {
        topic.error(
            format!(
                "not responding on {} of {} nodes: {names}",
                nodes.silent, nodes.all
            ),
            "there: systemctl status dfrsd; its --controller-user is SlurmUser",
        );
    }
    let parks = config.swap_per_node > Bytes(0);
    if parks && nodes.can_park < nodes.up {
        topic.warning(
            format!(
                "{} of {} nodes can park no jobs",
                nodes.up - nodes.can_park,
                nodes.up
            ),
            "there: dfrs doctor --node; swap, or SwapPerNode=0 in dfrs.conf",
        );
    }
    if nodes.up == 0 {
        topic.done(format!("was not asked: none of {} nodes is up", nodes.all));
    } else {
        topic.done(format!("responds on all {} nodes", nodes.all));
    }
}
