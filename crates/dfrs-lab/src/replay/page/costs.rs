//! What DFRS does to running jobs to get there.

use dfrs_core::Mobility;
use dfrs_report::{Axis, Chart, Page, Series, Style, Table, decimals};

use super::load::days;
use super::{RowValue, by_schedule};
use crate::replay::Replay;
use crate::replay::schedule::ReplaySchedule;
use crate::replay::table::one_node;
use crate::show::{duration, number, percent, significant};
use crate::summary::share;

pub fn add(page: &mut Page, replay: &Replay) {
    page.section("What it takes: pauses, moves, swap");
    page.text(&format!("{}. {}", kinds(replay), one_node(&replay.source)));
    page.table(&table(replay));
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
    let steps = |name, points| Series::new(name, points).styled(Style::Steps);
    let pauses = timeline.points(&timeline.pauses, |sum| sum / hours);
    let migrations = timeline.points(&timeline.migrations, |sum| sum / hours);
    let axis = Axis::linear("per hour");
    let events = Chart::new("Pauses and migrations", days(replay), axis)
        .with(steps("pauses", pauses))
        .with(steps("migrations", migrations));
    page.figure(&events.to_svg(), "On the whole machine.");
    let gigabytes = replay.source.node_gigabytes();
    let moved = timeline.points(&timeline.moved, |sum| sum * gigabytes / length);
    let title = "Traffic to and from swap and storage";
    let traffic = Chart::new(title, days(replay), Axis::linear("GB/s"))
        .with(Series::new("GB/s", moved).styled(Style::Area));
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
    format!("In this replay {}", parts.join("; "))
}

// Precise enough: counts.
fn table(replay: &Replay) -> Table {
    let gigabytes = replay.source.node_gigabytes();
    let per_hour = |count: u64, schedule: &ReplaySchedule| {
        let hours = (schedule.summary.makespan / 3600.0).max(1e-9);
        decimals(count as f64 / hours, 2)
    };
    let moved = |schedule: &ReplaySchedule| {
        let moved: f64 = schedule.timeline.moved.0.iter().sum();
        moved * gigabytes
    };
    let milliseconds = |seconds: f64, digits| format!("{} ms", decimals(seconds * 1e3, digits));
    let rows: [(&str, RowValue); 10] = [
        ("pauses per hour", &|schedule| {
            per_hour(schedule.summary.pauses, schedule)
        }),
        ("pauses per job", &|schedule| {
            decimals(schedule.summary.pauses_per_job, 3)
        }),
        ("jobs that are paused at all", &|schedule| {
            let paused = schedule.records.iter().filter(|record| record.pauses > 0);
            number(paused.count())
        }),
        ("most pauses of a job", &|schedule| {
            let max = schedule.records.iter().map(|record| record.pauses).max();
            max.unwrap_or(0).to_string()
        }),
        ("migrations per hour", &|schedule| {
            per_hour(schedule.summary.migrations, schedule)
        }),
        ("migrations per job", &|schedule| {
            decimals(schedule.summary.migrations_per_job, 3)
        }),
        ("memory written and read, GB", &|schedule| {
            significant(moved(schedule), 3)
        }),
        ("the same, GB/s on average", &|schedule| {
            decimals(moved(schedule) / schedule.summary.makespan.max(1.0), 4)
        }),
        (
            "the decisions of an instant take, on average",
            &|schedule| milliseconds(schedule.summary.decide_seconds_mean, 2),
        ),
        ("at most", &|schedule| {
            milliseconds(schedule.summary.decide_seconds_max, 1)
        }),
    ];
    let all = 0..replay.schedules.len();
    let places: Vec<usize> = all
        .filter(|place| replay.schedules[*place].is_dfrs())
        .collect();
    by_schedule("", replay, &places, &rows)
}
