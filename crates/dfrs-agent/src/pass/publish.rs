//! Publishing: orders to the nodes, reasons for the users, events for the journal.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Span, Time};
use dfrs_proto::conf::Mode;

use super::Agent;
use crate::changes::{ChangeReader, UnreadChanges};
use crate::daemons::{Daemons, OrderChanges};
use crate::job::placement::NamedPlacement;
use crate::probe::PassPart;
use crate::publish::live_journal::Expected;
use crate::publish::node_orders::{node_orders, order_changes};
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm};
use crate::slurm::records::{ObservedJob, ObservedState};
use crate::slurm::request::together::insists_until;

pub(super) mod counts;
pub(super) mod daily;
pub(super) mod explanation;
pub(super) mod persist;
pub(super) mod shown;

/// How often all reasons are set again.
const REASONS_INTERVAL: Span = Span::from_seconds(30);

/// The reasons that squeue shows.
#[derive(Debug, Default)]
pub(super) struct ShownReasons {
    /// What squeue was last given to show; `None`: nothing of DFRS's.
    texts: BTreeMap<u32, Option<String>>,
    set_at: Time,
    /// Jobs whose reason squeue was not given yet.
    unset: BTreeSet<u32>,
    /// Jobs that are over, and whose reasons are to be dropped.
    gone: BTreeSet<u32>,
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Gives others what changed: nodes, users, the journal, the state file. `changed`: as
    /// [`Self::publish`].
    pub(super) fn publish_all(&mut self, seen: &mut Observation, changed: bool, now: Time) {
        self.repeat_resumptions(seen, now);
        self.probe.begin(PassPart::Publish);
        self.follow_giving_back(seen, now);
        self.publish(seen, changed, now);
        // What the journal says by now survives, too; it changes no place.
        self.follow(seen, now);
        self.lists.places_changed = false;
        self.save();
        self.log_daily_summary(now);
    }

    /// Updates the nodes, the journal and the users. `changed`: jobs that have places, or nodes,
    /// changed.
    pub(super) fn publish(&mut self, observation: &Observation, changed: bool, now: Time) {
        if self.config.mode == Mode::Full {
            let changed = self.follow_former(observation) || changed;
            let nodes = self.lists.changes.take(ChangeReader::Orders).nodes;
            self.report_parked(&nodes, observation, now);
            if changed {
                let changes = order_changes(
                    &self.nodes.orders,
                    &nodes,
                    observation,
                    &self.ledger,
                    &self.nodes.former,
                    &self.config,
                );
                self.order(changes, self.queried_nodes(observation));
                debug_assert_eq!(
                    self.nodes.orders,
                    node_orders(observation, &self.ledger, &self.nodes.former, &self.config),
                    "the orders have missed a change"
                );
            }
            self.set_reasons(observation, now);
            self.show_yields(observation, now);
        } else {
            for reader in [
                ChangeReader::Orders,
                ChangeReader::Reasons,
                ChangeReader::Yields,
            ] {
                self.lists.changes.skip(reader);
            }
        }
        self.write_journal(observation, now);
    }

    /// Sends the nodes what changed in their orders.
    pub(super) fn order(&mut self, changes: OrderChanges, parking: BTreeMap<u32, Vec<String>>) {
        changes.clone().apply_to(&mut self.nodes.orders);
        self.nodes.daemons.set(changes, parking);
    }

