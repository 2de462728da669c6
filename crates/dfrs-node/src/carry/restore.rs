//! Puts an image in the place of a batch script.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::criu::{Criu, ImagePlace};
use super::held::HeldProcess;
use super::image::Images;
use super::image::manifest::Manifest;
use super::inspect::is_script;
use super::procfs::{self, ProcessStatus};
use super::{cgroups, processor, record, tree};
use crate::cgroup::trust::{is_trusted, is_trusted_down_to};
use crate::log;

/// How long the first process may take to take the job over, and how often that is looked at.
const INIT_TIMEOUT: Duration = Duration::from_secs(30);
const INIT_INTERVAL: Duration = Duration::from_millis(2);

/// What Slurm starts, and where: by the plugin that starts it, which is root's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewStart {
    /// Slurm's job id.
    pub job: u32,
    /// The job's user.
    pub uid: u32,
    /// How often it was requeued up to now.
    pub restarts: u32,
    /// The task that Slurm knows, by its number on the node.
    pub monitor: u32,
    /// PID 1 of the new namespace, by its number on the node.
    pub init: u32,
}

/// Restores the job's image below the new init. What is restored goes on only if it has what was
/// dumped, and nothing else, and when the init has taken it over. The image is marked for restored.
///
/// # Errors
///
/// If there is none that is this job's, or it cannot be restored: it is kept then. One line.
pub fn restore(start: &NewStart, images: &Images, criu: &Criu) -> Result<(), String> {
    let named = |text: String| format!("{}: {text}", log::job(start.job));
    let image = images.ready(start.job)?;
    let image = image.ok_or_else(|| {
        named(format!(
            "no image of it is in {}",
            images.path(start.job).display()
        ))
    })?;
    let flags = processor::flags(&procfs::cpu_information());
    check(image.manifest(), start).map_err(named)?;
    if let Some(missing) = processor::missing(&image.manifest().cpu_flags, &flags) {
        let node = &image.manifest().node;
        return Err(named(format!(
            "the processor of {node} has what this one lacks: {missing}"
        )));
    }
    image.check_files()?;
    let held = |number| {
        HeldProcess::open(number).map_err(|error| named(format!("process {number}: {error}")))
    };
    let (monitor, init) = (held(start.monitor)?, held(start.init)?);
    check_starter(&monitor).map_err(named)?;
    let namespaces = tree::open_namespaces(&monitor, &init).map_err(named)?;
    // Last, as the memory of what follows is the job's.
    cgroups::join(&monitor).map_err(named)?;
    let manifest = image.manifest();
    let place = ImagePlace {
        path: image.path(),
        bytes: manifest.bytes,
    };
    let mut let_go = false;
    let mut look = |own: &BTreeSet<u32>| {
        compare(manifest, &monitor, &init, own)?;
        wait_for_init(&init)?;
        image.begin_restored(start.restarts)?;
        let_go = true;
        Ok(())
    };
    let restored = criu.restore(&init, &namespaces, manifest.root_pid, &place, &mut look);
    if !let_go || !has_child(&init, manifest.root_pid)? {
        // It ends, and with it the job, which Slurm holds: it sees that there is nothing to wait for.
        let _ = init.send(Signal::CONT.as_raw());
        let nothing = || "criu has restored nothing below its first process".to_owned();
        return Err(named(restored.err().unwrap_or_else(nothing)));
    }
    // The job runs: nothing that fails now may be taken for a failed restore.
    let failed = [restored.err(), image.end_restored().err()];
    for error in failed.into_iter().flatten() {
        println!("{}", named(format!("it goes on here; {error}")));
    }
    Ok(())
}

/// Refuses a monitor that is not the process for which this program was started.
fn check_starter(monitor: &HeldProcess) -> Result<(), String> {
    let helper = ProcessStatus::read(std::process::id()).and_then(|own| own.parent());
    let starter = helper
        .and_then(ProcessStatus::read)
        .and_then(|of| of.parent());
    match starter == Some(monitor.number()) && ProcessStatus::read(monitor).is_some() {
        true => Ok(()),
        false => Err("only spank_dfrs_carry.so may restore a job".to_owned()),
    }
}

