//! The steps of one run: memory and CPU time are measured in them.

use dfrs_core::{Bytes, Span, Time};

use super::SacctRun;
use crate::trace::overlap::most_at_once;

/// What one step used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StepUsage {
    /// Where unknown, the run's.
    pub start: Option<Time>,
    /// Where unknown, the run's.
    pub end: Option<Time>,
    /// The most memory that it had on a node.
    pub memory: Option<Bytes>,
    /// All CPU time of it.
    pub cpu_time: Option<Span>,
}

/// Gives the run what its steps measured. Their CPU times add up; a job's own line has that sum, as a
/// rule. Memory of steps that overlap in time adds up, as if all were on the same node. Where no step
/// measured any, that of the job's own line stays: `print_fields` of Slurm 20.11 writes there what the
/// only step of a job measured, if it has the job's name, and no line for the step.
pub(super) fn measure(run: &mut SacctRun, steps: &[StepUsage]) {
    let sum = steps
        .iter()
        .filter_map(|step| step.cpu_time)
        .fold(Span::ZERO, |sum, time| Span(sum.0.saturating_add(time.0)));
    if sum > run.cpu_time.unwrap_or(Span::ZERO) {
        run.cpu_time = Some(sum);
    }
    run.resident = peak(run, steps).or(run.resident);
}

/// The most memory at one time; none if no step measured any. O(n log n).
fn peak(run: &SacctRun, steps: &[StepUsage]) -> Option<Bytes> {
    let mut changes: Vec<(Time, bool, u64)> = Vec::with_capacity(2 * steps.len());
    for step in steps {
        let Some(memory) = step.memory else { continue };
        let start = step.start.unwrap_or(run.start);
        let end = step.end.unwrap_or(run.end).max(start);
        changes.push((start, true, memory.0));
        changes.push((end, false, memory.0));
    }
    // One step after the other is no overlap. A step of no length counts by itself.
    let longest = steps.iter().filter_map(|step| step.memory).max()?;
    let max = most_at_once(changes).max(u128::from(longest.0));
    Some(Bytes(u64::try_from(max).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> SacctRun {
        SacctRun {
            line: 2,
            id: "1".into(),
            submit: Time::from_seconds(0),
            start: Time::from_seconds(10),
            end: Time::from_seconds(100),
            suspended: Span::ZERO,
            nodes: 1,
            cpus: 1,
            requested: None,
            allocated: None,
            resident: None,
            cpu_time: Some(Span::from_seconds(30)),
            limit: None,
            gres: None,
            gpus: None,
            licenses: None,
        }
    }

    fn step(start: Option<i64>, end: Option<i64>, memory: Option<u64>) -> StepUsage {
        StepUsage {
            start: start.map(Time::from_seconds),
            end: end.map(Time::from_seconds),
            memory: memory.map(Bytes),
            cpu_time: Some(Span::from_seconds(20)),
        }
    }

    fn measured(steps: &[StepUsage]) -> (Option<u64>, i64) {
        let mut run = run();
        measure(&mut run, steps);
        let cpu_time = run.cpu_time.unwrap_or_default().seconds();
        #[allow(clippy::cast_possible_truncation)] // whole numbers of this test
        (run.resident.map(|bytes| bytes.0), cpu_time as i64)
    }

    #[test]
    fn memory_of_steps_at_one_time_adds_up() {
        let batch = step(Some(10), None, Some(5));
        let first = step(Some(10), Some(50), Some(100));
        let second = step(Some(50), Some(90), Some(70));
        assert_eq!(
            measured(&[batch.clone(), first, second.clone()]),
            (Some(105), 60)
        );
        assert_eq!(measured(&[batch, second]), (Some(75), 40));
        assert_eq!(
            measured(&[step(None, None, Some(3)), step(Some(60), Some(60), Some(4))]).0,
            Some(4)
        );
        assert_eq!(measured(&[step(None, None, None)]), (None, 30));
        assert_eq!(measured(&[]), (None, 30));
    }

    #[test]
    fn the_line_of_the_job_counts_where_no_step_measured_memory() {
        let of = |steps: &[StepUsage]| {
            let mut run = run();
            run.resident = Some(Bytes(9));
            measure(&mut run, steps);
            run.resident
        };
        assert_eq!(of(&[]), Some(Bytes(9)));
        assert_eq!(of(&[step(None, None, None)]), Some(Bytes(9)));
        assert_eq!(of(&[step(None, None, Some(4))]), Some(Bytes(4)));
    }

    #[test]
    fn a_step_that_ends_before_it_starts_does_no_harm() {
        let odd = step(Some(90), Some(20), Some(7));
        assert_eq!(measured(&[odd]).0, Some(7));
        let largest = step(None, None, Some(u64::MAX));
        assert_eq!(measured(&[largest.clone(), largest]).0, Some(u64::MAX));
    }
}
