//! What can happen to a job, and what is known when it does.

use dfrs_core::{Action, Mobility, Time};
use dfrs_proto::conf::Config;

use super::image::LifeImage;
use super::step::{LifeStep, StepResult};
use crate::job::mobility::{carried_or_parked, mobility};
use crate::job::placement::NamedPlacement;
use crate::slurm::observation::Observation;
use crate::slurm::records::ObservedJob;

/// What happened to a job.
#[derive(Clone, Debug, PartialEq)]
pub enum LifeEvent<'a> {
    /// The plan wants this of it.
    Planned(&'a Action),
    /// It was looked at: what others did to it shows. Slurm is right about what is.
    Seen,
    /// The result of the step that [`Life::next_step`](super::Life::next_step) gave, from Slurm.
    Did(&'a LifeStep, &'a StepResult),
    /// slurmctld was killed before it had kept what DFRS did last, and the job is looked at for the
    /// first time since. The ledger is right about what was.
    Forgotten {
        /// Slurm requeued it of its own accord since then, so that it waits for good reason.
        was_requeued: bool,
    },
    /// It was parked, and by the word of one of its nodes is so no longer.
    NotParked,
    /// DFRS no longer decides about it.
    HandedBack,
}

/// One job as the last look showed it, and all else that its life depends on.
#[derive(Clone, Copy, Debug)]
pub struct JobContext<'a> {
    /// The job.
    pub job: &'a ObservedJob,
    /// The nodes, and what other jobs hold there.
    pub observation: &'a Observation,
    /// The site's settings.
    pub config: &'a Config,
    /// Now.
    pub now: Time,
    /// Whether its node says that it can be carried.
    pub is_carriable: bool,
    /// What is known of its image.
    pub image: LifeImage,
}

impl<'a> JobContext<'a> {
    /// Of `job`, which is one of the `observation`'s.
    pub const fn new(
        job: &'a ObservedJob,
        observation: &'a Observation,
        config: &'a Config,
        now: Time,
    ) -> Self {
        Self {
            job,
            observation,
            config,
            now,
            is_carriable: false,
            image: LifeImage::None,
        }
    }

    /// Where Slurm has the job.
    pub fn place(&self) -> NamedPlacement {
        NamedPlacement::of_job(self.job, self.observation)
    }

    /// How the job can give up its place.
    pub fn mobility(&self) -> Mobility {
        carried_or_parked(mobility(self.job, self.config), self.is_carriable)
    }
}
