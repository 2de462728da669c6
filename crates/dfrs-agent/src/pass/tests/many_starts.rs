//! More jobs than start in one pass.

use dfrs_proto::journal::EventKind;

use super::*;
use crate::pass::act::MAX_STARTS;
use crate::publish::live_journal::{BY_OTHERS, LiveJournal};

/// A cluster to which so many jobs were submitted, and its journal.
fn with_jobs(count: u32) -> (TestCluster, FakeJournal) {
    let mut cluster = TestCluster::new(MAX_STARTS);
    let written = FakeJournal::default();
    let agent = &mut cluster.agent;
    agent.publisher.journal = Some(LiveJournal::resume(written.writer(), &mut agent.ledger));
    for id in 1..=count {
        cluster.submit(job(id, 1));
    }
    (cluster, written)
}

#[test]
fn journal_has_the_nodes_of_each_start_when_jobs_are_more_than_one_pass_starts() {
    let (mut cluster, written) = with_jobs(2 * MAX_STARTS + 1);
    cluster.run(5);
    let mut starts = 0;
    for (line, event) in written.events() {
        assert_ne!(event.reason.as_deref(), Some(BY_OTHERS), "line {line}");
        match event.kind {
            EventKind::Start { job, nodes } => {
                assert_eq!(nodes.len(), 1, "line {line}: job {job}");
                starts += 1;
            }
            EventKind::Migrate { job, .. } => panic!("line {line}: job {job} moves"),
            _ => {}
        }
    }
    assert_eq!(starts, 2 * MAX_STARTS + 1);
}

#[test]
fn journal_has_the_start_of_a_job_that_has_ended_by_the_next_look() {
    let (mut cluster, written) = with_jobs(2 * MAX_STARTS);
    cluster.run_with(1, 1);
    let started = |id: &u32| cluster.state(*id) == ObservedState::Running;
    let started: Vec<u32> = (1..=2 * MAX_STARTS).filter(started).collect();
    for id in &started {
        cluster.slurm.0.borrow_mut().end(*id);
    }
    cluster.run(5);
    let events = written.events();
    for id in started {
        let id = id.to_string();
        let starts = events.iter().filter(|(_, event)| {
            matches!(&event.kind, EventKind::Start { job, nodes } if *job == id && nodes.len() == 1)
        });
        assert_eq!(starts.count(), 1, "job {id}");
    }
}
