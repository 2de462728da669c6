//! The limit on what a parked job has in RAM.

use super::*;
use crate::facts::LimitNote;

/// The job's memory limit in the kernel.
fn limit(world: &World) -> String {
    files::read(&limit_files(world).0).unwrap()
}

const MEBIBYTE: u64 = 1 << 20;

/// What it is while the job is parked with a mebibyte in RAM.
fn parked_limit() -> String {
    (9 * MEBIBYTE).to_string()
}

#[test]
fn parked_job_has_its_limit_before_its_link_and_its_own_before_it_is_thawed() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, true)]);
        world.settle_freezer();
        world.tick();
        assert!(world.has("limit.17"), "noted before it is lowered");
        assert_eq!(limit(&world), LIMIT);
        world.reclaim_ends(MEBIBYTE);
        assert_eq!(limit(&world), parked_limit());
        assert!(world.is_parked());
        let status = world.reconciler.status(&world.orders, world.now());
        assert_eq!(status.jobs[0].limit_bytes, Some(9 * MEBIBYTE));
        world.push(&[(JOB, 0.25, false)]);
        assert_eq!(limit(&world), LIMIT);
        assert!(!world.is_frozen() && !world.has("limit.17"));
    });
}

/// The file with the memory limit of a task of the job, which is held to little.
fn held_task(world: &World) -> PathBuf {
    let (v1, v2) = (
        "step_batch/task_0/memory.limit_in_bytes",
        "step_batch/user/task_0/memory.max",
    );
    let file = world.path("memory", if world.layout.v2 { v2 } else { v1 });
    world.write(&file, "1048576");
    file
}

#[test]
fn tasks_have_their_memory_when_the_job_has() {
    in_every_layout(|mut world| {
        let none = if world.layout.v2 { "max" } else { "-1" };
        let ends: [fn(&mut World); 4] = [
            |world| world.push(&[(JOB, 0.25, false)]),
            |world| {
                world.slurm_sets_frozen(false);
                world.tick();
            },
            |world| {
                world.crash();
                world.push(&[]);
            },
            // The job's limit is removed.
            |world| {
                let none = if world.layout.v2 {
                    "max"
                } else {
                    "9223372036854771712"
                };
                world.write(&limit_files(world).0, none);
                world.wait(1);
            },
        ];
        for end in ends {
            world.start_job();
            world.park();
            let task = held_task(&world);
            world.wait(1);
            assert_eq!(files::read(&task).unwrap(), "1048576");
            end(&mut world);
            assert_eq!(files::read(&task).unwrap(), none);
            world.push(&[]);
            world.end_job();
            world.wait(10);
        }
    });
}

#[test]
fn job_keeps_its_own_limit_when_too_much_of_it_stays() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, true)]);
        world.settle_freezer();
        world.tick();
        world.reclaim_ends(150 * MEBIBYTE);
        assert_eq!(limit(&world), LIMIT);
        world.push(&[]);
        assert_eq!(limit(&world), LIMIT);
        assert!(!world.has("limit.17"));
    });
}

#[test]
fn limit_stays_after_expiry_until_slurm_resumes_the_job() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.expire_orders();
        world.wait(1000);
        assert!(world.is_parked());
        assert_eq!(limit(&world), parked_limit());
        world.slurm_sets_frozen(false);
        world.tick();
        assert_eq!(limit(&world), LIMIT);
        assert!(!world.is_parked() && !world.has("limit.17"));
    });
}

#[test]
fn limit_is_restored_before_orders_when_the_job_was_resumed() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.crash();
        world.wait(1);
        assert_eq!(limit(&world), parked_limit(), "it is still frozen");
        world.slurm_sets_frozen(false);
        world.wait(1);
        assert_eq!(limit(&world), LIMIT);
        assert!(!world.has("limit.17"));
    });
}

#[test]
fn restarted_daemon_restores_the_limit_before_it_thaws() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.crash();
        world.push(&[]);
        assert!(!world.is_frozen());
        assert_eq!(limit(&world), LIMIT);
        assert!(!world.has("limit.17"));
    });
}

#[test]
fn limit_is_restored_when_the_daemon_was_killed_in_a_reclaim() {
    let mut world = World::new(LAYOUTS[0]);
    world.start_job();
    world.push(&[(JOB, 0.25, true)]);
    world.tick();
    // v1 lowers it piece by piece.
    world.write(&limit_files(&world).0, "104857600");
    world.crash();
    world.push(&[(JOB, 0.25, false)]);
    assert_eq!(limit(&world), LIMIT);
}

