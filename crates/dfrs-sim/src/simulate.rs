//! One trace under one scheduler.

use dfrs_core::{Amount, Policy};

use crate::batch::EmptyNodeCounts;
use crate::coupling::CouplingLoss;
use crate::error::SimulationError;
use crate::held::HeldByOthers;
use crate::journal::TraceJournal;
use crate::outcome::SimOutcome;
use crate::scheduler::Scheduler;
use crate::settings::SimSettings;
use crate::sink::{OnJobEnd, Sink};
use crate::trace::{Trace, TraceJob};
use crate::{batch, world};

/// Why the job can never start under the scheduler on so many nodes, of which so many have GPUs (none: all); `None` if it
/// can. O(1).
///
/// A batch scheduler gives each task a node of its own, or whole CPUs and memory if it shares nodes; DFRS
/// puts several tasks on one node where memory allows.
pub fn never_fits(
    job: &TraceJob,
    scheduler: &Scheduler,
    nodes: u32,
    gpu_nodes: Option<u32>,
) -> Option<String> {
    match scheduler {
        Scheduler::Batch(batch) if batch.shares_nodes() => {
            EmptyNodeCounts::new(nodes, gpu_nodes, batch.empty_node()).shortage(job)
        }
        Scheduler::Batch(_) if job.tasks > nodes => Some(format!(
            "it has {} tasks, each on a node of its own",
            job.tasks
        )),
        Scheduler::Dfrs(_) if !job.fits_shared(nodes, gpu_nodes) => Some(match job.gpus {
            Amount(0) => format!("the memory of its {} tasks is too much", job.tasks),
            _ => format!(
                "the memory or the GPUs of its {} tasks are too much",
                job.tasks
            ),
        }),
        _ => None,
    }
}

/// Simulates the trace under the scheduler as it is: a policy that weighs moves weighs them by the
/// penalty in its settings ([`Scheduler::at_penalty`]). O(events × (jobs in the system + the decision)).
///
/// # Errors
///
/// See [`SimulationError`].
pub fn simulate<'a>(
    trace: &'a Trace,
    scheduler: &Scheduler,
    settings: &SimSettings,
    sink: Option<Sink<'a>>,
) -> Result<SimOutcome, SimulationError> {
    simulate_with_progress(trace, scheduler, settings, sink, None)
}

/// As [`simulate`], with progress: `ended` is called for each job of the trace once.
///
/// # Errors
///
/// See [`SimulationError`].
pub fn simulate_with_progress<'a>(
    trace: &'a Trace,
    scheduler: &Scheduler,
    settings: &SimSettings,
    sink: Option<Sink<'a>>,
    ended: Option<OnJobEnd<'a>>,
) -> Result<SimOutcome, SimulationError> {
    all_fit(trace, scheduler, settings)?;
    let loss = match scheduler {
        Scheduler::Batch(_) => CouplingLoss::NONE,
        Scheduler::Dfrs(_) => settings.coupling_loss,
    };
    let journal = TraceJournal::new(trace, loss, sink, ended);
    match scheduler {
        Scheduler::Batch(batch) => batch::run(trace, *batch, settings, journal),
        Scheduler::Dfrs(policy) => world::run(trace, policy.clone(), settings, &[], journal),
    }
}

/// As [`simulate_with_progress`], under a policy of DFRS on what others leave, who have what they hold at once. Jobs
/// there shrink. They give way where no CPU is left, if they can be paused without loss or restarted, and
/// where memory does not suffice: at last those that lose their work although they are not for that.
///
/// # Errors
///
/// See [`SimulationError`].
pub fn simulate_beside<'a>(
    trace: &'a Trace,
    policy: &Policy,
    settings: &SimSettings,
    others: &'a HeldByOthers,
    sink: Option<Sink<'a>>,
    ended: Option<OnJobEnd<'a>>,
) -> Result<SimOutcome, SimulationError> {
    all_fit(trace, &Scheduler::Dfrs(policy.clone()), settings)?;
    let journal = TraceJournal::new(trace, settings.coupling_loss, sink, ended);
    world::run(trace, policy.clone(), settings, others.changes(), journal)
}

fn all_fit(
    trace: &Trace,
    scheduler: &Scheduler,
    settings: &SimSettings,
) -> Result<(), SimulationError> {
    for job in &trace.jobs {
        if let Some(why) = never_fits(job, scheduler, settings.nodes, trace.gpu_nodes) {
            let (id, nodes) = (job.id.clone(), settings.nodes);
            return Err(SimulationError::NeverFits { id, nodes, why });
        }
    }
    Ok(())
}
