//! A plan becomes what the jobs are on their way to.

use dfrs_core::{Action, Plan, Time};
use dfrs_proto::conf::Config;

use crate::ledger::Ledger;
use crate::life::{Event, Look};
use crate::observation::Observation;

/// Enters the plan's actions into the ledger. An action that makes no sense for its job changes nothing.
pub fn apply(
    plan: &Plan,
    ledger: &mut Ledger,
    observation: &Observation,
    config: &Config,
    now: Time,
) {
    let actions = plan.actions.iter().map(|planned| &planned.action);
    for action in actions.filter(|action| !matches!(action, Action::SetYield(..))) {
        let Ok(id) = u32::try_from(action.job().0) else {
            continue;
        };
        let (Some(record), Some(job)) = (ledger.get_mut(id), observation.job(id)) else {
            continue;
        };
        let look = Look::new(job, observation, config, now);
        record.on(&Event::Planned(action), &look);
    }
}
