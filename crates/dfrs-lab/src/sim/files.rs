//! The files that a simulation writes.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use dfrs_proto::journal::{JournalEvent, JournalWriter};
use dfrs_sim::metrics::{Utilization, UtilizationStep};
use dfrs_sim::{OnJobEnd, SimOutcome, SimulationError, Sink};

use crate::outputs::refused;

/// The files that are written of a run.
#[derive(Clone, Copy, Default)]
pub struct SimOutputs<'a> {
    /// What happens, as a journal.
    pub journal: Option<&'a Path>,
    /// A line for each job, as CSV.
    pub jobs: Option<&'a Path>,
    /// How much CPU is demanded and used at what time, as CSV.
    pub utilization: Option<&'a Path>,
    /// What ran when and where, as SVG.
    pub gantt: Option<&'a Path>,
}

/// Why there is no outcome.
pub enum SimFailure {
    /// One line: a file cannot be written, or an option is invalid.
    Line(String),
    /// The simulation did not come to its end.
    Simulation(SimulationError),
}

/// What a policy does in its world, live or not; calls `ended` for each job.
type Simulation<'a> = &'a dyn Fn(Option<Sink>, OnJobEnd) -> Result<SimOutcome, SimFailure>;

/// An observer of what happens.
pub type EventObserver<'a> = Option<&'a mut dyn FnMut(&JournalEvent)>;

/// Simulates, writes the wanted files, calls `notice` with what happens, and `ended` for each job.
pub fn simulate(
    wanted: &SimOutputs,
    mut notice: EventObserver,
    simulation: Simulation,
    ended: OnJobEnd,
) -> Result<SimOutcome, SimFailure> {
    let mut journal = wanted.journal.map(create).transpose()?;
    let mut writer = journal.as_mut().map(JournalWriter::new);
    let mut usage = wanted.utilization.map(UsageFile::create).transpose()?;
    let mut refusal = None;
    let is_wanted = wanted.journal.is_some() || wanted.utilization.is_some() || notice.is_some();
    let mut sink = |event: &JournalEvent| {
        if let Some(usage) = &mut usage
            && let Err(error) = usage.take(event)
        {
            refusal.get_or_insert(error);
        }
        if let Some(notice) = &mut notice {
            notice(event);
        }
        writer.as_mut().map_or(Ok(()), |writer| writer.write(event))
    };
    let sink: Option<Sink> = if is_wanted { Some(&mut sink) } else { None };
    let outcome = simulation(sink, ended);
    let outcome = outcome.map_err(|failure| match (failure, wanted.journal) {
        (SimFailure::Simulation(SimulationError::Journal(error)), Some(path)) => {
            SimFailure::Line(format!("{}: {error}", path.display()))
        }
        (failure, _) => failure,
    })?;
    if let (Some(path), Some(out)) = (wanted.journal, &mut journal) {
        out.flush().map_err(|error| refused(path, &error))?;
    }
    if let (Some(path), Some(usage)) = (wanted.utilization, usage) {
        let written = refusal.map_or_else(|| usage.finish(), Err);
        written.map_err(|error| refused(path, &error))?;
    }
    Ok(outcome)
}

impl From<SimulationError> for SimFailure {
    fn from(error: SimulationError) -> Self {
        Self::Simulation(error)
    }
}

impl From<String> for SimFailure {
    fn from(line: String) -> Self {
        Self::Line(line)
    }
}

/// CPU demanded, used and held by jobs that stall over time, a line for each change. Times are seconds, CPU is in nodes.
struct UsageFile {
    out: BufWriter<File>,
    utilization: Utilization,
    steps: Vec<UtilizationStep>,
}

impl UsageFile {
    fn create(path: &Path) -> Result<Self, String> {
        let mut out = create(path)?;
        writeln!(out, "time,demand,used,stalled").map_err(|error| refused(path, &error))?;
        Ok(Self {
            out,
            utilization: Utilization::default(),
            steps: Vec::new(),
        })
    }

    fn take(&mut self, event: &JournalEvent) -> io::Result<()> {
        self.utilization.take(event, &mut self.steps);
        self.write()
    }

    fn finish(mut self) -> io::Result<()> {
        std::mem::take(&mut self.utilization).finish(&mut self.steps);
        self.write()?;
        self.out.flush()
    }

    fn write(&mut self) -> io::Result<()> {
        for step in self.steps.drain(..) {
            let time = step.time.seconds();
            writeln!(
                self.out,
                "{time},{},{},{}",
                step.demand, step.used, step.stalled
            )?;
        }
        Ok(())
    }
}

pub(super) fn create(path: &Path) -> Result<BufWriter<File>, String> {
    File::create(path)
        .map(BufWriter::new)
        .map_err(|error| refused(path, &error))
}
