//! What it depends on.

use dfrs_report::{Axis, Cell, Chart, Page, Series, Table, significant};

use super::{Drawing, cells, is_own, name, place_of};
use crate::reproduce::ours::Told;
use crate::reproduce::ours::studies::{Part, WORLDS};
use crate::study::compare::Line;

impl Part {
    /// Title, the axis, and what is to be said.
    const fn words(self) -> [&'static str; 3] {
        match self {
            Self::Worlds => ["", "", ""],
            Self::Penalty => [
                "What a move costs",
                "penalty in seconds",
                "What a pause or a move costs a job. The period is 600 s throughout: at 1,000 s the papers' policy \
                 moves jobs more often than they can make up for.",
            ],
            Self::Swap => [
                "How much swap nodes have",
                "swap, as a multiple of memory",
                "All jobs can only be parked, in the swap of their own nodes. Without swap nothing moves.",
            ],
            Self::Load => [
                "How much there is to do",
                "offered load",
                "The same traces, with gaps stretched or shrunk to each load.",
            ],
            Self::Limits => [
                "How good limits are",
                "share of jobs whose limit is a day, whatever they need",
                "Users' limits are rounded, and this share of jobs asks for a day. Limits are believed as far as they have \
                 been true.",
            ],
        }
    }
}

pub fn add(page: &mut Page, told: &Told, drawings: &mut Vec<Drawing>) {
    let [title, axis, about] = told.part.words();
    page.section(title);
    page.text(about);
    let (mobility, hints) = (place_of(told, "mobility"), place_of(told, "run-time-hint"));
    let swept = told.part.option().map(|option| place_of(told, option));
    let parameter = |line: &Line| -> Option<f64> {
        let value = match swept {
            Some(place) => line.settings.get(place)?,
            None => line.load.as_ref()?,
        };
        value.parse().ok()
    };
    for (world, what) in WORLDS {
        let of_world = |line: &&Line| {
            let is_here = line.settings.get(mobility).is_some_and(|own| own == world);
            let says_more = told.part == Part::Limits || is_own(line, hints);
            is_here && says_more && line.measure == "max_stretch"
        };
        let lines: Vec<&Line> = told.lines.iter().filter(of_world).collect();
        if lines.is_empty() {
            continue;
        }
        let mut names: Vec<String> = Vec::new();
        for line in &lines {
            let name = name(line, hints);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut values: Vec<f64> = lines.iter().filter_map(|line| parameter(line)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        #[allow(clippy::cast_precision_loss)] // a handful
        let place = |value: f64| {
            values
                .iter()
                .position(|own| *own == value)
                .map(|place| place as f64)
        };
        let ticks = values
            .iter()
            .filter_map(|value| Some((place(*value)?, value.to_string())));
        let mut chart = Chart::new(
            &format!("{title}: {what}"),
            Axis::linear(axis).with_ticks(ticks.collect()),
            Axis::log("largest stretch, median of the traces"),
        );
        for own in &names {
            let points = lines.iter().filter(|line| name(line, hints) == *own);
            let points =
                points.filter_map(|line| Some((place(parameter(line)?)?, line.spread()[2]?)));
            let series = Series::new(own, points.collect());
            chart = chart.with(match own.starts_with("EASY") {
                true => series.dashed(),
                false if own.starts_with("ours") => series.bold(),
                false => series,
            });
        }
        page.figure(&chart.to_svg(), "Medians over the traces.");
        let number = WORLDS
            .iter()
            .position(|(other, _)| *other == world)
            .unwrap_or(0);
        drawings.push((format!("{}-{number}", told.part.name()), chart.to_svg()));
        page.table(&table(&lines, hints, (what, axis), &parameter));
    }
}

fn table(
    lines: &[&Line],
    hints: usize,
    (what, axis): (&str, &str),
    parameter: &dyn Fn(&Line) -> Option<f64>,
) -> Table {
    let caption = format!(
        "Largest stretch, {what}: mean ± standard error, median, worst; ratio to EASY/shared"
    );
    let mut table = Table::new(
        &caption,
        &[axis, "schedule", "mean", "median", "worst", "ratio"],
    );
    let mut last = None;
    let mut lines = lines.to_vec();
    lines.sort_by(|one, other| {
        let of = |line: &Line| parameter(line).unwrap_or(0.0);
        of(one).total_cmp(&of(other))
    });
    for line in lines {
        let value = parameter(line);
        let shown = match value {
            Some(number) if value != last => significant(number, 1),
            _ => String::new(),
        };
        last = value;
        let row = [Cell::number(shown), Cell::text(name(line, hints))];
        table.row(row.into_iter().chain(cells(line)));
    }
    table
}
