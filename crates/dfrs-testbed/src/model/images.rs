//! The directory with the images of jobs, which all nodes see: who makes, restores and removes them.

use std::collections::BTreeMap;

use dfrs_core::Span;

use super::cluster::ClusterModel;
use super::program::ImageOutcome;
use super::work::ModelRun;

/// Why a start is held, as the history has it.
const NOT_RESTORED: &str = "not-restored";
const START_FORGOTTEN: &str = "start-forgotten";

/// An image that is complete, and whose processes are gone.
#[derive(Clone, Debug)]
pub(super) struct ModelImage {
    /// The submission that it is of.
    label: u32,
    /// What that had done.
    done: Span,
    /// How often the job was requeued before the start that has gone on from it, if one has.
    restored_by: Option<u32>,
}

/// By Slurm's job id, as on disk.
pub(super) type ModelImages = BTreeMap<u32, ModelImage>;

impl ClusterModel {
    /// The processes of a run go on this node: what is left of them is their image, if it was
    /// complete.
    pub(super) fn leave_image(&mut self, id: u64, node: u32) {
        let Some(run) = self.runs.get(&id) else {
            return;
        };
        let (job, label) = (run.job, run.label);
        if run.imaged_at_end || self.has_image_on(job, node) {
            let done = self.work_done(id);
            let image = ModelImage {
                label,
                done,
                restored_by: None,
            };
            self.images.insert(job, image);
        }
    }

    /// What an image of the job that starts again says that it has done, if there is one.
    pub(super) fn image_to_restore(&self, job: u32) -> Option<Span> {
        let entry = self.slurmctld.jobs.get(&job)?;
        let image = self.images.get(&job)?;
        (entry.seen.restarts > 0 && image.restored_by.is_none()).then_some(image.done)
    }

    /// Whether the start is held: its image is not restored, or slurmctld had forgotten a start that
    /// has gone on from it. The job is requeued (`RequeueExitHold`).
    pub(super) fn start_is_held(&mut self, id: u64) -> bool {
        let Some(run) = self.runs.get(&id).filter(|run| !run.ends) else {
            return false;
        };
        let (job, label, word) = (run.job, run.label, self.why_held(run));
        let entry = self.slurmctld.jobs.get_mut(&job);
        let entry = entry.filter(|entry| entry.run == id && entry.has_nodes());
        let (Some(word), Some(entry)) = (word, entry) else {
            return false;
        };
        (entry.seen.held, entry.seen.on_hold, entry.seen.priority) = (true, true, 0);
        self.note(format!("{word} {job}"));
        if word == START_FORGOTTEN {
            // An administrator discards it before releasing the job, which begins again.
            self.images.remove(&job);
        } else if let Some(program) = self.programs.get_mut(&label) {
            program.restore_failed = true;
        }
        self.end_run(job, None);
        true
    }

    /// Why a run is held that is about to begin, if it is.
    fn why_held(&self, run: &ModelRun) -> Option<&'static str> {
        let restarts = self.slurmctld.jobs.get(&run.job)?.seen.restarts;
        let restored_by = self
            .images
            .get(&run.job)
            .and_then(|image| image.restored_by);
        if restarts > 0 && restored_by.is_some_and(|start| start >= restarts) {
            return Some(START_FORGOTTEN);
        }
        let program = self.programs.get(&run.label)?;
        let fails =
            program.submission.image == ImageOutcome::NotRestored && !program.restore_failed;
        (run.restores && fails).then_some(NOT_RESTORED)
    }

    /// A run begins: if it goes on from an image, that is its own, and is marked.
    pub(super) fn restore_image(&mut self, run: &ModelRun) {
        if !run.restores {
            return;
        }
        let job = run.job;
        let restarts = self
            .slurmctld
            .jobs
            .get(&job)
            .map(|entry| entry.seen.restarts);
        match self.images.get_mut(&job) {
            Some(image) if image.label == run.label => image.restored_by = restarts,
            Some(_) => self
                .faults
                .push(format!("job {job} goes on from the image of another job")),
            None => self.faults.push(format!(
                "the image of job {job} is removed while it is restored"
            )),
        }
    }

    /// The node's daemon removes images that its orders say are void, where nothing of the job is
    /// left.
    pub(super) fn discard_void_images(&mut self, node: u32) {
        let machine = &self.machines[node as usize];
        let is_void = machine.orders.values().any(|order| order.void);
        if !is_void || !machine.takes_orders() {
            return;
        }
        let here = machine.runs.iter().filter_map(|id| self.runs.get(id));
        let here: Vec<u32> = here.map(|run| run.job).collect();
        let void = machine.orders.values();
        let void = void.filter(|order| order.ended && order.void && !here.contains(&order.id));
        for job in void.map(|order| order.id).collect::<Vec<u32>>() {
            self.images.remove(&job);
        }
    }

    /// The node has found that the job's processes run there: an image is of before.
    pub(super) fn discard_old_image(&mut self, job: u32, node: u32) {
        if self.waits_with_image(job) && !self.has_image_on(job, node) {
            self.images.remove(&job);
        }
    }

    /// Whether the node says that the image of the job, which is stopped there, is complete.
    pub(super) fn says_imaged(&self, job: u32, node: u32) -> bool {
        let machine = &self.machines[node as usize];
        let order = machine.orders.get(&job);
        let is_wanted = order.is_some_and(|order| order.frozen && order.image);
        machine.takes_orders() && is_wanted && self.has_image_on(job, node)
    }

    /// Whether the node says that there is no image of the job, as it was ordered.
    pub(super) fn says_void(&self, job: u32, node: u32) -> bool {
        let machine = &self.machines[node as usize];
        let order = machine.orders.get(&job);
        let is_wanted = order.is_some_and(|order| order.ended && order.void);
        let mut here = machine.runs.iter().filter_map(|id| self.runs.get(id));
        machine.takes_orders()
            && is_wanted
            && here.all(|run| run.job != job)
            && !self.waits_with_image(job)
    }

    /// Whether there is an image from which the job has not gone on.
    fn waits_with_image(&self, job: u32) -> bool {
        let image = self.images.get(&job);
        image.is_some_and(|image| image.restored_by.is_none())
    }

    /// Jobs that are over and have left an image from which they had not gone on.
    pub fn left_images(&self) -> Vec<u32> {
        let is_over = |job: &u32| {
            let entry = self.slurmctld.jobs.get(job);
            entry.is_none_or(|entry| entry.outcome.is_some())
        };
        let left = self.images.keys().copied();
        left.filter(|job| self.waits_with_image(*job) && is_over(job))
            .collect()
    }
}
