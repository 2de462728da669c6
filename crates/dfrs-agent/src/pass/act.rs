//! Acting: requests from Slurm the next step of every job with an action in progress.

use std::collections::BTreeMap;

use dfrs_core::{Span, Time};

use super::publish::counts;
use super::{Agent, PassReport};
use crate::daemons::{Daemons, NodeFacts};
use crate::job::life::{JobContext, Life, LifeEvent, LifeStep, ParkStatus, StepResult, TOO_SLOW};
use crate::job::placement::NamedPlacement;
use crate::probe::PassPart;
use crate::saturating_u32;
use crate::slurm::job_name::job_name;
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm, SlurmError};
use crate::slurm::records::{ObservedJob, ObservedPlace, ObservedState};
use crate::slurm::request::memory::{memory_held, memory_on_node};

pub(super) mod give_back;
pub(super) mod give_back_partitions;
pub(super) mod orphaned;
pub(super) mod restore_limits;
pub(super) mod resumptions;
pub(super) mod void_images;
pub(super) mod warned;

/// A job that ended while slurmctld was away is running for slurmctld until its node has reported
/// the end again, 15 s later (`RETRY_DELAY` in `_send_complete_batch_script_msg()`, 22.05 and
/// 24.11). If it were requeued before, it would run again from the start.
const END_REPORT_DELAY: Span = Span::from_seconds(20);

