//! The short table on standard output.

use dfrs_sim::trace::TraceJob;

use super::Replay;
use super::compare::Shift;
use crate::input::LogJobs;
use crate::show::{aligned, duration, number, percent, sentence};
use crate::summary::{mean, quantile, share, sorted};

/// A line for each schedule, and below it which jobs are better and which are worse off.
pub fn table(replay: &Replay) -> String {
    let source = &replay.source;
    let mut text = heading(source) + "\n\n";
    let cautions = match cautions(source) {
        lines if lines.is_empty() => lines,
        lines => format!("\n{lines}"),
    };
    let heads = [
        "",
        "mean wait",
        "95% wait",
        "mean lost",
        "mean stretch",
        "max stretch",
        "pauses",
        "migrations",
    ];
    let mut rows: Vec<Vec<String>> = vec![heads.map(String::from).to_vec()];
    rows.extend(replay.schedules.iter().map(|schedule| {
        let summary = &schedule.summary;
        vec![
            schedule.name.clone(),
            duration(mean(schedule.wait.iter().copied())),
            duration(quantile(&sorted(&schedule.wait), 0.95)),
            duration(mean(schedule.lost.iter().copied())),
            dfrs_report::decimals(summary.mean_stretch, 2),
            dfrs_report::decimals(summary.max_stretch, 1),
            summary.pauses.to_string(),
            summary.migrations.to_string(),
        ]
    }));
    text += &aligned(&rows);
    text + &cautions
        + "\nLost is the time in the system beyond the run time; stretch is bounded at 10 s.\n"
        + &one_node(source)
        + "\n"
        + &replay
            .opponents()
            .into_iter()
            .map(|opponent| verdict(replay, opponent))
            .collect::<String>()
}

/// What is replayed, in a line without its end.
pub(crate) fn heading(source: &LogJobs) -> String {
    let first = source.first();
    format!(
        "{}: {} jobs on {} nodes, submitted from {} to {}",
        source.kind,
        number(source.trace.jobs.len()),
        number(source.nodes as usize),
        source.clock.show(first, first),
        source.clock.show(source.last(), first),
    )
}

/// What the numbers of all schedules do not have in them, a line each.
pub(crate) fn cautions(source: &LogJobs) -> String {
    let left_out = source.summary_of_left_out().map(|text| sentence(&text));
    let lines = left_out.iter().chain(&source.not_simulated);
    lines
        .map(|line| line.trim_end_matches('.').to_owned() + ".\n")
        .collect()
}

/// In a sentence: how many jobs could be carried.
pub(crate) fn one_node(source: &LogJobs) -> String {
    let jobs = &source.trace.jobs;
    let carried: Vec<&TraceJob> = jobs.iter().filter(|job| job.can_be_carried()).collect();
    let work: f64 = carried.iter().map(|job| job.work()).sum();
    let all: f64 = jobs.iter().map(TraceJob::work).sum();
    format!(
        "{} of jobs are on one node and have no GPUs, with {} of the work: what --mobility carry=1 can move.",
        percent(share(carried.len(), jobs.len())),
        percent(work / all.max(f64::MIN_POSITIVE)),
    )
}

/// In a sentence: how many jobs are done sooner and later than under the schedule at this position.
pub fn verdict(replay: &Replay, before: usize) -> String {
    let (before, after) = (&replay.schedules[before], &replay.schedules[replay.after]);
    let jobs = replay.source.trace.jobs.len();
    let shift = Shift::of_all(&before.lost, &after.lost);
    let share = |count: usize| percent(share(count, jobs));
    let by = |moved: &super::compare::ShiftedJobs| match moved.count {
        0 => String::new(),
        _ => format!(" (half of them by {} or more)", duration(moved.median)),
    };
    let worst = match shift.later.count {
        0 => String::new(),
        _ => format!(" The worst is {} later.", duration(shift.later.max)),
    };
    format!(
        "Under {}, against {}: {} of jobs are done more than a minute sooner{}, {} more than a minute later{}.{worst}\n",
        after.name,
        before.name,
        share(shift.sooner.count),
        by(&shift.sooner),
        share(shift.later.count),
        by(&shift.later),
    )
}
