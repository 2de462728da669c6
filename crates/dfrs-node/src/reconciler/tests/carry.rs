//! Jobs that are carried, with a worker that the test answers for.

use super::*;
use crate::carry::{CarryFailure, CarryOutcome, CarryRequest, CarryTask};

/// Requests that the test answers when it likes.
#[derive(Clone, Default)]
struct Carries {
    asked: Arc<Mutex<Vec<CarryRequest>>>,
    done: Arc<Mutex<Vec<CarryOutcome>>>,
}

impl CarryWorker for Carries {
    fn request(&mut self, request: CarryRequest) {
        self.asked.lock().unwrap().push(request);
    }

    fn finished(&mut self) -> Vec<CarryOutcome> {
        std::mem::take(&mut self.done.lock().unwrap())
    }
}

/// A node that carries jobs, with one that runs.
struct CarryWorld {
    world: World,
    carries: Carries,
}

impl CarryWorld {
    fn new(layout: Layout) -> CarryWorld {
        let mut world = World::new(layout);
        world.start_job();
        let carries = Carries::default();
        world.reconciler = reconciler(&world.scratch, layout, &world.reclaims)
            .with_images(Box::new(carries.clone()));
        CarryWorld { world, carries }
    }

    /// The daemon is killed, and another one comes.
    fn crash(&mut self) {
        self.world.crash();
        self.carries = Carries::default();
        let (scratch, layout) = (&self.world.scratch, self.world.layout);
        self.world.reconciler = reconciler(scratch, layout, &self.world.reclaims)
            .with_images(Box::new(self.carries.clone()));
    }

    /// Orders: the job may be carried, and its image is wanted or not.
    fn order(&mut self, image: bool) {
        (self.world.carry, self.world.image) = (true, image);
        self.world.push(&[(JOB, 0.5, image)]);
    }

    fn asked(&self) -> Vec<CarryTask> {
        let asked = std::mem::take(&mut *self.carries.asked.lock().unwrap());
        asked
            .into_iter()
            .map(|(job, task)| {
                assert_eq!(job, JOB);
                task
            })
            .collect()
    }

    fn answer(&mut self, task: CarryTask, result: Result<(), &str>) {
        let failure = |text: &str| CarryFailure::from(text.to_owned());
        let outcome = ((JOB, task), result.map_err(failure));
        self.carries.done.lock().unwrap().push(outcome);
        self.world.wait(1);
    }

    /// What is published of the job, and noted, without the sockets' endings.
    fn facts(&self) -> String {
        let entries = fs::read_dir(self.world.scratch.path().join("run")).unwrap();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| name.contains(".17")).collect();
        names.sort();
        names.join(" ").replace(".17", "").replace(".sock", "")
    }

    fn troubles(&self) -> Vec<String> {
        let world = &self.world;
        world.reconciler.status(&world.orders, world.now()).troubles
    }

    fn is_frozen(&self) -> bool {
        let text = fs::read_to_string(self.world.freezer_file()).unwrap();
        ["1", "FROZEN"].contains(&text.trim())
    }

    /// With its image, complete.
    fn dumped(layout: Layout) -> CarryWorld {
        let mut node = CarryWorld::new(layout);
        node.order(true);
        assert_eq!(node.asked(), [CarryTask::Dump]);
        assert_eq!(node.facts(), "image");
        node.answer(CarryTask::Dump, Ok(()));
        node.world.wait(1);
        assert_eq!(node.facts(), "image imaged");
        node
    }
}

#[test]
fn job_is_inspected_now_and_then_and_published_when_it_can_be_carried() {
    for layout in LAYOUTS {
        let mut node = CarryWorld::new(layout);
        node.order(false);
        assert_eq!(node.asked(), [CarryTask::Inspect]);
        // Its script has not begun yet.
        for seconds in [1, 2, 4, 8, 16, 20] {
            node.answer(CarryTask::Inspect, Err("nothing of it runs here"));
            assert_eq!(node.facts(), "");
            node.world.wait(seconds - 1);
            assert_eq!(node.asked(), []);
            node.world.wait(2);
            assert_eq!(node.asked(), [CarryTask::Inspect]);
        }
        node.answer(CarryTask::Inspect, Ok(()));
        assert_eq!(node.facts(), "carry");
        node.world.wait(15);
        assert_eq!(node.asked(), []);
        node.world.wait(10);
        assert_eq!(node.asked(), [CarryTask::Inspect]);
        node.answer(CarryTask::Inspect, Err("it uses io_uring"));
        assert_eq!(node.facts(), "");
        // Orders that know nothing of it.
        node.world.wait(25);
        node.answer(CarryTask::Inspect, Ok(()));
        assert_eq!(node.facts(), "carry");
        node.world.carry = false;
        node.world.push(&[(JOB, 0.5, false)]);
        assert_eq!(node.facts(), "");
    }
}