/// Refuses processes that have other than what was dumped.
fn compare(
    manifest: &Manifest,
    monitor: &HeldProcess,
    init: &HeldProcess,
    criu: &BTreeSet<u32>,
) -> Result<(), String> {
    let mut inside = tree::inside(init)?;
    inside.retain(|process| !criu.contains(process));
    let found = record::read_all(&inside)?;
    if !found.iter().any(|process| process.pid == manifest.root_pid) {
        return Err("its first process is not there".to_owned());
    }
    let groups = procfs::text(monitor, "cgroup");
    let groups = groups.map_err(|error| format!("control groups of its monitor: {error}"))?;
    let root = procfs::file(init, "root");
    let is_roots = |path: &Path| {
        let Ok(below) = path.parent().unwrap_or(path).strip_prefix("/") else {
            return false;
        };
        // The directory of a script is root's, those above it may be SlurmUser's.
        let is_script = is_script(&path.to_string_lossy(), manifest.job);
        is_trusted_down_to(&root, below).unwrap_or(false)
            || is_script && is_trusted(&root.join(below)).unwrap_or(false)
    };
    record::check(&manifest.processes, &found, &groups, &is_roots)
        .map_err(|error| format!("what was restored is not what was dumped: {error}"))
}

/// Says that all is there, and waits until the first process is what it is for the job's life.
fn wait_for_init(init: &HeldProcess) -> Result<(), String> {
    // The plugin waits for this line.
    println!("restored");
    let begun = Instant::now();
    while !tree::is_carrier(init) {
        if begun.elapsed() >= INIT_TIMEOUT || ProcessStatus::read(init).is_none() {
            return Err("its first process has not taken it over".to_owned());
        }
        thread::sleep(INIT_INTERVAL);
    }
    Ok(())
}

/// Whether an image belongs to a start; ids of jobs are used again.
fn check(manifest: &Manifest, start: &NewStart) -> Result<(), String> {
    if manifest.uid != start.uid {
        return Err(format!(
            "its image is of a job of user {}, and this is one of user {}",
            manifest.uid, start.uid
        ));
    }
    if start.restarts <= manifest.restarts {
        return Err(format!(
            "its image was made after {} requeues, and this is the start after {}: it is older",
            manifest.restarts, start.restarts
        ));
    }
    Ok(())
}

fn has_child(init: &HeldProcess, number: u32) -> Result<bool, String> {
    let mut processes = procfs::processes()?.into_iter();
    Ok(processes.any(|process| {
        ProcessStatus::read(process).is_some_and(|status| {
            status.parent() == Some(init.number()) && status.own_number() == Some(number)
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monitor_is_that_for_which_this_program_was_started() {
        let own = HeldProcess::open(std::process::id()).unwrap();
        assert!(check_starter(&own).is_err());
    }

    #[test]
    fn image_of_another_job_or_an_older_start_is_refused() {
        let manifest = Manifest {
            version: 2,
            job: 7,
            uid: 1000,
            restarts: 1,
            root_pid: 301,
            node: "n1".to_owned(),
            cpu_flags: BTreeSet::new(),
            processes: Vec::new(),
            bytes: 0,
            files: Vec::new(),
        };
        let start = |uid, restarts| NewStart {
            job: 7,
            uid,
            restarts,
            monitor: 900,
            init: 901,
        };
        assert_eq!(check(&manifest, &start(1000, 2)), Ok(()));
        assert!(
            check(&manifest, &start(1000, 1))
                .unwrap_err()
                .contains("older")
        );
        assert!(
            check(&manifest, &start(0, 2))
                .unwrap_err()
                .contains("user 1000")
        );
    }
}
