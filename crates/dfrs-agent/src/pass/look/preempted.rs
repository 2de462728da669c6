//! Jobs that Slurm preempts for jobs of other partitions on the same nodes (`PreemptType`): in their
//! `GraceTime` those that can keep their work leave, and what they leave is kept for the others.

use dfrs_core::Time;
use dfrs_proto::conf::Mode;

use crate::changes::ChangeEntry;
use crate::daemons::Daemons;
use crate::pass::Agent;
use crate::pass::look::vacate::Vacating;
use crate::plan::kept_memory::{PreemptedShare, SpareMemory};
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm};
use crate::slurm::records::{ObservedJob, ObservedState};
use crate::slurm::request::memory::memory_on_node;

const FOR_OTHERS: Vacating = Vacating {
    log: "is preempted by Slurm for a job of another partition: leaves its nodes",
    journal: "Slurm preempts it for a job of another partition",
};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Follows the jobs that Slurm preempts. O(those jobs and their places).
    pub(in crate::pass) fn follow_preemptions(&mut self, seen: &Observation, now: Time) {
        if self.config.mode != Mode::Full {
            return;
        }
        let others = |node| seen.node_position(node).map(|at| seen.memory_of_others(at));
        let over = self.planner.kept_memory.release(now, others);
        self.lists.capacity_freed |= !over.is_empty();
        self.lists
            .changes
            .extend(over.into_iter().map(ChangeEntry::NodeUse));
        let preempted: Vec<u32> = self.lists.preempted.iter().copied().collect();
        let preempted = preempted.into_iter().filter_map(|id| seen.job(id));
        let (running, suspended): (Vec<&ObservedJob>, Vec<&ObservedJob>) =
            preempted.partition(|job| job.state == ObservedState::Running);
        // All of it is kept before the first leaves.
        for job in &running {
            self.keep_memory(job, seen, now);
        }
        for job in running {
            self.vacate(job, &FOR_OTHERS, seen, now);
        }
        for job in suspended {
            self.keep_parked(job);
        }
    }

    /// A parked job holds no memory: to end it would serve no job.
    fn keep_parked(&mut self, job: &ObservedJob) {
        if !self.is_parked(job.id) {
            return;
        }
        if let Err(problem) = self.slurm.forget_preemption(job.id) {
            let text = format!("its preemption by Slurm is not cancelled: {problem}");
            self.log_about(LogLevel::Error, job, &text);
        }
    }

    /// Keeps what the job holds, and what is free beside it, for others.
    fn keep_memory(&mut self, job: &ObservedJob, seen: &Observation, now: Time) {
        for place in &job.places {
            let share = PreemptedShare {
                job: job.id,
                mib: memory_on_node(job, place.tasks, seen),
                grace_end: Time::from_seconds(job.grace_end_seconds),
            };
            let position = seen.node_position(place.node);
            let is_known = self.planner.kept_memory.knows(place.node, &share);
            let Some(position) = position.filter(|_| !is_known) else {
                continue;
            };
            let spare = (self.spare_memory(position, seen), now);
            let is_counted = |id| {
                let mut held = seen.places_on(position);
                held.any(|(job, _, place)| job.id == id && place.memory_mib > 0)
            };
            let kept = &mut self.planner.kept_memory;
            kept.keep(place.node, share, spare, is_counted);
            self.lists.changes.note(ChangeEntry::NodeUse(place.node));
        }
    }

    /// Of the node at this position. What jobs are about to take again is not free.
    fn spare_memory(&self, position: usize, seen: &Observation) -> SpareMemory {
        let claimed = seen.places_on(position).map(|(job, number, place)| {
            let record = self.ledger.get(job.id);
            let wanted = record.map_or(0, |record| record.life.undecided_memory(number, place));
            wanted.saturating_sub(place.memory_mib)
        });
        let claimed: u64 = claimed.sum();
        SpareMemory {
            others: seen.memory_of_others(position),
            free: seen.free_memory(position).saturating_sub(claimed),
        }
    }
}
