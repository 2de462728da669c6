//! Looking: what the nodes say, what Slurm shows, and the ledger brought in line with it.

use std::collections::BTreeSet;

use dfrs_core::{Bytes, Span, Time};
use dfrs_proto::conf::Mode;
use dfrs_proto::journal::JobOutcome;
use dfrs_proto::text::some_of;

use super::Agent;
use super::act::uncounted_memory;
use super::publish::daily::Daily;
use crate::changes::ChangeEntry;
use crate::daemons::{Daemons, NodeFacts, SwapEighths};
use crate::job::ledger::LedgerRecord;
use crate::job::life::{JobContext, LifeEvent, UNTIL_ENDED};
use crate::job::placement::NamedPlacement;
use crate::job::recovery::{Forgotten, recover};
use crate::plan::weights::{MEDIAN_PERIOD, Weights};
use crate::publish::live_journal::Expected;
use crate::slurm::job_name::job_name;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm, SlurmError};
use crate::sync::sync;

pub(super) mod drains;
pub(super) mod lost;
pub(super) mod preempted;
pub(super) mod reserved;
pub(super) mod slow_nodes;
pub(super) mod vacate;

/// Slurm counts running jobs' cores again after a restart, a reconfiguration, a change of a
/// partition and some changes of nodes. As long as it does, it refuses starts beside them. They are
/// hidden again at the look that shows them, which takes the write locks. This is the least time
/// between two such calls; `MAX_CORES_INTERVAL` is, where the cores are shown again and again.
const CORES_INTERVAL: Span = Span::SECOND;
const MAX_CORES_INTERVAL: Span = Span::from_seconds(10);

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Follows what the look has shown: weights, reservations, jobs that Slurm preempts, partitions that are given back.
    pub(super) fn follow_look(&mut self, seen: &mut Observation, now: Time) {
        let weights = self.planner.weights;
        if now >= self.planner.weights_due || weights == Weights::default() {
            self.planner.weights = weights.followed(seen, &self.config);
            self.planner.weights_due = now + MEDIAN_PERIOD;
        }
        self.follow_reservations(seen, now);
        self.follow_preemptions(seen, now);
        self.give_back_partitions(seen, now);
        self.cancel_pauses_on_whole_nodes(seen, now);
        self.follow(seen, now);
    }

    pub(super) fn learn_from_nodes(&mut self, now: Time) {
        let facts = self.nodes.daemons.facts();
        let same = self.nodes.facts.as_ref() == Some(&facts);
        if same && self.nodes.slow_nodes.is_empty() {
            return;
        }
        let silent: Vec<&str> = facts
            .silent
            .difference(&self.nodes.silent)
            .map(String::as_str)
            .collect();
        if !silent.is_empty() {
            let text = format!(
                "{}: dfrsd not responding; jobs there run without CPU caps until it responds",
                nodes_named(&silent)
            );
            self.slurm.log(LogLevel::Error, &text);
        }
        let is_up = |name: &&str| self.seen.node(name).is_some_and(|node| !node.down);
        let back = self
            .nodes
            .silent
            .difference(&facts.silent)
            .map(String::as_str);
        let back: Vec<&str> = back.filter(is_up).collect();
        if !back.is_empty() {
            let text = format!("{}: dfrsd now responding", nodes_named(&back));
            self.slurm.log(LogLevel::Info, &text);
        }
        self.learn_swap(&facts, now);
        self.learn_needs(&facts);
        self.learn_carriable_jobs(&facts);
        self.learn_complete_images(&facts);
        self.nodes.silent = facts.silent.clone();
        self.learn_unparked_jobs(&facts, now);
        self.nodes.facts = Some(facts);
    }

    /// What nodes have for parked jobs. O(nodes log nodes).
    fn learn_swap(&mut self, facts: &NodeFacts, now: Time) {
        let swap = if self.config.swap_per_node > Bytes(0) {
            self.nodes.slow_nodes.leave_out(facts, now)
        } else {
            SwapEighths::new()
        };
        let before = std::mem::take(&mut self.nodes.swap);
        let is_more = |(name, eighths): (&String, &u8)| before.get(name) < Some(eighths);
        self.lists.capacity_freed |= swap.iter().any(is_more);
        let names = before.keys().chain(swap.keys());
        let differ = names.filter(|name| before.get(*name) != swap.get(*name));
        let differ = differ.filter_map(|name| self.seen.node(name));
        self.lists.see_parking(differ.map(|node| node.index));
        self.nodes.swap = swap;
    }

    /// Which jobs can be carried, where that is different: what was learned since of one, as that
    /// its image has failed, counts until its node says something else. O(jobs that nodes inspect).
    fn learn_carriable_jobs(&mut self, facts: &NodeFacts) {
        let before = self.nodes.facts.take();
        let known = |id: &u32| before.as_ref()?.carriable.get(id).copied();
        let gone = before.iter().flat_map(|facts| facts.carriable.keys());
        let gone = gone.filter(|id| !facts.carriable.contains_key(id));
        let news = facts.carriable.iter();
        let news = news.filter(|(id, can_be)| known(id) != Some(**can_be));
        let news = news.map(|(id, can_be)| (*id, *can_be));
        let changes: Vec<(u32, bool)> = gone.map(|id| (*id, false)).chain(news).collect();
        for (id, can_be) in changes {
            let is_new = |record: &LedgerRecord| record.is_carriable != can_be;
            if self.ledger.get(id).is_some_and(is_new)
                && let Some(record) = self.ledger.get_mut(id)
            {
                record.is_carriable = can_be;
                if can_be {
                    record.life.note_runs();
                }
            }
        }
        self.nodes.facts = before;
    }

    /// Which images are complete. O(jobs of which nodes said so, or that they are parked).
    fn learn_complete_images(&mut self, facts: &NodeFacts) {
        for id in &facts.parked {
            let is_new = |record: &LedgerRecord| {
                record.life.is_dumping() && !record.life.image().is_complete()
            };
            if self.ledger.get(*id).is_some_and(is_new)
                && let Some(record) = self.ledger.get_mut(*id)
            {
                record.life.note_image_complete();
            }
        }
    }

    /// Jobs that were parked, and are no longer by the report of one of their nodes: Slurm has
    /// given their memory to others.
    fn learn_unparked_jobs(&mut self, facts: &NodeFacts, now: Time) {
        for (id, node) in &facts.not_parked {
            let (Some(job), Some(record)) = (self.seen.job(*id), self.ledger.get_mut(*id)) else {
                continue;
            };
            if record.life.needs_park_confirmation() || !record.life.is_parked() {
                continue;
            }
            let look = JobContext::new(job, &self.seen, &self.config, now);
            record.on(&LifeEvent::NotParked, &look);
            let text = format!(
                "{}: {node} reports that it is no longer parked; no job starts in its memory until it is: see dfrsd's log there",
                job_name(*id, Some(job))
            );
            self.slurm.log(LogLevel::Error, &text);
        }
    }

    /// Looks at Slurm and brings the ledger in line with it.
    pub(super) fn look(&mut self, now: Time) -> Result<(), SlurmError> {
        let mut seen = std::mem::take(&mut self.seen);
        let looked = self.look_again(&mut seen, now);
        self.seen = seen;
        looked
    }

    /// Looks again, with the former observation in `seen`.
    pub(super) fn look_again(
        &mut self,
        seen: &mut Observation,
        now: Time,
    ) -> Result<(), SlurmError> {
        let full = self.config.mode == Mode::Full;
        let orphaned = self.observe(seen, now)?;
        if full {
            self.hide_cores(now);
        }
        for job in orphaned {
            if full {
                self.end_orphaned(job, seen, now);
            }
        }
        if full {
            self.follow_void_images(seen);
            self.follow_orphaned(seen, now);
        }
        self.follow(seen, now);
        self.take_back_time();
        Ok(())
    }

    fn hide_cores(&mut self, now: Time) {
        let since = now.0 - self.looks.cores_hidden.0;
        if since < self.looks.cores_interval.0 || !self.slurm.hide_cores() {
            return;
        }
        let is_again = since < 2 * self.looks.cores_interval.0;
        self.looks.cores_interval = if is_again {
            Span(2 * self.looks.cores_interval.0).min(MAX_CORES_INTERVAL)
        } else {
            CORES_INTERVAL
        };
        self.looks.cores_hidden = now;
    }

    /// Brings the observation up to date, and the ledger in line with it. Returns the jobs that
    /// their nodes may still run while Slurm shows them as pending.
    pub(super) fn observe(
        &mut self,
        seen: &mut Observation,
        now: Time,
    ) -> Result<Vec<u32>, SlurmError> {
        seen.forget_taken();
        let clock_changed = seen.set_ahead(self.looks.ahead);
        let mut changed = self.slurm.observe(seen)?;
        let is_first = !std::mem::replace(&mut self.looks.has_looked, true);
        if is_first || clock_changed {
            changed.jobs.extend(self.ledger.ids());
        }
        self.ledger.count_until(self.planner.shares.keys(), now);
        // Where others start these jobs, they may be running again by now.
        let recovers = self.config.mode == Mode::Full && std::mem::take(&mut self.looks.recovers);
        if recovers {
            self.recover(seen, now);
        }
        self.lists.nodes_changed_since_decision |= changed.nodes;
        self.lists.nodes_changed_since_orders |= changed.nodes;
        for id in &changed.jobs {
            self.lists.see(*id);
            self.see_ending(*id, seen);
        }
        // A job on its way may go on although Slurm shows the same as before.
        changed.jobs.extend(self.lists.under_way());
        let mut orphaned = if self.giving_back.everything {
            self.catch_up_one_by_one(seen, changed.jobs, recovers, now)
        } else {
            self.catch_up(seen, &changed.jobs, recovers, now)
        };
        if changed.nodes {
            orphaned.extend(self.on_returned_nodes(seen));
        }
        if is_first {
            // Jobs that are there at the first look do not count as arrivals.
            self.publisher.daily = Daily::from(now);
            self.publisher.done = dfrs_proto::status::ActionCounts::default();
            orphaned.extend(self.known_orphaned(seen));
            if self.config.mode == Mode::Full || self.giving_back.everything {
                self.recall_resumptions(seen, now);
            }
        }
        Ok(orphaned)
    }

    /// Pending jobs that ran on nodes that were down and have come back: the order to end them
    /// could not reach these nodes. O(nodes), and O(jobs) if any came back.
    fn on_returned_nodes(&mut self, seen: &Observation) -> Vec<u32> {
        let down = seen.nodes().iter().filter(|node| node.down);
        let down: BTreeSet<String> = down.map(|node| node.name.clone()).collect();
        let before = std::mem::replace(&mut self.nodes.down, down);
        let back: BTreeSet<&String> = before.difference(&self.nodes.down).collect();
        if back.is_empty() {
            return Vec::new();
        }
        let records = self.ledger.iter();
        let ran_there = records.filter(|(_, record)| {
            let mut spots = record.life.last_place().0.iter();
            spots.any(|spot| back.contains(&spot.node))
        });
        let jobs = ran_there.map(|(id, _)| id);
        jobs.filter(|id| seen.is_pending(*id)).collect()
    }

    /// The memory of a job that ends is free when its last process is gone, which no node's record
    /// shows.
    fn see_ending(&mut self, job: u32, seen: &Observation) {
        if seen.job(job).is_some_and(|job| job.completing) {
            self.nodes.ending.entry(job).or_default();
        } else if self.nodes.ending.remove(&job).is_some() {
            self.lists.capacity_freed = true;
            if let Some(record) = self.ledger.get(job) {
                self.note_vacated(&record.life.last_place().clone());
            }
        }
    }

    /// A job has left its nodes.
    fn note_vacated(&mut self, placement: &NamedPlacement) {
        let jobs = self.planner.refusals.vacated(placement);
        self.lists.capacity_freed |= !jobs.is_empty();
        let jobs = jobs.into_iter().map(ChangeEntry::JobExclusion);
        self.lists.changes.extend(jobs);
    }

    /// Brings the records of these jobs in line with the observation. `recovers`: slurmctld was
    /// killed and is looked at for the first time since.
    fn catch_up(
        &mut self,
        seen: &Observation,
        jobs: &BTreeSet<u32>,
        recovers: bool,
        now: Time,
    ) -> Vec<u32> {
        let changes = sync(&mut self.ledger, seen, jobs, &self.config, now);
        self.lists.capacity_freed |= changes.freed;
        for (id, what) in changes.images {
            let text = format!("{}: {what}", job_name(id, seen.job(id)));
            self.slurm.log(LogLevel::Info, &text);
        }
        self.publisher
            .daily
            .count(changes.new.len(), changes.ended.len());
        self.publisher.done.came += changes.new.len() as u64;
        self.publisher.done.ended += changes.ended.len() as u64;
        for (id, record) in changes.ended {
            let Some(record) = self.requeue_if_warned(id, record, now) else {
                continue;
            };
            self.take_back_time_of_crontab(id, &record, seen);
            self.planner.refusals.forget(id);
            self.planner.excluded.forget(id);
            self.planner.last_changes.remove(&id);
            if let Some(job) = seen.job(id)
                && let Some(held) = self.nodes.ending.get_mut(&id)
            {
                *held = uncounted_memory(&record.life, job, seen);
            }
            self.expect_nothing(id);
            self.note_vacated(record.life.last_place());
            let outcome = self.slurm.outcome(id, record.shown_submit_time);
            self.learn(&record, outcome, now);
            if !record.has_done_nothing() {
                let had = record.progress.clone().virtual_time(now);
                let had = had.max(record.virtual_time_by_need());
                self.planner.histories.ended(record.user, had, now);
            }
            self.void_image_of_ended(id, &record, outcome);
            if recovers && outcome == JobOutcome::Other {
                self.publisher.lost.add(id, &record);
            }
            self.publisher.ended.push((id, record, outcome));
        }
        let new = changes.new.into_iter();
        let follow = new.filter(|id| self.reuses_lost_id(*id, seen));
        let follow: Vec<u32> = follow.collect();
        changes.orphaned.into_iter().chain(follow).collect()
    }

    /// Notes how much the time limit of a job said that has ended by itself.
    fn learn(&mut self, record: &LedgerRecord, outcome: JobOutcome, now: Time) {
        let by_itself = matches!(outcome, JobOutcome::Completed | JobOutcome::Failed);
        if by_itself && !record.has_done_nothing() {
            let virtual_time = record.progress.clone().virtual_time(now);
            let experience = self.planner.planned.experience_mut();
            experience.learn(record.limit, virtual_time);
        }
    }

    /// As [`Self::catch_up`], while the cluster is given back: a panic over one job does not affect
    /// the others.
    fn catch_up_one_by_one(
        &mut self,
        seen: &Observation,
        jobs: BTreeSet<u32>,
        recovers: bool,
        now: Time,
    ) -> Vec<u32> {
        let catch_up = |id| {
            let one = BTreeSet::from([id]);
            self.guarded(id, |agent| agent.catch_up(seen, &one, recovers, now))
        };
        jobs.into_iter().filter_map(catch_up).flatten().collect()
    }

    /// Whether this new job waits and has the id of one that nodes may still run, or whose image is
    /// not removed yet.
    fn reuses_lost_id(&mut self, id: u32, seen: &Observation) -> bool {
        if !seen.is_pending(id) {
            return false;
        }
        let place = self.publisher.lost.take(id);
        let place = place.or_else(|| self.place_of_void_image(id));
        let record = self.ledger.get_mut(id).zip(place);
        record.is_some_and(|(record, place)| {
            record.life.set_last_place(place);
            true
        })
    }

    fn recover(&mut self, observation: &Observation, now: Time) {
        for forgotten in recover(&mut self.ledger, observation, &self.config, now) {
            let Forgotten { job, what, .. } = forgotten;
            let name = job_name(job, observation.job(job));
            let text = format!(
                "{name}: slurmctld was killed before it had saved that the job {what}: DFRS repeats it"
            );
            self.slurm.log(LogLevel::Info, &text);
            let why = "slurmctld was killed before it had saved what was done";
            self.expect(job, Expected::Place, why);
            self.expect(job, Expected::NoPlace, why);
            if forgotten.is_orphaned {
                self.end_orphaned(job, observation, now);
            }
        }
    }

    /// Orders a job's last nodes to end what they run of it. The job starts no earlier than they
    /// have.
    pub(super) fn end_orphaned(&mut self, job: u32, seen: &Observation, now: Time) {
        let Some(record) = self.ledger.get_mut(job) else {
            return;
        };
        record.life.hold_off(Time(now.0 + UNTIL_ENDED.0));
        record.life.set_orphaned(true);
        let spots = record.life.last_place().0.iter();
        let nodes: Vec<String> = spots.map(|spot| spot.node.clone()).collect();
        let mut all = true;
        for node in &nodes {
            all &= self.request_abort(job, node, seen);
        }
        self.nodes.orphaned.add(job, all, now);
    }

    /// Orders a node to end what it runs of a pending job. Returns false if the order is to be
    /// repeated.
    pub(super) fn request_abort(&mut self, job: u32, node: &str, seen: &Observation) -> bool {
        let Err(problem) = self.slurm.abort_orphaned(job, node) else {
            return true;
        };
        let name = job_name(job, seen.job(job));
        let text = format!("{name}: abort message to {node} failed: {problem}");
        self.slurm.log(LogLevel::Error, &text);
        // Slurm cannot send the order to a node that it does not know any more.
        seen.node(node).is_none()
    }
}

/// "node a", or "3 nodes (a, b, c)"; of many nodes the first few.
fn nodes_named(names: &[&str]) -> String {
    const MAX_NAMED: usize = 5;
    match names {
        [name] => format!("node {name}"),
        names => format!(
            "{} nodes ({})",
            names.len(),
            some_of(names.iter(), MAX_NAMED)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::nodes_named;

    #[test]
    fn node_list_is_shortened_when_there_are_many() {
        assert_eq!(nodes_named(&["a"]), "node a");
        assert_eq!(nodes_named(&["a", "b"]), "2 nodes (a, b)");
        let names: Vec<String> = (0..1000).map(|index| format!("n{index}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(
            nodes_named(&names),
            "1000 nodes (n0, n1, n2, n3, n4 and 995 more)"
        );
    }
}
