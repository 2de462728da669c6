//! The report, and the files beside it.

use std::fs;
use std::path::Path;

use dfrs_report::{Cell, Page, Table, csv_line, significant};

use super::claims;
use super::experiment::{BEST, EASY, EASY_PUBLISHED, Experiment, PENALTY, Shape};
use super::measure::Measure;
use super::results::{Query, Results};
use super::tables::traces;
use super::traces::{TraceId, TraceSet};
use super::{figures, tables};

/// Writes everything to the directory and returns the path of the report.
pub fn write(
    directory: &Path,
    results: &Results,
    chosen: &[&Experiment],
    settings: &str,
) -> Result<String, String> {
    let mut page = Page::new(
        "Dynamic fractional resource scheduling, reproduced",
        "The figures and tables of the papers of 2010 and 2012, published beside reproduced.",
    );
    introduction(&mut page, results, settings);
    if let Some(finding) = easy_finding(results) {
        page.section("The published EASY is not EASY");
        easy_text(&mut page);
        page.table(&finding);
    }
    for experiment in chosen {
        page.section(experiment.title);
        page.text(experiment.about);
        for (name, svg) in show(experiment, results, &mut page) {
            save(directory, &format!("{name}.svg"), &svg)?;
        }
        if !experiment.differences.is_empty() {
            page.heading("Where it differs, and why");
            page.list(experiment.differences);
        }
        save(
            directory,
            &format!("{}.csv", experiment.name),
            &experiment.csv(results),
        )?;
    }
    if let Some(table) = claims::table(results) {
        page.section("What the papers conclude");
        page.table(&table);
    }
    save(directory, "runs.csv", &all_runs(results))?;
    save(directory, "report.html", &page.to_html())
}

fn introduction(page: &mut Page, results: &Results, settings: &str) {
    page.text(
        "The papers are M. Stillwell, F. Vivien, H. Casanova: Dynamic Fractional Resource Scheduling for HPC Workloads (IPDPS \
         2010) and Dynamic Fractional Resource Scheduling versus Batch Scheduling (IEEE TPDS 23(3), 2012). Everything here \
         was computed by `dfrs reproduce` with the same decision code that runs in slurmctld. Published numbers are those \
         that the papers print; what they only draw is not guessed at.",
    );
    page.text(&format!(
        "This run: {settings}. Differences are given in percent up to a factor of 2 and as factors beyond; green is within \
         10%, yellow within a factor of 2, red beyond. The papers' synthetic traces are not at hand: ours are others of the same \
         model. For averages over them “se” gives the difference in standard errors of the two averages; below 2 it may well \
         be chance."
    ));
    for note in results.traces.notes() {
        page.notice(&note);
    }
    if !results.traces.is_full() {
        page.notice(&format!(
            "This is no full reproduction: {} of the papers' 100, and as small a part of the HPC2N weeks. Averages of heavy \
             tails over so few traces scatter widely, and maxima must be smaller.",
            traces(results.traces.of(TraceSet::Unscaled).len())
        ));
    }
}

/// Adds the experiment's charts and tables to the page; returns the charts with their names.
fn show(experiment: &Experiment, results: &Results, page: &mut Page) -> Vec<(String, String)> {
    let mut drawn = Vec::new();
    match experiment.shape {
        Shape::ByLoad => {
            let caption =
                "Each point is the average over all traces of this load. Dashed: batch schedulers.";
            if let Some(chart) = figures::by_load(experiment, results) {
                page.figure(&chart.to_svg(), caption);
                drawn.push((experiment.name.into(), chart.to_svg()));
            }
        }
        Shape::ByPeriod => {
            for set in experiment.sets {
                let caption = format!("Averages over {}; 0 is perfect.", set.title());
                if let Some(chart) = figures::by_period(experiment, results, *set) {
                    page.figure(&chart.to_svg(), &caption);
                    drawn.push((
                        format!("{}-{}", experiment.name, set.name()),
                        chart.to_svg(),
                    ));
                }
            }
        }
        Shape::SetsByPeriod => {
            if let Some(chart) = figures::sets_by_period(experiment, results) {
                page.figure(&chart.to_svg(), &format!("Averages under {BEST}."));
                drawn.push((experiment.name.into(), chart.to_svg()));
            }
        }
        Shape::Spread => {
            for table in tables::spreads(experiment, results) {
                page.table(&table);
            }
        }
        Shape::Measures => {
            for table in tables::measures(experiment, results) {
                page.table(&table);
            }
        }
    }
    if !drawn.is_empty()
        && let Some(table) = tables::averages(experiment, results)
    {
        page.table(&table);
    }
    drawn
}