    pub(super) fn write_journal(&mut self, observation: &Observation, now: Time) {
        let ended = std::mem::take(&mut self.publisher.ended);
        let UnreadChanges {
            jobs: mut changed,
            nodes,
        } = self.lists.changes.take(ChangeReader::Journal);
        let nodes_differ = !nodes.is_empty();
        changed.extend(self.queue.admission.take_unwritten());
        // What was not different then is written as it was.
        if ended.is_empty() && changed.is_empty() && !nodes_differ {
            return;
        }
        // Whether one that moves is shown where it goes depends on others, too.
        changed.extend(self.lists.steps());
        let admission = &self.queue.admission;
        let may_start = |id: u32| {
            let job = observation.job(id)?;
            let waits = job.state == ObservedState::Pending;
            admission
                .answer(id)
                .or((waits && job.held).then_some(false))
        };
        if let Some(journal) = &mut self.publisher.journal
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
                &format!("journal closed: {problem}; scheduling continues"),
            );
            self.publisher.journal = None;
        }
    }

    /// Notes what is going to happen to the job, or has, and why: the journal writes the reason
    /// with the event.
    pub(super) fn expect(&mut self, job: u32, expected: Expected, why: &str) {
        if let Some(journal) = &mut self.publisher.journal {
            journal.expect(job, expected, why);
        }
    }

    /// Nothing of what was going to happen to the job will.
    pub(super) fn expect_nothing(&mut self, job: u32) {
        if let Some(journal) = &mut self.publisher.journal {
            journal.expect_nothing(job);
        }
    }

    /// The nodes of each job that is being parked, or that may be parked, and the last nodes of the
    /// jobs that are to end.
    fn queried_nodes(&self, observation: &Observation) -> BTreeMap<u32, Vec<String>> {
        let mut asked = self.being_parked(observation);
        for (node, jobs) in &self.nodes.former {
            for job in jobs.keys() {
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
        for id in self.lists.changes.take(ChangeReader::Reasons).jobs {
            self.explain(id, observation);
        }
        let changed = std::mem::take(&mut self.publisher.reasons.unset);
        let all = now.0 - self.publisher.reasons.set_at.0 >= REASONS_INTERVAL.0;
        if all {
            self.publisher.reasons.set_at = now;
        }
        let is_due =
            |id: &u32, text: &Option<String>| changed.contains(id) || all && text.is_some();
        let texts: Vec<(u32, Option<String>)> = self
            .publisher
            .reasons
            .texts
            .iter()
            .filter(|(id, text)| is_due(id, text))
            .map(|(id, text)| (*id, text.clone()))
            .collect();
        if !texts.is_empty() {
            self.slurm.set_reasons(&texts);
        }
        self.publisher
            .reasons
            .texts
            .retain(|id, _| !self.publisher.reasons.gone.contains(id));
        self.publisher.reasons.gone.clear();
    }

    /// Why this job waits, where that is DFRS's to say.
    pub(super) fn reason(&self, job: &ObservedJob, observation: &Observation) -> Option<String> {
        let pending = job.state == ObservedState::Pending;
        // Slurm shows that itself, and why, if it is Slurm that holds the job.
        if pending && job.held {
            return self.ledger.get(job.id)?.life.hold_reason(job);
        }
        if self.giving_back.everything || !self.is_managed(job) {
            return self.reason_while_given_back(job, observation);
        }
        if let Some(what) = job.request.unsupported.as_ref().filter(|_| pending) {
            return Some(format!("DFRS: does not start jobs that ask for {what}"));
        }
        let record = self.ledger.get(job.id)?;
        let gated = pending && !self.queue.admission.ready().contains(&job.id);
        let held_off = record.life.is_waiting() && self.planner.refusals.reason(job.id).is_some();
        if gated && !record.life.is_under_way() && !held_off {
            return None;
        }
        if let Some(why) = self.planner.refusals.reason(job.id).filter(|_| held_off) {
            return Some(format!(
                "DFRS: Slurm did not start it where it was planned ({why}); will be retried elsewhere or later"
            ));
        }
        let is_left_out = record.life.is_waiting() || record.life.is_parked();
        if let Some(rule) = self
            .planner
            .excluded
            .rule(job.id, self.looks.at)
            .filter(|_| is_left_out)
        {
            return Some(format!(
                "DFRS: excluded from decisions for a while, its plan was invalid ({rule}); see slurmctld's log"
            ));
        }
        if self.planner.kept_away.contains(&job.id) {
            return Some(
                "DFRS: parked; its nodes are reserved for others (Slurm reservation)".to_owned(),
            );
        }
        if record.deadline_boost && record.life.is_running() {
            return Some(
                "DFRS: must end before its time limit (Slurm reservation or --deadline)".to_owned(),
            );
        }
        if let Some(why) = self.policy_reason(job, record) {
            return Some(why);
        }
        let blocked = self.planner.blocked.get(&job.id).copied();
        let until = insists_until(job, observation, self.looks.at);
        let until = until.map(|time| self.looks.ahead.wall(time));
        record.life.reason(job, blocked, until, observation)
    }

    /// Finds the reason of one job.
    fn explain(&mut self, id: u32, observation: &Observation) {
        let text = observation
            .job(id)
            .and_then(|job| self.reason(job, observation));
        if observation.job(id).is_none() {
            self.publisher.reasons.gone.insert(id);
        }
        if self.publisher.reasons.texts.get(&id) != Some(&text) {
            self.publisher.reasons.texts.insert(id, text);
            self.publisher.reasons.unset.insert(id);
        }
    }
}
