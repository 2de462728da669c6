//! Publishing: orders to the nodes, reasons for the users, events for the journal.

use std::collections::BTreeMap;

use dfrs_core::{Span, Time};
use dfrs_proto::conf::Mode;

use super::{Agent, SECOND};
use crate::daemons::{Daemons, OrderChanges};
use crate::job::placement::NamedPlacement;
use crate::publish::live_journal::Expected;
use crate::publish::node_orders::{node_orders, order_changes};
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm};
use crate::slurm::records::{ObservedJob, ObservedState};

/// How often all reasons are set again.
const REASONS_INTERVAL: Span = Span(30 * SECOND);

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Updates the nodes, the journal and the users. `changed`: jobs that have places, or nodes,
    /// changed.
    pub(super) fn publish(&mut self, observation: &Observation, changed: bool, now: Time) {
        if self.config.mode == Mode::Full {
            let changed = self.follow_former(observation) || changed;
            let nodes = self.lists.unordered.take();
            self.report_parked(&nodes, observation, now);
            if changed {
                let changes = order_changes(
                    &self.orders,
                    &nodes,
                    observation,
                    &self.ledger,
                    &self.former,
                    &self.config,
                );
                self.order(changes, self.queried_nodes(observation));
                debug_assert_eq!(
                    self.orders,
                    node_orders(observation, &self.ledger, &self.former, &self.config),
                    "the orders have missed a change"
                );
            }
            self.set_reasons(observation, now);
            self.show_yields(observation, now);
        }
        self.write_journal(observation, now);
    }

    /// Sends the nodes what changed in their orders.
    pub(super) fn order(&mut self, changes: OrderChanges, parking: BTreeMap<u32, Vec<String>>) {
        changes.clone().apply_to(&mut self.orders);
        self.daemons.set(changes, parking);
    }

    pub(super) fn write_journal(&mut self, observation: &Observation, now: Time) {
        let ended = std::mem::take(&mut self.ended);
        let mut changed = std::mem::take(&mut self.lists.unwritten);
        let nodes_differ = std::mem::take(&mut self.lists.unwritten_nodes);
        changed.extend(self.admission.take_unwritten());
        // What was not different then is written as it was.
        if ended.is_empty() && changed.is_empty() && !nodes_differ {
            return;
        }
        // Whether one that moves is shown where it goes depends on others, too.
        changed.extend(self.lists.steps());
        let admission = &self.admission;
        let may_start = |id: u32| {
            let job = observation.job(id)?;
            let waits = job.state == ObservedState::Pending;
            admission
                .answer(id)
                .or((waits && job.held).then_some(false))
        };
        if let Some(journal) = &mut self.journal
            && let Err(problem) = journal.record(
                observation,
                &mut self.ledger,
                &changed,
                &ended,
                (&self.config, &may_start),
                now,
            )
        {
            self.slurm.log(
                LogLevel::Error,
                &format!("the journal ends here: {problem}"),
            );
            self.journal = None;
        }
    }

    /// Notes what is going to happen to the job, or has, and why: the journal writes the reason
    /// with the event.
    pub(super) fn expect(&mut self, job: u32, expected: Expected, why: &str) {
        if let Some(journal) = &mut self.journal {
            journal.expect(job, expected, why);
        }
    }

    /// Nothing of what was going to happen to the job will.
    pub(super) fn expect_nothing(&mut self, job: u32) {
        if let Some(journal) = &mut self.journal {
            journal.expect_nothing(job);
        }
    }

    /// The nodes of each job that is being parked, or that may be parked, and the last nodes of the
    /// jobs that are to end.
    fn queried_nodes(&self, observation: &Observation) -> BTreeMap<u32, Vec<String>> {
        let mut asked = self.being_parked(observation);
        for (node, jobs) in &self.former {
            for job in jobs {
                asked.entry(*job).or_default().push(node.clone());
            }
        }
        asked
    }

    /// The nodes of each job that is being parked, or that may be parked.
    fn being_parked(&self, observation: &Observation) -> BTreeMap<u32, Vec<String>> {
        // If one of a job's nodes is not known, nothing is known of the job: least of all that it
        // is parked.
        let nodes = |job: &ObservedJob| {
            let spots = NamedPlacement::of_job(job, observation).0;
            let all = !spots.is_empty() && spots.len() == job.places.len();
            all.then(|| spots.into_iter().map(|spot| spot.node).collect())
        };
        let steps = self.lists.steps().into_iter();
        steps
            .filter(|id| {
                let record = self.ledger.get(*id);
                record.is_some_and(|record| record.life.needs_park_confirmation())
            })
            .filter_map(|id| Some((id, nodes(observation.job(id)?)?)))
            .collect()
    }

    /// Sets the reasons that changed, and now and then all: Slurm clears them in some of its own
    /// passes.
    pub(super) fn set_reasons(&mut self, observation: &Observation, now: Time) {
        for id in std::mem::take(&mut self.lists.unexplained) {
            self.explain(id, observation);
        }
        let changed = std::mem::take(&mut self.unset_reasons);
        let all = now.0 - self.reasons_set.0 >= REASONS_INTERVAL.0;
        if all {
            self.reasons_set = now;
        }
        let is_due =
            |id: &u32, text: &Option<String>| changed.contains(id) || all && text.is_some();
        let texts: Vec<(u32, Option<String>)> = self
            .reasons
            .iter()
            .filter(|(id, text)| is_due(id, text))
            .map(|(id, text)| (*id, text.clone()))
            .collect();
        if !texts.is_empty() {
            self.slurm.set_reasons(&texts);
        }
        self.reasons.retain(|id, _| !self.gone.contains(id));
        self.gone.clear();
    }

    /// Why this job waits, where that is DFRS's to say.
    pub(super) fn reason(&self, job: &ObservedJob, observation: &Observation) -> Option<String> {
        let pending = job.state == ObservedState::Pending;
        // Slurm shows that itself, and why, if it is Slurm that holds the job.
        if pending && job.held {
            return None;
        }
        if self.gives_back || !self.is_managed(job) {
            return self.reason_while_given_back(job, observation);
        }
        if let Some(what) = job.unsupported.filter(|_| pending) {
            return Some(format!("DFRS: does not start jobs that ask for {what}"));
        }
        let record = self.ledger.get(job.id)?;
        let gated = pending && !self.admission.ready().contains(&job.id);
        let held_off = record.life.is_waiting() && self.refusals.reason(job.id).is_some();
        if gated && !record.life.is_under_way() && !held_off {
            return None;
        }
        if let Some(why) = self.refusals.reason(job.id).filter(|_| held_off) {
            return Some(format!(
                "DFRS: Slurm did not start it where it was planned ({why}); will be retried elsewhere or later"
            ));
        }
        let is_left_out = record.life.is_waiting() || record.life.is_parked();
        if let Some(rule) = self
            .excluded
            .rule(job.id, self.looked)
            .filter(|_| is_left_out)
        {
            return Some(format!(
                "DFRS: excluded from decisions for a while, its plan was invalid ({rule}); see slurmctld's log"
            ));
        }
        if self.kept_away.contains(&job.id) {
            return Some("DFRS: parked; its nodes are reserved for others".to_owned());
        }
        if record.deadline_boost && record.life.is_running() {
            return Some(
                "DFRS: has to be over before its time limit (reservation or deadline)".to_owned(),
            );
        }
        if let Some(why) = self.moldable_reason(job, record) {
            return Some(why);
        }
        let blocked = self.blocked.get(&job.id).copied();
        record.life.reason(job, blocked, observation)
    }

    /// Finds the reason of one job.
    fn explain(&mut self, id: u32, observation: &Observation) {
        let text = observation
            .job(id)
            .and_then(|job| self.reason(job, observation));
        if observation.job(id).is_none() {
            self.gone.insert(id);
        }
        if self.reasons.get(&id) != Some(&text) {
            self.reasons.insert(id, text);
            self.unset_reasons.insert(id);
        }
    }
}
