//! Jobs that Slurm has running and that do not go on.

use super::*;

/// What Slurm's own suspension leaves, and dfrsd finds.
fn suspend(world: &mut World) {
    world.start_job();
    world.slurm_sets_frozen(true);
    world.stopped.0.lock().unwrap().insert(101);
    world.park();
}

fn is_stopped(world: &World) -> bool {
    world.stopped.look(101).unwrap().is_stopped
}

fn resume(world: &mut World) {
    world.push(&[(JOB, 0.25, false)]);
    world.says_runs = true;
    world.push(&[(JOB, 0.25, false)]);
}

#[test]
fn a_job_that_slurms_word_did_not_reach_is_woken_after_a_while() {
    in_every_layout(|mut world| {
        suspend(&mut world);
        resume(&mut world);
        world.wait(9);
        assert!(
            world.is_frozen() && is_stopped(&world),
            "slurmd may be slow"
        );
        world.wait(1);
        assert!(!world.is_frozen() && !is_stopped(&world));
    });
}

#[test]
fn what_we_froze_before_slurm_stopped_it_is_woken_as_well() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.stopped.0.lock().unwrap().insert(101);
        resume(&mut world);
        assert!(!world.is_frozen() && is_stopped(&world));
        world.wait(10);
        assert!(!is_stopped(&world));
    });
}

#[test]
fn nobody_is_woken_whom_slurm_does_not_have_running() {
    in_every_layout(|mut world| {
        suspend(&mut world);
        world.push(&[(JOB, 0.25, false)]);
        world.wait(50);
        assert!(world.is_frozen() && is_stopped(&world), "not yet resumed");
        world.push(&[]);
        world.wait(50);
        assert!(world.is_frozen() && is_stopped(&world), "an operator's now");
    });
}

#[test]
fn who_is_stopped_after_he_has_gone_on_is_left_so() {
    in_every_layout(|mut world| {
        suspend(&mut world);
        resume(&mut world);
        world.slurm_sets_frozen(false);
        world.stopped.go_on(101);
        world.wait(1);
        // `scancel --signal=STOP`
        world.slurm_sets_frozen(true);
        world.stopped.0.lock().unwrap().insert(101);
        world.wait(20);
        world.wait(20);
        assert!(world.is_frozen() && is_stopped(&world));
    });
}

#[test]
fn who_is_stopped_after_he_was_woken_is_left_so() {
    in_every_layout(|mut world| {
        suspend(&mut world);
        resume(&mut world);
        world.wait(10);
        assert!(!world.is_frozen());
        world.slurm_sets_frozen(true);
        world.wait(1);
        world.wait(20);
        assert!(world.is_frozen());
    });
}
