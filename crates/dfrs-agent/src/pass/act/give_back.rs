//! Giving the cluster back, job by job: whatever one of them leads to, the others come back.

use std::collections::BTreeMap;

use dfrs_core::Time;
use dfrs_proto::message::{JobOrder, NodeOrder};

use crate::changes::{ChangeEntry, ChangeReader};
use crate::daemons::{Daemons, OrderChanges};
use crate::job::life::{JobContext, LifeEvent};
use crate::panics::caught;
use crate::pass::Agent;
use crate::publish::node_orders::{LeftImage, end_of, frozen_on, state_of};
use crate::slurm::job_name::job_name;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm, SlurmError};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Gives the cluster back: no caps; parked jobs stay frozen until their memory fits, and then
    /// run on. Returns how many jobs are still parked; to be called again until there are none. A
    /// job over which this panics is excluded, which is logged once, and does not count.
    ///
    /// # Errors
    ///
    /// Slurm could not be looked at.
    pub fn give_back(&mut self, now: Time) -> Result<usize, SlurmError> {
        self.giving_back.everything = true;
        self.learn_from_nodes(now);
        let mut seen = std::mem::take(&mut self.seen);
        let parked = self.give_back_with(&mut seen, now);
        self.seen = seen;
        parked
    }

    /// How many jobs depend on DFRS to come back, as of the last look: Slurm does not count their
    /// memory, or they are on their way there.
    pub fn jobs_depending_on_dfrs(&self) -> usize {
        let all = self.ledger.iter();
        all.filter(|(_, record)| record.life.depends_on_dfrs())
            .count()
    }

    /// The jobs that were left out, ascending.
    pub fn left_out(&self) -> impl Iterator<Item = u32> {
        self.giving_back.left_out.iter().copied()
    }

    fn give_back_with(&mut self, seen: &mut Observation, now: Time) -> Result<usize, SlurmError> {
        self.observe(seen, now)?;
        self.hand_back(seen, now);
        self.follow(seen, now);
        self.take_back_time();
        self.act(seen, u32::MAX, now);
        self.repeat_resumptions(seen, now);
        self.observe(seen, now)?;
        self.follow(seen, now);
        // Nothing is decided or shared any more.
        for reader in [
            ChangeReader::Plan,
            ChangeReader::Room,
            ChangeReader::Shares,
            ChangeReader::Yields,
        ] {
            self.lists.changes.skip(reader);
        }
        self.say_what_is_parked(seen, now);
        if self.may_have_given_orders() {
            let orders = self.last_orders(seen);
            let changes = OrderChanges::between(&self.nodes.orders, &orders);
            self.order(changes, BTreeMap::new());
        }
        self.save();
        let all = self.ledger.iter();
        let coming = all.filter(|(id, record)| {
            record.life.depends_on_dfrs()
                && !self.giving_back.left_out.contains(id)
                && seen.job(*id).is_some()
        });
        let coming = coming.count();
        self.giving_back.is_thaw_confirmed = coming == 0 && self.have_confirmed_thaw(seen, now);
        Ok(coming)
    }

    /// Whether DFRS may have given orders to the nodes: without them they may not know of DFRS.
    fn may_have_given_orders(&self) -> bool {
        self.giving_back.has_begun_before
            || self.giving_back.partitions.has_any()
            || !self.nodes.orders.is_empty()
    }

    /// Whether no job was parked any more at the last [`Self::give_back`], and the nodes have
    /// acknowledged that they are to thaw what came back: a next agent that gives no orders may
    /// begin.
    pub fn is_thaw_confirmed(&self) -> bool {
        self.giving_back.is_thaw_confirmed
    }

    /// What is parked comes back, but not into a reservation; nothing else is under way. O(jobs).
    fn hand_back(&mut self, seen: &Observation, now: Time) {
        let kept_away = seen.jobs().filter(|job| self.is_kept_away(job, now));
        self.planner.kept_away = kept_away.map(|job| job.id).collect();
        for job in seen.jobs() {
            self.guarded(job.id, |agent| {
                agent.note_coming(job, now);
                if let Some(record) = agent.ledger.get_mut(job.id) {
                    let look = JobContext::new(job, seen, &agent.config, now);
                    record.on(&LifeEvent::HandedBack, &look);
                }
            });
        }
    }

    /// What is parked is said to be, and of the others nothing is said any more; the reasons of
    /// nodes follow that. None of it holds anything up, and the journal may know nothing of how
    /// the rest ends.
    fn say_what_is_parked(&mut self, seen: &Observation, now: Time) {
        let all = seen
            .jobs()
            .map(|job| job.id)
            .filter(|id| !self.giving_back.left_out.contains(id));
        self.lists.changes.extend(all.map(ChangeEntry::JobReason));
        self.attempt("reasons stay as they are", |agent| {
            agent.set_reasons(seen, now);
        });
        self.attempt(
            "yields were not removed from AdminComment or Extra",
            Self::clear_yields,
        );
        let nodes = self.lists.changes.take(ChangeReader::Orders).nodes;
        self.attempt("reasons of nodes stay as they are", |agent| {
            agent.report_parked(&nodes, seen, now);
        });
        let is_written = self.attempt("journal closed", |agent| {
            agent.write_journal(seen, now);
        });
        if !is_written {
            self.publisher.journal = None;
        }
    }

    /// Does it. Returns whether it did not panic; the line about a panic ends with `otherwise`.
    fn attempt(&mut self, otherwise: &str, act: impl FnOnce(&mut Self)) -> bool {
        let done = caught(|| act(self));
        if let Err(problem) = &done {
            let text = format!("{problem}; {otherwise}");
            self.slurm.log(LogLevel::Error, &text);
        }
        done.is_ok()
    }

    /// No caps, and only what is parked is frozen, or stays stopped as its image goes on elsewhere.
    fn last_orders(&mut self, seen: &Observation) -> BTreeMap<String, NodeOrder> {
        let mut orders = BTreeMap::new();
        for (position, node) in seen.nodes().iter().enumerate() {
            let mut jobs: Vec<JobOrder> = Vec::new();
            for job in seen.jobs_on(position) {
                let frozen = self.guarded(job.id, |agent| {
                    let record = agent.ledger.get(job.id)?;
                    frozen_on(node, job, record)
                });
                jobs.extend(frozen.flatten());
            }
            orders.insert(node.name.clone(), state_of(node, jobs));
        }
        for (node, id) in self.kept_by_images(seen) {
            let orders = orders.get_mut(&node);
            orders
                .into_iter()
                .for_each(|orders| orders.jobs.push(end_of(id, LeftImage::Kept)));
        }
        orders
    }

    /// Does something about one job. While the cluster is given back, a panic excludes this job and
    /// ends nothing else. `None`: the job is excluded.
    pub(in crate::pass) fn guarded<T>(
        &mut self,
        job: u32,
        act: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        if !self.giving_back.everything {
            return Some(act(self));
        }
        if self.giving_back.left_out.contains(&job) {
            return None;
        }
        let done = caught(|| act(self));
        done.inspect_err(|problem| {
            self.giving_back.left_out.insert(job);
            let text = format!(
                "{}: not resumed by DFRS: {problem}; 'scontrol resume {job}' resumes it if it is suspended",
                job_name(job, self.seen.job(job))
            );
            self.slurm.log(LogLevel::Error, &text);
        })
        .ok()
    }
}