fn easy_text(page: &mut Page) {
    page.text(
        "EASY backfilling lets a later job start now if it fits and does not delay the first job of the queue: because it \
         ends before the time at which the first can start, or because it uses nodes that are left over then. In the \
         simulator that the papers' authors have published, the first of these two rules never fires. Their EASY is a weaker \
         scheduler than the one that everybody knows. Here it is called `EASY/no-shadow`, stands beside the papers' numbers \
         for EASY; `EASY` is the real one, with no published counterpart.",
    );
    page.text(
        "What follows from it: the claim of orders of magnitude in largest stretch stands against the real EASY too, with a \
         smaller factor. The claim of comparable or better utilization was made against the weaker EASY, and the tables and \
         figures below show what is left of it.",
    );
}

/// The policies on the unscaled traces, beside what the authors' own simulator gives.
fn easy_finding(results: &Results) -> Option<Table> {
    // Measured with the authors' published simulator on 100 other traces of the same model: largest
    // stretch, mean stretch, underutilization, degradation from bound.
    let authors: [(&str, [Option<f64>; 4]); 4] = [
        (
            "FCFS",
            [Some(10_732.0), Some(1717.0), Some(0.423), Some(4557.0)],
        ),
        (
            EASY_PUBLISHED,
            [Some(10_098.0), Some(1007.0), Some(0.351), Some(4368.0)],
        ),
        (EASY, [Some(3810.0), Some(148.0), Some(0.112), Some(1633.0)]),
        (BEST, [None, Some(1.77), Some(0.4995), Some(4.6)]),
    ];
    let measures = [
        Measure::MaxStretch,
        Measure::MeanStretch,
        Measure::Underutilization,
        Measure::DegradationFromBound,
    ];
    let mut heads = vec!["policy"];
    heads.extend(measures.iter().flat_map(|_| ["theirs", "here"]));
    let mut table = Table::new(
        "Averages over the unscaled synthetic traces, with a penalty of 300 s. “theirs”: with the authors' published \
         simulator on 100 other traces of the same model, and for EASY as defined with backfilling by both rules.",
        &heads,
    )
    .group("", 1);
    for measure in measures {
        table = table.group(measure.title(), 2);
    }
    for (policy, values) in authors {
        let mut row = vec![Cell::text(super::cells::label(policy))];
        for (measure, value) in measures.into_iter().zip(values) {
            let query = Query {
                set: TraceSet::Unscaled,
                policy,
                penalty: PENALTY,
                period: None,
                measure,
            };
            let ours = results.spread(&query)?.mean;
            row.push(Cell::number(
                value.map_or("–".into(), |value| significant(value, 3)),
            ));
            row.push(Cell::number(significant(ours, 3)));
        }
        table.row(row);
    }
    Some(table)
}

/// A line for each run.
fn all_runs(results: &Results) -> String {
    let mut csv = csv_line(&[
        "traces",
        "number",
        "load",
        "policy",
        "penalty_seconds",
        "period_seconds",
        "jobs",
        "max_stretch",
        "mean_stretch",
        "max_stretch_30",
        "bound",
        "normalized_underutilization",
        "makespan",
        "pauses",
        "migrations",
        "pause_gb",
        "migration_gb",
        "decide_seconds_mean",
        "decide_seconds_max",
    ]);
    for (run, measured, bound) in results.all() {
        let (set, number, load) = match run.trace {
            TraceId::Unscaled(number) => (TraceSet::Unscaled, number.to_string(), String::new()),
            TraceId::Scaled(number, tenths) => {
                (TraceSet::Scaled, number.to_string(), format!("0.{tenths}"))
            }
            TraceId::Week(week) => (TraceSet::Weeks, week.to_string(), String::new()),
            TraceId::Whole => (TraceSet::Whole, String::new(), String::new()),
        };
        csv += &csv_line(&[
            set.name(),
            number,
            load,
            run.policy.clone(),
            run.penalty.to_string(),
            run.period.to_string(),
            measured.jobs.to_string(),
            measured.max_stretch.to_string(),
            measured.mean_stretch.to_string(),
            measured.max_stretch_30.to_string(),
            bound.map_or(String::new(), |bound| bound.to_string()),
            measured.underutilization.to_string(),
            measured.makespan.to_string(),
            measured.pauses.to_string(),
            measured.migrations.to_string(),
            measured.pause_gb.to_string(),
            measured.migration_gb.to_string(),
            measured.decide_mean.to_string(),
            measured.decide_max.to_string(),
        ]);
    }
    csv
}

/// Writes a file as a whole or not at all, and returns its path.
fn save(directory: &Path, name: &str, content: &str) -> Result<String, String> {
    let path = directory.join(name);
    let unfinished = directory.join(format!(".{name}.unfinished"));
    fs::write(&unfinished, content)
        .and_then(|()| fs::rename(&unfinished, &path))
        .map_err(|error| {
            format!(
                "{}: cannot be written: {error}; check the path and its permissions",
                path.display()
            )
        })?;
    Ok(path.display().to_string())
}