#[test]
fn limit_is_given_back_when_the_daemon_stops() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        let now = world.now();
        world.reconciler.release(now);
        assert_eq!(limit(&world), LIMIT);
        assert!(world.is_frozen() && !world.has("limit.17"));
    });
}

#[test]
fn job_that_slurm_gave_its_limit_again_is_parked_again() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        // A step that starts sets the job's limit; this one is another than before.
        let file = limit_files(&world).0;
        world.write(&file, "17179869184");
        world.wait(1);
        assert!(!world.is_parked());
        world.reclaim_ends(MEBIBYTE);
        assert!(world.is_parked());
        assert_eq!(limit(&world), parked_limit());
        world.push(&[]);
        assert_eq!(limit(&world), "17179869184", "as Slurm said last");
    });
}

#[test]
fn limit_that_slurm_set_for_a_job_that_runs_again_stays() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        let file = limit_files(&world).0;
        world.write(&file, "1048576");
        world.push(&[(JOB, 0.25, false)]);
        assert_eq!(limit(&world), "1048576");
        assert!(!world.has("limit.17"));
    });
}

#[test]
fn limit_is_held_while_a_step_that_came_late_is_frozen() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        let step = world.later_step();
        world.wait(1);
        assert!(!world.is_parked(), "not all of it is frozen");
        assert_eq!(limit(&world), parked_limit());
        let state = files::read(&step).unwrap();
        assert!(["1", "FROZEN"].contains(&state.as_str()), "{state}");
    });
}

#[test]
fn late_step_is_frozen_after_expiry_until_slurm_resumes_the_job() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.expire_orders();
        let step = world.later_step();
        world.wait(1);
        let is_frozen = || ["1", "FROZEN"].contains(&files::read(&step).unwrap().as_str());
        assert!(is_frozen());
        // Slurm does not know that it is.
        world.slurm_sets_frozen(false);
        world.wait(1);
        world.wait(1);
        assert!(!is_frozen() && !world.is_frozen());
        assert_eq!(limit(&world), LIMIT);
    });
}

#[test]
fn job_without_a_memory_limit_is_not_parked_and_is_reported() {
    in_every_layout(|mut world| {
        world.start_job();
        let none = if world.layout.v2 {
            "max"
        } else {
            "9223372036854771712"
        };
        world.write(&limit_files(&world).0, none);
        world.push(&[(JOB, 0.25, true)]);
        world.settle_freezer();
        for _ in 0..3 {
            world.wait(2);
        }
        assert_eq!(world.reclaim_requests(), 0);
        assert!(!world.is_parked() && world.has("stuck.17.sock"));
        let reported = world.reconciler.warnings.reported();
        let text = reported
            .iter()
            .find(|(about, _)| *about == "JobId=17 parking");
        assert!(text.unwrap().1.contains("ConstrainRAMSpace=yes"));
        world.push(&[]);
        assert!(!world.has("stuck.17.sock"));
    });
}

#[test]
fn job_is_stuck_only_when_free_swap_exceeds_its_memory() {
    in_every_layout(|mut world| {
        world.start_job();
        let mebibytes = |size: u64, used: u64| {
            format!(
                "Filename Type Size Used Priority\n/dev/sda2 partition {} {} -2\n",
                size << 10,
                used << 10
            )
        };
        let swaps = world.scratch.path().join("swaps");
        world.write(&swaps, &mebibytes(400, 300));
        world.push(&[(JOB, 0.25, true)]);
        world.settle_freezer();
        world.tick();
        world.reclaim_ends(150 * MEBIBYTE);
        assert!(!world.has("stuck.17.sock"), "swap is full");
        world.write(&swaps, &mebibytes(400, 100));
        world.wait(2);
        world.reclaim_ends(150 * MEBIBYTE);
        assert!(world.has("stuck.17.sock"));
        world.wait(2);
        world.reclaim_ends(MEBIBYTE);
        assert!(!world.has("stuck.17.sock") && world.is_parked());
    });
}

/// All jobs of the node and its spare memory: 32 MiB that Slurm does not give to jobs, of which half is the
/// system's.
fn with_little_spare_memory(world: &mut World, spare: u64) {
    let file = world.scratch.path().join("meminfo");
    world.write(&file, "MemTotal:       1048576 kB\n");
    world.slurm_memory = Some((1 << 30) - 2 * spare);
}

