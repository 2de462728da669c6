//! The page.

mod sweeps;
mod winners;

use dfrs_report::{Axis, Cell, Chart, Page, Series, Style, Table, decimals, significant};

use super::jobs::{Jobs, SCHEDULES};
use super::studies::{GANG, OURS, Part, WORLDS};
use super::{Request, Told};
use crate::paired::Comparison;
use crate::reproduce::experiment::{BEST, EASY, EASY_SHARED};
use crate::study::compare::Line;

/// A drawing and the name of its file.
pub type Drawing = (String, String);

/// The page, and its drawings.
pub fn page(request: &Request, told: &[Told], jobs: &Jobs) -> (String, Vec<Drawing>) {
    let mut page = Page::new(
        "The project's own policy, and its opponents",
        &format!(
            "`{OURS}` beside the papers' policy and backfilling, on traces it was not developed on."
        ),
    );
    introduction(&mut page, request);
    let mut drawings = Vec::new();
    if let Some(worlds) = told.iter().find(|told| told.part == Part::Worlds) {
        for block in ["synthetic", "HPC2N weeks"] {
            if worlds.lines.iter().any(|line| line.block == block) {
                show_worlds(&mut page, worlds, block, &mut drawings);
            }
        }
    }
    all_jobs(&mut page, jobs, &mut drawings);
    winners::add(&mut page, jobs);
    for told in told.iter().filter(|told| told.part != Part::Worlds) {
        sweeps::add(&mut page, told, &mut drawings);
    }
    (page.to_html(), drawings)
}

fn introduction(page: &mut Page, request: &Request) {
    page.text(&format!(
        "This run: {}. Nodes have swap as large as their memory, and what is paused or moved loses 300 s, unless it says \
         otherwise; equal jobs are left where they are. Backfilling knows run times exactly. Under `{EASY}` each task \
         has a node of its own, as in the papers; `{EASY_SHARED}` is what most sites run; under `{GANG}` (Slurm's \
         PreemptMode=GANG with OverSubscribe=FORCE:2) two jobs have each CPU in turns of 30 s.",
        request.settings
    ));
    page.text(
        "*With limits*: users say how long their jobs run at most, rounded up to 15 minutes, an hour, four hours, a day or a \
         week, one to five times too long; the policy uses them as hints (`RunTimeHint=limits`). Without limits it knows \
         nothing of run times."
            .replace('*', "")
            .as_str(),
    );
    page.text(
        "Stretch is time in the system over run time (of at least 10 s). Means of heavy tails hang on few traces: look \
         at medians, at the ratios, which are of geometric means over the same traces with 95% confidence intervals, and at \
         the curves. Underutilization is the papers' measure of waste; moves are pauses and migrations.",
    );
    if request.count < 100 {
        page.notice(&format!(
            "Only {} synthetic traces: averages scatter widely. All of it has 100.",
            request.count
        ));
    }
}

/// A schedule in words.
fn name(line: &Line, hints: usize) -> String {
    let policy = match line.policy.as_str() {
        BEST => "papers' policy",
        OURS => "ours",
        other => other,
    };
    match line.settings.get(hints).map(String::as_str) {
        Some("limits") if line.policy == OURS => format!("{policy}, with limits"),
        _ => policy.to_owned(),
    }
}

/// Whether the line says something that no other does: hints make a difference to our policy only.
fn is_own(line: &Line, hints: usize) -> bool {
    line.policy == OURS || line.settings.get(hints).is_none_or(|hint| hint == "none")
}

fn place_of(told: &Told, option: &str) -> usize {
    let mut options = told.study.options.iter();
    options
        .position(|choice| choice.name == option)
        .unwrap_or(usize::MAX)
}