/// Starts in one pass: jobs that were submitted meanwhile are decided about before the others
/// start. Each start takes slurmctld a millisecond or a few.
pub(super) const MAX_STARTS: u32 = 100;
/// Rounds of steps in one pass: what one step makes possible need not wait for the next pass.
const ROUNDS: usize = 4;

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// Takes the next steps of jobs, and those that they make possible.
    ///
    /// # Errors
    ///
    /// Slurm could not be looked at.
    pub(super) fn act_in_rounds(
        &mut self,
        seen: &mut Observation,
        now: Time,
        report: &mut PassReport,
    ) -> Result<(), SlurmError> {
        for _ in 0..ROUNDS {
            self.probe.begin(PassPart::Act);
            self.follow(seen, now);
            let (acted, started) = self.act(seen, MAX_STARTS - report.started, now);
            report.started += started;
            report.unfinished = report.started >= MAX_STARTS;
            if !acted || report.unfinished {
                break;
            }
            self.probe.begin(PassPart::Look);
            self.look_again(seen, now)?;
        }
        Ok(())
    }

    /// Takes one step for every job with an action in progress, but no more than `max_starts`
    /// starts. Returns whether there was any, and how many jobs started or came back. Memory that a
    /// step takes is also taken in `observation`: the next step may need the same memory.
    pub(super) fn act(
        &mut self,
        observation: &mut Observation,
        max_starts: u32,
        now: Time,
    ) -> (bool, u32) {
        let facts = self.nodes.daemons.facts();
        let (mut acted, mut started) = (false, 0);
        for (node, memory) in self.nodes.ending.values().flatten() {
            observation.take_memory(*node, *memory);
        }
        for id in self.step_order(observation) {
            if started >= max_starts {
                break;
            }
            let Some(job) = observation.job(id) else {
                continue;
            };
            let life = self.ledger.get(id).map(|record| &record.life);
            let held = life.map_or_else(Vec::new, |life| uncounted_memory(life, job, observation));
            let advanced = self.guarded(id, |agent| agent.advance(job, observation, &facts, now));
            let advanced = advanced.flatten();
            let is_ended = matches!(advanced, Some((LifeStep::Requeue, StepResult::Done)));
            let taken = match advanced {
                Some((step, StepResult::Done)) => {
                    acted = true;
                    started += u32::from(matches!(step, LifeStep::Start(_) | LifeStep::Resume));
                    memory_taken(&step, job, observation)
                }
                other => {
                    acted |= other.is_some_and(|(_, answer)| answer != StepResult::NotYet);
                    held
                }
            };
            let devices = observation.devices_on_each_node(job);
            for (node, memory) in taken {
                observation.take_memory(node, memory);
                observation.take_devices(node, &devices);
            }
            if is_ended {
                observation.note_ending(id);
            }
        }
        (acted, started)
    }

    fn holds_uncounted_memory(&self, job: &ObservedJob) -> bool {
        let record = self.ledger.get(job.id);
        record.is_some_and(|record| record.life.holds_uncounted_memory(job))
    }

    /// The jobs that may have a next step, in the order in which they take it: those that hold
    /// memory that Slurm does not count, others that are there, and those that start. Of the last,
    /// one of each array comes before the second of any, lest a job that was submitted after an
    /// array of thousands waits for all of them.
    fn step_order(&self, observation: &Observation) -> Vec<u32> {
        let mut ranks: BTreeMap<u32, u32> = BTreeMap::new();
        let mut rank = |id: u32| match observation.job(id) {
            Some(job) if job.state == ObservedState::Pending => {
                let of = if job.array > 0 { job.array } else { id };
                let rank = ranks.entry(of).or_insert(1);
                *rank += 1;
                *rank
            }
            Some(job) => u32::from(!self.holds_uncounted_memory(job)),
            None => 0,
        };
        let task = |id: &u32| observation.job(*id).map_or(0, |job| job.array_task);
        let mut steps = self.lists.steps();
        steps.sort_by_key(task);
        let mut order: Vec<(u32, u32)> = steps.into_iter().map(|id| (rank(id), id)).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, id)| id).collect()
    }

    /// The next step of one job, if it is on its way and need not wait.
    fn advance(
        &mut self,
        job: &ObservedJob,
        observation: &Observation,
        facts: &NodeFacts,
        now: Time,
    ) -> Option<(LifeStep, StepResult)> {
        let record = self.ledger.get(job.id)?;
        let look = JobContext::new(job, observation, &self.config, now);
        let waits = job.state == ObservedState::Pending && record.life.image().is_void();
        let on_nodes = if waits && !self.is_void_ordered(job.id) {
            // What was said before is about something else than its image's removal.
            ParkStatus::Unknown
        } else {
            parking_on_nodes(job.id, facts)
        };
        let step = record.life.next_step(&look, on_nodes)?;
        if step == LifeStep::Resume && !self.giving_back.everything && is_taken(job, observation) {
            return None;
        }
        if matches!(step, LifeStep::Warn | LifeStep::Requeue)
            && now.since(self.looks.began) < END_REPORT_DELAY
        {
            return None;
        }
        let (is_leaving, is_parking) = (record.life.is_leaving(), record.life.is_parking());
        let answer = self.take_step(job, &step, observation, now);
        let placement = NamedPlacement::of_job(job, observation);
        if is_parking {
            self.learn_from_parking(job.id, &step, &placement, now);
        }
        let life = self.ledger.get(job.id).map(|record| &record.life);
        if is_leaving && life.is_some_and(|life| life.is_running() || life.is_unparking()) {
            self.replan_blocked_on(&placement, observation, now);
        }
        Some((step, answer))
    }

    /// Requests one step from Slurm, and continues from the answer.
    fn take_step(
        &mut self,
        job: &ObservedJob,
        step: &LifeStep,
        observation: &Observation,
        now: Time,
    ) -> StepResult {
        let answer = self.perform(job, step, observation, now);
        counts::count(&mut self.publisher.done, step, &answer);
        if (step, &answer) == (&LifeStep::Resume, &StepResult::Done) {
            self.nodes.resumptions.note_sent(job.id, now);
        }
        if let Some(record) = self.ledger.get_mut(job.id) {
            let look = JobContext::new(job, observation, &self.config, now);
            let effects = record.on(&LifeEvent::Did(step, &answer), &look);
            self.lists.capacity_freed |= effects.has_freed;
            let failed = matches!(step, LifeStep::Abandon(_))
                || matches!(answer, StepResult::Refused | StepResult::NotEligible);
            if failed && !record.life.is_under_way() {
                self.expect_nothing(job.id);
            }
        }
        answer
    }

    /// A job keeps its memory here: the jobs that were to have that memory are planned again, and
    /// hold no room elsewhere meanwhile.
    fn replan_blocked_on(&mut self, kept: &NamedPlacement, observation: &Observation, now: Time) {
        for id in self.lists.steps() {
            let (Some(job), Some(record)) = (observation.job(id), self.ledger.get(id)) else {
                continue;
            };
            let look = JobContext::new(job, observation, &self.config, now);
            if let Some(step) = record.life.blocked_on_memory(kept, &look) {
                self.take_step(job, &step, observation, now);
            }
        }
    }

    /// Which nodes were fast enough to park a job, and which may not have been.
    fn learn_from_parking(
        &mut self,
        job: u32,
        step: &LifeStep,
        placement: &NamedPlacement,
        now: Time,
    ) {
        match step {
            LifeStep::Abandon(why) if *why == TOO_SLOW => {
                let timeout = self.config.park_timeout;
                if let Some(text) = self.nodes.slow_nodes.add(job, placement, timeout, now) {
                    self.slurm.log(LogLevel::Info, &text);
                }
            }
            LifeStep::ReleaseMemory => self.nodes.slow_nodes.clear(placement),
            _ => {}
        }
    }

    /// Requests one step from Slurm.
    fn perform(
        &mut self,
        job: &ObservedJob,
        step: &LifeStep,
        observation: &Observation,
        now: Time,
    ) -> StepResult {
        let whole = self.has_own_policy(job);
        let slurm = &mut self.slurm;
        let done = match step {
            LifeStep::Start(placement) => {
                slurm.start(job.id, &places(placement, observation), whole)
            }
            LifeStep::Suspend => slurm.suspend(job.id),
            LifeStep::Resume => slurm.resume(job.id),
            LifeStep::ClaimMemory(memory) => slurm.claim_memory(job.id, memory),
            LifeStep::Warn => slurm.warn(job.id),
            LifeStep::Requeue => slurm.requeue(job.id),
            LifeStep::ClearBeginTime => slurm.clear_begin_time(job.id),
            LifeStep::Abandon(why) => {
                self.log_abandoned(job, why);
                return StepResult::Done;
            }
            LifeStep::ReleaseMemory => match slurm.release_memory(job.id) {
                Ok(memory) => {
                    let text = format!("parked, {} MB released", memory.iter().sum::<u64>());
                    self.log_about(LogLevel::Info, job, &text);
                    return StepResult::Released(memory);
                }
                Err(problem) => Err(problem),
            },
        };
        match done {
            Ok(()) => {
                if matches!(step, LifeStep::Start(_)) {
                    self.planner.refusals.forget(job.id);
                }
                self.log_about(LogLevel::Verbose, job, &step.when_done());
                StepResult::Done
            }
            Err(problem) if problem.is_transient() => StepResult::NotYet,
            Err(problem) => {
                let gate = match step {
                    LifeStep::Start(_) => {
                        slurm.may_start(&[job.id]).into_iter().find_map(Result::err)
                    }
                    _ => None,
                };
                if let Some(why) = gate {
                    if why.is_limit() {
                        self.queue.limited_users.note(job.user, now);
                    }
                    return StepResult::NotEligible;
                }
                let text = format!("{step} was refused by Slurm: {problem}");
                self.log_about(LogLevel::Info, job, &text);
                if let LifeStep::Start(placement) = step {
                    let nodes = saturating_u32(placement.0.len());
                    // The nodes are as good as others; the limits were checked for the job's
                    // smallest size.
                    if self.has_own_policy(job) && problem.is_limit() && nodes > 1 {
                        self.planner.refusals.refuse_size(job.id, nodes, now);
                    } else {
                        self.planner
                            .refusals
                            .add(job.id, placement, &problem.text, now);
                    }
                    if let Some(journal) = &mut self.publisher.journal {
                        journal.refuse(job.id, placement, &problem.text);
                    }
                }
                StepResult::Refused
            }
        }
    }

    /// `text` follows the job's name.
    pub(in crate::pass) fn log_about(&mut self, level: LogLevel, job: &ObservedJob, text: &str) {
        let name = job_name(job.id, Some(job));
        self.slurm.log(level, &format!("{name}: {text}"));
    }

    fn log_abandoned(&mut self, job: &ObservedJob, why: &str) {
        let record = self.ledger.get(job.id);
        let what = record.map_or_else(String::new, |record| record.life.under_way_text());
        self.log_about(LogLevel::Info, job, &format!("{what} abandoned: {why}"));
    }
}

