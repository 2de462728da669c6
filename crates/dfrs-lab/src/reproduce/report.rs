//! The report, and the files beside it.

mod easy;
mod runs;

use std::path::Path;

use dfrs_proto::text::counted;
use dfrs_report::Page;

use super::claims;
use super::experiment::{BEST, Experiment, ResultLayout};
use super::moldable::{self, Figure, Ratios};
use super::results::Results;
use super::traces::TraceSet;
use super::{figures, tables};
use crate::outputs::save;

/// Writes everything to the directory and returns the path of the report.
pub fn write(
    directory: &Path,
    results: &Results,
    chosen: &[&Experiment],
    (figures, ratios): (&[&Figure], &Ratios),
    settings: &str,
) -> Result<String, String> {
    let mut page = Page::new(
        "Dynamic fractional resource scheduling, reproduced",
        "The figures and tables of the papers of 2010 and 2012, published beside reproduced.",
    );
    introduction(&mut page, results, settings);
    easy::section(&mut page, results);
    for experiment in chosen {
        let text = experiment.text();
        page.section(&text.title);
        page.text(&text.about);
        let mut sets = experiment.sets.iter();
        if sets.all(|set| results.traces.of(*set).is_empty()) {
            page.notice("Left out: only a full reproduction with the HPC2N trace has it.");
            continue;
        }
        for (name, svg) in show(experiment, results, &mut page) {
            save(directory, &format!("{name}.svg"), &svg)?;
        }
        let mut differences = text.differences().peekable();
        if differences.peek().is_some() {
            page.heading("Where it differs, and why");
            page.list(differences);
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
    for (name, content) in moldable::write(&mut page, figures, ratios) {
        save(directory, &name, &content)?;
    }
    save(directory, "runs.csv", &runs::csv(results))?;
    save(directory, "report.html", &page.to_html())
}

fn introduction(page: &mut Page, results: &Results, settings: &str) {
    page.text(
        "The papers are M. Stillwell, F. Vivien, H. Casanova: Dynamic Fractional Resource Scheduling for HPC Workloads (IPDPS \
         2010) and Dynamic Fractional Resource Scheduling versus Batch Scheduling (IEEE TPDS 23(3), 2012). Everything here \
         was computed by `dfrs reproduce` with the same decision code that runs in slurmctld. Published numbers are those that the papers print, those of the long version of the second (research report \
         INRIA RR-7659), and the corners of the curves in their figures, which are vector graphics: their averages are the \
         printed ones.",
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
            counted(results.traces.of(TraceSet::Unscaled).len(), "trace")
        ));
    }
}

/// Adds the experiment's charts and tables to the page; returns the charts with their names.
fn show(experiment: &Experiment, results: &Results, page: &mut Page) -> Vec<(String, String)> {
    let mut drawn = Vec::new();
    match experiment.shape {
        ResultLayout::ByLoad => {
            let caption =
                "Each point is the average over all traces of this load. Dashed: batch schedulers.";
            if let Some(chart) = figures::by_load(experiment, results) {
                page.figure(&chart.to_svg(), caption);
                drawn.push((experiment.name.into(), chart.to_svg()));
            }
            if let Some(chart) = figures::by_load_published(experiment) {
                let caption = "The curves of the paper, measured in its vector graphics. Colours are those above.";
                page.figure(&chart.to_svg(), caption);
                drawn.push((format!("{}-published", experiment.name), chart.to_svg()));
            }
        }
        ResultLayout::ByPeriod => {
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
        ResultLayout::SetsByPeriod => {
            if let Some(chart) = figures::sets_by_period(experiment, results) {
                page.figure(&chart.to_svg(), &format!("Averages under {BEST}."));
                drawn.push((experiment.name.into(), chart.to_svg()));
            }
        }
        ResultLayout::Spread => {
            for table in tables::spreads(experiment, results) {
                page.table(&table);
            }
        }
        ResultLayout::Measures => {
            for table in tables::measures(experiment, results) {
                page.table(&table);
            }
        }
    }
    if !drawn.is_empty() {
        page.table(&tables::averages(experiment, results));
    }
    drawn
}