#[test]
fn parked_jobs_keep_together_no_more_than_the_node_has_beyond_slurms_memory() {
    in_every_layout(|mut world| {
        world.start_job();
        with_little_spare_memory(&mut world, 16 * MEBIBYTE);
        world.push(&[(JOB, 0.25, true)]);
        world.settle_freezer();
        world.wait(1);
        world.reclaim_ends(9 * MEBIBYTE);
        assert!(!world.is_parked(), "17 MiB are more than 16");
        assert!(!world.has("stuck.17.sock"), "that is not the job's doing");
        world.wait(2);
        world.reclaim_ends(8 * MEBIBYTE);
        assert!(world.is_parked());
    });
}

#[test]
fn node_without_spare_memory_reports_that_it_parks_none() {
    in_every_layout(|mut world| {
        world.start_job();
        world.can_reclaim();
        world.has_swap_on("/dev/sda2");
        with_little_spare_memory(&mut world, 33 * MEBIBYTE);
        world.push(&[]);
        world.wait(1);
        assert!(world.has("swap.sock"));
        world.park();
        world.wait(1);
        world.wait(1);
        assert!(!world.has("swap.sock"), "9 MiB are kept, and 24 are left");
        let status = world.reconciler.status(&world.orders, world.now());
        assert!(status.troubles[0].contains("lower RealMemory"));
        world.push(&[]);
        world.wait(1);
        assert!(world.has("swap.sock"));
    });
}

#[test]
fn parked_job_has_a_small_cap_and_its_own_when_it_runs() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 1.0, false)]);
        assert_eq!(world.cap(), Some(2.0));
        world.push(&[(JOB, 1.0, true)]);
        assert_eq!(world.cap(), Some(parking::PARKED_CORES));
        world.settle_freezer();
        // Slurm thaws it to end it: that must not take long.
        world.slurm_sets_frozen(false);
        world.tick();
        assert_eq!(world.cap(), Some(2.0));
    });
}

#[test]
fn note_of_a_job_that_has_ended_is_removed() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.end_job();
        world.wait(1);
        assert!(!world.has("limit.17"));
        let note = LimitNote {
            running_bytes: 1,
            parked_bytes: None,
        };
        let facts = FactsDirectory::new(&world.scratch.path().join("run")).unwrap();
        facts.set_limit_note(18, Some(note)).unwrap();
        world.crash();
        world.push(&[]);
        assert!(!world.has("limit.18"));
    });
}

/// A process of another user beside the step's `slurmstepd`, as a task's epilog is.
fn start_epilog(world: &World) -> PathBuf {
    let proc = world.scratch.path().join("proc");
    process::tests::run_as(&proc, 200, "./x\0", 65_534);
    process::tests::run(&proc, 100, "slurmstepd: [17.batch]\0");
    let list = if world.layout.v2 {
        world.path("", "step_batch/slurm/cgroup.procs")
    } else {
        world.path("freezer", "cgroup.procs")
    };
    world.write(&list, "100\n200\n");
    list
}

#[test]
fn process_outside_steps_is_frozen_after_the_epilog_timeout() {
    in_every_layout(|mut world| {
        let proc = world.scratch.path().join("proc");
        world.reconciler.cgroups = cgroups_with(&world.scratch, world.layout, &proc);
        world.start_job();
        let list = start_epilog(&world);
        let task = if world.layout.v2 {
            world.path("", "step_batch/user/task_0/cgroup.procs")
        } else {
            world.path("freezer", "step_batch/cgroup.procs")
        };
        world.write(&task, "101\n");
        world.push(&[(JOB, 0.25, true)]);
        world.settle_freezer();
        world.wait(5);
        assert_eq!(world.reclaim_requests(), 0, "not all of it is frozen");
        assert_eq!(files::read(&task).unwrap(), "101");
        world.wait(6);
        assert_eq!(files::read(&task).unwrap(), "200", "moved into a step");
        files::write(&list, "100\n").unwrap();
        world.tick();
        world.reclaim_ends(MEBIBYTE);
        assert!(world.is_parked());
        // A task that comes while the job is parked is not waited for.
        files::write(&task, "101\n").unwrap();
        files::write(&list, "100\n200\n").unwrap();
        world.wait(1);
        assert_eq!(files::read(&task).unwrap(), "200");
    });
}

#[test]
fn job_is_not_parked_while_a_process_has_no_step() {
    let mut world = World::new(LAYOUTS[2]);
    let proc = world.scratch.path().join("proc");
    world.reconciler.cgroups = cgroups_with(&world.scratch, world.layout, &proc);
    world.start_job();
    start_epilog(&world);
    world.push(&[(JOB, 0.25, true)]);
    world.settle_freezer();
    world.wait(60);
    world.wait(1);
    assert!(!world.is_parked());
    assert_eq!(world.reclaim_requests(), 0);
}

