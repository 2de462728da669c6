//! What others do to a job while DFRS has something under way for it.

use super::leaving::{Leaving, Next};
use super::parked::Parked;
use super::unparking::Unparking;
use super::*;
use crate::model::{config, job, nodes};
use crate::observation::{Observation, ObservedJob, ObservedState, Place};
use crate::placement::Spot;

/// What becomes of a job with this life by `event`, while Slurm shows it in this state on a node that has
/// so much memory used, and what it asks for then.
fn after(
    event: &Event,
    mut life: Life,
    (state, memory, used): (ObservedState, u64, u64),
) -> (Life, Option<Step>) {
    let place = Place {
        node: 0,
        tasks: 1,
        memory,
    };
    let job = ObservedJob {
        state,
        priority: if state == ObservedState::Suspended {
            0
        } else {
            1000
        },
        places: vec![place],
        ..job(1, 1)
    };
    let mut nodes = nodes(1);
    nodes[0].allocated_memory = used;
    let observation = Observation::new([job.clone()], nodes);
    let config = config();
    let look = Look::new(&job, &observation, &config, Time(0));
    life.on(event, &look);
    let step = life.next_step(&look, OnNodes::Unknown);
    (life, step)
}

/// The next step of a job with this life that is suspended and has no priority, by a hold or without one.
fn step_without_priority(life: &Life, memory: u64, on_hold: bool) -> Option<Step> {
    let place = Place {
        node: 0,
        tasks: 1,
        memory,
    };
    let job = ObservedJob {
        state: ObservedState::Suspended,
        priority: 0,
        on_hold,
        places: vec![place],
        ..job(1, 1)
    };
    let observation = Observation::new([job.clone()], nodes(1));
    life.next_step(
        &Look::new(&job, &observation, &config(), Time(0)),
        OnNodes::Unknown,
    )
}

#[test]
fn a_hold_keeps_no_job_from_coming_back_and_an_operators_suspension_does() {
    let coming_back = samples::unparking();
    assert_eq!(
        step_without_priority(&coming_back, 100, true),
        Some(Step::Resume)
    );
    assert_eq!(step_without_priority(&coming_back, 100, false), None);
}

#[test]
fn a_job_that_others_started_and_suspended_is_theirs() {
    for life in [samples::starting(), samples::pausing()] {
        let shown = (ObservedState::Suspended, 100, 100);
        let (life, step) = after(&Event::Seen, life, shown);
        assert!(life.is_foreign() && step.is_none(), "{life:?}");
    }
}

#[test]
fn a_parked_job_that_runs_and_is_counted_is_not_stopped_for_want_of_room() {
    let shown = (ObservedState::Running, 100, 1000);
    let (life, step) = after(&Event::Seen, samples::parked(), shown);
    assert!(life.is_running() && step.is_none(), "{life:?}");
}

#[test]
fn memory_whose_release_was_not_kept_is_claimed_when_the_job_is_handed_back() {
    let shown = (ObservedState::Suspended, 0, 0);
    let (_, step) = after(&Event::HandedBack, samples::parking(), shown);
    assert_eq!(step, Some(Step::ClaimMemory(vec![100])));
}

/// A job that Slurm shows suspended on node 0 alone, with this life from when it was parked on nodes 0 and 1.
fn on_one_of_two(phase: Phase) -> (Life, Option<Step>) {
    let shown = (ObservedState::Suspended, 0, 0);
    after(&Event::Seen, samples::in_phase(phase), shown)
}

#[test]
fn a_parked_job_that_gave_up_a_node_comes_back_to_the_others() {
    let spot = |node: &str| Spot {
        node: node.into(),
        tasks: 1,
    };
    let parked = Parked {
        placement: Placement(vec![spot("n0"), spot("n1")]),
        memory: vec![70, 80],
        called_back: false,
        is_unheard: false,
    };
    let (life, step) = on_one_of_two(Phase::Parked(parked.clone()));
    let Phase::Parked(left) = &life.phase else {
        panic!("{life:?}");
    };
    assert_eq!(left.placement, Placement(vec![spot("n0")]));
    assert_eq!(left.memory, [70]);
    assert_eq!(step, None);
    let (_, step) = on_one_of_two(Phase::Unparking(Unparking {
        placement: parked.placement,
        memory: parked.memory,
        since: Time(0),
        is_forgotten: false,
    }));
    assert_eq!(step, Some(Step::ClaimMemory(vec![70])));
}

#[test]
fn who_was_about_to_be_warned_may_have_been_when_slurmctld_was_killed() {
    let warning = |next| {
        let life = samples::in_phase(Phase::Leaving(Leaving { next }));
        let before = life.warning();
        let shown = (ObservedState::Running, 100, 100);
        let forgotten = Event::Forgotten {
            was_requeued: false,
        };
        (before, after(&forgotten, life, shown).0.warning())
    };
    assert_eq!(warning(Next::Pause), (Warning::Doubtful, Warning::Sent));
    // It is not warned, but begins again.
    assert_eq!(
        warning(Next::Restart),
        (Warning::Doubtful, Warning::Doubtful)
    );
}
