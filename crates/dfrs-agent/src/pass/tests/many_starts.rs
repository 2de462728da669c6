//! More jobs than start in one pass.

use dfrs_proto::journal::EventKind;

use super::*;
use crate::pass::act::MAX_STARTS;
use crate::publish::live_journal::{BY_OTHERS, LiveJournal};

#[test]
fn journal_has_the_nodes_of_each_start_when_jobs_are_more_than_one_pass_starts() {
    let mut cluster = TestCluster::new(MAX_STARTS);
    let written = FakeJournal::default();
    let agent = &mut cluster.agent;
    agent.publisher.journal = Some(LiveJournal::resume(written.writer(), &mut agent.ledger));
    for id in 1..=2 * MAX_STARTS + 1 {
        cluster.submit(job(id, 1));
    }
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
