//! What is known of one job, for `dfrs explain`.

use std::collections::BTreeSet;

use dfrs_core::{Action, Mobility, Need, Span, Time};
use dfrs_proto::conf::Mode;
use dfrs_proto::explain::{Explanation, LastDecision, MAX_ENTRIES, OnNode, VERSION};

use crate::daemons::Daemons;
use crate::job::ledger::LedgerRecord;
use crate::job::mobility::{is_inspected, is_settling, mobility, mobility_now};
use crate::job::placement::NamedPlacement;
use crate::pass::Agent;
use crate::plan::needs::need_of;
use crate::plan::weights::deadline_boosted;
use crate::publish::live_journal::Expected;
use crate::saturating_u32;
use crate::slurm::devices::requested_by_kind;
use crate::slurm::port::Slurm;
use crate::slurm::records::{ObservedJob, ObservedState};

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// What is known of a job, by its own id or as a task of an array; `None` if it is no job of
    /// DFRS's partitions. O(jobs): the job and the jobs co-located with it are searched for among
    /// all.
    pub fn explanation(&self, id: u32, task: Option<u32>, now: Time) -> Option<Explanation> {
        let job = self.job_named(id, task)?;
        let record = self.ledger.get(job.id);
        let nodes = self.nodes_of(job, record);
        let co_located = self.co_located_jobs(job.id, &nodes);
        let progress = record.map(|record| {
            let mut record = record.clone();
            record.count_until(now);
            record
        });
        let virtual_time = progress
            .as_ref()
            .map_or(Span::ZERO, LedgerRecord::virtual_time);
        let since = record.map_or(job.submit_seconds, LedgerRecord::waits_since);
        let flow_time = (now.seconds_to_the_millisecond() - as_float(since)).max(0.0);
        let not_before = self.not_before(job, record, now);
        let weight = self.planner.weights.of(job);
        let is_carriable = record.is_some_and(|record| record.is_carriable);
        let boosted = record.is_some_and(|record| record.deadline_boost);
        let weight = if boosted {
            deadline_boosted(weight)
        } else {
            weight
        };
        Some(Explanation {
            version: VERSION,
            now: now.seconds_to_the_millisecond(),
            job: job.id,
            user: job.user,
            partition: job.partition.clone(),
            mode: self.config.mode.word().to_owned(),
            phase: phase(job, record).to_owned(),
            why: self.reason(job, &self.seen),
            last_change: self.planner.last_changes.get(&job.id).cloned(),
            node_count: saturating_u32(nodes.0.len()),
            nodes: on_nodes(&nodes),
            tasks: job.request.tasks,
            cpus_per_task: job.request.cpus_per_task,
            devices: requested_by_kind(&job.request.devices),
            need: f64::from(self.need(job, record).eighths()) / 8.0,
            r#yield: record.map_or(0.0, |record| record.share().0),
            virtual_time: virtual_time.seconds(),
            flow_time,
            stretch: (virtual_time > Span::ZERO).then(|| flow_time / virtual_time.seconds()),
            priority: job.priority,
            weight: f64::from(weight.0) / 1000.0,
            mobility: mobility_now(job, &self.config, is_carriable).to_string(),
            recent_moves: record.map_or(0, |record| record.life.recent_moves(now)),
            most_moves: self.config.policy.settings.budget.moves_per_job,
            next_remap: self.planner.remaps.due().seconds_to_the_millisecond(),
            not_before: not_before.map(Time::seconds_to_the_millisecond),
            co_located: saturating_u32(co_located.len()),
            co_located_jobs: co_located.into_iter().take(MAX_ENTRIES).collect(),
            notes: self.notes(job, record, &nodes, now),
        })
    }

    /// What it counts with in decisions.
    fn need(&self, job: &ObservedJob, record: Option<&LedgerRecord>) -> Need {
        record.map_or(Need::WHOLE, |record| need_of(job, record, &self.config))
    }

    /// The record of a task that waits with others is that of its array.
    fn job_named(&self, id: u32, task: Option<u32>) -> Option<&ObservedJob> {
        let Some(task) = task else {
            return self.seen.job(id);
        };
        let mut jobs = self.seen.jobs();
        let is_task =
            |job: &&ObservedJob| job.array == id && !job.array_master && job.array_task == task;
        jobs.find(is_task)
            .or_else(|| self.seen.job(id).filter(|job| job.array_master))
    }

    fn nodes_of(&self, job: &ObservedJob, record: Option<&LedgerRecord>) -> NamedPlacement {
        if job.has_place() {
            return NamedPlacement::of_job(job, &self.seen);
        }
        record.map_or_else(NamedPlacement::default, |record| {
            record.life.last_place().clone()
        })
    }

    /// Jobs that run, or are parked, on these nodes.
    fn co_located_jobs(&self, id: u32, nodes: &NamedPlacement) -> Vec<u32> {
        let positions = nodes.0.iter().filter_map(|spot| self.seen.node(&spot.node));
        let indexes: BTreeSet<u32> = positions.map(|node| node.index).collect();
        let others = self.seen.placed().filter(|other| other.id != id);
        others
            .filter(|other| {
                let mut places = other.places.iter();
                places.any(|place| indexes.contains(&place.node))
            })
            .map(|other| other.id)
            .collect()
    }

    fn not_before(
        &self,
        job: &ObservedJob,
        record: Option<&LedgerRecord>,
        now: Time,
    ) -> Option<Time> {
        let held = record.map(|record| record.life.not_before());
        let refused = self.planner.refusals.next_of(job.id, now);
        held.into_iter().chain(refused).filter(|at| *at > now).max()
    }

    fn notes(
        &self,
        job: &ObservedJob,
        record: Option<&LedgerRecord>,
        nodes: &NamedPlacement,
        now: Time,
    ) -> Vec<String> {
        let mut notes = self.policy_notes(job);
        notes.extend(record.and_then(|record| self.carry_note(job, record)));
        if record.is_some_and(|record| record.life.is_stuck()) {
            notes.push("pausing it failed three times: no more retries".to_owned());
        }
        if let Some(life) = record.map(|record| &record.life)
            && life.left_alone_until() > now
        {
            let why = if life.could_not_be_parked() {
                "it could not be parked"
            } else {
                "an operator resumed it"
            };
            notes.push(format!("{why}: it is not paused or moved for a while"));
        }
        let is_launching =
            |record: &LedgerRecord| is_settling(job, &record.launches, &self.config, now);
        if record.is_some_and(is_launching) {
            notes.push(
                "it began a moment ago (SettleTime): it is not paused or moved yet".to_owned(),
            );
        }
        let longest = self.config.longest_pause;
        if record.is_some_and(|record| record.life.is_starved(longest, now)) {
            notes.push(
                "it was paused for as long as LongestPause: it comes before others".to_owned(),
            );
        }
        let inherited = record.map_or(Span::ZERO, |record| record.inherited);
        if inherited > Span::ZERO {
            notes.push(format!(
                "other jobs of its user were at work before it: it counts {} s of that as its own",
                inherited.whole_seconds()
            ));
        }
        if record.is_some_and(|record| record.deadline_boost) {
            notes.push(
                "it must end before its time limit (Slurm reservation or --deadline), and gets more CPU"
                    .to_owned(),
            );
        }
        if job.state == ObservedState::Running {
            let silent = nodes.0.iter().map(|spot| &spot.node);
            let silent: Vec<&String> = silent
                .filter(|name| self.nodes.silent.contains(*name))
                .collect();
            if let Some(first) = silent.first() {
                notes.push(format!(
                    "dfrsd not responding on {} of its nodes ({first}): there it has no cap",
                    silent.len()
                ));
            }
        }
        let need = self.need(job, record);
        if need.is_less() {
            notes.push(format!(
                "it uses less CPU than requested and counts with a need of {need}; its full request is restored within seconds when it is throttled"
            ));
        }
        let left_out: Vec<&str> = self
            .planner
            .refusals
            .left_out(job.id, now)
            .take(5)
            .collect();
        if !left_out.is_empty() {
            notes.push(format!(
                "Slurm refused to start it on {}; these are left out for a while",
                left_out.join(", ")
            ));
        }
        if job.array_master {
            notes.push("this is the waiting rest of an array".to_owned());
        }
        notes
    }

    /// Whether a job that is to be carried can be, by what its node says.
    fn carry_note(&self, job: &ObservedJob, record: &LedgerRecord) -> Option<String> {
        if mobility(job, &self.config) != Mobility::Carry {
            return None;
        }
        let image = record.life.image();
        if image.is_complete() && job.state == ObservedState::Pending {
            return Some("its image is complete: its next run goes on from it".to_owned());
        }
        if !is_inspected(job, &self.config) {
            let several = job.has_place() && job.places.len() > 1;
            return several
                .then(|| "jobs on several nodes are not carried: it is parked instead".to_owned());
        }
        let node = NamedPlacement::of_job(job, &self.seen).0.pop()?.node;
        let facts = self.nodes.facts.as_ref();
        let said = facts.and_then(|facts| facts.carriable.get(&job.id).copied());
        let id = job.id;
        Some(match said {
            Some(true) if record.is_carriable => format!("{node} says that it can be carried"),
            Some(true) => format!(
                "{node} could not write its image in time: it is parked instead; see dfrsd's log there"
            ),
            Some(false) => format!(
                "{node} says that it cannot be carried: it is parked instead; 'dfrsd inspect --job {id}' there says why"
            ),
            None => format!("{node} has not said whether it can be carried: it is parked instead"),
        })
    }

    /// Keeps what was decided about jobs, for later queries and for the journal.
    pub(in crate::pass) fn record_changes(&mut self, actions: &[(&Action, String)], now: Time) {
        for (action, why) in actions {
            let Ok(job) = u32::try_from(action.job().0) else {
                continue;
            };
            let change = LastDecision {
                at: now.seconds_to_the_millisecond(),
                what: action.verb().to_owned(),
                why: why.clone(),
            };
            self.planner.last_changes.insert(job, change);
            if self.config.mode == Mode::Full {
                let expected = match action.mapping() {
                    Some(_) => Expected::Place,
                    None => Expected::NoPlace,
                };
                self.expect(job, expected, why);
            }
        }
    }
}

fn phase(job: &ObservedJob, record: Option<&LedgerRecord>) -> &'static str {
    match (job.state, record) {
        (ObservedState::Ended, _) => "ending",
        (_, Some(record)) => record.life.phase_name(),
        (ObservedState::Pending, None) => "waiting",
        (ObservedState::Running, None) => "running",
        (ObservedState::Suspended, None) => "suspended by an operator",
    }
}

fn on_nodes(placement: &NamedPlacement) -> Vec<OnNode> {
    let spots = placement.0.iter().take(MAX_ENTRIES);
    spots
        .map(|spot| OnNode {
            name: spot.node.clone(),
            tasks: spot.tasks,
        })
        .collect()
}

// Precise enough: times in this century are far below 2^53.
fn as_float(number: i64) -> f64 {
    number as f64
}
