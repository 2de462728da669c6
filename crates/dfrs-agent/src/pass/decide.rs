//! Deciding: passes the events to the core, checks its plan, and enters it into the ledger.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{
    Action, Blocked, Decision, Events, JobId, Plan, Time, Violation, decide_while, jobs_at_fault,
};
use dfrs_proto::conf::Mode;
use dfrs_proto::text::some_of;

use super::decide::decision_backoff::DecisionFailure;
use super::{Agent, PassReport};
use crate::changes::{ChangeEntry, ChangeReader, UnreadChanges};
use crate::daemons::Daemons;
use crate::job::placement::NamedPlacement;
use crate::plan::apply::{apply, slurm_id};
use crate::plan::planned::PlannedCluster;
use crate::probe::{Incident, PassPart};
use crate::saturating_u32;
use crate::slurm::job_name::job_name;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm};

pub(super) mod decision_backoff;
pub(super) mod events;
pub(super) mod partition_policies;
pub(super) mod record;
pub(super) mod remaps;

/// How often a decision is repeated that would start jobs that Slurm would not start after all.
pub(super) const MAX_TRIES: usize = 3;
/// How often a decision is repeated whose plan breaks rules, without the jobs that break them.
const MAX_EXCLUSIONS: usize = 8;

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Decides about what happened since the last pass, if anything did. Returns whether a period
    /// was over.
    pub(super) fn decide_about_events(
        &mut self,
        seen: &mut Observation,
        now: Time,
        may_go_on: &dyn Fn() -> bool,
        report: &mut PassReport,
    ) -> bool {
        self.probe.begin(PassPart::Decide);
        let events = self.events(seen, now);
        let events = self.planner.decision_backoff.join(events, now);
        report.depth = self.plan_other_partitions(seen, now);
        if !events.is_empty() {
            match self.decide(seen, &events, now, may_go_on) {
                Ok(depth) => report.depth = report.depth.saturating_add(depth),
                Err(failure) => {
                    let in_a_row = self.planner.decision_backoff.consecutive(failure);
                    match failure {
                        DecisionFailure::Ended => report.ended_decisions = in_a_row,
                        DecisionFailure::Dropped => report.dropped_plans = in_a_row,
                    }
                }
            }
        }
        self.follow(seen, now);
        self.probe.begin(PassPart::Publish);
        events.period
    }

    /// Decides, checks the plan, and enters it into the ledger. Returns how many jobs were decided
    /// about.
    ///
    /// # Errors
    ///
    /// The decision might not go on, or its plan broke a rule whatever jobs were excluded. The
    /// events are kept for later.
    pub(super) fn decide(
        &mut self,
        seen: &Observation,
        events: &Events,
        now: Time,
        may_go_on: &dyn Fn() -> bool,
    ) -> Result<u32, DecisionFailure> {
        let mut planned = std::mem::take(&mut self.planner.planned);
        let depth = self.decide_with(&mut planned, seen, events, now, may_go_on);
        self.planner.planned = planned;
        match depth {
            Ok(_) => self.planner.decision_backoff.settle(),
            Err(failure) => self.back_off(failure, events, now),
        }
        depth
    }

    fn back_off(&mut self, failure: DecisionFailure, events: &Events, now: Time) {
        let pause = self
            .planner
            .decision_backoff
            .back_off(events, failure, now)
            .whole_seconds();
        let in_a_row = self.planner.decision_backoff.consecutive(failure);
        let what = match failure {
            DecisionFailure::Ended => {
                self.probe.happened(Incident::DecisionEnded);
                "decision timeout"
            }
            DecisionFailure::Dropped => "decision dropped: no valid plan",
        };
        let text = format!(
            "{what} ({in_a_row} in a row): nothing is started or moved; retry in {pause} s"
        );
        self.slurm.log(LogLevel::Error, &text);
    }

    fn decide_with(
        &mut self,
        planned: &mut PlannedCluster,
        seen: &Observation,
        events: &Events,
        now: Time,
        may_go_on: &dyn Fn() -> bool,
    ) -> Result<u32, DecisionFailure> {
        let policy = self.config.policy.clone();
        let (mut tries, mut exclusions) = (1, 0);
        loop {
            self.bring_up_to_date(planned, seen, now);
            let decision = decide_while(&policy, planned.roster(), now, events, may_go_on)?;
            let starts = starts(&decision, seen);
            let is_last = tries >= MAX_TRIES;
            if !(self.would_start(&starts, seen, now) || is_last)
                || self.defer_excess_jobs(&decision, &starts, seen, now)
            {
                tries += 1;
                continue;
            }
            let plan = decision.plan();
            let violations = (self.planner.check)(decision.cluster(), &plan);
            self.record(&policy, &decision, &plan, &violations, events, now);
            if violations.is_empty() {
                return Ok(self.enter_decision(&decision, &plan, events, seen, now));
            }
            exclusions += 1;
            if !self.exclude(&violations, seen, now) || exclusions > MAX_EXCLUSIONS {
                return Err(DecisionFailure::Dropped);
            }
        }
    }

    /// Enters the decision's plan, which keeps the rules, into the ledger.
    fn enter_decision(
        &mut self,
        decision: &Decision<'_>,
        plan: &Plan,
        events: &Events,
        seen: &Observation,
        now: Time,
    ) -> u32 {
        self.note_blocked(decision);
        self.enter(plan, events, seen, now);
        self.schedule_retries(&events.submitted, now);
        saturating_u32(decision.depth())
    }

    /// Drops a plan that violates these rules: the jobs that break them are excluded from decisions
    /// for a while. Returns whether any of them was not excluded before.
    fn exclude(&mut self, violations: &[Violation], seen: &Observation, now: Time) -> bool {
        let Some(first) = violations.first() else {
            return false;
        };
        self.probe.happened(Incident::PlanDropped);
        let at_fault = jobs_at_fault(violations).into_iter().filter_map(slurm_id);
        let new = at_fault.filter(|id| {
            seen.job(*id).is_some() && self.planner.excluded.until(*id, now).is_none()
        });
        let new: Vec<u32> = new.collect();
        let pauses = new.iter().map(|id| {
            let broken = violations
                .iter()
                .find(|violation| violation.jobs().any(|job| slurm_id(job) == Some(*id)));
            let rule = broken.unwrap_or(first).kind.rule();
            self.planner.excluded.add(*id, rule, now)
        });
        let pause = pauses.min();
        let excluded = new.iter().copied().map(ChangeEntry::JobExclusion);
        self.lists.changes.extend(excluded);
        let follows = pause.map_or_else(
            || "no job that could be left out is at fault".to_owned(),
            |pause| {
                let seconds = pause.whole_seconds();
                format!(
                    "decision retried without {}, for {seconds} s",
                    jobs_named(&new, seen)
                )
            },
        );
        let text = format!("plan dropped, it is invalid: {first}; {follows}");
        self.slurm.log(LogLevel::Error, &text);
        !new.is_empty()
    }

    fn bring_up_to_date(&mut self, planned: &mut PlannedCluster, seen: &Observation, now: Time) {
        let UnreadChanges { mut jobs, nodes } = self.lists.changes.take(ChangeReader::Plan);
        let admitted = self.queue.admission.take_changed();
        let reasons = admitted.iter().copied().map(ChangeEntry::JobReason);
        self.lists.changes.extend(reasons);
        jobs.extend(admitted);
        let facts = self.facts(seen, now);
        let working = self.planner.shares.keys();
        planned.follow(jobs, working, &nodes, &facts);
        debug_assert!(planned.is_fresh(&facts), "the roster has missed a change");
    }

    /// Whether Slurm would start all of these jobs now. Room made for a job that it would not start
    /// is wasted.
    pub(super) fn would_start(&mut self, starts: &[u32], seen: &Observation, now: Time) -> bool {
        let known = self.queue.admission.queried_at(now);
        let starts = starts.iter().copied();
        let unknown = starts.filter(|id| !known.contains(id)).collect();
        self.probe.begin(PassPart::Query);
        let all = self.query_may_start(unknown, seen, now);
        self.probe.begin(PassPart::Decide);
        all
    }

    /// Notes which of these, that were decided about, are to be decided about once more, and when.
    fn schedule_retries(&mut self, submitted: &[JobId], now: Time) {
        for id in submitted.iter().filter_map(|id| slurm_id(*id)) {
            let record = self.ledger.get(id);
            if record.is_some_and(|record| record.life.is_waiting()) {
                self.queue
                    .submit_backoff
                    .failed(id, &self.config.policy, now);
            } else {
                self.queue.submit_backoff.forget(id);
            }
        }
    }

    /// Enters the plan's actions into the ledger.
    fn enter(&mut self, plan: &Plan, events: &Events, seen: &Observation, now: Time) {
        let placed = plan
            .actions
            .iter()
            .filter(|planned| !matches!(planned.action, Action::SetYield(..)));
        for id in placed.filter_map(|planned| slurm_id(planned.action.job())) {
            self.planner.excluded.forget(id);
        }
        let actions = plan.actions.iter();
        let actions = actions.map(|planned| (&planned.action, planned.reason.to_string()));
        self.enter_actions(actions, seen, now);
        if events.period && self.config.mode == Mode::Full {
            self.planner.remaps.carry_out(plan);
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
            let text = format!("{}: {why}", planned_text(action, seen));
            self.slurm.log(LogLevel::Debug, &text);
        }
        self.record_changes(&acts, now);
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
        let either: BTreeSet<u32> = blocked
            .keys()
            .chain(self.planner.blocked.keys())
            .copied()
            .collect();
        let differs = |id: &u32| blocked.get(id) != self.planner.blocked.get(id);
        let differ = either
            .into_iter()
            .filter(differs)
            .map(ChangeEntry::JobReason);
        self.lists.changes.extend(differ);
        self.planner.blocked = blocked;
    }
}

