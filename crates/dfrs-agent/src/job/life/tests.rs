//! What others do to a job while DFRS has something under way for it.

use super::leaving::{LeavingPhase, Next};
use super::parked::Parked;
use super::unparking::Unparking;
use super::*;
use crate::fixtures::{config, job, nodes};
use crate::job::placement::NodeTasks;
use crate::slurm::observation::Observation;
use crate::slurm::records::{ObservedJob, ObservedPlace, ObservedState};

/// What becomes of a job with this life by `event`, while Slurm shows it in this state on a node
/// that has so much memory used, and the step that it requests then.
fn after(
    event: &LifeEvent,
    mut life: Life,
    (state, memory, used): (ObservedState, u64, u64),
) -> (Life, Option<LifeStep>) {
    let place = ObservedPlace {
        node: 0,
        tasks: 1,
        memory_mib: memory,
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
    nodes[0].allocated_memory_mib = used;
    let observation = Observation::new([job.clone()], nodes);
    let config = config();
    let context = JobContext::new(&job, &observation, &config, Time(0));
    life.on(event, &context);
    let step = life.next_step(&context, ParkStatus::Unknown);
    (life, step)
}

/// The next step of a job with this life that is suspended and has no priority, by a hold or
/// without one.
fn step_without_priority(life: &Life, memory: u64, on_hold: bool) -> Option<LifeStep> {
    let place = ObservedPlace {
        node: 0,
        tasks: 1,
        memory_mib: memory,
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
        &JobContext::new(&job, &observation, &config(), Time(0)),
        ParkStatus::Unknown,
    )
}

#[test]
fn held_job_comes_back_unless_an_operator_suspended_it() {
    let coming_back = samples::unparking();
    assert_eq!(
        step_without_priority(&coming_back, 100, true),
        Some(LifeStep::Resume)
    );
    assert_eq!(step_without_priority(&coming_back, 100, false), None);
}

#[test]
fn job_started_and_suspended_by_operator_is_left_alone() {
    for life in [samples::starting(), samples::pausing()] {
        let shown = (ObservedState::Suspended, 100, 100);
        let (life, step) = after(&LifeEvent::Seen, life, shown);
        assert!(
            life.is_suspended_by_operator() && step.is_none(),
            "{life:?}"
        );
    }
}

#[test]
fn resumed_job_is_not_stopped_when_its_memory_is_counted() {
    let shown = (ObservedState::Running, 100, 1000);
    let (life, step) = after(&LifeEvent::Seen, samples::parked(), shown);
    assert!(life.is_running() && step.is_none(), "{life:?}");
}

#[test]
fn unsaved_memory_release_is_claimed_when_job_is_handed_back() {
    let shown = (ObservedState::Suspended, 0, 0);
    let (_, step) = after(&LifeEvent::HandedBack, samples::parking(), shown);
    assert_eq!(step, Some(LifeStep::ClaimMemory(vec![100])));
}

/// A job that Slurm shows suspended on node 0 alone, with this life from when it was parked on
/// nodes 0 and 1.
fn on_one_of_two(phase: LifePhase) -> (Life, Option<LifeStep>) {
    let shown = (ObservedState::Suspended, 0, 0);
    after(&LifeEvent::Seen, samples::in_phase(phase), shown)
}

#[test]
fn parked_job_that_lost_a_node_comes_back_to_the_others() {
    let spot = |node: &str| NodeTasks {
        node: node.into(),
        tasks: 1,
    };
    let parked = Parked {
        placement: NamedPlacement(vec![spot("n0"), spot("n1")]),
        memory: vec![70, 80],
        called_back: false,
        is_unheard: false,
    };
    let (life, step) = on_one_of_two(LifePhase::Parked(parked.clone()));
    let LifePhase::Parked(left) = &life.phase else {
        panic!("{life:?}");
    };
    assert_eq!(left.placement, NamedPlacement(vec![spot("n0")]));
    assert_eq!(left.memory, [70]);
    assert_eq!(step, None);
    let (_, step) = on_one_of_two(LifePhase::Unparking(Unparking {
        placement: parked.placement,
        memory: parked.memory,
        since: Time(0),
        is_forgotten: false,
    }));
    assert_eq!(step, Some(LifeStep::ClaimMemory(vec![70])));
}

#[test]
fn pending_warning_counts_as_sent_when_slurmctld_was_killed() {
    let warning = |next| {
        let life = samples::in_phase(LifePhase::Leaving(LeavingPhase { next }));
        let before = life.warning();
        let shown = (ObservedState::Running, 100, 100);
        let forgotten = LifeEvent::Forgotten {
            was_requeued: false,
        };
        (before, after(&forgotten, life, shown).0.warning())
    };
    assert_eq!(warning(Next::Pause), (Warning::Doubtful, Warning::Sent));
    // It is not warned, but restarts.
    assert_eq!(
        warning(Next::Restart),
        (Warning::Doubtful, Warning::Doubtful)
    );
}

#[test]
fn requeued_job_starts_where_it_ran_only_two_seconds_later() {
    let place = |node: &str| {
        NamedPlacement(vec![NodeTasks {
            node: node.into(),
            tasks: 1,
        }])
    };
    let step = |restarts, submit_seconds, last_place| {
        let job = ObservedJob {
            state: ObservedState::Pending,
            restarts,
            submit_seconds,
            ..job(1, 1)
        };
        let observation = Observation::new([job.clone()], nodes(1));
        let life = Life {
            last_place: place(last_place),
            ..samples::in_phase(LifePhase::Starting(starting::Starting {
                placement: place("n0"),
                since: Time::from_seconds(100),
                resumes: true,
            }))
        };
        let config = config();
        let now = Time::from_seconds(100);
        let context = JobContext::new(&job, &observation, &config, now);
        life.next_step(&context, ParkStatus::Unknown).is_some()
    };
    assert!(!step(1, 100, "n0") && !step(1, 99, "n0"));
    assert!(step(1, 98, "n0"), "slurmd has forgotten it");
    assert!(step(1, 100, "n1"), "it ran elsewhere");
    assert!(step(0, 100, "n0"), "it never ran");
    assert!(step(1, 101, "n0"), "the clock was set back");
}

#[test]
fn job_that_has_run_for_long_since_its_restore_has_no_image() {
    let lost_after = |seconds| {
        let job = ObservedJob {
            state: ObservedState::Pending,
            completing: true,
            ..job(1, 1)
        };
        let observation = Observation::new([job.clone()], nodes(1));
        let config = config();
        let context = JobContext::new(&job, &observation, &config, Time::from_seconds(seconds));
        let mut life = Life {
            image: LifeImage::Used(Time::from_seconds(0)),
            ..samples::running()
        };
        let effects = life.on(&LifeEvent::Seen, &context);
        (life.image(), life.leaves_image(), effects.image.is_some())
    };
    assert_eq!(lost_after(60), (LifeImage::NotRestored, true, true));
    assert_eq!(lost_after(900), (LifeImage::None, false, false));
}
