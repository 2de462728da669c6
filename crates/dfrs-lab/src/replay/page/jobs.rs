//! Which jobs gain, which lose, and by how much.

use dfrs_report::{Axis, Bars, Cell, Page, Table, decimals, percent};

use super::{main_schedules, short};
use crate::replay::Replay;
use crate::replay::compare::{Breakdown, MIN_SHIFT_SECONDS, Shift, breakdowns, worst};
use crate::replay::schedule::ReplaySchedule;
use crate::show::{brief, number, significant, unbroken};
use crate::summary::{mean, share};

/// How many of the jobs that lose most are listed.
const WORST: usize = 10;

/// Limits of the bars, in seconds, and their names.
const STEPS: [(f64, &str); 5] = [
    (600.0, "1 to 10 min"),
    (3600.0, "10 min to 1 h"),
    (6.0 * 3600.0, "1 to 6 h"),
    (86_400.0, "6 h to 1 day"),
    (f64::INFINITY, "more than 1 day"),
];

pub fn add(page: &mut Page, replay: &Replay) {
    page.section("Better off and worse off");
    shifts(page, replay);
    page.figure(
        &bars(replay),
        "Jobs by how much sooner or later they are done; the rest changes by less than a minute.",
    );
    page.heading("Which jobs");
    page.text("Each table parts all jobs by something that is known of them. Lost time and stretch are means over the jobs of the row.");
    for breakdown in breakdowns(&replay.source) {
        page.table(&by_class(replay, &breakdown));
    }
    delayed_jobs(page, replay);
}

fn shifts(page: &mut Page, replay: &Replay) {
    let after = &replay.schedules[replay.after];
    let mut table = Table::new(
        &format!(
            "Jobs that are done more than a minute sooner or later under `{}`.",
            after.name
        ),
        &[
            "against", "jobs", "", "median", "most", "jobs", "", "median", "mean", "most", "jobs",
        ],
    )
    .group("", 1)
    .group("sooner", 4)
    .group("later", 5)
    .group("as before", 1);
    let jobs = replay.source.trace.jobs.len();
    for (place, before) in replay.schedules.iter().enumerate() {
        if place == replay.after {
            continue;
        }
        let shift = Shift::of_all(&before.lost, &after.lost);
        let cell = |text: String| Cell::number(text);
        table.row([
            Cell::text(unbroken(&short(replay, place))),
            cell(number(shift.sooner.count)),
            cell(percent(share(shift.sooner.count, jobs))),
            cell(brief(shift.sooner.median)),
            cell(brief(shift.sooner.max)),
            cell(number(shift.later.count)),
            cell(percent(share(shift.later.count, jobs))),
            cell(brief(shift.later.median)),
            cell(brief(shift.later.mean)),
            cell(brief(shift.later.max)),
            cell(number(shift.same)),
        ]);
    }
    page.table(&table);
}

// Precise enough: numbers of jobs.
fn bars(replay: &Replay) -> String {
    let groups: Vec<String> = STEPS
        .iter()
        .rev()
        .map(|(_, name)| format!("sooner by {name}"))
        .chain(STEPS.iter().map(|(_, name)| format!("later by {name}")))
        .collect();
    let after = &replay.schedules[replay.after];
    let mut bars = Bars::new("Sooner and later", Axis::linear("jobs"), groups);
    for place in main_schedules(replay) {
        if place == replay.after {
            continue;
        }
        let before = &replay.schedules[place];
        let mut counts = vec![0usize; 2 * STEPS.len()];
        for (before, after) in before.lost.iter().zip(&after.lost) {
            let by = after - before;
            if by.abs() <= MIN_SHIFT_SECONDS {
                continue;
            }
            let step = STEPS.iter().position(|(limit, _)| by.abs() <= *limit);
            let step = step.unwrap_or(STEPS.len() - 1);
            let group = if by < 0.0 {
                STEPS.len() - 1 - step
            } else {
                STEPS.len() + step
            };
            counts[group] += 1;
        }
        let values = counts.into_iter().map(|count| Some(count as f64)).collect();
        bars = bars.with(&format!("against {}", short(replay, place)), values);
    }
    bars.to_svg()
}

fn by_class(replay: &Replay, breakdown: &Breakdown) -> Table {
    let places = main_schedules(replay);
    let schedules: Vec<&ReplaySchedule> = places
        .iter()
        .map(|place| &replay.schedules[*place])
        .collect();
    let names: Vec<String> = places.iter().map(|place| short(replay, *place)).collect();
    let mut heads = vec!["", "jobs"];
    for _ in 0..2 {
        heads.extend(names.iter().map(String::as_str));
    }
    heads.extend(["sooner", "later"]);
    let against = format!("DFRS against {}", short(replay, replay.before));
    let mut table = Table::new(&format!("By {}.", breakdown.title), &heads)
        .group("", 2)
        .group("time lost", schedules.len())
        .group("stretch", schedules.len())
        .group(&against, 2);
    let (before, after) = (
        &replay.schedules[replay.before],
        &replay.schedules[replay.after],
    );
    for class in &breakdown.classes {
        let of = |values: &[f64]| mean(class.jobs.iter().map(|job| values[*job]));
        let shift = Shift::of(&before.lost, &after.lost, class.jobs.iter().copied());
        let mut row = vec![
            Cell::text(unbroken(&class.name)),
            Cell::number(number(class.jobs.len())),
        ];
        row.extend(
            schedules
                .iter()
                .map(|schedule| Cell::number(brief(of(&schedule.lost)))),
        );
        row.extend(
            schedules
                .iter()
                .map(|schedule| Cell::number(decimals(of(&schedule.stretch), 2))),
        );
        row.push(Cell::number(percent(share(
            shift.sooner.count,
            class.jobs.len(),
        ))));
        row.push(Cell::number(percent(share(
            shift.later.count,
            class.jobs.len(),
        ))));
        table.row(row);
    }
    table
}

fn delayed_jobs(page: &mut Page, replay: &Replay) {
    let (before, after) = (
        &replay.schedules[replay.before],
        &replay.schedules[replay.after],
    );
    let found = worst(&before.lost, &after.lost, WORST);
    page.heading("The jobs that lose most");
    if found.is_empty() {
        page.text("No job is done more than a minute later.");
        return;
    }
    let source = &replay.source;
    let mut table = Table::new(
        &format!("The {} that are done latest under DFRS, against {}. Memory is what it requires of each node.", found.len(), short(replay, replay.before)),
        &[
            "job", "submitted", "CPUs", "memory", "run time", "before", "later by", "stretch", "pauses / moves",
        ],
    )
    .group("", 5)
    .group("time lost", 2)
    .group("under DFRS", 2);
    for place in found {
        let (job, record) = (&source.trace.jobs[place], &after.records[place]);
        table.row([
            Cell::text(&job.id),
            Cell::text(unbroken(&source.clock.in_year(job.submit, source.first()))),
            Cell::number(significant(source.cpus[place], 1)),
            Cell::number(percent(crate::replay::timeline::memory(job, 1))),
            Cell::number(brief(job.runtime.seconds())),
            Cell::number(brief(before.lost[place])),
            Cell::number(brief(after.lost[place] - before.lost[place])),
            Cell::number(decimals(after.stretch[place], 1)),
            Cell::number(format!("{} / {}", record.pauses, record.migrations)),
        ]);
    }
    page.table(&table);
}