#[test]
fn node_without_images_says_that_it_cannot_and_does_not_park() {
    let mut node = CarryWorld::new(LAYOUTS[0]);
    let (scratch, layout) = (&node.world.scratch, node.world.layout);
    node.world.reconciler = reconciler(scratch, layout, &node.world.reclaims);
    node.order(true);
    node.world.wait(1);
    assert_eq!(node.facts(), "stuck");
    assert!(!node.is_frozen());
    node.order(false);
    assert_eq!(node.facts(), "");
}

#[test]
fn image_is_published_when_it_is_complete_and_nothing_is_frozen_or_reclaimed() {
    for layout in LAYOUTS {
        let node = CarryWorld::dumped(layout);
        assert!(!node.is_frozen());
        assert!(node.world.reclaims.asked.lock().unwrap().is_empty());
    }
}

#[test]
fn job_stays_stopped_until_it_has_ended_or_is_to_go_on_here() {
    let mut node = CarryWorld::dumped(LAYOUTS[0]);
    // It was requeued: what is left of it does not run again.
    node.world.asks_for_ends = true;
    node.world.push(&[(JOB, 1.0, false)]);
    node.world.wait(5);
    assert_eq!(node.asked(), []);
    node.world.end_job();
    node.world.wait(1);
    assert_eq!(node.facts(), "");

    let mut node = CarryWorld::dumped(LAYOUTS[0]);
    node.order(false);
    assert_eq!(node.asked(), [CarryTask::Release]);
    assert_eq!(node.facts(), "image");
    node.answer(CarryTask::Release, Ok(()));
    assert_eq!(node.facts(), "");

    // Given back: orders no longer name it.
    let mut node = CarryWorld::dumped(LAYOUTS[0]);
    node.world.push(&[]);
    assert_eq!(node.asked(), [CarryTask::Release]);
    node.answer(CarryTask::Release, Err("a process is traced"));
    node.world.wait(6);
    assert_eq!(node.asked(), [CarryTask::Release], "again");
}

#[test]
fn dump_that_met_the_next_run_of_the_job_is_undone() {
    let mut node = CarryWorld::new(LAYOUTS[0]);
    node.order(true);
    assert_eq!(node.asked(), [CarryTask::Dump]);
    // Images of other jobs come first, and it is requeued meanwhile.
    node.world.end_job();
    node.world.push(&[]);
    node.world.wait(1);
    node.world.start_job();
    node.order(false);
    assert_eq!(node.asked(), [CarryTask::Inspect]);
    node.answer(CarryTask::Dump, Ok(()));
    assert_eq!(node.asked(), [CarryTask::Release]);
    node.answer(CarryTask::Release, Ok(()));
    assert_eq!(node.facts(), "");
}

#[test]
fn void_image_is_removed_when_nothing_of_the_job_is_left() {
    let mut node = CarryWorld::dumped(LAYOUTS[0]);
    (node.world.asks_for_ends, node.world.image) = (true, false);
    node.world.void = true;
    node.world.push(&[(JOB, 1.0, false)]);
    node.world.wait(5);
    assert_eq!(node.asked(), [], "it stays stopped");
    node.world.end_job();
    node.world.wait(3);
    node.world.wait(3);
    assert_eq!(node.asked(), [CarryTask::Discard]);
    assert_eq!(node.facts(), "parked", "nothing runs");
    node.answer(CarryTask::Discard, Err("input/output error"));
    node.world.wait(6);
    node.world.wait(1);
    assert_eq!(node.asked(), [CarryTask::Discard], "again");
    node.answer(CarryTask::Discard, Ok(()));
    node.world.wait(3);
    node.world.wait(1);
    assert_eq!(node.facts(), "parked void");
    assert_eq!(node.asked(), []);
    node.world.push(&[]);
    node.world.wait(1);
    assert_eq!(node.facts(), "");
}

