//! `dfrs moldable`: tasks whose number of processors is chosen by the scheduler.

mod distance;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use dfrs_lab::moldable::{self, Scheduled};
use dfrs_lab::outputs;
use dfrs_moldable::MAX_PROCESSORS;
use dfrs_moldable_lab::workload::WorkloadModel;
use dfrs_moldable_lab::{Algorithm, MAX_TASKS, Shuffles};

/// Schedules moldable tasks for makespan and weighted completion time at once (DEMT, SPAA 2004).
#[derive(Args)]
pub struct MoldableArguments {
    #[command(subcommand)]
    command: MoldableCommand,
}

#[derive(Subcommand)]
enum MoldableCommand {
    Generate(MoldableGenerateArguments),
    Schedule(ScheduleArguments),
    Distance(distance::DistanceArguments),
}

/// Generates an instance: one task a line, as JSON.
///
/// The same seed gives the same tasks on every machine. Exit code 2: it cannot be written.
#[derive(Args)]
struct MoldableGenerateArguments {
    /// What the tasks are like: uniform-weak, uniform-high, mixed or cirne
    #[arg(long)]
    model: WorkloadModel,
    /// Number of tasks
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=MAX_TASKS as u64))]
    tasks: u64,
    /// Number of processors, each of which has a time
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PROCESSORS)))]
    processors: u32,
    /// What the random numbers begin with
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Schedules the tasks of a file, and prints makespan, weighted completion and lower bounds.
///
/// A line of the file is a task: {"id":"7","weight":3,"release":0,"times":[10,6,4.5]}, with times[k-1] the
/// time on k processors and null where it is not possible. Exit code 2: the file cannot be read, or
/// has a bad line.
#[derive(Args)]
struct ScheduleArguments {
    /// The tasks
    file: PathBuf,
    /// Number of processors
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PROCESSORS)))]
    processors: u32,
    /// How to schedule: DEMT, DEMT+, Gang, Sequential, ListGraham, ListGraham/LPTF or ListGraham/SAF; may be
    /// given many times
    #[arg(long, value_name = "NAME", num_args = 1.., default_value = "DEMT")]
    algorithm: Vec<Algorithm>,
    /// How often DEMT shuffles the order of its batches; the best schedule is kept
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    shuffles: u32,
    /// What the random numbers of the shuffles begin with
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// No task starts before its release: what was released while a batch ran is the next one
    #[arg(long)]
    online: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = MoldableFormat::Table)]
    format: MoldableFormat,
    /// Draw the schedule; with several algorithms their names are put into the file's name
    #[arg(long, value_name = "FILE.svg")]
    gantt: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MoldableFormat {
    /// For people
    Table,
    /// An array with an object for each algorithm
    Json,
}

/// Does what the subcommand says.
pub fn run(arguments: &MoldableArguments) -> Result<(String, String), String> {
    match &arguments.command {
        MoldableCommand::Generate(arguments) => generated(arguments),
        MoldableCommand::Schedule(arguments) => scheduled(arguments),
        MoldableCommand::Distance(arguments) => {
            distance::table(arguments).map(|table| (table, String::new()))
        }
    }
}

fn generated(arguments: &MoldableGenerateArguments) -> Result<(String, String), String> {
    outputs::check(None, &[("--output", arguments.output.as_deref())])?;
    let tasks = usize::try_from(arguments.tasks).unwrap_or(usize::MAX);
    let text = moldable::generated(arguments.model, tasks, arguments.processors, arguments.seed)?;
    match &arguments.output {
        None => Ok((text, String::new())),
        Some(path) => outputs::write(path, &text).map(|()| Default::default()),
    }
}

fn scheduled(arguments: &ScheduleArguments) -> Result<(String, String), String> {
    let drawings = drawings(arguments.gantt.as_deref(), &arguments.algorithm);
    let options: Vec<_> = drawings
        .iter()
        .map(|path| ("--gantt", Some(path.as_path())))
        .collect();
    outputs::check(Some(&arguments.file), &options)?;
    let instance = moldable::read(&arguments.file, arguments.processors)?;
    let least = moldable::least(&instance, arguments.online);
    let shuffles = Shuffles {
        count: arguments.shuffles,
        seed: arguments.seed,
    };
    let all = arguments.algorithm.iter();
    let all: Vec<Scheduled> = all
        .map(|algorithm| moldable::schedule(&instance, *algorithm, shuffles, arguments.online))
        .collect::<Result<_, _>>()?;
    for (path, scheduled) in drawings.iter().zip(&all) {
        outputs::write(path, &moldable::gantt(&instance, scheduled).to_svg())?;
    }
    let output = match arguments.format {
        MoldableFormat::Json => moldable::json(&instance, &all, least)?,
        MoldableFormat::Table => moldable::table(&all, least),
    };
    let notes = match instance.has_releases() && !arguments.online {
        true => format!(
            "{}: has tasks with a release, which counts with --online only; here all start from 0 on\n",
            arguments.file.display()
        ),
        false => String::new(),
    };
    Ok((output, notes))
}

/// A file for each algorithm, if there is to be one: `some/schedule.svg`, or with several of them
/// `some/schedule-ListGraham-SAF.svg` and so on.
fn drawings(path: Option<&Path>, algorithms: &[Algorithm]) -> Vec<PathBuf> {
    let Some(path) = path else { return Vec::new() };
    if algorithms.len() == 1 {
        return vec![path.to_owned()];
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let named = algorithms.iter().map(|algorithm| {
        let name = algorithm.name().replace('/', "-");
        path.with_file_name(format!("{stem}-{name}.svg"))
    });
    named.collect()
}
