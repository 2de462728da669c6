//! What plans say of themselves, for drivers and for people.

use dfrs_core::{Action, Blocked, JobId, Mapping, NodeIndex, Plan, PlannedAction, Reason, Yield};

fn plan(actions: Vec<Action>) -> Plan {
    let planned = |action| PlannedAction {
        action,
        reason: Reason::Fits,
    };
    Plan {
        actions: actions.into_iter().map(planned).collect(),
    }
}

#[test]
fn yields_change_no_places() {
    let share = Action::SetYield(JobId(1), Yield::ONE);
    let start = Action::Start(JobId(2), Mapping::from_tasks([NodeIndex(0)]));
    assert!(!plan(Vec::new()).changes_places());
    assert!(!plan(vec![share.clone()]).changes_places());
    assert!(plan(vec![share.clone(), start]).changes_places());
    assert!(plan(vec![Action::Pause(JobId(1)), share]).changes_places());
}

#[test]
fn reason_of_an_action_is_printed_in_words() {
    for (reason, words) in [
        (Reason::Fits, "its memory fits now"),
        (Reason::MakesRoomFor(JobId(7)), "preempted by the new job 7"),
        (Reason::Remap, "the remap of all jobs places it so"),
        (
            Reason::DoesNotFitRemap,
            "not all jobs fit and it has the lowest rank",
        ),
        (Reason::LessLoad, "moves to less loaded nodes"),
        (Reason::BreaksCycle, "paused within a migration"),
        (Reason::Share, "loads changed"),
    ] {
        assert_eq!(reason.to_string(), words);
    }
    for (why, words) in [
        (Blocked::NeverFits, "requires more than the cluster has"),
        (Blocked::Memory, "waits for memory"),
        (Blocked::Devices { kind: 1 }, "waits for devices of kind 1"),
        (Blocked::Cpu, "waits for CPU"),
        (
            Blocked::OwnNodesFull,
            "parked, waits for memory on its own nodes",
        ),
        (Blocked::NodesUnavailable, "its nodes are down or draining"),
        (
            Blocked::Reserved,
            "waits: what is free is reserved for the job that has waited longest",
        ),
        (Blocked::NotNow, "waits for the next scheduling event"),
    ] {
        assert_eq!(why.to_string(), words);
    }
}
