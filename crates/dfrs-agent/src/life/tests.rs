//! What others do to a job while DFRS has something under way for it.

use super::*;
use crate::model::{config, job, nodes};
use crate::observation::{Observation, ObservedJob, ObservedState, Place};

/// The phase of a job with this life after Slurm has shown it in this state, its memory counted on a
/// node that is full, and whether it asks for something then.
fn seen(mut life: Life, state: ObservedState) -> (Life, bool) {
    let place = Place {
        node: 0,
        tasks: 1,
        memory: 100,
    };
    let job = ObservedJob {
        state,
        places: vec![place],
        ..job(1, 1)
    };
    let mut nodes = nodes(1);
    nodes[0].allocated_memory = 1000;
    let observation = Observation::new([job.clone()], nodes);
    let config = config();
    let look = Look::new(&job, &observation, &config, Time(0));
    life.on(&Event::Seen, &look);
    let has_step = life.next_step(&look, false).is_some();
    (life, has_step)
}

#[test]
fn a_job_that_others_started_and_suspended_is_theirs() {
    for life in [samples::starting(), samples::pausing()] {
        let (life, has_step) = seen(life, ObservedState::Suspended);
        assert!(life.is_foreign() && !has_step, "{life:?}");
    }
}

#[test]
fn a_parked_job_that_runs_and_is_counted_is_not_stopped_for_want_of_room() {
    let (life, has_step) = seen(samples::parked(), ObservedState::Running);
    assert!(life.is_running() && !has_step, "{life:?}");
}