/// A job of which no directory is found.
#[test]
fn absent_job_is_not_parked_while_a_slurmstepd_of_it_runs() {
    in_every_layout(|mut world| {
        let proc = world.scratch.path().join("proc");
        process::tests::run(&proc, 100, "slurmstepd: [17.batch]\0");
        world.push(&[(JOB, 0.25, true)]);
        for _ in 0..4 {
            world.wait(1);
        }
        assert!(!world.is_parked());
        let reported = world.reconciler.warnings.reported();
        assert!(
            matches!(reported[..], [("JobId=17 absence", text)] if text.contains("ProctrackType"))
        );
        fs::remove_dir_all(proc.join("100")).unwrap();
        world.wait(1);
        assert!(world.is_parked());
    });
}

#[test]
fn absent_job_is_not_ended_where_not_all_processes_are_seen() {
    in_every_layout(|mut world| {
        fs::remove_dir_all(world.scratch.path().join("proc/1")).unwrap();
        world.asks_for_ends = true;
        world.push(&[(JOB, 1.0, false)]);
        for _ in 0..4 {
            world.wait(1);
        }
        assert!(!world.is_parked());
        let reported = world.reconciler.warnings.reported();
        assert!(matches!(reported[..], [("JobId=17 absence", text)] if text.contains("hidepid")));
    });
}

#[test]
fn node_where_jobs_are_not_seen_parks_none() {
    let mut world = World::new(LAYOUTS[0]);
    let root = world.scratch.path().join("cgroup/memory");
    world.write(&root.join("memory.force_empty"), "");
    world.has_swap_on("/dev/sda2");
    world.push(&[]);
    world.wait(1);
    assert!(world.has("swap.sock"));
    // As with ProctrackType=proctrack/linuxproc: memory is limited, and there is no freezer.
    world.write(&world.path("memory", "memory.usage_in_bytes"), "1");
    world.wait(1);
    assert!(world.has("swap.sock"), "Slurm may be making it");
    world.wait(1);
    assert!(!world.has("swap.sock"));
    let reported = world.reconciler.warnings.reported();
    assert!(matches!(reported[..], [("parking", text)] if text.contains("ProctrackType")));
}

#[test]
fn node_with_jobs_in_two_scopes_parks_none() {
    let mut world = World::new(LAYOUTS[2]);
    world.start_job();
    let other = "cgroup/other.slice/n1_slurmstepd.scope";
    fs::create_dir_all(world.scratch.path().join(other)).unwrap();
    world.can_reclaim();
    world.has_swap_on("/dev/sda2");
    world.push(&[]);
    world.wait(1);
    assert!(world.has("swap.sock"));
    fs::create_dir_all(world.scratch.path().join(other).join("job_18")).unwrap();
    world.push(&[(18, 0.25, true)]);
    world.wait(2);
    world.wait(2);
    assert!(!world.has("swap.sock"));
    assert!(!world.has("parked.18.sock"), "it is in the other scope");
    assert!(!world.has("parked.19.sock"));
}

#[test]
fn swap_that_zswap_keeps_in_ram_parks_none_with_v1() {
    in_every_layout(|mut world| {
        world.start_job();
        world.can_reclaim();
        world.has_swap_on("/dev/sda2");
        world.write(&world.scratch.path().join("zswap"), "Y\n");
        world.push(&[]);
        world.wait(1);
        assert_eq!(world.has("swap.sock"), world.layout.v2);
    });
}

#[test]
fn swap_kept_by_a_resumed_job_is_reported_as_missing() {
    in_every_layout(|mut world| {
        world.start_job();
        world.can_reclaim();
        let swaps = world.scratch.path().join("swaps");
        let write = |world: &World, used: u64| {
            let line = format!("/dev/sda2 partition {} {} -2\n", 800 << 10, used << 10);
            world.write(&swaps, &format!("Filename Type Size Used Priority\n{line}"));
        };
        write(&world, 0);
        world.asked_swap = Some(800 * MEBIBYTE);
        world.park();
        write(&world, 199);
        world.wait(1);
        assert!(
            world.has("swap.8.sock") && !world.has("swap-less.sock"),
            "parked jobs may have it"
        );
        world.push(&[(JOB, 0.25, false)]);
        world.wait(1);
        assert!(
            world.has("swap.6.sock") && !world.has("swap.7.sock") && world.has("swap-less.sock")
        );
        write(&world, 0);
        world.set_swapped(0);
        world.wait(1);
        assert!(world.has("swap.8.sock"));
        world.asked_swap = None;
        world.push(&[]);
        world.wait(1);
        assert!(
            world.has("swap.sock") && !world.has("swap.1.sock"),
            "it is not asked"
        );
    });
}
