//! Carries out what the daemon has to do with jobs that may be carried, beside its loop: an image
//! of gigabytes takes its time, and caps must not wait for it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;

use super::dump::CarryFailure;
use super::{
    Criu, Images, JobTree, KEPT_AFTER_RESTORE, SitePolicy, dump, inspect, release, release_job,
    tree,
};

/// What is to be done with a job that runs here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarryTask {
    /// See whether it can be carried.
    Inspect,
    /// Make its image, and leave it stopped. One that was made before counts; one that was cut off
    /// is made again.
    Dump,
    /// Let it go on here, without its image.
    Release,
    /// Remove its image, whatever it is.
    Discard,
}

/// A task of one job.
pub type CarryRequest = (u32, CarryTask);

/// A task that was done, or why it was not.
pub type CarryOutcome = (CarryRequest, Result<(), CarryFailure>);

/// Carries out requests.
pub trait CarryWorker: Send {
    /// Takes a request, and returns at once.
    fn request(&mut self, request: CarryRequest);

    /// Requests carried out since the last call.
    fn finished(&mut self) -> Vec<CarryOutcome>;
}

/// Where and how a node makes images.
#[derive(Debug, Clone)]
pub struct ImageSettings {
    /// The directory of images.
    pub directory: PathBuf,
    /// All of them together may have so many bytes; none: what is free.
    pub quota_bytes: Option<u64>,
    /// The program criu.
    pub criu: PathBuf,
    /// Slurm's name of the node.
    pub node: String,
}

/// A worker with two threads: inspections do not wait for images.
pub struct CarryThreads {
    inspections: Sender<CarryRequest>,
    images: Sender<CarryRequest>,
    outcomes: Receiver<CarryOutcome>,
}

impl CarryThreads {
    /// Starts the threads.
    pub fn new(settings: &ImageSettings) -> CarryThreads {
        let (finished, outcomes) = channel();
        let start = |when_idle: fn(&ImageSettings)| {
            let (sender, requests) = channel::<CarryRequest>();
            let (settings, finished) = (settings.clone(), finished.clone());
            thread::spawn(move || {
                loop {
                    match requests.recv_timeout(KEPT_AFTER_RESTORE) {
                        Ok(request) => {
                            let outcome = settings.perform(request);
                            if finished.send((request, outcome)).is_err() {
                                return;
                            }
                        }
                        Err(RecvTimeoutError::Timeout) => when_idle(&settings),
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                }
            });
            sender
        };
        CarryThreads {
            inspections: start(|_| ()),
            // A dump does it, too (`check_room`).
            images: start(ImageSettings::remove_restored),
            outcomes,
        }
    }
}

impl CarryWorker for CarryThreads {
    fn request(&mut self, request: CarryRequest) {
        let thread = match request.1 {
            CarryTask::Inspect => &self.inspections,
            CarryTask::Dump | CarryTask::Release | CarryTask::Discard => &self.images,
        };
        // Its thread only ends with us.
        let _ = thread.send(request);
    }

    fn finished(&mut self) -> Vec<CarryOutcome> {
        self.outcomes.try_iter().collect()
    }
}

/// What a dump of before has left of a job may be stopped.
fn stopped(text: String) -> CarryFailure {
    CarryFailure {
        text,
        is_stopped: true,
    }
}

impl ImageSettings {
    /// Whether the image of this run is there. What a dump has left that was cut off goes on.
    fn is_dumped(&self, tree: &JobTree) -> Result<bool, String> {
        let images = Images::open(&self.directory, self.quota_bytes)?;
        images.confirm_restored(tree.job, tree.restarts)?;
        let image = images.ready(tree.job)?;
        if image.is_some_and(|image| image.manifest().restarts == tree.restarts) {
            return Ok(true);
        }
        if images.has_remains(tree.job)? {
            release(tree, &images)?;
        }
        Ok(false)
    }

    fn remove_restored(&self) {
        // That it is not mounted is said by what needs it.
        if let Ok(images) = Images::open(&self.directory, self.quota_bytes) {
            images.remove_restored();
        }
    }

    fn perform(&self, (job, task): CarryRequest) -> Result<(), CarryFailure> {
        let policy = SitePolicy::new(&[], &[]);
        let find = || JobTree::find(job);
        let images = || Images::open(&self.directory, self.quota_bytes);
        match task {
            CarryTask::Inspect => {
                let tree = find()?;
                images()?.confirm_restored(job, tree.restarts)?;
                let inspection = inspect(&tree, &policy)?;
                match inspection.obstacles.is_empty() {
                    true => Ok(()),
                    false => Err(inspection.reasons().into()),
                }
            }
            CarryTask::Dump => {
                let tree = find().map_err(|error| match tree::lone_monitor(job) {
                    // It ended while a dump was cut off: the monitor waits for its release.
                    Some(_) => stopped(error),
                    None => error.into(),
                })?;
                if self.is_dumped(&tree).map_err(stopped)? {
                    return Ok(());
                }
                let (images, criu) = (images()?, Criu::new(&self.criu)?);
                dump(&tree, &images, &criu, &policy, &self.node).map(|_| ())
            }
            CarryTask::Release => Ok(release_job(job, &images()?)?),
            CarryTask::Discard => Ok(images()?.discard(job)?),
        }
    }
}
