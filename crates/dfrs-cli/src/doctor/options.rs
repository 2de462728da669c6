//! What slurm.conf says about the whole cluster, by the checks that the plugin makes, too; and dfrs.conf.

use std::path::Path;

use dfrs_proto::conf::{Config, Mode};
use dfrs_proto::slurm_conf::{About, Finding};

use super::finding::{DoctorFindings, Topic};
use super::host::Host;
use super::slurm::SlurmSettings;

/// What makes slurmctld run the plugin.
pub const START: &str = "write SchedulerType=sched/dfrs and restart slurmctld";
/// Says what the shared checks found of what holds for the whole cluster.
pub fn examine(found: &[Finding], settings: &SlurmSettings, findings: &mut DoctorFindings) {
    let select = format!(
        "{}, {}",
        settings.get("SelectType"),
        settings.get("SelectTypeParameters")
    );
    let loops = "SchedulerType=sched/dfrs, and Slurm's own loops leave its jobs alone";
    for (about, topic, fine) in [
        (About::Scheduler, "scheduler", Some(loops)),
        (About::Select, "select", Some(&*select)),
        (About::Processes, "processes", Some("jobs are in cgroups")),
        (
            About::Cgroups,
            "cgroup.conf",
            Some("ConstrainRAMSpace=yes, ConstrainSwapSpace=no"),
        ),
        (About::DfrsConf, "dfrs.conf", None),
        (About::Pauses, "pauses", None),
        (About::Requeue, "requeue", None),
        (About::Carrying, "carrying", None),
        (About::Topology, "topology", None),
    ] {
        let mut topic = findings.topic(topic);
        topic.shared(found.iter().filter(|finding| finding.about == about));
        if let Some(fine) = fine {
            topic.done(fine);
        }
    }
}

/// dfrs.conf, if it is right.
pub fn dfrs_conf(
    host: &impl Host,
    path: &Path,
    slurm_user: Option<u32>,
    findings: &mut DoctorFindings,
) -> Option<Config> {
    let mut topic = findings.topic("dfrs.conf");
    let text = match host.text(path) {
        Ok(text) => text,
        Err(error) => {
            topic.error(
                format!("{}: {error}", path.display()),
                "copy slurm-conf/dfrs.conf there, and name a partition",
            );
            return None;
        }
    };
    let config = match Config::parse(&text, &path.to_string_lossy()) {
        Ok(config) => config,
        Err(error) => {
            topic.error(error.to_string(), "then: scontrol reconfigure");
            return None;
        }
    };
    if config.mode == Mode::Off {
        topic.warning("Mode=off: DFRS does nothing", "write Mode=shadow or full");
    }
    let journal = config.journal.as_deref().and_then(Path::parent);
    writable(host, "Journal", journal, slurm_user, &mut topic);
    let status = config.status_directory.as_deref();
    writable(host, "StatusDirectory", status, slurm_user, &mut topic);
    let names = config.partition_list();
    topic.done(format!("Policy={}, partitions {names}", config.policy));
    Some(config)
}

/// Whether SlurmUser can write in a directory.
fn writable(
    host: &impl Host,
    key: &str,
    directory: Option<&Path>,
    slurm_user: Option<u32>,
    topic: &mut Topic,
) {
    let Some(directory) = directory else { return };
    let shown = directory.display();
    match host.owner(directory) {
        Err(error) => topic.error(
            format!("{key}: {shown}: {error}"),
            format!("make it, for SlurmUser to write, or take {key} out of dfrs.conf"),
        ),
        Ok(owner) if !owner.is_directory => topic.error(
            format!("{key}: {shown} is no directory"),
            "name another one in dfrs.conf",
        ),
        // Of groups nothing is known.
        Ok(owner)
            if slurm_user.is_some_and(|user| user != owner.uid) && owner.mode & 0o022 == 0 =>
        {
            topic.error(
                format!("{key}: SlurmUser cannot write in {shown}"),
                "chown it to SlurmUser, or name another one in dfrs.conf",
            );
        }
        Ok(_) => {}
    }
}
