//! What can happen to a job, with the words for it.

use std::collections::BTreeSet;

use dfrs_core::{Action, JobId, Mapping, NodeIndex, Run};

use super::scene::{SEEN, Scene};
use crate::job::life::{LifeEvent, LifeStep, StepResult};

/// An event, without what it borrows.
#[derive(Clone, Debug)]
pub(super) enum OwnedEvent {
    Planned(Action),
    Seen,
    Did(LifeStep, StepResult),
    Forgotten(bool),
    NotParked,
    HandedBack,
}

impl OwnedEvent {
    pub(super) fn event(&self) -> LifeEvent<'_> {
        match self {
            Self::Planned(action) => LifeEvent::Planned(action),
            Self::Seen => LifeEvent::Seen,
            Self::Did(step, answer) => LifeEvent::Did(step, answer),
            Self::Forgotten(was_requeued) => LifeEvent::Forgotten {
                was_requeued: *was_requeued,
            },
            Self::NotParked => LifeEvent::NotParked,
            Self::HandedBack => LifeEvent::HandedBack,
        }
    }
}

/// The actions that plans contain.
pub(super) fn planned() -> [(&'static str, Action); 4] {
    let id = JobId(1);
    let here = || {
        Mapping::new(vec![Run {
            node: NodeIndex(0),
            tasks: 1,
        }])
    };
    [
        ("planned to start", Action::Start(id, here())),
        ("planned to resume", Action::Resume(id, here())),
        ("planned to pause", Action::Pause(id)),
        ("planned to move", Action::Migrate(id, here())),
    ]
}

/// Slurm's answers to the steps that a job in this phase can request: the words, when it is
/// requested, and what happens.
pub(super) fn answers(scene: &Scene) -> Vec<(String, Scene, OwnedEvent)> {
    let mut known = BTreeSet::new();
    let mut all = Vec::new();
    for (_, asked) in SEEN.iter().flat_map(|scenes| scene.all(scenes)) {
        let Some(step) = asked
            .next_step(&asked.life())
            .filter(|step| known.insert(name(step)))
        else {
            continue;
        };
        for (word, answer) in answers_to(&step) {
            let words = format!("{}: {word}", name(&step));
            let happening = OwnedEvent::Did(step.clone(), answer);
            all.push((words, asked.clone(), happening));
        }
    }
    all
}

fn answers_to(step: &LifeStep) -> Vec<(&'static str, StepResult)> {
    let refused = ("refused", StepResult::Refused);
    match step {
        LifeStep::Abandon(_) => vec![("done", StepResult::Done)],
        LifeStep::ReleaseMemory => vec![("done", StepResult::Released(vec![100])), refused],
        LifeStep::Start(_) => vec![
            ("done", StepResult::Done),
            ("not eligible", StepResult::NotEligible),
            refused,
        ],
        _ => vec![("done", StepResult::Done), refused],
    }
}

/// The words for a step.
pub(super) fn name(step: &LifeStep) -> &'static str {
    match step {
        LifeStep::Start(_) => "start",
        LifeStep::Suspend => "suspend",
        LifeStep::ReleaseMemory => "release its memory",
        LifeStep::ClaimMemory(_) => "claim its memory",
        LifeStep::Resume => "resume",
        LifeStep::Warn => "warn",
        LifeStep::Requeue => "requeue",
        LifeStep::ClearBeginTime => "clear its begin time",
        LifeStep::Abandon(_) => "give up",
    }
}