fn show_worlds(page: &mut Page, told: &Told, block: &str, drawings: &mut Vec<Drawing>) {
    let (mobility, hints) = (place_of(told, "mobility"), place_of(told, "run-time-hint"));
    for (number, (world, what)) in WORLDS.iter().enumerate() {
        page.section(&format!("{}: {what}", capital(block)));
        let of_world = |line: &&Line| {
            line.block == block
                && line.settings.get(mobility).is_some_and(|own| own == world)
                && is_own(line, hints)
        };
        let lines: Vec<&Line> = told.lines.iter().filter(of_world).collect();
        // The bound is that of free moves.
        if number == 0 {
            page.table(&bounds(&lines, hints));
        }
        page.table(&table(&lines, hints, world));
        let chart = by_traces(&lines, hints, &format!("Largest stretch: {what}"));
        page.figure(
            &chart.to_svg(),
            "The traces of each schedule, sorted by their largest stretch. Lower is better.",
        );
        let short = block.split(' ').next().unwrap_or(block).to_lowercase();
        drawings.push((format!("{short}-{number}"), chart.to_svg()));
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// How far largest stretches are from the offline bound.
fn bounds(lines: &[&Line], hints: usize) -> Table {
    let caption = "Degradation from bound: the largest stretch over that of the best schedule of somebody who knows all jobs \
                   beforehand, and whose nodes have as much memory as anybody wants";
    let mut table = Table::new(caption, &["schedule", "mean", "median", "worst", "ratio"]);
    for line in lines.iter().filter(|line| line.measure == "degradation") {
        table.row(
            [Cell::text(name(line, hints))]
                .into_iter()
                .chain(cells(line)),
        );
    }
    table
}

/// A row for each schedule.
fn table(lines: &[&Line], hints: usize, world: &str) -> Table {
    let count = lines.first().map_or(0, |line| line.sorted().len());
    let caption = format!(
        "`--mobility {world}`, {count} traces: mean ± standard error, median and worst; ratio to `{EASY_SHARED}`"
    );
    let heads = [
        "schedule",
        "mean",
        "median",
        "worst",
        "ratio",
        "mean",
        "median",
        "ratio",
        "underutil.",
        "moves a job",
    ];
    let mut table = Table::new(&caption, &heads)
        .group("", 1)
        .group("largest stretch", 4)
        .group("mean stretch", 3);
    for first in lines.iter().filter(|line| line.measure == "max_stretch") {
        let of = |measure: &str| {
            let same = |line: &&&Line| {
                line.measure == measure
                    && line.policy == first.policy
                    && line.settings == first.settings
            };
            lines.iter().find(same).copied()
        };
        let mut row = vec![Cell::text(name(first, hints))];
        row.extend(cells(first));
        let mut means = of("mean_stretch").map_or(vec![Cell::text(""); 4], cells);
        means.remove(2); // the worst of means says little
        row.extend(means);
        row.push(Cell::number(
            of("normalized_underutilization").map_or(String::new(), mean),
        ));
        let moved = ["pauses_per_job", "migrations_per_job"];
        let moved = moved.iter().filter_map(|measure| of(measure)?.spread()[0]);
        row.push(Cell::number(significant(moved.sum(), 2)));
        table.row(row);
    }
    table
}

/// Mean with its error, median, worst, ratio.
fn cells(line: &Line) -> Vec<Cell> {
    let [_, _, median, worst] = line.spread();
    let shown = |value: Option<f64>| value.map_or("–".into(), |value| significant(value, 3));
    vec![
        Cell::number(mean(line)),
        Cell::number(shown(median)),
        Cell::number(shown(worst)),
        Cell::number(line.comparison.as_ref().map_or(String::new(), ratio)),
    ]
}

fn mean(line: &Line) -> String {
    let [mean, error, ..] = line.spread();
    let shown = |value: f64| significant(value, 3);
    let error = error.map_or(String::new(), |error| {
        format!(" ± {}", significant(error, 2))
    });
    mean.map_or("–".into(), |mean| shown(mean) + &error)
}

fn ratio(comparison: &Comparison) -> String {
    let Some(found) = comparison.ratio else {
        return "–".into();
    };
    let interval = found.interval.map_or(String::new(), |(low, high)| {
        format!(" ({}–{})", factor(low), factor(high))
    });
    factor(found.value) + &interval
}

/// Two decimals, or two digits.
fn factor(value: f64) -> String {
    match value {
        value if value < 0.095 => significant(value, 2),
        value if value < 9.95 => decimals(value, 2),
        value => significant(value, 3),
    }
}

/// How a schedule is drawn.
fn drawn(name: &str, points: Vec<(f64, f64)>) -> Series {
    let series = Series::new(name, points).styled(Style::Line);
    match name.starts_with("EASY") {
        true => series.dashed(),
        false if name.starts_with("ours") => series.bold(),
        false => series,
    }
}

/// The sorted largest stretches of all traces.
#[allow(clippy::cast_precision_loss)] // numbers of traces
fn by_traces(lines: &[&Line], hints: usize, title: &str) -> Chart {
    let mut chart = Chart::new(
        title,
        Axis::linear("share of traces").with_range(0.0, 1.0),
        Axis::log("largest stretch of the trace"),
    );
    for line in lines.iter().filter(|line| line.measure == "max_stretch") {
        let values = line.sorted();
        let all = values.len().max(1) as f64;
        let points = values.iter().enumerate();
        let points = points.map(|(place, value)| ((place as f64 + 0.5) / all, *value));
        chart = chart.with(drawn(&name(line, hints), points.collect()));
    }
    chart
}

fn all_jobs(page: &mut Page, jobs: &Jobs, drawings: &mut Vec<Drawing>) {
    page.section("All jobs");
    page.text(
        "Above, a trace counts by its unluckiest job. Here all jobs of the synthetic traces count alike: for each stretch \
         the share of jobs that have a larger one.",
    );
    for (number, (_, what)) in WORLDS.iter().enumerate() {
        let mut chart = Chart::new(
            &format!("Jobs by stretch: {what}"),
            Axis::log("stretch"),
            Axis::log("share of jobs with a larger one"),
        );
        for ((name, ..), fates) in SCHEDULES.iter().zip(jobs.of(number)) {
            chart = chart.with(drawn(name, fates.exceeding()));
        }
        page.figure(
            &chart.to_svg(),
            "The further to the left and below, the better.",
        );
        drawings.push((format!("jobs-{number}"), chart.to_svg()));
    }
}
