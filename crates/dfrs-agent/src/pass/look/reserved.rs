//! Reservations of others: jobs leave before, get more CPU to end before, and come back after.

use std::collections::BTreeSet;

use dfrs_core::{Action, Bytes, JobId, Mobility, Time};
use dfrs_proto::conf::Mode;

use crate::changes::ChangeEntry;
use crate::daemons::Daemons;
use crate::job::life::{JobContext, LifeEvent};
use crate::job::limits::needed_share;
use crate::job::mobility::is_settling;
use crate::job::reservations::{is_reserved, must_vacate};
use crate::pass::Agent;
use crate::plan::cluster::{swap_in_use, swap_of};
use crate::publish::live_journal::Expected;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm};
use crate::slurm::records::{ObservedJob, ObservedState};
use crate::slurm::request::memory::{MIB, memory_on_node};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Follows the reservations on the nodes of jobs. O(jobs with such nodes, or with deadlines).
    pub(in crate::pass) fn follow_reservations(&mut self, seen: &Observation, now: Time) {
        if self.config.mode != Mode::Full {
            return;
        }
        let mut kept_away = BTreeSet::new();
        let bounded: Vec<u32> = self.lists.bounded.iter().copied().collect();
        for job in bounded.into_iter().filter_map(|id| seen.job(id)) {
            if job.free_until_seconds > 0 && self.is_kept_away(job, now) {
                kept_away.insert(job.id);
            } else if job.state == ObservedState::Running {
                self.update_deadline_boost(job, now);
                if job.free_until_seconds > 0 {
                    self.vacate(job, seen, now);
                }
            }
        }
        // Jobs that may come back are looked at when capacity is freed.
        self.lists.capacity_freed |= self
            .planner
            .kept_away
            .iter()
            .any(|id| !kept_away.contains(id));
        let differ = kept_away.symmetric_difference(&self.planner.kept_away);
        let differ = differ.copied().map(ChangeEntry::JobReason);
        self.lists.changes.extend(differ);
        self.planner.kept_away = kept_away;
    }

    /// Whether it is parked on nodes that are reserved.
    pub(in crate::pass) fn is_kept_away(&self, job: &ObservedJob, now: Time) -> bool {
        self.is_parked(job.id) && is_reserved(job, &self.config, now)
    }

    /// Gives a job more weight that would be over too late with the share that it has.
    fn update_deadline_boost(&mut self, job: &ObservedJob, now: Time) {
        let Some(record) = self.ledger.get(job.id) else {
            return;
        };
        let needed = needed_share(record, job, now);
        let boosted = match needed {
            None => false,
            Some(needed) => record.deadline_boost || needed > record.share().0,
        };
        // Until it has a share, nothing is known.
        let is_known = record.life.is_running() && record.share().0 > 0.0;
        if boosted == record.deadline_boost || !is_known {
            return;
        }
        if let Some(record) = self.ledger.get_mut(job.id) {
            record.deadline_boost = boosted;
        }
        if let Some(needed) = needed {
            let outlook = if needed > 1.0 {
                "all of its nodes would not be enough"
            } else {
                "it weighs more from now on"
            };
            let text = format!(
                "job {}: a reservation of its nodes, or its deadline, comes before its time limit would \
                 end: {outlook}",
                job.id
            );
            self.slurm.log(LogLevel::Info, &text);
        }
    }

    /// Has a job give up its place, if it can keep its work and would run into the reservation.
    fn vacate(&mut self, job: &ObservedJob, seen: &Observation, now: Time) {
        if !must_vacate(job, &self.config, now) {
            return;
        }
        let look = JobContext::new(job, seen, &self.config, now);
        let mobility = look.mobility();
        let can_leave = match mobility {
            Mobility::Checkpoint => true,
            Mobility::Park => self.could_be_parked(job, seen),
            Mobility::Restart | Mobility::Never => false,
        };
        let is_free = |life: &crate::job::life::Life| {
            life.is_running()
                && !life.is_held_off(now)
                && !life.is_stuck()
                && life.left_alone_until() <= now
        };
        let free = self.ledger.get(job.id).is_some_and(|record| {
            is_free(&record.life) && !is_settling(job, &record.launches, &self.config, now)
        });
        if !free || !can_leave || job.configuring {
            return;
        }
        let text = format!(
            "job {}: makes way for the reservation that begins on its nodes",
            job.id
        );
        self.slurm.log(LogLevel::Info, &text);
        let pause = Action::Pause(JobId(u64::from(job.id)));
        if let Some(record) = self.ledger.get_mut(job.id) {
            record.on(&LifeEvent::Planned(&pause), &look);
        }
        let why = "a reservation begins on its nodes";
        self.expect(job.id, Expected::NoPlace, why);
    }

    /// Whether its nodes park, and have swap left for it.
    fn could_be_parked(&self, job: &ObservedJob, seen: &Observation) -> bool {
        job.places.iter().all(|place| {
            seen.node_position(place.node).is_some_and(|position| {
                let own = memory_on_node(job, place.tasks, seen);
                let swap = swap_of(&seen.nodes()[position].name, &self.nodes.swap, &self.config);
                let in_use = swap_in_use(position, seen, &self.ledger, |_, _| true);
                swap > Bytes(0) && in_use.0.saturating_add(own.saturating_mul(MIB)) <= swap.0
            })
        })
    }
}
