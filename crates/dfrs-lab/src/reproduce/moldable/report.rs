//! The figures: charts, tables and CSV files.

use dfrs_moldable_lab::Algorithm;
use dfrs_report::{Axis, Cell, Chart, Page, Series, Table, csv_line, decimals};

use super::claims;
use super::measure::{RatioCriterion, Ratios};
use super::{ALL_RUNS, Figure, PROCESSORS, TASKS};
use crate::reproduce::texts::TEXTS;

/// A file by its name without directory.
type Named = (String, String);

/// Adds the figures to the page; returns the files that go beside it.
pub fn write(page: &mut Page, figures: &[&Figure], ratios: &Ratios) -> Vec<Named> {
    let mut files = Vec::new();
    for figure in figures {
        let text = TEXTS.experiment(figure.name);
        page.section(&text.title);
        page.text(&text.about);
        page.text(&format!(
            "{} runs of the paper's {ALL_RUNS} for each number of tasks, {PROCESSORS} processors. The published figures are pictures without \
             numbers; what the text says of them is checked below.",
            ratios.runs
        ));
        match figure.is_time {
            true => times(page, figure, ratios, &mut files),
            false => curves(page, figure, ratios, &mut files),
        }
    }
    if let Some(table) = claims::table(ratios) {
        page.section("What the bi-criteria paper concludes");
        page.table(&table);
        page.heading("Where it differs, and why");
        page.list(&TEXTS.demt_differences);
    }
    files
}

fn curves(page: &mut Page, figure: &Figure, ratios: &Ratios, files: &mut Vec<Named>) {
    let Some(model) = figure.models.first().copied() else {
        return;
    };
    for criterion in RatioCriterion::ALL {
        let title = format!(
            "{}: {}",
            TEXTS.experiment(figure.name).title,
            criterion.title()
        );
        let axis = Axis::linear("ratio to the lower bound").with_range(1.0, 3.0);
        let mut chart = Chart::new(
            &title,
            Axis::linear("number of tasks").with_range(0.0, 400.0),
            axis,
        );
        let mut left_out = Vec::new();
        for algorithm in Algorithm::ALL {
            let points = TASKS.iter().filter_map(|tasks| {
                let point = ratios.point(model, *tasks, algorithm, criterion)?;
                Some((f64::from(*tasks), point.average))
            });
            let points: Vec<(f64, f64)> = points.collect();
            // The paper's figures leave out what is far off, too.
            let is_far = points.iter().all(|(_, ratio)| *ratio > 6.0);
            if is_far {
                left_out.push(algorithm.name());
            }
            let shown = points.into_iter().filter(|(_, ratio)| *ratio <= 6.0);
            let series = Series::new(algorithm.name(), shown.collect());
            chart = chart.with(match algorithm {
                Algorithm::Demt => series.bold(),
                Algorithm::DemtPlus => series,
                _ => series.dashed(),
            });
        }
        let mut caption = "Averages: the sum of the values over the sum of the bounds. Values above 6 are not drawn.".to_owned();
        if !left_out.is_empty() {
            caption += &format!(" All of them are for {}.", left_out.join(" and "));
        }
        page.figure(&chart.to_svg(), &caption);
        files.push((
            format!("{}-{}.svg", figure.name, criterion.name()),
            chart.to_svg(),
        ));
        page.table(&table(figure, ratios, criterion));
    }
    files.push((format!("{}.csv", figure.name), csv(figure, ratios)));
}

/// Minimum, average and maximum ratio at some numbers of tasks.
fn table(figure: &Figure, ratios: &Ratios, criterion: RatioCriterion) -> Table {
    let shown = [25, 100, 400];
    let mut heads = vec!["algorithm"];
    heads.extend(shown.iter().flat_map(|_| ["minimum", "average", "maximum"]));
    let caption = format!("Ratios of the {} to its bound.", criterion.title());
    let mut table = Table::new(&caption, &heads).group("", 1);
    for tasks in shown {
        table = table.group(&format!("{tasks} tasks"), 3);
    }
    for algorithm in Algorithm::ALL {
        let mut row = vec![Cell::text(algorithm.name())];
        for tasks in shown {
            let point = figure
                .models
                .first()
                .and_then(|model| ratios.point(*model, tasks, algorithm, criterion));
            let Some(point) = point else { continue };
            let numbers = [point.min, point.average, point.max];
            row.extend(numbers.map(|number| Cell::number(decimals(number, 2))));
        }
        table.row(row);
    }
    table
}

fn csv(figure: &Figure, ratios: &Ratios) -> String {
    let mut csv =
        "model,tasks,processors,runs,algorithm,criterion,minimum,average,maximum\n".to_owned();
    for model in figure.models {
        for tasks in TASKS {
            for algorithm in Algorithm::ALL {
                for criterion in RatioCriterion::ALL {
                    let Some(point) = ratios.point(*model, *tasks, algorithm, criterion) else {
                        continue;
                    };
                    csv += &csv_line(&[
                        model.name().into(),
                        tasks.to_string(),
                        PROCESSORS.to_string(),
                        ratios.runs.to_string(),
                        algorithm.name().into(),
                        criterion.name().into(),
                        point.min.to_string(),
                        point.average.to_string(),
                        point.max.to_string(),
                    ]);
                }
            }
        }
    }
    csv
}

fn times(page: &mut Page, figure: &Figure, ratios: &Ratios, files: &mut Vec<Named>) {
    let axis = Axis::linear("milliseconds").with_range(0.0, 1.0);
    let mut chart = Chart::new(
        &TEXTS.experiment(figure.name).title,
        Axis::linear("number of tasks").with_range(0.0, 400.0),
        axis,
    );
    let mut csv = "model,tasks,processors,mean_seconds,longest_seconds\n".to_owned();
    for model in figure.models {
        let mut points = Vec::new();
        for tasks in TASKS {
            let Some((mean, longest)) = ratios.seconds(*model, *tasks, Algorithm::Demt) else {
                continue;
            };
            points.push((f64::from(*tasks), mean * 1e3));
            csv += &csv_line(&[
                model.name().into(),
                tasks.to_string(),
                PROCESSORS.to_string(),
                mean.to_string(),
                longest.to_string(),
            ]);
        }
        chart = chart.with(Series::new(model.name(), points));
    }
    page.figure(&chart.to_svg(), "Means over the runs.");
    files.push((format!("{}.svg", figure.name), chart.to_svg()));
    files.push((format!("{}.csv", figure.name), csv));
}
