//! Schedules as they are printed and drawn.

use std::fmt::Write;

use dfrs_moldable::{Criteria, ProcessorSet};
use dfrs_moldable_lab::MoldableInstance;
use dfrs_report::{Gantt, GanttBar};
use serde::Serialize;

use super::Scheduled;

/// What is printed of an algorithm.
#[derive(Serialize)]
struct AlgorithmOutput<'a> {
    algorithm: &'static str,
    makespan: f64,
    weighted_completion: f64,
    /// No schedule has a smaller one.
    bound_makespan: f64,
    bound_weighted_completion: f64,
    /// What the algorithm took.
    seconds: f64,
    tasks: Vec<PlacedTask<'a>>,
}

#[derive(Serialize)]
struct PlacedTask<'a> {
    id: &'a str,
    start: f64,
    end: f64,
    /// Indexes, from 0 on.
    processors: Vec<u32>,
}

/// An array with an object for each algorithm. `least`: no schedule has smaller criteria.
///
/// # Errors
///
/// One line, if a number cannot be written as JSON.
pub fn json(
    instance: &MoldableInstance,
    all: &[Scheduled],
    least: Criteria,
) -> Result<String, String> {
    let answer = |scheduled: &'_ Scheduled| {
        let placements = scheduled.schedule.placements.iter();
        let tasks = placements.map(|placement| PlacedTask {
            id: instance.tasks()[placement.task].id(),
            start: placement.start,
            end: placement.end,
            processors: placement.processors.iter().collect(),
        });
        AlgorithmOutput {
            algorithm: scheduled.algorithm.name(),
            makespan: scheduled.criteria.makespan,
            weighted_completion: scheduled.criteria.weighted_completion,
            bound_makespan: least.makespan,
            bound_weighted_completion: least.weighted_completion,
            seconds: scheduled.seconds,
            tasks: tasks.collect(),
        }
    };
    let answers: Vec<AlgorithmOutput> = all.iter().map(answer).collect();
    let text = serde_json::to_string(&answers).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}

/// A line for each algorithm, and one for the bounds.
pub fn table(all: &[Scheduled], least: Criteria) -> String {
    let mut table = format!(
        "{:<16} {:>12} {:>8} {:>20} {:>8} {:>9}\n",
        "algorithm", "makespan", "ratio", "weighted completion", "ratio", "seconds"
    );
    for scheduled in all {
        let Criteria {
            makespan,
            weighted_completion,
        } = scheduled.criteria;
        let _ = writeln!(
            table,
            "{:<16} {makespan:>12.4} {:>8.3} {weighted_completion:>20.4} {:>8.3} {:>9.4}",
            scheduled.algorithm.name(),
            makespan / least.makespan,
            ratio(weighted_completion, least.weighted_completion),
            scheduled.seconds
        ); // a String takes all
    }
    let _ = writeln!(
        table,
        "{:<16} {:>12.4} {:>8} {:>20.4}",
        "lower bound", least.makespan, "", least.weighted_completion
    ); // a String takes all
    table
}

/// 1 where nothing has a weight.
fn ratio(value: f64, least: f64) -> f64 {
    if least > 0.0 { value / least } else { 1.0 }
}

/// Which task runs when and where.
pub fn gantt(instance: &MoldableInstance, scheduled: &Scheduled) -> Gantt {
    let placements = scheduled.schedule.placements.iter();
    let rows = |processors: &ProcessorSet| {
        let ranges = processors.ranges().iter();
        let rows = ranges.map(|range| f64::from(range.start)..f64::from(range.end));
        rows.collect()
    };
    let bars = placements.map(|placement| GanttBar {
        colour: placement.task,
        name: instance.tasks()[placement.task].id().to_owned(),
        time: placement.start..placement.end,
        rows: rows(&placement.processors),
    });
    Gantt {
        title: format!(
            "{}: {} tasks on {} processors",
            scheduled.algorithm,
            instance.tasks().len(),
            instance.processors()
        ),
        row: "processor",
        rows: instance.processors(),
        bars: bars.collect(),
    }
}
