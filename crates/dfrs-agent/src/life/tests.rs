//! What others do to a job while DFRS has something under way for it.

use super::*;
use crate::model::{config, job, nodes};
use crate::observation::{Observation, ObservedJob, ObservedState, Place};

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
    let step = life.next_step(&look, false);
    (life, step)
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
