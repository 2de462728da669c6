//! What holds of every trace under every scheduler.

mod common;

use common::settings;
use dfrs_proto::journal::EventKind;
use dfrs_sim::Batch;
use dfrs_sim::trace::Model;
use proptest::prelude::*;

/// Number of nodes of the random worlds.
const NODES: u32 = 4;

fn schedulers() -> Vec<String> {
    let policies = dfrs_papers::all()
        .into_iter()
        .map(|policy| policy.to_string());
    // Random jobs have no GPUs, and some want more CPU than is open to them.
    let batch = Batch::ALL
        .into_iter()
        .filter(|batch| *batch != Batch::EasyRestricted);
    policies
        .chain(batch.map(|batch| batch.name().into()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Debug builds also check every plan. The journal's own check covers memory, CPU, yields,
    /// progress and the lives of jobs.
    #[test]
    fn every_job_finishes_and_the_journal_is_right(
        trace in common::traces(NODES),
        scheduler in proptest::sample::select(schedulers()),
    ) {
        let run = common::run(&trace, &scheduler, settings(NODES));
        prop_assert!(run.violations.is_empty(), "{scheduler}: {:?}", run.violations);
        for (job, record) in trace.jobs.iter().zip(&run.outcome.jobs) {
            prop_assert!(record.start >= job.submit);
            prop_assert!(record.finish >= record.start + job.runtime);
        }
        let count = |wanted: fn(&EventKind) -> bool| {
            run.events.iter().filter(|event| wanted(&event.kind)).count() as u64
        };
        let finished = count(|kind| matches!(kind, EventKind::Finish { .. }));
        prop_assert_eq!(finished, trace.jobs.len() as u64);
        prop_assert_eq!(count(|kind| matches!(kind, EventKind::Pause { .. })), run.summary.pauses);
        prop_assert_eq!(count(|kind| matches!(kind, EventKind::Resume { .. })), run.summary.pauses);
        let migrations = count(|kind| matches!(kind, EventKind::Migrate { .. }));
        prop_assert_eq!(migrations, run.summary.migrations);
        prop_assert!(run.summary.max_stretch >= run.summary.mean_stretch);
        prop_assert!(run.summary.mean_stretch >= 1.0);
        prop_assert!(run.summary.normalized_underutilization >= -1e-9);
    }

    /// A task has a node to itself.
    #[test]
    fn batch_schedulers_never_exceed_the_machine(trace in common::traces(NODES)) {
        for batch in Batch::ALL.into_iter().filter(|batch| !batch.shares_nodes()) {
            let scheduler = &batch.name();
            let records = common::run(&trace, scheduler, settings(NODES)).outcome.jobs;
            for at in &records {
                let used: u32 = trace.jobs.iter().zip(&records)
                    .filter(|(_, job)| job.start <= at.start && at.start < job.finish)
                    .map(|(job, _)| job.tasks)
                    .sum();
                prop_assert!(used <= NODES, "{scheduler}");
            }
        }
    }

    /// Files of any content are refused or read, and never panic.
    #[test]
    fn any_file_is_read_or_refused(
        text in "[;#a-z0-9, .\n\r\t-]{0,300}",
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        for input in [text.as_bytes(), &bytes, &[&[0x1f, 0x8b], &bytes[..]].concat()] {
            if let Ok(reading) = dfrs_sim::trace::read(input, Model::Hpc2n, false) {
                prop_assert!(!reading.trace.jobs.is_empty());
                prop_assert!(reading.trace.jobs.is_sorted_by_key(|job| job.submit));
            }
        }
    }
}
