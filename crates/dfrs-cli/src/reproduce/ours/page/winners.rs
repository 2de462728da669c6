//! Who wins and who loses.

use dfrs_report::{Cell, Page, Table, percent, significant};

use crate::reproduce::experiment::EASY_SHARED;
use crate::reproduce::ours::jobs::{CLASSES, Jobs, SCHEDULES, names};
use crate::reproduce::ours::studies::WORLDS;

pub fn add(page: &mut Page, jobs: &Jobs) {
    page.section("Who wins, who loses");
    page.text(&format!(
        "The jobs of the synthetic traces by run time and number of tasks: their mean and largest stretch, and which share \
         of them is done more than a minute sooner, and later, than under `{EASY_SHARED}`."
    ));
    for (number, (_, what)) in WORLDS.iter().enumerate() {
        page.table(&table(jobs, number, what));
    }
}

#[allow(clippy::cast_precision_loss)] // numbers of jobs
fn table(jobs: &Jobs, world: usize, what: &str) -> Table {
    let schedules = jobs.of(world);
    let mut heads = vec!["run time", "tasks", "of all jobs"];
    for (place, _) in SCHEDULES.iter().enumerate() {
        heads.extend(["mean", "largest"]);
        if place > 0 {
            heads.extend(["sooner", "later"]);
        }
    }
    let mut table = Table::new(what, &heads).group("", 3);
    for (place, (name, ..)) in SCHEDULES.iter().enumerate() {
        table = table.group(name, if place > 0 { 4 } else { 2 });
    }
    let all = |fates: &crate::reproduce::ours::jobs::Fates| -> u64 {
        fates.classes.iter().map(|class| class.jobs).sum()
    };
    let all = schedules.first().map_or(0, all).max(1) as f64;
    for class in 0..CLASSES {
        let (time, size) = names(class);
        let of_class = |place: usize| {
            schedules[place]
                .classes
                .get(class)
                .copied()
                .unwrap_or_default()
        };
        let share = |count: u64| percent(count as f64 / of_class(0).jobs.max(1) as f64);
        let mut row = vec![
            Cell::text(time),
            Cell::text(size),
            Cell::number(percent(of_class(0).jobs as f64 / all)),
        ];
        for place in 0..schedules.len() {
            let found = of_class(place);
            row.push(Cell::number(significant(found.mean(), 3)));
            row.push(Cell::number(significant(found.largest, 3)));
            if place > 0 {
                row.push(Cell::number(share(found.sooner)));
                row.push(Cell::number(share(found.later)));
            }
        }
        table.row(row);
    }
    table
}
