//! A random small trace under a random policy in a random world.

use arbitrary::{Arbitrary, Result, Unstructured};
use dfrs_core::{Bytes, Cores, Mobility, Span, Time};
use dfrs_journal::{Tolerance, Validator};
use dfrs_proto::journal::JournalEvent;
use dfrs_sim::metrics::{STRETCH_BOUND, SimSummary};
use dfrs_sim::trace::{NODE_CPU, NODE_MEMORY, Trace, TraceJob};
use dfrs_sim::{
    Batch, Cost, Estimates, Scheduler, SimSettings, SimulationError, never_fits, simulate,
};

/// The most jobs of a trace, and nodes of its machine.
const MAX_SIZE: u32 = 12;

/// Simulates what the bytes say. In debug builds the simulator checks every plan; here the journal
/// is checked, and that every job that can start ends, not before it could.
pub fn simulation(bytes: &[u8]) {
    // Bytes that are too few are as many zeros.
    let Ok((trace, scheduler, settings)) = simulation_input(&mut Unstructured::new(bytes)) else {
        return;
    };
    if trace.jobs.is_empty() {
        return;
    }
    let mut validator = Validator::new(Tolerance::default());
    let mut line = 0;
    let mut sink = |event: &JournalEvent| {
        line += 1;
        validator.push(line, event);
        Ok(())
    };
    let outcome = match simulate(&trace, &scheduler, &settings, Some(&mut sink)) {
        Ok(outcome) => outcome,
        // Where jobs cannot move, one may be in another's way for ever.
        Err(SimulationError::Stuck { .. }) if has_immobile_jobs(&trace) => return,
        Err(error) => panic!("{scheduler}: {error}"),
    };
    let violations = validator.finish();
    assert!(violations.is_empty(), "{scheduler}: {:?}", violations[0]);
    for (job, record) in trace.jobs.iter().zip(&outcome.jobs) {
        assert!(record.start >= job.submit, "{scheduler}");
        assert!(record.finish >= record.start + job.runtime, "{scheduler}");
    }
    let name = scheduler.to_string();
    let summary = SimSummary::new(name, &trace, settings.nodes, &outcome, STRETCH_BOUND);
    assert!(summary.max_stretch >= summary.mean_stretch && summary.mean_stretch >= 1.0);
    assert!(summary.max_stretch.is_finite() && summary.makespan.is_finite());
}

fn has_immobile_jobs(trace: &Trace) -> bool {
    trace.jobs.iter().any(|job| !job.mobility.is_free())
}

fn simulation_input(bytes: &mut Unstructured) -> Result<(Trace, Scheduler, SimSettings)> {
    let mut settings = SimSettings::new(bytes.int_in_range(1..=MAX_SIZE)?);
    settings.penalty = span(bytes, 600)?;
    settings.park_cost = cost(bytes)?;
    settings.checkpoint_cost = cost(bytes)?;
    settings.carry_cost = cost(bytes)?;
    settings.swap = share(bytes)?;
    let mut period = None;
    if bool::arbitrary(bytes)? {
        period = Some(span(bytes, 3600)? + Span::from_seconds(1));
    }
    if bool::arbitrary(bytes)? {
        settings.estimates = Estimates::User;
    }
    let keep_equal_jobs = bool::arbitrary(bytes)?;
    let mut scheduler = scheduler(bytes)?
        .at_period(period)
        .at_penalty(settings.penalty);
    if let Scheduler::Dfrs(policy) = &mut scheduler {
        policy.settings.keep_equal_jobs = keep_equal_jobs;
    }
    let all_move = bool::arbitrary(bytes)?;
    let mut trace = Trace {
        nodes: None,
        has_memory: true,
        ..Trace::default()
    };
    for id in 0..bytes.int_in_range(1..=MAX_SIZE)? {
        let job = job(bytes, id, settings.nodes, all_move)?;
        if never_fits(&job, &scheduler, settings.nodes, None).is_none() {
            trace.jobs.push(job);
        }
    }
    trace.jobs.sort_by_key(|job| job.submit);
    Ok((trace, scheduler, settings))
}

fn scheduler(bytes: &mut Unstructured) -> Result<Scheduler> {
    let batch: Vec<Scheduler> = Batch::ALL.into_iter().map(Scheduler::Batch).collect();
    let all = dfrs_papers::all()
        .into_iter()
        .map(Scheduler::Dfrs)
        .chain(batch);
    bytes.choose(&all.collect::<Vec<_>>()).cloned()
}

fn job(bytes: &mut Unstructured, id: u32, nodes: u32, all_move: bool) -> Result<TraceJob> {
    let job = TraceJob::new(
        id.to_string(),
        Time::ZERO + instant(bytes)?,
        bytes.int_in_range(1..=nodes + 1)?,
        Cores(bytes.int_in_range(1..=NODE_CPU.0)?),
        share(bytes)?,
        instant(bytes)?,
    );
    Ok(TraceJob {
        estimate: Some(instant(bytes)?).filter(|estimate| *estimate > Span::ZERO),
        mobility: if all_move {
            Mobility::Checkpoint
        } else {
            *bytes.choose(&Mobility::ALL)?
        },
        ..job
    })
}

/// Round numbers of seconds, where events coincide, or any length.
fn instant(bytes: &mut Unstructured) -> Result<Span> {
    Ok(match bytes.int_in_range(0..=3)? {
        0 => Span::from_seconds(600 * bytes.int_in_range(0..=20)?),
        1 => Span::from_seconds(bytes.int_in_range(0..=10)?),
        2 => span(bytes, 100)?,
        _ => span(bytes, 100_000)?,
    })
}

fn span(bytes: &mut Unstructured, max_seconds: i64) -> Result<Span> {
    bytes.int_in_range(0..=max_seconds * 1_000_000).map(Span)
}

/// A tenth of a node's memory or so, or any part of it.
fn share(bytes: &mut Unstructured) -> Result<Bytes> {
    Ok(match bool::arbitrary(bytes)? {
        true => Bytes(NODE_MEMORY.0 / 10 * bytes.int_in_range(0..=10)?),
        false => Bytes(bytes.int_in_range(0..=NODE_MEMORY.0)?),
    })
}

fn cost(bytes: &mut Unstructured) -> Result<Option<Cost>> {
    Ok(match bool::arbitrary(bytes)? {
        true => Some(Cost {
            fixed: span(bytes, 600)?,
            per_gigabyte: span(bytes, 60)?,
        }),
        false => None,
    })
}
