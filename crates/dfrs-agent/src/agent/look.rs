//! Looking: what the nodes say, what Slurm shows, and the ledger brought in line with it.

use dfrs_core::{Span, Time};
use dfrs_proto::conf::Mode;

use super::{Agent, SECOND};
use crate::daemons::Daemons;
use crate::observation::{Observation, ObservedState};
use crate::recovery::{Forgotten, recover};
use crate::slurm::{Level, Slurm, SlurmError};
use crate::sync::sync;

/// Slurm counts running jobs' cores again after a restart, a reconfiguration and some node updates;
/// they are hidden again at the first pass and then this often.
const CORES_INTERVAL: Span = Span(10 * SECOND);
/// Tasks of an array that have records of their own at a time.
const ARRAY_TASKS: u32 = 100;
/// While slurmd knows of a job's former run, the next one is a second one there, and Slurm drains the node
/// ("Duplicate jobid"). So long nodes have to end the former one.
const UNTIL_ENDED: Span = Span(20 * SECOND);

impl<S: Slurm, D: Daemons> Agent<S, D> {
    pub(super) fn learn_from_nodes(&mut self, now: Time) {
        let facts = self.daemons.facts();
        for node in facts.silent.difference(&self.silent) {
            let text = format!(
                "node {node}: dfrsd does not answer; its jobs run without CPU caps until it does"
            );
            self.slurm.log(Level::Error, &text);
        }
        let is_up = |name: &&String| {
            self.nodes
                .iter()
                .any(|node| node.name == **name && !node.down)
        };
        for node in self.silent.difference(&facts.silent).filter(is_up) {
            self.slurm
                .log(Level::Info, &format!("node {node}: dfrsd answers"));
        }
        let can_park = self.slow_nodes.leave_out(&facts.can_park, now);
        self.freed |= !can_park.is_subset(&self.can_park);
        self.silent = facts.silent;
        self.can_park = can_park;
    }

    /// Looks at Slurm and brings the ledger in line with it.
    pub(super) fn look(&mut self, now: Time) -> Result<Observation, SlurmError> {
        let full = self.config.mode == Mode::Full;
        if full && now.0 - self.cores_hidden.0 >= CORES_INTERVAL.0 {
            self.slurm.hide_cores();
            self.cores_hidden = now;
        }
        let mut observation = self.slurm.observe()?;
        if full && self.split_arrays(&observation) {
            observation = self.slurm.observe()?;
        }
        self.count_until(now);
        // Where others start these jobs, they may be running again by now.
        if full && std::mem::take(&mut self.recovers) {
            self.recover(&observation, now);
        }
        for job in self.catch_up(&observation, now) {
            if full {
                self.end_left_behind(job, now);
            }
        }
        Ok(observation)
    }

    /// Brings the ledger in line with what was seen. Returns the jobs that their nodes may still run while
    /// Slurm shows them as waiting.
    pub(super) fn catch_up(&mut self, observation: &Observation, now: Time) -> Vec<u32> {
        let changes = sync(&mut self.ledger, observation, &self.config, now);
        self.freed |= changes.freed;
        for (id, record) in changes.ended {
            let outcome = self.slurm.outcome(id, record.shown_submit_time);
            self.ended.push((id, record, outcome));
        }
        changes.left_behind
    }

    fn recover(&mut self, observation: &Observation, now: Time) {
        for forgotten in recover(&mut self.ledger, observation, &self.config, now) {
            let Forgotten { job, what, .. } = forgotten;
            let text =
                format!("job {job}: slurmctld was killed before it had kept that the job {what}");
            self.slurm.log(Level::Info, &text);
            if forgotten.left_behind {
                self.end_left_behind(job, now);
            }
        }
    }

    /// A job's last nodes are told to end what they run of it, and it starts no earlier again than they
    /// have.
    fn end_left_behind(&mut self, job: u32, now: Time) {
        let Some(record) = self.ledger.jobs.get_mut(&job) else {
            return;
        };
        record.not_before = Time(now.0 + UNTIL_ENDED.0);
        for spot in &record.last_place.0 {
            if let Err(problem) = self.slurm.abort_left_behind(job, &spot.node) {
                let text = format!("job {job}: {} was not told to end it: {problem}", spot.node);
                self.slurm.log(Level::Error, &text);
            }
        }
    }

    pub(super) fn count_until(&mut self, now: Time) {
        for record in self.ledger.jobs.values_mut() {
            record.count_until(now);
        }
    }

    fn split_arrays(&mut self, observation: &Observation) -> bool {
        let masters: Vec<u32> = observation
            .jobs
            .iter()
            .filter(|job| job.array_master && job.state == ObservedState::Pending)
            .map(|job| job.id)
            .collect();
        for id in &masters {
            if let Err(problem) = self.slurm.split_array(*id, ARRAY_TASKS) {
                self.slurm.log(
                    Level::Verbose,
                    &format!("job array {id}: tasks stay together: {problem}"),
                );
            }
        }
        !masters.is_empty()
    }
}
