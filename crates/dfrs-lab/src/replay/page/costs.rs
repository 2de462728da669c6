//! What DFRS does to running jobs to get there.

use dfrs_core::Mobility;
use dfrs_report::{Axis, Cell, Chart, Page, Series, Style, Table, decimals};

use super::load::days;
use super::short;
use crate::replay::Replay;
use crate::replay::schedule::ReplaySchedule;
use crate::show::{duration, number, percent, significant};
use crate::summary::share;

pub fn add(page: &mut Page, replay: &Replay) {
    page.section("What it takes: pauses, moves, swap");
    page.text(&kinds(replay));
    table(page, replay);
    let schedule = &replay.schedules[replay.after];
    if schedule.summary.pauses + schedule.summary.migrations == 0 {
        page.text("No job was paused or moved.");
    } else {
        charts(page, replay, schedule);
    }
}

/// When jobs are paused and moved, and how much memory with them.
fn charts(page: &mut Page, replay: &Replay, schedule: &ReplaySchedule) {
    let length = schedule.timeline.cut.length.seconds();
    let hours = length / 3600.0;
    let timeline = &schedule.timeline;
    let events = Chart::new(
        "Pauses and migrations",
        days(replay),
        Axis::linear("per hour"),
    )
    .with(
        Series::new(
            "pauses",
            timeline.points(&timeline.pauses, |sum| sum / hours),
        )
        .styled(Style::Steps),
    )
    .with(
        Series::new(
            "migrations",
            timeline.points(&timeline.migrations, |sum| sum / hours),
        )
        .styled(Style::Steps),
    );
    page.figure(&events.to_svg(), "On the whole machine.");
    let gigabytes = replay.source.node_gigabytes();
    let traffic = Chart::new(
        "Traffic to and from swap and storage",
        days(replay),
        Axis::linear("GB/s"),
    )
    .with(
        Series::new(
            "GB/s",
            timeline.points(&timeline.moved, |sum| sum * gigabytes / length),
        )
        .styled(Style::Area),
    );
    page.figure(
        &traffic.to_svg(),
        &format!("Memory of jobs that were paused (written), came back (read) or moved (both), summed over all nodes, as means over {}. A node that writes 1 GB/s to its swap needs that only while one of its jobs is parked.", duration(length)),
    );
}

/// In a sentence: what jobs can do.
fn kinds(replay: &Replay) -> String {
    let jobs = &replay.source.trace.jobs;
    let share_of = |kind: Mobility| {
        let count = jobs.iter().filter(|job| job.mobility == kind).count();
        (count > 0).then(|| percent(share(count, jobs.len())))
    };
    let words = [
        (
            Mobility::Park,
            "can be parked (frozen, their memory in the node's swap, back on the same nodes)",
        ),
        (
            Mobility::Checkpoint,
            "can be checkpointed (paused, and moved to other nodes)",
        ),
        (
            Mobility::Carry,
            "can be carried (written to image files, and moved to other nodes)",
        ),
        (Mobility::Restart, "can be restarted (they lose their work)"),
        (Mobility::Never, "must be left alone"),
    ];
    let parts: Vec<String> = words
        .into_iter()
        .filter_map(|(kind, what)| share_of(kind).map(|share| format!("{share} of jobs {what}")))
        .collect();
    format!("In this replay {}.", parts.join("; "))
}

// Precise enough: counts.
fn table(page: &mut Page, replay: &Replay) {
    let places = || (0..replay.schedules.len()).filter(|place| replay.schedules[*place].is_dfrs());
    let schedules: Vec<&ReplaySchedule> = places().map(|place| &replay.schedules[place]).collect();
    let names: Vec<String> = places().map(|place| short(replay, place)).collect();
    let mut heads = vec![""];
    heads.extend(names.iter().map(String::as_str));
    let mut table = Table::new("", &heads);
    let gigabytes = replay.source.node_gigabytes();
    let mut row = |what: &str, value: &dyn Fn(&ReplaySchedule) -> String| {
        let cells = schedules
            .iter()
            .map(|schedule| Cell::number(value(schedule)));
        table.row([Cell::text(what)].into_iter().chain(cells));
    };
    let hours = |schedule: &ReplaySchedule| (schedule.summary.makespan / 3600.0).max(1e-9);
    row("pauses per hour", &|schedule| {
        decimals(schedule.summary.pauses as f64 / hours(schedule), 2)
    });
    row("pauses per job", &|schedule| {
        decimals(schedule.summary.pauses_per_job, 3)
    });
    row("jobs that are paused at all", &|schedule| {
        let paused = schedule.records.iter().filter(|record| record.pauses > 0);
        number(paused.count())
    });
    row("most pauses of a job", &|schedule| {
        let max = schedule.records.iter().map(|record| record.pauses).max();
        max.unwrap_or(0).to_string()
    });
    row("migrations per hour", &|schedule| {
        decimals(schedule.summary.migrations as f64 / hours(schedule), 2)
    });
    row("migrations per job", &|schedule| {
        decimals(schedule.summary.migrations_per_job, 3)
    });
    row("memory written and read, GB", &|schedule| {
        let moved: f64 = schedule.timeline.moved.0.iter().sum();
        significant(moved * gigabytes, 3)
    });
    row("the same, GB/s on average", &|schedule| {
        let moved: f64 = schedule.timeline.moved.0.iter().sum();
        decimals(moved * gigabytes / schedule.summary.makespan.max(1.0), 4)
    });
    row(
        "the decisions of an instant take, on average",
        &|schedule| {
            format!(
                "{} ms",
                decimals(schedule.summary.decide_seconds_mean * 1e3, 2)
            )
        },
    );
    row("at most", &|schedule| {
        format!(
            "{} ms",
            decimals(schedule.summary.decide_seconds_max * 1e3, 1)
        )
    });
    page.table(&table);
}
