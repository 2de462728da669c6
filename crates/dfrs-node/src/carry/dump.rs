//! Dumps a job: the one part that stops it.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use super::connections::RepairedConnections;
use super::criu::{Criu, ImagePlace};
use super::held::HeldProcess;
use super::image::Images;
use super::image::manifest::{Manifest, VERSION};
use super::inspect::{SitePolicy, inspect, inspect_stopped};
use super::procfs::{self, ProcessStatus};
use super::signals::{self, HOLD, RELEASE};
use super::tree::JobTree;
use super::{mend, processor, record};
use crate::log;

/// How long an end of criu is waited for, and how often that is looked at.
const TRACER_TIMEOUT: Duration = Duration::from_secs(10);
const TRACER_INTERVAL: Duration = Duration::from_millis(10);

/// An image that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dumped {
    /// Its size in bytes.
    pub bytes: u64,
    /// System calls that are made again after the restore.
    pub mended: Vec<&'static str>,
}

/// Why something was not done with a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarryFailure {
    /// One line.
    pub text: String,
    /// The job does not go on: it has to be released.
    pub is_stopped: bool,
}

impl From<String> for CarryFailure {
    fn from(text: String) -> Self {
        CarryFailure {
            text,
            is_stopped: false,
        }
    }
}

/// Inspects a job and dumps it. Its processes stay stopped and the image is the job from then on:
/// Slurm has to requeue it now, or [`super::release()`] lets it go on here.
///
/// # Errors
///
/// If it cannot be carried, or that failed: it goes on then, if that can be, and there is no image.
pub fn dump(
    tree: &JobTree,
    images: &Images,
    criu: &Criu,
    policy: &SitePolicy,
    node: &str,
) -> Result<Dumped, CarryFailure> {
    let named = |text: String| format!("{}: {text}", log::job(tree.job));
    let inspection = inspect(tree, policy)?;
    if !inspection.obstacles.is_empty() {
        let reasons = inspection.reasons();
        return Err(named(format!("it cannot be carried: {reasons}")).into());
    }
    images
        .check_room(tree.job, inspection.image_bytes())
        .map_err(named)?;
    let image = images.begin(tree.job, tree.restarts)?;
    let stopped = stopped_processes(tree)?;
    tree.monitor
        .send(HOLD)
        .map_err(|error| named(format!("its monitor cannot be reached: {error}")))?;
    let mut manifest = describe(tree, node);
    let place = ImagePlace {
        path: image.path(),
        bytes: inspection.image_bytes(),
    };
    // Again, and what is in the image is what is seen now: criu has all of it stopped.
    let mut look = |own: &BTreeSet<u32>| {
        let inspection = inspect_stopped(tree, policy, own)?;
        if !inspection.obstacles.is_empty() {
            return Err(format!("it cannot be carried: {}", inspection.reasons()));
        }
        let mut inside = tree.inside()?;
        inside.retain(|process| !own.contains(process));
        manifest.processes = record::read_all(&inside)?;
        Ok(())
    };
    let mut may_be_ready = false;
    let made = criu
        .dump(tree, &place, &mut look)
        .and_then(|()| RepairedConnections::of(tree)?.open_packet_filter())
        .and_then(|()| mend::mend(image.path()))
        .and_then(|mended| {
            if manifest.processes.is_empty() {
                return Err("criu has not run its action script".to_owned());
            }
            may_be_ready = true;
            let manifest = image.seal(manifest)?;
            Ok(Dumped {
                bytes: manifest.bytes,
                mended,
            })
        });
    made.map_err(|error| {
        let error = named(format!("{error}; it goes on here"));
        // An image that could be seen already must not be restored beside it. One that cannot be
        // removed, as their file system fails, keeps no job stopped otherwise.
        let removed = images.remove(tree.job).or_else(|failed| match may_be_ready {
            true => Err(failed),
            false => Ok(()),
        });
        match removed.and_then(|()| let_go_on(tree, &stopped)) {
            Ok(()) => error.into(),
            Err(second) => CarryFailure {
                text: format!(
                    "{error}, once it is released, which failed: {second}; 'dfrsd release' tries again"
                ),
                is_stopped: true,
            },
        }
    })
}

/// Continues what a dump has stopped, but for processes that were stopped before it, and has the
/// monitor pass signals on again.
///
/// # Errors
///
/// If a process or the monitor cannot be reached; one line.
pub fn let_go_on(tree: &JobTree, stopped_before: &BTreeSet<u32>) -> Result<(), String> {
    wait_for_criu(tree)?;
    let connections = RepairedConnections::of(tree)?;
    if let Err(error) = connections.open_packet_filter() {
        let job = log::job(tree.job);
        log::line(format_args!(
            "{job}: TCP connections within the job may hang: {error}"
        ));
    }
    connections.end_repair()?;
    for process in stopped_processes(tree)?.difference(stopped_before) {
        signals::resume(*process).map_err(|error| format!("process {process}: {error}"))?;
    }
    release_monitor(&tree.monitor)
}

/// Has a monitor pass signals on again, or end as its job did.
///
/// # Errors
///
/// If it cannot be reached; one line.
pub fn release_monitor(monitor: &HeldProcess) -> Result<(), String> {
    let number = monitor.number();
    let sent = monitor.send(RELEASE);
    sent.map_err(|error| format!("monitor {number}: {error}"))
}

/// Waits until no process of the job is traced: a criu whose dfrsd was killed goes on, and stops
/// them at its end. It must not be killed: that can end the processes that it traces.
///
/// # Errors
///
/// If one still is after a while; one line.
pub fn wait_for_criu(tree: &JobTree) -> Result<(), String> {
    let is_traced =
        |process: &u32| ProcessStatus::read(*process).is_some_and(|status| status.is_traced());
    let begun = Instant::now();
    while let Some(process) = tree.inside()?.iter().find(|process| is_traced(process)) {
        if begun.elapsed() >= TRACER_TIMEOUT {
            return Err(format!(
                "process {process} is still traced, as by criu; try again"
            ));
        }
        thread::sleep(TRACER_INTERVAL);
    }
    Ok(())
}

fn stopped_processes(tree: &JobTree) -> Result<BTreeSet<u32>, String> {
    let mut inside = tree.inside()?;
    inside.retain(|process| {
        ProcessStatus::read(*process).is_some_and(|status| status.state() == 'T')
    });
    Ok(inside.into_iter().collect())
}

fn describe(tree: &JobTree, node: &str) -> Manifest {
    Manifest {
        version: VERSION,
        job: tree.job,
        uid: tree.uid,
        restarts: tree.restarts,
        root_pid: tree.root_pid,
        node: node.to_owned(),
        cpu_flags: processor::flags(&procfs::cpu_information()),
        processes: Vec::new(),
        bytes: 0,
        files: Vec::new(),
    }
}
