//! Jobs that give up their places for others than jobs of DFRS.

use dfrs_core::{Action, Bytes, JobId, Mobility, Time};

use crate::daemons::Daemons;
use crate::job::life::{JobContext, Life, LifeEvent};
use crate::job::mobility::{is_settling, mobility_now};
use crate::pass::Agent;
use crate::plan::cluster::{swap_in_use, swap_of};
use crate::publish::live_journal::Expected;
use crate::slurm::job_name::job_name;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm};
use crate::slurm::records::ObservedJob;
use crate::slurm::request::memory::{MIB, memory_on_node};

/// Why a job gives up its place.
pub(in crate::pass) struct Vacating {
    /// For slurmctld's log, after "JobId=17: ".
    pub(in crate::pass) log: &'static str,
    /// For the journal, and the job's reason.
    pub(in crate::pass) journal: &'static str,
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Has a running job give up its place, if it can keep its work.
    pub(in crate::pass) fn vacate(
        &mut self,
        job: &ObservedJob,
        why: &Vacating,
        seen: &Observation,
        now: Time,
    ) {
        let look = JobContext::new(job, seen, &self.config, now);
        let is_carriable = self
            .ledger
            .get(job.id)
            .is_some_and(|record| record.is_carriable);
        let can_leave = match mobility_now(job, &self.config, is_carriable) {
            Mobility::Checkpoint | Mobility::Carry => true,
            Mobility::Park => self.could_be_parked(job, seen),
            Mobility::Restart | Mobility::Never => false,
        };
        let is_free = |life: &Life| {
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
        let text = format!("{}: {}", job_name(job.id, Some(job)), why.log);
        self.slurm.log(LogLevel::Info, &text);
        let pause = Action::Pause(JobId(u64::from(job.id)));
        if let Some(record) = self.ledger.get_mut(job.id) {
            record.on(&LifeEvent::Planned(&pause), &look);
        }
        self.expect(job.id, Expected::NoPlace, why.journal);
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
