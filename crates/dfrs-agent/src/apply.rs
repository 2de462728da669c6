//! A plan becomes what the jobs are on their way to.

use dfrs_core::{Action, Mobility, Plan, Time};

use crate::ledger::{Ledger, Next, Phase};
use crate::observation::Observation;
use crate::placement::Placement;

/// Enters the plan's actions into the ledger. `mobility_of` says how a job gives up its place.
pub fn apply(
    plan: &Plan,
    ledger: &mut Ledger,
    observation: &Observation,
    mobility_of: impl Fn(u32) -> Mobility,
    now: Time,
) {
    for planned in &plan.actions {
        let (id, placement) = match &planned.action {
            Action::Start(id, mapping)
            | Action::Resume(id, mapping)
            | Action::Migrate(id, mapping) => (id, Placement::from_mapping(mapping, observation)),
            Action::Pause(id) => (id, Placement::default()),
            Action::SetYield(..) => continue,
        };
        let Ok(id) = u32::try_from(id.0) else {
            continue;
        };
        let Some(record) = ledger.get_mut(id) else {
            continue;
        };
        let mobility = mobility_of(id);
        if let Some(phase) = planned_phase(&planned.action, &record.phase, placement, mobility, now)
        {
            record.phase = phase;
        }
    }
}

/// Where an action sends a job that is in `phase`, or `None` if it makes no sense there.
fn planned_phase(
    action: &Action,
    phase: &Phase,
    placement: Placement,
    mobility: Mobility,
    now: Time,
) -> Option<Phase> {
    match (action, phase) {
        (Action::Start(..), Phase::Waiting) => Some(Phase::Starting {
            placement,
            since: now,
            resumes: false,
        }),
        (Action::Resume(..), Phase::Paused) => Some(Phase::Starting {
            placement,
            since: now,
            resumes: true,
        }),
        (Action::Resume(..), Phase::Parked { placement, memory }) => Some(Phase::Unparking {
            placement: placement.clone(),
            memory: memory.clone(),
            since: now,
        }),
        // Paused only to let others past, earlier in the same plan.
        (Action::Resume(..), Phase::Leaving { next: Next::Pause }) => Some(Phase::Leaving {
            next: Next::Move(placement),
        }),
        (Action::Pause(_), Phase::Running) if mobility == Mobility::Park => {
            Some(Phase::Parking { since: now })
        }
        // A job without a checkpoint has nothing to bring to another place: it queues again.
        (Action::Pause(_) | Action::Migrate(..), Phase::Running)
            if mobility == Mobility::Restart =>
        {
            Some(Phase::Leaving {
                next: Next::Restart,
            })
        }
        (Action::Pause(_), Phase::Running) => Some(Phase::Leaving { next: Next::Pause }),
        (Action::Migrate(..), Phase::Running) => Some(Phase::Leaving {
            next: Next::Move(placement),
        }),
        _ => None,
    }
}
