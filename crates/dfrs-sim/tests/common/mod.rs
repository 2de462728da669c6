//! What several test programs need.
#![allow(dead_code, reason = "each test program uses a part")]

pub mod known;

use std::path::PathBuf;

use dfrs_core::{NodeIndex, Span, Time};
use dfrs_journal::{JournalViolation, Tolerance, validate};
use dfrs_proto::journal::{EventKind, JournalEvent};
use dfrs_sim::metrics::{STRETCH_BOUND, SimSummary};
use dfrs_sim::trace::{Model, Trace, read, read_file};
use dfrs_sim::{Scheduler, SimOutcome, SimSettings, simulate};
use proptest::prelude::*;

/// So many nodes, the papers' penalty of 300 s, and the policy's own period.
pub fn settings(nodes: u32) -> SimSettings {
    SimSettings::new(nodes)
}

/// A trace in the project's CSV, without its header.
pub fn trace(lines: &str) -> Trace {
    read(lines.as_bytes(), Model::Processors, true)
        .expect("a trace")
        .trace
}

/// Traces of some jobs, of which each fits, many at the same instant or at a multiple of the period.
pub fn traces(nodes: u32) -> impl Strategy<Value = Trace> {
    let submit = prop_oneof![0u32..2000, (0u32..4).prop_map(|period| period * 600)];
    let share = prop_oneof![Just(100u32), Just(25), 1u32..=100];
    let memory = prop_oneof![Just(10u32), 0u32..=100];
    let runtime = prop_oneof![1 => Just(0u32), 4 => 1u32..300, 2 => 300u32..20_000];
    let job = (submit, 1..=nodes, share, memory, runtime);
    proptest::collection::vec(job, 1..14).prop_map(|jobs| {
        let lines = (1..)
            .zip(jobs)
            .map(|(id, (submit, tasks, cpu, memory, runtime))| {
                let (cpu, memory) = (f64::from(cpu) / 100.0, f64::from(memory) / 100.0);
                format!("{id},{submit},{tasks},{cpu},{memory},{runtime}.25\n")
            });
        trace(&lines.collect::<String>())
    })
}

/// What comes of a trace, its journal, and what is wrong with that.
pub struct Run {
    pub outcome: SimOutcome,
    pub summary: SimSummary,
    pub events: Vec<JournalEvent>,
    pub violations: Vec<JournalViolation>,
}

pub fn run(trace: &Trace, scheduler: &str, settings: SimSettings) -> Run {
    let scheduler = scheduler.parse().expect("a policy");
    run_under(trace, &scheduler, settings)
}

/// Under this scheduler, which knows the penalty if it weighs moves.
pub fn run_under(trace: &Trace, scheduler: &Scheduler, settings: SimSettings) -> Run {
    let scheduler = scheduler.at_penalty(settings.penalty);
    let mut events = Vec::new();
    let mut sink = |event: &JournalEvent| {
        events.push(event.clone());
        Ok(())
    };
    let outcome = simulate(trace, &scheduler, &settings, Some(&mut sink));
    let outcome = outcome.unwrap_or_else(|error| panic!("{scheduler}: {error}"));
    // Both sides count alike: there is nothing to tolerate.
    let exact = Tolerance {
        relative: 0.0,
        absolute: Span::ZERO,
    };
    let violations = validate((1..).zip(events.iter().cloned()), exact);
    let name = scheduler.to_string();
    let summary = SimSummary::new(name, trace, settings.nodes, &outcome, STRETCH_BOUND);
    Run {
        outcome,
        summary,
        events,
        violations,
    }
}

/// What happened to jobs after their submission, a line each.
pub fn events(run: &Run) -> Vec<String> {
    let line_of = |event: &JournalEvent| {
        let t = event.t.seconds();
        let stall = |stall: &Option<Span>| stall.unwrap_or_default().seconds();
        match &event.kind {
            EventKind::Start { job, nodes } => Some(format!("{t} start {job} {}", list(nodes))),
            EventKind::Pause { job, lost: false } => Some(format!("{t} pause {job}")),
            EventKind::Pause { job, lost: true } => Some(format!("{t} pause {job}, lost")),
            EventKind::Resume {
                job,
                nodes,
                stall: time,
            } => Some(format!(
                "{t} resume {job} {} after {}",
                list(nodes),
                stall(time)
            )),
            EventKind::Migrate {
                job,
                nodes,
                stall: time,
            } => Some(format!(
                "{t} migrate {job} {} after {}",
                list(nodes),
                stall(time)
            )),
            EventKind::Yield { job, value } => Some(format!("{t} yield {job} {value}")),
            EventKind::Finish { job, .. } => Some(format!("{t} finish {job}")),
            _ => None,
        }
    };
    run.events.iter().filter_map(line_of).collect()
}

fn list(nodes: &[NodeIndex]) -> String {
    let names: Vec<String> = nodes.iter().map(ToString::to_string).collect();
    names.join(",")
}

/// Start and finish of every job, in seconds.
pub fn times(outcome: &SimOutcome) -> Vec<(f64, f64)> {
    let seconds = |time: Time| time.seconds();
    outcome
        .jobs
        .iter()
        .map(|job| (seconds(job.start), seconds(job.finish)))
        .collect()
}

/// A trace of the Parallel Workloads Archive from the directory in DFRS_TRACES (else
/// ../shared/data beside the repository); none, with a message, if it is not there.
pub fn archive(name: &str, model: Model) -> Option<Trace> {
    let default_directory =
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("DFRS_TRACES").map_or_else(default_directory, PathBuf::from);
    let path = directory.join(name);
    if !path.exists() {
        eprintln!("skipped: no {name}; set DFRS_TRACES to the directory that holds it");
        return None;
    }
    Some(
        read_file(&path, model, true)
            .expect("a trace without bad lines")
            .trace,
    )
}
