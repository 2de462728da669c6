//! What jobs need of what they requested, and how it is published.

use super::*;

/// All published needs, without the sockets' endings: `need.17.4 needs-less`.
fn need_links(world: &World) -> String {
    let entries = fs::read_dir(world.scratch.path().join("run")).unwrap();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("need")).collect();
    names.sort();
    names.join(" ").replace(".sock", "")
}

/// The job runs, may use the whole node of two cores, and its need is requested.
fn with_request(layout: Layout) -> World {
    let mut world = World::new(layout);
    world.start_job();
    world.set_cpu_use_and_throttling(0.0, Some(0.0));
    world.request = Some(1.0);
    push(&mut world);
    world
}

fn push(world: &mut World) {
    world.push(&[(JOB, 1.0, false)]);
}

/// The job lives on a quarter of a core for so long; orders come again before they expire.
fn run_with_low_use(world: &mut World, seconds: u64) {
    for _ in 0..seconds {
        let used = (world.seconds + 1) as f64 / 4.0;
        world.set_cpu_use_and_throttling(used, Some(0.0));
        world.wait(1);
        if world.seconds.is_multiple_of(20) {
            push(world);
        }
    }
}

/// A job of which it is known that half of its request is enough.
fn lowered(layout: Layout) -> World {
    let mut world = with_request(layout);
    run_with_low_use(&mut world, 65);
    world.counted_need = Need::from_eighths(4);
    push(&mut world);
    assert_eq!(need_links(&world), ENOUGH, "{layout:?}");
    world
}

const ENOUGH: &str = "need.17.4 need.17.5 need.17.6 need.17.7";

#[test]
fn lower_need_is_reported_until_orders_count_it() {
    for layout in LAYOUTS {
        let mut world = with_request(layout);
        run_with_low_use(&mut world, 55);
        assert_eq!(need_links(&world), "", "{layout:?}");
        run_with_low_use(&mut world, 10);
        assert_eq!(
            need_links(&world),
            format!("{ENOUGH} needs-less"),
            "{layout:?}"
        );
        world.counted_need = Need::from_eighths(4);
        push(&mut world);
        assert_eq!(need_links(&world), ENOUGH, "{layout:?}");
    }
}

#[test]
fn higher_need_is_reported_when_the_job_is_throttled() {
    for layout in LAYOUTS {
        let mut world = lowered(layout);
        let used = world.seconds as f64 / 4.0;
        world.set_cpu_use_and_throttling(used, Some(1.0));
        world.wait(1);
        assert_eq!(need_links(&world), "needs-more", "{layout:?}");
        world.counted_need = Need::WHOLE;
        push(&mut world);
        assert_eq!(need_links(&world), "", "{layout:?}");
    }
}

#[test]
fn need_is_reset_when_the_job_is_frozen_ended_or_dropped() {
    for layout in LAYOUTS {
        let mut world = lowered(layout);
        world.request = None;
        push(&mut world);
        world.wait(1);
        assert_eq!(need_links(&world), "", "{layout:?}");

        let mut world = lowered(layout);
        world.push(&[(JOB, 1.0, true)]);
        assert_eq!(need_links(&world), "needs-more", "{layout:?}");

        let mut world = lowered(layout);
        world.end_job();
        world.wait(1);
        assert_eq!(
            need_links(&world),
            "needs-more",
            "{layout:?}: nothing is known"
        );
        world.push(&[]);
        assert_eq!(need_links(&world), "", "{layout:?}");

        let mut world = lowered(layout);
        world.expire_orders();
        assert_eq!(need_links(&world), "", "{layout:?}");
    }
}

#[test]
fn restarted_daemon_has_no_measured_need() {
    for layout in LAYOUTS {
        let mut world = lowered(layout);
        world.crash();
        assert_eq!(need_links(&world), "", "{layout:?}");
        push(&mut world);
        assert_eq!(need_links(&world), "needs-more", "{layout:?}");
    }
}

#[test]
fn need_is_absent_when_orders_have_no_request() {
    let mut world = with_request(LAYOUTS[3]);
    world.request = None;
    push(&mut world);
    run_with_low_use(&mut world, 100);
    assert_eq!(need_links(&world), "");
    let status = world.reconciler.status(&world.orders, world.now());
    assert_eq!(status.jobs[0].need, None);
    world.request = Some(1.0);
    push(&mut world);
    let status = world.reconciler.status(&world.orders, world.now());
    assert_eq!(status.jobs[0].need, Some(8));
}
