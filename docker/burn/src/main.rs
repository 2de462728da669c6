//! `dfrs-burn`: one task of known work, CPU need and memory.

mod burn;
mod checkpoint;
mod clock;
mod memory;
mod pace;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use signal_hook::consts::{SIGTERM, SIGUSR1};
use signal_hook::flag;

use crate::burn::BurnTask;
use crate::memory::Ballast;
use crate::report::ProgressReport;

/// Bytes in a page of memory; larger pages of other machines hold several of these.
const PAGE_SIZE: usize = 4096;
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// As a shell reports a death by SIGTERM.
const STOPPED: u8 = 128 + 15;

/// One task of known work, CPU need and memory.
///
/// It paces itself by its own CPU clock: it can never use more than --rate cores, it slows in
/// proportion when it gets less, and it does not catch up after a pause. On SIGUSR1 it writes its
/// checkpoint and goes on; on SIGTERM it writes its checkpoint and exits with status 143. A task
/// that finds a checkpoint when it starts goes on from there. "%t" in file names stands for the
/// task's number in its Slurm step.
#[derive(Parser)]
#[command(version)]
struct BurnArguments {
    /// Wall time in seconds that the work takes if the task gets all the CPU it can use
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    work: f64,
    /// Cores that the task can use at most (its CPU need), 0.01 to 1
    #[arg(long, value_name = "CORES", value_parser = fraction)]
    rate: f64,
    /// MiB of memory to fill and to keep in use
    #[arg(long, value_name = "MB", default_value_t = 0)]
    memory: usize,
    /// File that keeps the progress
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<String>,
    /// File to which progress lines with time stamps are added
    #[arg(long, value_name = "FILE")]
    report: Option<String>,
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "not a number".to_owned())
}

fn positive(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    // A year: keeps the arithmetic on durations far from its limits.
    if value > 0.0 && value <= 31_536_000.0 {
        Ok(value)
    } else {
        Err("must be above 0 and at most 31536000".to_owned())
    }
}

fn fraction(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if (0.01..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err("must be at least 0.01 and at most 1 core".to_owned())
    }
}

/// Set by the signals' handlers.
struct Signals {
    checkpoint: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
}

impl Signals {
    fn catch() -> Result<Self, String> {
        let signals = Self {
            checkpoint: Arc::default(),
            stop: Arc::default(),
        };
        flag::register(SIGUSR1, Arc::clone(&signals.checkpoint))
            .and_then(|_| flag::register(SIGTERM, Arc::clone(&signals.stop)))
            .map_err(|error| format!("signals: {error}"))?;
        Ok(signals)
    }
}

/// A task with the files it writes.
struct BurnRun {
    task: BurnTask,
    report: ProgressReport,
    checkpoint: Option<PathBuf>,
}

impl BurnRun {
    fn new(arguments: &BurnArguments, task_number: &str) -> Result<Self, String> {
        let name = |pattern: &String| pattern.replace("%t", task_number);
        let checkpoint = arguments.checkpoint.as_ref().map(name).map(PathBuf::from);
        let report = ProgressReport::open(arguments.report.as_ref().map(name))?;
        let restored = match &checkpoint {
            Some(path) => checkpoint::load(path)?,
            None => None,
        };
        Ok(Self {
            task: BurnTask::new(
                Duration::from_secs_f64(arguments.work),
                arguments.rate,
                restored,
                Ballast::new(arguments.memory << 20, PAGE_SIZE),
            ),
            report,
            checkpoint,
        })
    }

    fn write_line(&mut self, event: &str) -> Result<(), String> {
        self.report.line(event, self.task.done(), "")
    }

    fn save(&mut self) -> Result<(), String> {
        let Some(path) = &self.checkpoint else {
            return Ok(());
        };
        checkpoint::save(path, self.task.done())?;
        self.write_line("checkpoint")
    }

    /// Works until all is done (true) or until a signal stops it (false).
    fn work(&mut self, signals: &Signals) -> Result<bool, String> {
        let mut reported = Instant::now();
        while !self.task.is_finished() {
            if signals.stop.load(Ordering::Relaxed) {
                self.save()?;
                return Ok(false);
            }
            if signals.checkpoint.swap(false, Ordering::Relaxed) {
                self.save()?;
            }
            self.task.advance()?;
            if reported.elapsed() >= REPORT_INTERVAL {
                reported = Instant::now();
                self.write_line("progress")?;
            }
        }
        // The job may still be restarted, for its other tasks: this one has nothing left to do then.
        self.save()?;
        Ok(true)
    }
}

fn run(arguments: &BurnArguments) -> Result<ExitCode, String> {
    let signals = Signals::catch()?;
    let variable = |name: &str, default: &str| std::env::var(name).unwrap_or(default.to_owned());
    let task_number = variable("SLURM_PROCID", "0");
    let node = variable("SLURMD_NODENAME", "-");
    let mut run = BurnRun::new(arguments, &task_number)?;
    let total = run.task.total().as_secs_f64();
    // What it starts from, without the CPU time of its own start, which already counts as work.
    let more = format!("node={node} task={task_number} total={total:.3}");
    run.report.line("start", run.task.restored(), &more)?;
    if run.work(&signals)? {
        run.write_line("finish")?;
        return Ok(ExitCode::SUCCESS);
    }
    run.write_line("stop")?;
    Ok(ExitCode::from(STOPPED))
}

fn main() -> ExitCode {
    match run(&BurnArguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("dfrs-burn: {error}");
            ExitCode::FAILURE
        }
    }
}
