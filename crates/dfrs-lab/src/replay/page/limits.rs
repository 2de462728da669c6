//! What was assumed, what was left out, and what no replay can know.

use dfrs_core::{RunTimeHint, Span};
use dfrs_report::{Cell, Page, Table};
use dfrs_sim::trace::{NODE_MEMORY, Trace, TraceJob};
use dfrs_sim::{Batch, Cost};

use crate::replay::{Replay, ReplayOptions};
use crate::show::{number, percent, sentence, significant};

pub fn add(page: &mut Page, options: &ReplayOptions, replay: &Replay) {
    let source = &replay.source;
    page.section("What this page rests on");
    page.heading("Assumed");
    let nodes = match source.node_memory {
        Some(memory) => format!(
            "{} equal nodes with {} CPUs and {} GiB of memory.",
            number(source.nodes as usize),
            significant(source.node_cpus, 1),
            significant(memory / f64::from(1 << 30), 3),
        ),
        None => format!(
            "{} equal nodes. Their memory is not known; where GB are given, a node has {} GB.",
            number(source.nodes as usize),
            significant(source.node_gigabytes(), 1)
        ),
    };
    let mut assumed = vec![
        nodes,
        format!("EASY is simulated on {} {}.", number(source.for_batch(Batch::Easy).1 as usize), source.batch_unit),
        "EASY/shared keeps whole CPUs and memory on single nodes, as Slurm does where nodes are shared (CR_Core_Memory, OverSubscribe=NO).".into(),
        format!(
            "A job that was paused or moved makes no progress for {} s when it is back{}.",
            significant(options.run.penalty.seconds(), 1),
            costs(options),
        ),
        format!("The swap of a node holds {} of its memory.", swap(options)),
        mobility(options, &source.trace),
        "A job that gets half of the CPU that it needs takes twice as long; caches, memory bandwidth and network of jobs that share a node are not simulated.".into(),
    ];
    assumed.extend(settings_of_policies(options, &source.trace));
    assumed.extend(unlimited(&source.trace));
    assumed.extend(source.assumed.iter().cloned());
    page.list(&assumed);
    page.heading("Left out");
    if source.left_out.is_empty() {
        page.text("Nothing.");
    } else {
        let mut table = Table::new(
            "Left out of all schedules on this page.",
            &["what", "count", "share of core-hours"],
        );
        for one in &source.left_out {
            let share = source.share_of_left_out(one).map_or(String::new(), percent);
            table.row([
                Cell::text(&one.why),
                Cell::number(number(one.count)),
                Cell::number(share),
            ]);
        }
        page.table(&table);
        if let Some(summary) = source.summary_of_left_out() {
            page.text(&format!("{}.", sentence(&summary)));
        }
    }
    page.heading("What a replay cannot know");
    page.list([
        "As it was has everything that a site does: priorities, limits, reservations, maintenance, nodes that failed. EASY and DFRS are simulated without these, on a machine that is always there. What separates them from as it was is not all DFRS's doing; what separates DFRS from EASY is.",
        "Jobs that ran before the first or had not ended at the end are not there, so the first and the last days are emptier than they were.",
        "Users are taken to submit the same jobs at the same times, however soon those are done.",
        "Jobs that depend on others begin, under EASY and DFRS, when they became eligible at the site, and no sooner when the others are done sooner.",
        "The plugin limits how often jobs are paused and moved an hour (`MovesPerHour`) and waits for real disks; the simulation does not.",
    ]);
    page.heading("What is in this file");
    page.text("Sums, curves, and the ids of at most ten jobs with what they asked for and when they were submitted. No name of a user, an account or a job is read or shown. The file needs nothing else and sends nothing.");
}

/// What jobs can do, and how it was drawn where they differ.
fn mobility(options: &ReplayOptions, trace: &Trace) -> String {
    let mut text = format!(
        "How jobs under DFRS can give up their places: {}",
        options.run.mobility
    );
    if text.contains(',') {
        text += &format!(", drawn with the seed {}", options.run.seed);
    }
    let has_mobility = |job: &&TraceJob| job.declared_mobility.is_some();
    let given = trace.jobs.iter().filter(has_mobility).count();
    if given > 0 {
        text += &format!("; the trace says it of {} jobs itself", number(given));
    }
    text + " (--mobility)."
}

/// The settings of policies of DFRS, as far as they are not the defaults.
fn settings_of_policies(options: &ReplayOptions, trace: &Trace) -> Vec<String> {
    let mut notes = Vec::new();
    let settings = options.run.policy_settings.all();
    let knows_none = trace.jobs.iter().all(|job| job.estimate.is_none());
    if knows_none {
        notes.push(
            "No job has a time limit: the default policy makes no reservation, and jobs on several nodes lend nothing."
                .to_owned(),
        );
    }
    if settings.run_time_hint == RunTimeHint::Limits {
        let none = if knows_none { "; no job has one" } else { "" };
        notes.push(format!(
            "Policies with GreedyPMC take jobs for long by their time limits, as far as these have been true (--run-time-hint limits){none}."
        ));
    }
    if let Some(period) = options.run.period {
        notes.push(format!(
            "Policies that look at all jobs periodically do so every {} s (--period).",
            period.seconds()
        ));
    }
    if let Some(ceiling) = settings.load_ceiling {
        notes.push(format!(
            "DFRS puts no more load than {ceiling} on a node (--load-ceiling)."
        ));
    }
    if let Some(least) = settings.parallel_least_yield {
        notes.push(format!(
            "Jobs on several nodes have a yield of at least {least} under policies with GreedyPMC (--parallel-least-yield)."
        ));
    }
    notes
}

/// How EASY takes jobs of which no time limit is known.
fn unlimited(trace: &Trace) -> Option<String> {
    let jobs = &trace.jobs;
    let count = jobs.iter().filter(|job| job.estimate.is_none()).count();
    (count > 0).then(|| {
        format!(
            "{} of {} jobs have no time limit: EASY knows exactly how long they run.",
            number(count),
            number(jobs.len())
        )
    })
}

/// A cost in words.
fn seconds(cost: Cost) -> String {
    let fixed = format!("{} s", cost.fixed.seconds());
    let memory = format!(
        "{} s for each GB of its memory on a node",
        cost.per_gigabyte.seconds()
    );
    match (cost.fixed, cost.per_gigabyte) {
        (_, Span::ZERO) => fixed,
        (Span::ZERO, _) => memory,
        _ => format!("{fixed} and {memory}"),
    }
}

fn swap(options: &ReplayOptions) -> String {
    // Precise enough: to be looked at.
    let share = options.run.swap.0 as f64 / NODE_MEMORY.0 as f64;
    percent(share)
}

fn costs(options: &ReplayOptions) -> String {
    let mut text = String::new();
    for (cost, what) in [
        (options.run.park_cost, "parked"),
        (options.run.checkpoint_cost, "checkpointed"),
    ] {
        if let Some(cost) = cost {
            text += &format!(", if it was {what}: {}", seconds(cost));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_text_has_each_unit_once() {
        let shown = |cost: &str| seconds(cost.parse().expect("a cost"));
        assert_eq!(shown("30"), "30 s");
        assert_eq!(shown("0"), "0 s");
        assert_eq!(shown("0.5/GB"), "0.5 s for each GB of its memory on a node");
        assert_eq!(
            shown("30+2/GB"),
            "30 s and 2 s for each GB of its memory on a node"
        );
    }
}