#[test]
fn void_image_of_a_job_that_ended_before_is_removed() {
    let mut node = CarryWorld::new(LAYOUTS[0]);
    node.world.end_job();
    node.world.asks_for_ends = true;
    node.world.push(&[(JOB, 1.0, false)]);
    node.world.wait(3);
    node.world.wait(1);
    assert_eq!(node.facts(), "parked");
    node.world.void = true;
    node.world.push(&[(JOB, 1.0, false)]);
    node.world.wait(3);
    node.world.wait(1);
    assert_eq!(node.asked(), [CarryTask::Discard]);
}

#[test]
fn silence_keeps_the_image_and_the_job_stopped() {
    let mut node = CarryWorld::dumped(LAYOUTS[0]);
    node.world.wait(100);
    node.world.wait(1);
    assert_eq!(node.asked(), []);
    assert_eq!(node.facts(), "image imaged");
}

#[test]
fn image_that_failed_is_published_and_not_tried_again() {
    let mut node = CarryWorld::new(LAYOUTS[0]);
    node.order(true);
    assert_eq!(node.asked(), [CarryTask::Dump]);
    node.answer(CarryTask::Dump, Err("JobId=17: criu: no"));
    assert_eq!(node.troubles(), ["JobId=17 image: criu: no"]);
    node.world.wait(1);
    assert_eq!(node.facts(), "image stuck");
    node.order(false);
    node.world.wait(1);
    assert_eq!(node.asked(), [], "it runs");
    assert_eq!(node.facts(), "");
    node.world.wait(60);
    assert_eq!(node.asked(), [], "it is not inspected either");
}

#[test]
fn job_that_a_failed_dump_has_left_stopped_is_released() {
    let mut node = CarryWorld::new(LAYOUTS[0]);
    node.order(true);
    assert_eq!(node.asked(), [CarryTask::Dump]);
    let failure = CarryFailure {
        text: "criu: no; it is traced".to_owned(),
        is_stopped: true,
    };
    let outcome = ((JOB, CarryTask::Dump), Err(failure));
    node.carries.done.lock().unwrap().push(outcome);
    node.world.wait(1);
    assert_eq!(node.asked(), [CarryTask::Release]);
    assert_eq!(node.facts(), "image");
    node.answer(CarryTask::Release, Err("input/output error"));
    node.world.wait(6);
    assert_eq!(node.asked(), [CarryTask::Release], "again");
    node.answer(CarryTask::Release, Ok(()));
    assert!(node.troubles().is_empty());
    node.world.wait(1);
    assert_eq!(node.asked(), []);
    assert_eq!(node.facts(), "image stuck");
    node.order(false);
    assert_eq!(node.facts(), "");
}

#[test]
fn order_that_changes_while_the_image_is_written_is_followed_when_it_is_complete() {
    let mut node = CarryWorld::new(LAYOUTS[0]);
    node.order(true);
    assert_eq!(node.asked(), [CarryTask::Dump]);
    node.order(false);
    assert_eq!(node.asked(), []);
    node.answer(CarryTask::Dump, Ok(()));
    node.world.wait(1);
    assert_eq!(node.asked(), [CarryTask::Release]);
    assert_eq!(node.facts(), "image");
}

#[test]
fn successor_finds_an_image_that_was_begun_or_complete() {
    let mut node = CarryWorld::dumped(LAYOUTS[0]);
    node.crash();
    node.world.tick();
    assert_eq!(node.asked(), [], "before any orders nothing is done");
    node.order(true);
    assert_eq!(node.asked(), [CarryTask::Dump], "which finds it complete");
    node.crash();
    node.order(false);
    assert_eq!(node.asked(), [CarryTask::Release]);
    // Its processes went meanwhile.
    node.crash();
    node.world.end_job();
    node.order(false);
    assert_eq!(node.facts(), "");
}

#[test]
fn job_that_is_gone_has_no_image() {
    let mut node = CarryWorld::new(LAYOUTS[0]);
    node.world.end_job();
    node.order(true);
    node.world.wait(10);
    node.world.wait(10);
    assert_eq!((node.asked().len(), node.facts().as_str()), (0, ""));
}
