//! What can happen to a job, with the words for it.

use std::collections::BTreeSet;

use dfrs_core::{Action, JobId, Mapping, NodeIndex, Run};

use super::scene::{SEEN, Scene};
use crate::life::{Answer, Event, Step};

/// An event, without what it borrows.
#[derive(Clone, Debug)]
pub(super) enum Happening {
    Planned(Action),
    Seen,
    Did(Step, Answer),
    Forgotten(bool),
    NotParked,
    HandedBack,
}

impl Happening {
    pub(super) fn event(&self) -> Event<'_> {
        match self {
            Self::Planned(action) => Event::Planned(action),
            Self::Seen => Event::Seen,
            Self::Did(step, answer) => Event::Did(step, answer),
            Self::Forgotten(was_requeued) => Event::Forgotten {
                was_requeued: *was_requeued,
            },
            Self::NotParked => Event::NotParked,
            Self::HandedBack => Event::HandedBack,
        }
    }
}

/// What plans ask of jobs.
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

/// Slurm's answers to the steps that a job in this phase can ask for: the words, when it is asked for, and
/// what happens.
pub(super) fn answers(scene: &Scene) -> Vec<(String, Scene, Happening)> {
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
            let happening = Happening::Did(step.clone(), answer);
            all.push((words, asked.clone(), happening));
        }
    }
    all
}

fn answers_to(step: &Step) -> Vec<(&'static str, Answer)> {
    let refused = ("refused", Answer::Refused);
    match step {
        Step::Abandon(_) => vec![("done", Answer::Done)],
        Step::ReleaseMemory => vec![("done", Answer::Released(vec![100])), refused],
        Step::Start(_) => vec![("done", Answer::Done), ("gated", Answer::Gated), refused],
        _ => vec![("done", Answer::Done), refused],
    }
}

/// The words for a step.
pub(super) fn name(step: &Step) -> &'static str {
    match step {
        Step::Start(_) => "start",
        Step::Suspend => "suspend",
        Step::ReleaseMemory => "release its memory",
        Step::ClaimMemory(_) => "claim its memory",
        Step::Resume => "resume",
        Step::Warn => "warn",
        Step::Requeue => "requeue",
        Step::ClearBeginTime => "clear its begin time",
        Step::Abandon(_) => "give up",
    }
}
