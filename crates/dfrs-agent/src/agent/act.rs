//! Acting: the next step of every job that is on its way, asked of Slurm.

use dfrs_core::Time;

use super::Agent;
use crate::cluster::memory_on_node;
use crate::daemons::{Daemons, NodeFacts};
use crate::ledger::Phase;
use crate::mobility::mobility;
use crate::observation::{Observation, ObservedJob, Place};
use crate::placement::Placement;
use crate::slurm::{Level, Slurm};
use crate::steps::{Conditions, Outcome, Step, next_step, settle};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// One step for every job that is on its way. Returns whether there was any, and how many
    /// started or came back. Memory that a step takes is taken in `observation`, too: the next one may
    /// wait for the same.
    pub(super) fn act(&mut self, observation: &mut Observation, now: Time) -> (bool, u32) {
        let facts = self.daemons.facts();
        let (mut acted, mut started) = (false, 0);
        for id in self.lists.steps() {
            let Some(job) = observation.job(id) else {
                continue;
            };
            let Some((step, outcome)) = self.advance(job, observation, &facts, now) else {
                continue;
            };
            acted |= outcome != Outcome::NotYet;
            if outcome != Outcome::Done {
                continue;
            }
            started += u32::from(matches!(step, Step::Start(_) | Step::Resume));
            let taken = memory_taken(&step, job, observation);
            for (node, memory) in taken {
                observation.take_memory(node, memory);
            }
        }
        (acted, started)
    }

    /// The next step of one job, if it is on its way and need not wait.
    fn advance(
        &mut self,
        job: &ObservedJob,
        observation: &Observation,
        facts: &NodeFacts,
        now: Time,
    ) -> Option<(Step, Outcome)> {
        let conditions = self.conditions(job, facts, now);
        let record = self.ledger.get(job.id)?;
        let step = next_step(record, job, observation, &conditions)?;
        let parks = matches!(record.phase, Phase::Parking { .. });
        let outcome = self.perform(job, &step, observation);
        let placement = Placement::of_job(job, observation);
        match step {
            Step::Abandon(_) if parks => {
                let timeout = self.config.park_timeout;
                let text = self.slow_nodes.add(&placement, timeout, now);
                self.slurm.log(Level::Info, &text);
            }
            Step::ReleaseMemory if parks => self.slow_nodes.forgive(&placement),
            _ => {}
        }
        if let Some(record) = self.ledger.get_mut(job.id) {
            settle(record, &step, outcome.clone(), placement, now);
        }
        Some((step, outcome))
    }

    fn conditions(&self, job: &ObservedJob, facts: &NodeFacts, now: Time) -> Conditions {
        Conditions {
            now,
            parked_on_nodes: facts.parked.contains(&job.id),
            mobility: mobility(job, &self.config),
            checkpoint_wait: self.config.checkpoint_wait,
            park_timeout: self.config.park_timeout,
        }
    }

    /// Asks Slurm for one step.
    fn perform(&mut self, job: &ObservedJob, step: &Step, observation: &Observation) -> Outcome {
        let slurm = &mut self.slurm;
        let done = match step {
            Step::Start(placement) => slurm.start(job.id, &places(placement, observation)),
            Step::Suspend => slurm.suspend(job.id),
            Step::Resume => slurm.resume(job.id),
            Step::ClaimMemory(memory) => slurm.claim_memory(job.id, memory),
            Step::Warn => slurm.warn(job.id),
            Step::Requeue => slurm.requeue(job.id),
            Step::ClearBeginTime => slurm.clear_begin_time(job.id),
            Step::Abandon(why) => {
                slurm.log(
                    Level::Info,
                    &format!("job {}: gave up what was under way: {why}", job.id),
                );
                Ok(())
            }
            Step::ReleaseMemory => match slurm.release_memory(job.id) {
                Ok(memory) => {
                    slurm.log(
                        Level::Info,
                        &format!(
                            "job {}: parked, {} MB released",
                            job.id,
                            memory.iter().sum::<u64>()
                        ),
                    );
                    return Outcome::Released(memory);
                }
                Err(problem) => Err(problem),
            },
        };
        match done {
            Ok(()) => {
                self.slurm
                    .log(Level::Verbose, &format!("job {}: {step:?}", job.id));
                Outcome::Done
            }
            Err(problem) if problem.is_transient() => Outcome::NotYet,
            Err(_)
                if matches!(step, Step::Start(_))
                    && slurm.may_start(&[job.id]).iter().any(Result::is_err) =>
            {
                Outcome::Gated
            }
            Err(problem) => {
                self.slurm.log(
                    Level::Info,
                    &format!("job {}: {step:?} was refused: {problem}", job.id),
                );
                Outcome::Refused
            }
        }
    }
}

/// Nodes, and MiB that the job holds on each since the step.
fn memory_taken(step: &Step, job: &ObservedJob, observation: &Observation) -> Vec<(u32, u64)> {
    match step {
        Step::Start(placement) => places(placement, observation)
            .iter()
            .map(|place| {
                let memory = memory_on_node(job, place.tasks, observation);
                (place.node, memory)
            })
            .collect(),
        Step::ClaimMemory(memory) => {
            let nodes = job.places.iter().map(|place| place.node);
            nodes.zip(memory.iter().copied()).collect()
        }
        _ => Vec::new(),
    }
}

/// What the shim's start takes.
fn places(placement: &Placement, observation: &Observation) -> Vec<Place> {
    let place = |spot: &crate::placement::Spot| {
        let node = observation.node(&spot.node)?;
        Some(Place {
            node: node.index,
            tasks: spot.tasks,
            memory: 0,
        })
    };
    let mut places: Vec<Place> = placement.0.iter().filter_map(place).collect();
    places.sort_unstable_by_key(|place| place.node);
    places
}
