//! Puts an image in the place of a batch script.

use super::criu::Criu;
use super::image::Images;
use super::image::manifest::Manifest;
use super::procfs::{self, ProcessStatus};
use super::{cgroups, processor, tree};
use crate::log;

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

/// Restores the job's image below the new init, and removes it.
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
    tree::check_namespaces(start.monitor, start.init).map_err(named)?;
    // Last, as the memory of what follows is the job's.
    cgroups::join(start.monitor).map_err(named)?;
    criu.restore(start.init, image.path()).map_err(named)?;
    if !has_child(start.init, image.manifest().root_pid)? {
        return Err(named(
            "criu has restored nothing below its first process".to_owned(),
        ));
    }
    image.remove().map_err(named)
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

fn has_child(init: u32, number: u32) -> Result<bool, String> {
    let mut processes = procfs::processes()?.into_iter();
    Ok(processes.any(|process| {
        ProcessStatus::read(process).is_some_and(|status| {
            status.parent() == Some(init) && status.own_number() == Some(number)
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn image_of_another_job_or_an_older_start_is_refused() {
        let manifest = Manifest {
            version: 1,
            job: 7,
            uid: 1000,
            restarts: 1,
            root_pid: 301,
            node: "n1".to_owned(),
            cpu_flags: BTreeSet::new(),
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