/// The jobs that would be started. What moves or comes back slurmctld knows already.
fn starts(decision: &Decision<'_>, seen: &Observation) -> Vec<u32> {
    let changes = decision.changes().filter(|(_, mapping)| mapping.is_some());
    let placed = changes.filter_map(|(id, _)| slurm_id(id));
    placed.filter(|id| seen.is_pending(*id)).collect()
}

/// "JobId=17: planned: start on n1(2 tasks),n2".
fn planned_text(action: &Action, seen: &Observation) -> String {
    let id = slurm_id(action.job());
    let name = id.map_or_else(|| action.job().to_string(), |id| job_name(id, seen.job(id)));
    let at = if matches!(action, Action::Migrate(..)) {
        "to"
    } else {
        "on"
    };
    let verb = action.verb();
    let place = action.mapping().map_or_else(String::new, |mapping| {
        format!(" {at} {}", NamedPlacement::from_mapping(mapping, seen))
    });
    format!("{name}: planned: {verb}{place}")
}

/// "JobId=7", or "8 jobs (JobId=7, JobId=9 and 6 more)".
fn jobs_named(jobs: &[u32], seen: &Observation) -> String {
    const MAX_NAMED: usize = 5;
    let name = |id: &u32| job_name(*id, seen.job(*id));
    match jobs {
        [job] => name(job),
        jobs => format!(
            "{} jobs ({})",
            jobs.len(),
            some_of(jobs.iter().map(name), MAX_NAMED)
        ),
    }
}

