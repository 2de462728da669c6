//! Dumping: a running job is carried. Its node stops it and writes its processes to an image; when
//! it reports that the image is complete, the job is requeued, and goes on from it elsewhere.
//!
//! Until then the job has its place, and goes on there if the image cannot be written.

use dfrs_core::{Span, Time};
use serde::{Deserialize, Serialize};

use super::event::{JobContext, LifeEvent};
use super::foreign::suspended;
use super::image::LifeImage;
use super::leaving::Next;
use super::phase::{LifePhase, Phase};
use super::requeued::{Requeued, lost, start_forgotten};
use super::step::{LifeStep, ParkStatus, StepResult, has_passed};
use super::traits::{Freezing, PauseEffect, PhaseCourse, PhasePlace, PhaseTraits};
use super::transition::LifeTransition;
use super::unparking::return_forgotten;
use crate::job::placement::NamedPlacement;
use crate::slurm::records::ObservedState;

/// Why it is given up if the node was too slow.
const SLOW: &str = "its node did not write its image in time";
/// Why it is given up if the node could not.
const FAILED: &str = "its processes cannot be written to an image; see dfrsd's log on its node";

/// 50 MiB in a second.
const PER_MEBIBYTE: Span = Span(20_000);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Dumping {
    /// What follows.
    pub(super) next: Next,
    /// Since when.
    pub(super) since: Time,
}

impl Phase for Dumping {
    fn traits(&self) -> &'static PhaseTraits {
        &PhaseTraits {
            name: "writing its image",
            course: PhaseCourse::Leaving,
            place: PhasePlace::Used,
            freezing: Freezing::Image,
            pause: PauseEffect::AsBefore,
        }
    }

    fn next_step(&self, context: &JobContext, on_node: ParkStatus) -> Option<LifeStep> {
        if context.job.configuring {
            return None;
        }
        match on_node {
            // Not on what the saved state does not know yet.
            ParkStatus::Parked => context.image.is_complete().then_some(LifeStep::Requeue),
            ParkStatus::Stuck => Some(LifeStep::Abandon(FAILED)),
            ParkStatus::Unknown => has_passed(self.since, timeout(context), context.now)
                .then_some(LifeStep::Abandon(SLOW)),
        }
    }

    fn on(&self, event: &LifeEvent, context: &JobContext) -> Option<LifeTransition> {
        match event {
            LifeEvent::Planned(action) => {
                let (next, since) = (self.next.replanned(action, context)?, self.since);
                Some(LifeTransition::to(LifePhase::Dumping(Self { next, since })))
            }
            LifeEvent::Seen => match context.job.state {
                ObservedState::Pending => Some(lost(context)),
                ObservedState::Suspended => Some(LifeTransition::to(suspended(context))),
                ObservedState::Running | ObservedState::Ended => None,
            },
            LifeEvent::Did(LifeStep::Requeue, StepResult::Done) => {
                Some(leaves(self.next.clone(), context).with_image(LifeImage::Complete))
            }
            // Its node removes the image and lets it go on.
            LifeEvent::Did(_, StepResult::Refused) => {
                Some(LifeTransition::runs_on().with_image(LifeImage::Begun))
            }
            // It cost the job time all the same.
            LifeEvent::Did(LifeStep::Abandon(_), _) => {
                Some(LifeTransition::to(LifePhase::Running).moved().not_parked())
            }
            LifeEvent::Forgotten { was_requeued } => {
                return_forgotten(context).or_else(|| start_forgotten(*was_requeued, context))
            }
            LifeEvent::HandedBack => Some(LifeTransition::to(LifePhase::Running)),
            LifeEvent::Did(..) | LifeEvent::NotParked => None,
        }
    }

    fn under_way_text(&self, last_place: &NamedPlacement) -> String {
        format!("image on {last_place}")
    }

    fn after_leaving(&self) -> Option<&Next> {
        Some(&self.next)
    }

    fn needs_park_confirmation(&self) -> bool {
        true
    }
}

/// How long an image may take: as long as parking a job may, and the writing of its memory to a
/// slow disk.
fn timeout(context: &JobContext) -> Span {
    let memory = context.job.places.iter().map(|place| place.memory_mib);
    let memory = i64::try_from(memory.sum::<u64>()).unwrap_or(i64::MAX);
    context.config.park_timeout + Span(memory.saturating_mul(PER_MEBIBYTE.0))
}

/// It is back in the queue, and its image is complete.
pub(super) fn leaves(next: Next, context: &JobContext) -> LifeTransition {
    LifeTransition::to(LifePhase::Requeued(Requeued {
        has_image: true,
        ..Requeued::new(next, context.now)
    }))
}

/// slurmctld has forgotten that the job was requeued with its image complete, and shows its last
/// run. What is left of that stays stopped, and the requeue is repeated.
pub(super) fn requeue_forgotten(next: Next, context: &JobContext) -> Option<LifeTransition> {
    let is_forgotten = context.job.state == ObservedState::Running && context.image.is_complete();
    let since = context.now;
    let dumping = || LifePhase::Dumping(Dumping { next, since });
    is_forgotten.then(|| LifeTransition::repeat(dumping(), "had been requeued"))
}
