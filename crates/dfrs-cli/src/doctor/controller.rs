//! The examination of a controller, from slurmctld's own answers down to the nodes.

use std::path::{Path, PathBuf};

use dfrs_proto::conf::Config;
use dfrs_proto::slurm_conf::{self, Finding};
use dfrs_proto::status::FILE;

use super::finding::DoctorFindings;
use super::host::{Host, NOT_IN_PATH};
use super::slurm::{ScontrolRecord, SlurmSettings, records};
use super::{facts, library, nodes, options, partitions, reservations, running};
use crate::status;

/// Where Slurm's configuration is, unless SLURM_CONF or slurmctld says otherwise.
const DEFAULT_CONF: &str = "/etc/slurm/slurm.conf";
/// The plugin's file in Slurm's plugin directory, and the file that withholds jobs from Slurm's own
/// loops.
const LIBRARY: &str = "sched_dfrs.so";
const BURST_BUFFER_LIBRARY: &str = "burst_buffer_dfrs.so";

/// Examines the cluster of this host.
pub fn examine(host: &impl Host, findings: &mut DoctorFindings) {
    let settings = settings(host, findings);
    let named = host.variable("SLURM_CONF");
    let reported = settings.as_ref().map(|it| it.get("SLURM_CONF").to_owned());
    let slurm_conf = reported.filter(|path| !path.is_empty()).or(named);
    let slurm_conf = PathBuf::from(slurm_conf.unwrap_or_else(|| DEFAULT_CONF.to_owned()));
    let dfrs_conf = slurm_conf.with_file_name("dfrs.conf");
    let slurm_user = settings.as_ref().and_then(|it| it.uid("SlurmUser"));
    let config = options::dfrs_conf(host, &dfrs_conf, slurm_user, findings);
    let Some(settings) = settings else { return };
    plugin_file(host, LIBRARY, &settings, findings);
    if facts::is_withheld(&settings) {
        plugin_file(host, BURST_BUFFER_LIBRARY, &settings, findings);
    }
    let shown = config.as_ref().map(|_| ClusterRecords::show(host));
    let cluster = shown.as_ref().and_then(|shown| shown.as_ref().ok());
    let facts = cluster.map_or_else(
        || facts::of(&settings, &[], &[]),
        |cluster| facts::of(&settings, &cluster.partitions, &cluster.nodes),
    );
    let found = slurm_conf::examine(&facts, config.as_ref());
    options::examine(&found, &settings, findings);
    if let (Some(config), Some(shown)) = (config, shown) {
        match shown {
            Ok(cluster) => cluster.examine(host, &settings, (&config, &found), findings),
            Err(error) => findings.topic("slurm").error(error, "see slurmctld's log"),
        }
        if facts.other_scheduler.is_none() {
            let file = status_file(&settings, &config);
            running::examine(host, &file, &config, status::now(), findings);
        } else {
            let mut topic = findings.topic("plugin");
            topic.todo("slurmctld does not run it yet", options::START);
        }
    }
}

/// What slurmctld runs with, if it answers.
fn settings(host: &impl Host, findings: &mut DoctorFindings) -> Option<SlurmSettings> {
    let mut topic = findings.topic("slurm");
    let text = match host.run("scontrol", &["show", "config"]) {
        Ok(text) => text,
        Err(error) => {
            let remedy = if error.ends_with(NOT_IN_PATH) {
                "install Slurm's client commands, or add their directory to PATH"
            } else {
                "start slurmctld, or set SLURM_CONF; see slurmctld's log"
            };
            topic.error(error, remedy);
            return None;
        }
    };
    let settings = SlurmSettings::parse(&text);
    let release = settings.get("SLURM_VERSION");
    if release.is_empty() {
        topic.error(
            "scontrol does not say Slurm's version",
            "look at scontrol show config",
        );
        return None;
    }
    topic.done(format!(
        "{release}, configured by {}",
        settings.get("SLURM_CONF")
    ));
    Some(settings)
}

fn plugin_file(
    host: &impl Host,
    name: &str,
    settings: &SlurmSettings,
    findings: &mut DoctorFindings,
) {
    let mut topic = findings.topic("library");
    let running = settings.get("SLURM_VERSION");
    let directories = settings.get("PluginDir").split(':').map(Path::new);
    let found = directories
        .map(|directory| directory.join(name))
        .find_map(|path| host.read(&path).ok().map(|bytes| (path, bytes)));
    let Some((path, bytes)) = found else {
        topic.error(
            format!("no {name} in {}", settings.get("PluginDir")),
            "install the plugin there (install.md)",
        );
        return;
    };
    let shown = path.display();
    match library::release(&bytes) {
        Ok(release) if release == running => topic.done(format!("{shown} for Slurm {release}")),
        Ok(release) => topic.error(
            format!("{shown} was built for Slurm {release}, slurmctld is {running}: it will not start again"),
            format!("build and install the plugin for {running} before slurmctld is restarted"),
        ),
        Err(problem) => topic.error(format!("{shown} {problem}"), "install the plugin there (install.md)"),
    }
}

/// What slurmctld has of partitions, nodes and reservations.
struct ClusterRecords {
    partitions: Vec<ScontrolRecord>,
    nodes: Vec<ScontrolRecord>,
    reservations: Vec<ScontrolRecord>,
}

impl ClusterRecords {
    fn show(host: &impl Host) -> Result<Self, String> {
        Ok(Self {
            partitions: show(host, "partitions")?,
            nodes: show(host, "nodes")?,
            reservations: show(host, "reservations")?,
        })
    }

    fn examine(
        &self,
        host: &impl Host,
        settings: &SlurmSettings,
        (config, found): (&Config, &[Finding]),
        findings: &mut DoctorFindings,
    ) {
        partitions::examine(found, config, &self.partitions, findings);
        let managed = nodes::managed(config, &self.nodes);
        nodes::examine(settings, &managed, findings);
        reservations::examine(host, &self.reservations, &managed, findings);
    }
}

/// With all that users may not see.
fn show(host: &impl Host, what: &str) -> Result<Vec<ScontrolRecord>, String> {
    let text = host.run("scontrol", &["--all", "--oneliner", "show", what])?;
    Ok(records(&text))
}

fn status_file(settings: &SlurmSettings, config: &Config) -> PathBuf {
    let directory = config.status_directory.as_deref();
    directory
        .unwrap_or(Path::new(settings.get("StateSaveLocation")))
        .join(FILE)
}
