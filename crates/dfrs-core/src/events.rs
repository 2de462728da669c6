//! What happened, and what there is to decide about it.

use serde::{Deserialize, Serialize};

use crate::model::JobId;
use crate::policy::{Periodic, Policy, Submission};

/// What happened since the last decision: all of it is decided about together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Events {
    /// Jobs ended, or something else gave memory back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// Jobs that were submitted, or that are tried again, in the order in which they are decided
    /// about. Those that run already, and those that the roster does not have, do no harm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submitted: Vec<JobId>,
    /// Nodes came, went or changed state. It is decided about as the end of a job is: both may
    /// leave room for waiting jobs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nodes_changed: bool,
    /// The period elapsed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub period: bool,
}

impl Events {
    /// Jobs ended.
    pub fn ended() -> Self {
        Self {
            ended: true,
            ..Self::default()
        }
    }

    /// These jobs were submitted, in this order.
    pub fn submitted(jobs: impl IntoIterator<Item = JobId>) -> Self {
        Self {
            submitted: jobs.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Nodes came, went or changed state.
    pub fn nodes_changed() -> Self {
        Self {
            nodes_changed: true,
            ..Self::default()
        }
    }

    /// The period elapsed.
    pub fn period() -> Self {
        Self {
            period: true,
            ..Self::default()
        }
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One of the questions of which a decision consists (TPDS, Section 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Room may have come about.
    Room,
    /// This job was submitted.
    Submission(JobId),
    /// The period elapsed.
    Period,
}

impl Stage {
    /// What there is to decide, in this order: room, the submissions, the period. A remap of all
    /// jobs is not repeated: of several submissions the last one speaks for all, and the period for
    /// all else.
    pub(crate) fn of(policy: &Policy, events: &Events) -> Vec<Self> {
        if policy.weighs_moves() {
            return Self::one_of(policy, events);
        }
        let remaps = policy.submission == Submission::Mcb8;
        let period = events.period && policy.is_periodic();
        let by_period = remaps && period && policy.periodic == Periodic::Remap;
        let by_submission = remaps && !events.submitted.is_empty();
        let mut stages = Vec::new();
        if (events.ended || events.nodes_changed) && !by_period && !by_submission {
            stages.push(Self::Room);
        }
        let submitted: &[JobId] = match (by_period, &events.submitted[..]) {
            (true, _) => &[],
            (false, [.., last]) if remaps => std::slice::from_ref(last),
            (false, all) => all,
        };
        stages.extend(submitted.iter().copied().map(Self::Submission));
        if period {
            stages.push(Self::Period);
        }
        stages
    }

    /// A single stage: all waiting jobs are tried whatever happened, the period doing it too.
    fn one_of(policy: &Policy, events: &Events) -> Vec<Self> {
        let period = events.period && policy.is_periodic();
        let room = events.ended || events.nodes_changed || !events.submitted.is_empty();
        match (period, room) {
            (true, _) => vec![Self::Period],
            (false, true) => vec![Self::Room],
            (false, false) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(policy: &str, events: &Events) -> Vec<Stage> {
        Stage::of(&policy.parse().expect("a policy"), events)
    }

    #[test]
    fn free_room_is_handled_before_submissions_and_the_period() {
        let all = Events {
            ended: true,
            submitted: vec![JobId(7), JobId(3)],
            nodes_changed: true,
            period: true,
        };
        let [seven, three] = [7, 3].map(|job| Stage::Submission(JobId(job)));
        assert_eq!(
            stages("GreedyPM*/per", &all),
            [Stage::Room, seven, three, Stage::Period]
        );
        assert_eq!(stages("GreedyPM*", &all), [Stage::Room, seven, three]);
        assert_eq!(stages("Greedy*", &Events::period()), []);
        assert_eq!(stages("Greedy*", &Events::nodes_changed()), [Stage::Room]);
    }

    #[test]
    fn a_remap_is_not_repeated() {
        let mut events = Events {
            ended: true,
            ..Events::submitted([JobId(7), JobId(3)])
        };
        assert_eq!(stages("MCB8*/per", &events), [Stage::Submission(JobId(3))]);
        events.period = true;
        assert_eq!(stages("MCB8*/per", &events), [Stage::Period]);
        assert_eq!(stages("MCB8*", &events), [Stage::Submission(JobId(3))]);
        events.submitted.clear();
        assert_eq!(stages("MCB8*/per", &events), [Stage::Period]);
        events.period = false;
        assert_eq!(stages("MCB8*/per", &events), [Stage::Room]);
    }

    #[test]
    fn least_cost_preemption_has_one_stage() {
        let mut events = Events {
            ended: true,
            ..Events::submitted([JobId(7), JobId(3)])
        };
        assert_eq!(stages("GreedyPMC*/move-per", &events), [Stage::Room]);
        events.period = true;
        assert_eq!(stages("GreedyPMC*/move-per", &events), [Stage::Period]);
        assert_eq!(stages("GreedyPMC*", &events), [Stage::Room]);
        assert_eq!(stages("GreedyPMC*", &Events::period()), []);
    }

    #[test]
    fn absent_events_are_not_serialized() {
        let events = Events::submitted([JobId(7)]);
        let text = serde_json::to_string(&events).expect("it can be written");
        assert_eq!(text, r#"{"submitted":[7]}"#);
        let read: Events = serde_json::from_str(&text).expect("it can be read");
        assert_eq!(read, events);
        assert!(!events.is_empty() && Events::default().is_empty());
    }
}
