//! What would have run for nothing: jobs of a second file under DFRS, on what the jobs of a log, as they ran, left of
//! their nodes.

use std::fmt::Write;
use std::path::Path;

use dfrs_core::{Policy, Span, Time};
use dfrs_proto::journal::JournalEvent;
use dfrs_sim::metrics::{STRETCH_BOUND, SimSummary, compare_with_best};
use dfrs_sim::trace::Trace;
use dfrs_sim::{HeldByOthers, Scheduler, SimSettings, simulate_beside};

use super::ReplayOptions;
use crate::input::{self, LeftOutCount, LogFile, LogJobs, LogPurpose};
use crate::show::{number, percent, significant};
use crate::sim::beside::{UsedWithin, check_pair};
use crate::sim::results;

/// Runs the jobs of `own` beside those of `log`: what goes to standard output and to standard error.
///
/// # Errors
///
/// One line: a file cannot be read, the log does not say when its jobs ran, a policy is none of DFRS, or a simulation
/// fails.
pub fn run(
    log: &Path,
    own: &Path,
    strict: bool,
    options: &ReplayOptions,
) -> Result<(String, String), String> {
    let policies = policies(options)?;
    let site = options.site.for_others();
    // Jobs with other devices hold CPUs and memory, too.
    let log_site = site.keeping_gres();
    let source = options.read(&LogFile {
        site: &log_site,
        ..options.file(log, strict)
    })?;
    let held = held(log, &source)?;
    let schedulers: Vec<Scheduler> = policies.iter().cloned().map(Scheduler::Dfrs).collect();
    let own_log = LogFile {
        purpose: LogPurpose::Simulation,
        nodes: Some(source.nodes),
        node_cpus: Some(whole_cpus(&source)),
        site: &site,
        ..options.file(own, strict)
    };
    let mut input = input::read(&own_log, &schedulers)?;
    check_pair([&source, &input], &options.site, "the log")
        .map_err(|error| format!("{}: {error}", own.display()))?;
    options.draw(&options.run.mobility, &mut input.trace);
    let mut notes = source.warnings.clone() + &input.warnings;
    if shift_into(&mut input.trace, held.window()) {
        let file = own.display();
        let _ = writeln!(
            notes,
            "{file}: note: its jobs come at other times than those of {}: the first ones are taken to come together",
            log.display()
        );
    }
    let settings = options.settings(&source);
    let run = |policy: &Policy| {
        let run = simulate_one(&input.trace, policy, &settings, &held);
        run.map_err(|error| format!("{}: {policy}: {error}", own.display()))
    };
    let mut summaries = policies.iter().map(run).collect::<Result<Vec<_>, _>>()?;
    compare_with_best(&mut summaries);
    let text = sentence(log, &source, &held, &summaries) + "\n" + &results::table(&summaries);
    Ok((text, notes))
}

fn policies(options: &ReplayOptions) -> Result<Vec<Policy>, String> {
    let policies = options.policies().into_iter().map(|policy| match policy {
        Scheduler::Dfrs(policy) => Ok(policy),
        Scheduler::Batch(batch) => Err(format!(
            "dfrs replay: --beside is for policies of DFRS, and {} would start its jobs where the log's ran; leave it out",
            batch.name()
        )),
    });
    policies.collect()
}

/// What the jobs of the log held.
fn held(log: &Path, source: &LogJobs) -> Result<HeldByOthers, String> {
    if !source.journal_facts.is_empty() {
        return Err(format!(
            "{}: is a journal, and --beside would count the time in which its jobs were paused as held; give a dump of sacct",
            log.display()
        ));
    }
    let (_, records) = source.as_it_was.as_ref().ok_or_else(|| {
        format!(
            "{}: does not say when its jobs started and ended, which --beside needs; give a dump of sacct, or dfrs sim --beside simulates it",
            log.display()
        )
    })?;
    Ok(HeldByOthers::recorded(&source.trace, records, source.nodes))
}

/// CPUs of a node.
fn whole_cpus(source: &LogJobs) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of CPUs, at least 1"
    )]
    let cpus = source.node_cpus.max(1.0) as u32;
    cpus
}

/// Has jobs come from the beginning of the window on, if none comes within it. Returns whether they did not.
fn shift_into(trace: &mut Trace, (from, until): (Time, Time)) -> bool {
    let mut times = trace.jobs.iter().map(|job| job.submit);
    if times.clone().any(|time| (from..=until).contains(&time)) {
        return false;
    }
    let Some(first) = times.next() else {
        return false;
    };
    let by: Span = from.since(first);
    for job in &mut trace.jobs {
        job.submit = job.submit + by;
    }
    true
}

fn simulate_one(
    trace: &Trace,
    policy: &Policy,
    settings: &SimSettings,
    held: &HeldByOthers,
) -> Result<SimSummary, String> {
    let mut used = UsedWithin::window_of(held);
    let mut sink = |event: &JournalEvent| {
        used.take(event);
        Ok(())
    };
    let outcome = simulate_beside(trace, policy, settings, held, Some(&mut sink), None);
    let outcome = outcome.map_err(|error| error.to_string())?;
    let name = policy.to_string();
    let mut summary = SimSummary::new(name, trace, settings.nodes, &outcome, STRETCH_BOUND);
    used.finish(held, settings.nodes, &mut summary);
    Ok(summary)
}

/// What the log's jobs left, and what became of it under the first policy.
fn sentence(log: &Path, source: &LogJobs, held: &HeldByOthers, summaries: &[SimSummary]) -> String {
    let (from, until) = held.window();
    let all = until.since(from).seconds() / 3600.0 * f64::from(source.nodes) * source.node_cpus;
    let idle = all * (1.0 - held.utilization()).max(0.0);
    let unit = if source.node_cpus > 1.0 {
        "core-hours"
    } else {
        "node-hours"
    };
    let mut text = format!(
        "{}: {} jobs on {} nodes, as they ran, held {} of all CPU; {} {unit} were idle.",
        log.display(),
        number(source.trace.jobs.len()),
        number(source.nodes as usize),
        percent(held.utilization()),
        significant(idle, 2),
    );
    let after = summaries
        .first()
        .and_then(|summary| summary.utilization_after);
    if let Some(after) = after {
        let used = all * (after - held.utilization());
        let _ = write!(text, " The jobs beside them use {}.", significant(used, 2));
    }
    if held.without_room() > 0 {
        let _ = write!(
            text,
            " {} of the jobs as they ran had no room on equal nodes when they started, and held what there was.",
            number(held.without_room())
        );
    }
    if !source.left_out.is_empty() {
        let _ = write!(
            text,
            " Left out, so that what they held counts as idle: {}.",
            left_out(source)
        );
    }
    text + "\n"
}

/// What of the log is left out, and which part of the core-hours it had, as far as that is known.
fn left_out(source: &LogJobs) -> String {
    let one = |one: &LeftOutCount| {
        let count = format!("{}: {}", one.why, number(one.count));
        match source.share_of_left_out(one) {
            Some(share) => format!("{count}, with {} of the core-hours", percent(share)),
            None => count,
        }
    };
    let all: Vec<String> = source.left_out.iter().map(one).collect();
    all.join("; ")
}
