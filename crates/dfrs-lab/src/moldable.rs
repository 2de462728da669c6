//! Moldable tasks: their schedules, how these are shown, and how far algorithms are from the optimum.

pub mod distance;
mod files;
mod show;

use std::time::Instant;

use dfrs_moldable::{Criteria, Schedule};
use dfrs_moldable_lab::workload::{WorkloadModel, generate};
use dfrs_moldable_lab::{
    Algorithm, MoldableInstance, Releases, Shuffles, bounds, check, file, online_bounds,
};

pub use files::read;
pub use show::{gantt, json, table};

/// A schedule, what made it, and what that took.
pub struct Scheduled {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The schedule.
    pub schedule: Schedule,
    /// What it is judged by.
    pub criteria: Criteria,
    /// Time that the algorithm took.
    pub seconds: f64,
}

/// An instance of the model: a task a line, as JSON. The same seed gives the same tasks on every machine.
///
/// # Errors
///
/// One line: the instance is too large.
pub fn generated(
    model: WorkloadModel,
    tasks: usize,
    processors: u32,
    seed: u64,
) -> Result<String, String> {
    let instance = generate(model, tasks, processors, seed).map_err(|error| error.to_string())?;
    let mut text = String::new();
    for task in instance.tasks() {
        text += &file::line(task).map_err(|error| error.to_string())?;
        text.push('\n');
    }
    Ok(text)
}

/// Criteria below which no schedule is. `online`: releases count.
pub fn least(instance: &MoldableInstance, online: bool) -> Criteria {
    match online {
        true => online_bounds(instance),
        false => bounds(&instance.problem()),
    }
}

/// Schedules the tasks, and checks the schedule. `online`: no task starts before its release.
///
/// # Errors
///
/// One line: the schedule is wrong, which is a defect of the algorithm.
pub fn schedule(
    instance: &MoldableInstance,
    algorithm: Algorithm,
    shuffles: Shuffles,
    online: bool,
) -> Result<Scheduled, String> {
    let begin = Instant::now();
    let (schedule, releases) = match online {
        true => (algorithm.online(instance, shuffles), Releases::Kept),
        false => {
            let problem = instance.problem();
            (algorithm.schedule(&problem, shuffles), Releases::Ignored)
        }
    };
    let seconds = begin.elapsed().as_secs_f64();
    if let Some(violation) = check(instance, &schedule, releases).first() {
        return Err(format!(
            "{algorithm}: made a wrong schedule: {violation}; report it with the file"
        ));
    }
    Ok(Scheduled {
        algorithm,
        criteria: instance.criteria(&schedule),
        schedule,
        seconds,
    })
}