/// What is known of a job that is being parked.
fn parking_on_nodes(job: u32, facts: &NodeFacts) -> ParkStatus {
    if facts.parked.contains(&job) {
        ParkStatus::Parked
    } else if facts.stuck.contains(&job) {
        ParkStatus::Stuck
    } else {
        ParkStatus::Unknown
    }
}

/// Nodes, and MiB that the job holds there although Slurm does not count them.
pub(super) fn uncounted_memory(
    life: &Life,
    job: &ObservedJob,
    observation: &Observation,
) -> Vec<(u32, u64)> {
    if !life.holds_uncounted_memory(job) {
        return Vec::new();
    }
    let memory = |place: &ObservedPlace| memory_on_node(job, place.tasks, observation);
    let places = job.places.iter();
    places.map(|place| (place.node, memory(place))).collect()
}

/// Whether other jobs, which Slurm does not count, may hold the memory that it counts for this job.
fn is_taken(job: &ObservedJob, observation: &Observation) -> bool {
    let mut places = job.places.iter();
    places.any(|place| observation.is_overcommitted(place.node))
}

/// Nodes, and MiB that the job holds on each since the step.
fn memory_taken(step: &LifeStep, job: &ObservedJob, observation: &Observation) -> Vec<(u32, u64)> {
    match step {
        LifeStep::Start(placement) => places(placement, observation)
            .iter()
            .map(|place| {
                let memory = memory_on_node(job, place.tasks, observation);
                (place.node, memory)
            })
            .collect(),
        LifeStep::ClaimMemory(memory) => {
            let places = job.places.iter().zip(memory);
            let held = |(place, counted): (&ObservedPlace, &u64)| {
                (place.node, memory_held(job, place, *counted, observation))
            };
            places.map(held).collect()
        }
        _ => Vec::new(),
    }
}

/// What the shim's start takes.
fn places(placement: &NamedPlacement, observation: &Observation) -> Vec<ObservedPlace> {
    let place = |spot: &crate::job::placement::NodeTasks| {
        let node = observation.node(&spot.node)?;
        Some(ObservedPlace {
            node: node.index,
            tasks: spot.tasks,
            memory_mib: 0,
        })
    };
    let mut places: Vec<ObservedPlace> = placement.0.iter().filter_map(place).collect();
    places.sort_unstable_by_key(|place| place.node);
    places
}