#[cfg(test)]
mod tests {
    use dfrs_core::{Mapping, NodeIndex, Run};

    use super::*;
    use crate::fixtures::{job, nodes};

    #[test]
    fn planned_action_is_logged_with_the_names_of_its_nodes() {
        let seen = Observation::new([job(17, 3)], nodes(2));
        let on = |node, tasks| Run {
            node: NodeIndex(node),
            tasks,
        };
        let mapping = || Mapping::new(vec![on(0, 2), on(1, 1)]);
        let text = |action: &Action| planned_text(action, &seen);
        let id = JobId(17);
        let start = text(&Action::Start(id, mapping()));
        assert_eq!(start, "JobId=17: planned: start on n0(2 tasks),n1");
        let migrate = text(&Action::Migrate(id, mapping()));
        assert_eq!(migrate, "JobId=17: planned: migrate to n0(2 tasks),n1");
        assert_eq!(text(&Action::Pause(id)), "JobId=17: planned: pause");
    }

    #[test]
    fn jobs_left_out_are_named_up_to_five() {
        let seen = Observation::new([], nodes(1));
        assert_eq!(jobs_named(&[7], &seen), "JobId=7");
        assert_eq!(jobs_named(&[7, 9], &seen), "2 jobs (JobId=7, JobId=9)");
        let six = jobs_named(&[1, 2, 3, 4, 5, 6], &seen);
        assert!(six.starts_with("6 jobs (JobId=1, ") && six.ends_with("JobId=5 and 1 more)"));
    }
}
