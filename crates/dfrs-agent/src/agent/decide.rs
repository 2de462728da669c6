//! Deciding: what happened, asked of the core, checked, and entered into the ledger.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{
    Action, Blocked, Decision, Events, JobId, Plan, Policy, Stopped, Time, Violation, check,
    decide_while,
};
use dfrs_proto::conf::Mode;

use super::{Agent, SECOND};
use crate::apply::apply;
use crate::cluster::Facts;
use crate::daemons::Daemons;
use crate::observation::Observation;
use crate::planned::Planned;
use crate::probe::{Incident, Part};
use crate::slurm::{Level, Slurm};

/// A decision that would start jobs that Slurm would not start after all is taken anew so often.
pub(super) const MOST_TRIES: usize = 3;

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Decides, checks the plan, and enters it into the ledger. Returns how many jobs it was about.
    ///
    /// # Errors
    ///
    /// It might not go on. What it was about is kept for later.
    pub(super) fn decide(
        &mut self,
        seen: &Observation,
        events: &Events,
        now: Time,
        may_go_on: &dyn Fn() -> bool,
    ) -> Result<u32, Stopped> {
        let mut planned = std::mem::take(&mut self.planned);
        let depth = self.decide_with(&mut planned, seen, events, now, may_go_on);
        self.planned = planned;
        match depth {
            Ok(_) => self.undecided.settle(),
            Err(Stopped) => self.put_off(events, now),
        }
        depth
    }

    fn put_off(&mut self, events: &Events, now: Time) {
        self.probe.happened(Incident::DecisionEnded);
        let pause = self.undecided.put_off(events, now).0 / SECOND;
        let text = format!(
            "a decision took too long and was ended ({} in a row): it starts and moves nothing; tried again in {pause} s",
            self.undecided.in_a_row()
        );
        self.slurm.log(Level::Error, &text);
    }

    fn decide_with(
        &mut self,
        planned: &mut Planned,
        seen: &Observation,
        events: &Events,
        now: Time,
        may_go_on: &dyn Fn() -> bool,
    ) -> Result<u32, Stopped> {
        let policy = self.config.policy.clone();
        let mut tries = 1;
        loop {
            self.bring_up_to_date(planned, seen, now);
            let decision = decide_while(&policy, planned.roster(), now, events, may_go_on)?;
            let starts = starts(&decision, seen);
            let is_last = tries >= MOST_TRIES;
            if (self.would_start(&starts, seen, now) || is_last)
                && !self.keeps_back_surplus(&decision, &starts, seen, now)
            {
                return Ok(self.carry(&policy, &decision, events, seen, now));
            }
            tries += 1;
        }
    }

    /// Checks the decision's plan and enters it into the ledger.
    fn carry(
        &mut self,
        policy: &Policy,
        decision: &Decision<'_>,
        events: &Events,
        seen: &Observation,
        now: Time,
    ) -> u32 {
        let plan = decision.plan();
        let violations = check(decision.cluster(), &plan);
        self.record(policy, decision, &plan, &violations, events, now);
        let depth = if let Some(violation) = violations.first() {
            self.drop_plan(violation);
            0
        } else {
            self.note_blocked(decision);
            self.enter(&plan, events, seen, now);
            u32::try_from(decision.depth()).unwrap_or(u32::MAX)
        };
        self.raise_again(&events.submitted, now);
        depth
    }

    fn bring_up_to_date(&mut self, planned: &mut Planned, seen: &Observation, now: Time) {
        let mut changed = std::mem::take(&mut self.lists.unplanned);
        let admitted = self.admission.take_changed();
        self.lists.unexplained.extend(&admitted);
        changed.extend(admitted);
        let facts = Facts {
            config: &self.config,
            can_park: &self.can_park,
            ready: self.admission.ready(),
            refusals: &self.refusals,
            weights: self.weights,
            now,
        };
        let nodes = self.lists.unplanned_nodes.take();
        let working = self.shares.keys();
        planned.follow(changed, working, &nodes, seen, &self.ledger, &facts);
        debug_assert!(
            planned.is_fresh(seen, &self.ledger, &facts),
            "the roster has missed a change"
        );
    }

    /// Whether Slurm would start all of these jobs now. Room may be made for them, in vain if it would not.
    pub(super) fn would_start(&mut self, starts: &[u32], seen: &Observation, now: Time) -> bool {
        let known = self.admission.asked_at(now);
        let starts = starts.iter().copied();
        let unknown = starts.filter(|id| !known.contains(id)).collect();
        self.probe.begin(Part::Ask);
        let all = self.ask(unknown, seen, now);
        self.probe.begin(Part::Decide);
        all
    }

    /// Notes which of these, that were decided about, are to be decided about once more, and when.
    fn raise_again(&mut self, submitted: &[JobId], now: Time) {
        for id in submitted.iter().filter_map(|id| slurm_id(*id)) {
            let record = self.ledger.get(id);
            if record.is_some_and(|record| record.life.is_waiting()) {
                self.retries.failed(id, &self.config.policy, now);
            } else {
                self.retries.forget(id);
            }
        }
    }

    fn drop_plan(&mut self, violation: &Violation) {
        self.probe.happened(Incident::PlanDropped);
        let text = format!("plan dropped, it breaks a rule: {violation}");
        self.slurm.log(Level::Error, &text);
    }

    /// Enters the plan's actions into the ledger.
    fn enter(&mut self, plan: &Plan, events: &Events, seen: &Observation, now: Time) {
        let actions = plan.actions.iter();
        let actions = actions.map(|planned| (&planned.action, planned.reason.to_string()));
        self.enter_actions(actions, seen, now);
        if events.period && self.config.mode == Mode::Full {
            self.remaps.carry_out(plan);
        }
    }

    /// Enters actions into the ledger, each with why.
    pub(super) fn enter_actions<'a>(
        &mut self,
        actions: impl Iterator<Item = (&'a Action, String)>,
        seen: &Observation,
        now: Time,
    ) {
        let acts = actions.filter(|(action, _)| !matches!(action, Action::SetYield(..)));
        let acts: Vec<(&Action, String)> = acts.collect();
        for (action, why) in &acts {
            let text = format!("{action:?}: {why}");
            self.slurm.log(Level::Debug, &text);
        }
        self.keep_changes(&acts, now);
        if self.config.mode == Mode::Full {
            let actions = acts.iter().map(|(action, _)| *action);
            apply(actions, &mut self.ledger, seen, &self.config, now);
        }
    }

    /// Keeps why jobs wait.
    fn note_blocked(&mut self, decision: &Decision<'_>) {
        let blocked: BTreeMap<u32, Blocked> = decision
            .blocked()
            .into_iter()
            .filter_map(|(id, why)| Some((slurm_id(id)?, why)))
            .collect();
        let either: BTreeSet<u32> = blocked.keys().chain(self.blocked.keys()).copied().collect();
        let differs = |id: &u32| blocked.get(id) != self.blocked.get(id);
        self.lists
            .unexplained
            .extend(either.into_iter().filter(differs));
        self.blocked = blocked;
    }
}

/// The jobs that would be started. What moves or comes back slurmctld knows already.
fn starts(decision: &Decision<'_>, seen: &Observation) -> Vec<u32> {
    let changes = decision.changes().filter(|(_, mapping)| mapping.is_some());
    let placed = changes.filter_map(|(id, _)| slurm_id(id));
    placed.filter(|id| seen.is_pending(*id)).collect()
}

fn slurm_id(id: JobId) -> Option<u32> {
    u32::try_from(id.0).ok()
}
