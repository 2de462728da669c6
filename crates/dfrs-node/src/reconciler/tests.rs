//! The reconciler against directories that look like Slurm's, with a clock of the test's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use dfrs_core::Need;
use dfrs_node_proto::report::Measurement;
use dfrs_proto::message::{DesiredState, JobOrder, NodeOrder, Share};

use super::*;
use crate::cgroup::{files, process, v1::CgroupV1, v2::CgroupV2};
use crate::reclaimer::Reclaim;
use crate::scratch::Scratch;

mod carry;
mod cores;
mod limit;
mod needs;

const JOB: u32 = 17;

/// The memory limit that Slurm gives the job, in bytes.
const LIMIT: &str = "34359738368";

/// Requests that the test answers when it likes.
#[derive(Clone, Default)]
struct Reclaims {
    asked: Arc<Mutex<Vec<ReclaimRequest>>>,
    done: Arc<Mutex<Vec<ReclaimOutcome>>>,
}

impl Reclaimer for Reclaims {
    fn request(&mut self, request: ReclaimRequest) {
        self.asked.lock().unwrap().push(request);
    }

    fn interrupt(&self) {}

    fn finished(&mut self) -> Vec<ReclaimOutcome> {
        std::mem::take(&mut self.done.lock().unwrap())
    }

    fn stop(&mut self) {}
}

/// Where a version keeps things, relative to the cgroup root.
#[derive(Clone, Copy, Debug)]
struct Layout {
    v2: bool,
    job: &'static str,
}

const LAYOUTS: [Layout; 4] = [
    Layout {
        v2: false,
        job: "slurm_n1/uid_1000/job_17",
    },
    Layout {
        v2: false,
        job: "slurm/uid_1000/job_17",
    },
    Layout {
        v2: true,
        job: "system.slice/n1_slurmstepd.scope/job_17",
    },
    Layout {
        v2: true,
        job: "system.slice/slurmstepd.scope/job_17",
    },
];

struct World {
    scratch: Scratch,
    layout: Layout,
    reclaims: Reclaims,
    reconciler: Reconciler,
    orders: Orders,
    generation: u64,
    seconds: u64,
    /// Orders request whether jobs have ended.
    asks_for_ends: bool,
    /// In orders, jobs are on several nodes.
    jobs_span_nodes: bool,
    /// Orders request what jobs need of this share of the node.
    request: Option<f64>,
    /// In orders, jobs count with this.
    counted_need: Need,
    /// In orders, Slurm has so many bytes for jobs.
    slurm_memory: Option<u64>,
    /// Orders request so many bytes of swap.
    asked_swap: Option<u64>,
    /// In orders, jobs may be carried, and their images are wanted.
    carry: bool,
    image: bool,
    /// In orders, no image of a job that ends is to be left.
    void: bool,
}

impl World {
    fn new(layout: Layout) -> World {
        let scratch = Scratch::new();
        fs::create_dir_all(scratch.path().join("run")).unwrap();
        for directory in ["cpu", "freezer", "memory"] {
            fs::create_dir_all(scratch.path().join("cgroup").join(directory)).unwrap();
        }
        process::tests::run(&scratch.path().join("proc"), 1, "/sbin/init\0");
        let reclaims = Reclaims::default();
        let reconciler = reconciler(&scratch, layout, &reclaims);
        let orders = Orders::new(Duration::ZERO, Duration::from_secs(60));
        World {
            scratch,
            layout,
            reclaims,
            reconciler,
            orders,
            generation: 0,
            seconds: 0,
            asks_for_ends: false,
            jobs_span_nodes: false,
            request: None,
            counted_need: Need::WHOLE,
            slurm_memory: None,
            asked_swap: None,
            carry: false,
            image: false,
            void: false,
        }
    }

    /// A new daemon in the place of one that was killed.
    fn crash(&mut self) {
        self.reclaims = Reclaims::default();
        self.reconciler = reconciler(&self.scratch, self.layout, &self.reclaims);
        let now = Duration::from_secs(self.seconds);
        self.orders = Orders::new(now, Duration::from_secs(60));
    }

    fn push(&mut self, jobs: &[(u32, f64, bool)]) {
        self.generation += 1;
        let job = |&(id, share, frozen): &(u32, f64, bool)| JobOrder {
            frozen,
            ended: self.asks_for_ends,
            spans_nodes: self.jobs_span_nodes,
            request: self.request.map(Share::clamped),
            need: self.counted_need,
            carry: self.carry,
            image: self.image,
            void: self.void,
            ..JobOrder::new(id, Share::clamped(share))
        };
        let node = NodeOrder {
            cpus: 2,
            jobs: jobs.iter().map(job).collect(),
            memory: self.slurm_memory,
            swap: self.asked_swap,
        };
        let state = DesiredState {
            generation: self.generation,
            time_to_live: 60,
            nodes: [("n1".to_string(), node)].into(),
        };
        self.orders
            .receive(&state, "n1", Duration::from_secs(self.seconds));
        self.tick();
    }

    fn now(&self) -> Now {
        Now {
            monotonic: Duration::from_secs(self.seconds),
            unix: 1e9 + self.seconds as f64,
        }
    }

    fn tick(&mut self) {
        let now = self.now();
        self.reconciler
            .tick(&self.orders.desired(now.monotonic), now);
    }

    fn wait(&mut self, seconds: u64) {
        self.seconds += seconds;
        self.tick();
    }

    fn path(&self, controller: &str, name: &str) -> PathBuf {
        let root = self.scratch.path().join("cgroup");
        let root = if self.layout.v2 {
            root
        } else {
            root.join(controller)
        };
        root.join(self.layout.job).join(name)
    }

    fn freezer_file(&self) -> PathBuf {
        let (v1, v2) = ("step_batch/freezer.state", "step_batch/user/cgroup.freeze");
        self.path("freezer", if self.layout.v2 { v2 } else { v1 })
    }

    fn write(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        files::write(path, text).unwrap();
    }

    /// What Slurm makes when the job starts.
    fn start_job(&self) {
        self.write(&self.path("freezer", "step_batch/cgroup.procs"), "101\n");
        self.write(
            &self.freezer_file(),
            if self.layout.v2 { "0" } else { "THAWED" },
        );
        if self.layout.v2 {
            self.write(&self.path("", "cpu.max"), "max 100000\n");
            self.write(
                &self.path("", "step_batch/user/cgroup.events"),
                "populated 1\nfrozen 0\n",
            );
        }
        self.set_cpu_use(0.0);
        self.set_resident(200 << 20);
        self.write(&limit_files(self).0, LIMIT);
        if !self.layout.v2 {
            let text = "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n";
            self.write(&self.path("memory", "memory.oom_control"), text);
        }
    }

    fn end_job(&self) {
        for controller in ["freezer", "cpuacct", "memory"] {
            let _ = fs::remove_dir_all(self.path(controller, ""));
        }
        // The kernel's files go with their directory; a fake's have to be removed.
        for name in [
            "cpu.cfs_quota_us",
            "cpu.cfs_period_us",
            "cpu.shares",
            "../cpu.shares",
            "cgroup.procs",
        ] {
            let _ = fs::remove_file(self.path("cpu", name));
        }
    }

    fn set_cpu_use(&self, seconds: f64) {
        self.set_cpu_use_and_throttling(seconds, None);
    }

    /// In seconds; nothing of throttling: the kernel does not report it.
    fn set_cpu_use_and_throttling(&self, seconds: f64, throttled: Option<f64>) {
        let line = |key: &str, scale: f64| {
            throttled.map_or(String::new(), |seconds| {
                format!("{key} {}\n", seconds * scale)
            })
        };
        if self.layout.v2 {
            let throttled = line("throttled_usec", 1e6);
            self.write(
                &self.path("", "cpu.stat"),
                &format!("usage_usec {}\n{throttled}", seconds * 1e6),
            );
        } else {
            if throttled.is_some() {
                let throttled = line("throttled_time", 1e9);
                self.write(&self.path("cpu", "cpu.stat"), &throttled);
            }
            self.write(
                &self.path("cpuacct", "cpuacct.usage"),
                &format!("{}\n", seconds * 1e9),
            );
        }
    }

    fn set_resident(&self, bytes: u64) {
        let name = if self.layout.v2 {
            "memory.current"
        } else {
            "memory.usage_in_bytes"
        };
        self.write(&self.path("memory", name), &bytes.to_string());
    }

    fn set_swapped(&self, bytes: u64) {
        let (name, text) = if self.layout.v2 {
            ("memory.swap.current", format!("{bytes}\n"))
        } else {
            ("memory.stat", format!("total_swap {bytes}\n"))
        };
        self.write(&self.path("memory", name), &text);
    }

    fn memory_use(&self) -> MemoryUse {
        cgroups(&self.scratch, self.layout).memory_use(&self.directory())
    }

    fn directory(&self) -> JobDirectory {
        JobDirectory {
            id: JOB,
            path: self.layout.job.into(),
        }
    }

    /// The kernel can reclaim a group's memory.
    fn can_reclaim(&self) {
        let file = if self.layout.v2 {
            "../memory.reclaim"
        } else {
            "../../../memory.force_empty"
        };
        self.write(&self.path("memory", file), "");
    }

    /// All of the node's swap is on this device.
    fn has_swap_on(&self, device: &str) {
        let line = format!("Filename Type Size Used Priority\n{device} partition 1024 0 100\n");
        self.write(&self.scratch.path().join("swaps"), &line);
    }

    /// What the kernel does after a write to the freezer of v2.
    fn settle_freezer(&self) {
        if self.layout.v2 {
            let frozen = self.is_frozen();
            let events = format!("populated 1\nfrozen {}\n", u8::from(frozen));
            self.write(&self.path("", "step_batch/user/cgroup.events"), &events);
        }
    }

    fn is_frozen(&self) -> bool {
        ["1", "FROZEN"].contains(&files::read(&self.freezer_file()).unwrap().as_str())
    }

    /// Slurm suspends or resumes the job, by the same file.
    fn slurm_sets_frozen(&self, frozen: bool) {
        let text = match (self.layout.v2, frozen) {
            (true, true) => "1",
            (true, false) => "0",
            (false, true) => "FROZEN",
            (false, false) => "THAWED",
        };
        self.write(&self.freezer_file(), text);
        self.settle_freezer();
    }

    /// Another step of the job begins; its freezer file.
    fn later_step(&self) -> PathBuf {
        let (name, text) = if self.layout.v2 {
            ("step_0/user/cgroup.freeze", "0")
        } else {
            ("step_0/freezer.state", "THAWED")
        };
        let file = self.path("freezer", name);
        self.write(&file, text);
        if self.layout.v2 {
            let events = self.path("", "step_0/user/cgroup.events");
            self.write(&events, "populated 1\nfrozen 0\n");
        }
        file
    }

    fn weight_file(&self) -> PathBuf {
        let (v1, v2) = ("cpu.shares", "cpu.weight");
        self.path("cpu", if self.layout.v2 { v2 } else { v1 })
    }

    /// No orders arrive until the last have expired, and a successor's timeout has passed too.
    fn expire_orders(&mut self) {
        self.wait(61);
    }

    fn quota(&self) -> Option<Quota> {
        cgroups(&self.scratch, self.layout)
            .cap(&self.directory())
            .unwrap()
    }

    /// The cap in cores.
    fn cap(&self) -> Option<f64> {
        self.quota().map(Quota::cores)
    }

    /// The period of the cap in milliseconds.
    fn period(&self) -> Option<u64> {
        self.quota().map(|quota| quota.period() / 1000)
    }

    fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.scratch.path().join("run").join(name)).is_ok()
    }

    fn is_parked(&self) -> bool {
        self.has("parked.17.sock")
    }

    fn reclaim_requests(&self) -> usize {
        self.reclaims.asked.lock().unwrap().len()
    }

    /// The oldest reclaim ends, and leaves so many bytes in RAM; the others go to swap. The limit is lowered if that is
    /// little enough.
    fn reclaim_ends(&mut self, after: u64) {
        let request = self.reclaims.asked.lock().unwrap().remove(0);
        let memory = self.memory_use();
        let before = memory.resident_bytes.unwrap();
        self.set_resident(after);
        self.set_swapped(memory.swapped_bytes.unwrap_or(0) + before.saturating_sub(after));
        let limit = request.claim.limit(after);
        if let Some(limit) = limit.filter(|_| !request.is_cancelled()) {
            self.write(&limit_files(self).0, &limit.to_string());
        }
        let reclaim = Reclaim {
            resident_bytes: after,
            limit_bytes: limit,
            is_protected: true,
        };
        let outcome = (request, Ok(reclaim));
        self.reclaims.done.lock().unwrap().push(outcome);
        self.tick();
    }

    fn park(&mut self) {
        self.push(&[(JOB, 0.25, true)]);
        self.settle_freezer();
        self.tick();
        self.reclaim_ends(1 << 20);
        assert!(self.is_parked() && self.is_frozen());
    }

    fn measurements(&self) -> Vec<Measurement> {
        let text = fs::read_to_string(self.scratch.path().join("measurements")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

fn cgroups(scratch: &Scratch, layout: Layout) -> Box<dyn CgroupDriver> {
    cgroups_with(scratch, layout, Path::new("/proc"))
}

/// As `cgroups()`, with the processes that this directory shows.
fn cgroups_with(scratch: &Scratch, layout: Layout, proc: &Path) -> Box<dyn CgroupDriver> {
    let root = scratch.path().join("cgroup");
    if layout.v2 {
        Box::new(CgroupV2::with_processes(&root, "n1", proc))
    } else {
        Box::new(CgroupV1::with_processes(&root, "n1", proc))
    }
}

fn reconciler(scratch: &Scratch, layout: Layout, reclaims: &Reclaims) -> Reconciler {
    let settings = ReconcilerSettings {
        node: "n1".to_string(),
        capacity: CapacityOptions {
            fixed: Some(2.0),
            reserved: 0.0,
        },
        measure_period: Duration::from_secs(10),
        swaps: scratch.path().join("swaps"),
        meminfo: scratch.path().join("meminfo"),
        zswap: scratch.path().join("zswap"),
        processes: scratch.path().join("proc"),
        processors: scratch.path().join("processors"),
        max_resident_bytes: parking::MAX_TOLERATED_BYTES,
        jobs_may_swap: false,
    };
    let facts = FactsDirectory::new(&scratch.path().join("run")).unwrap();
    let measurements = MeasurementFile::open(Some(&scratch.path().join("measurements"))).unwrap();
    Reconciler::new(
        settings,
        cgroups(scratch, layout),
        facts,
        Box::new(reclaims.clone()),
        measurements,
    )
}

fn in_every_layout(scenario: impl Fn(World)) {
    for layout in LAYOUTS {
        println!("{layout:?}");
        let world = World::new(layout);
        if layout.v2 {
            // The scope is there as soon as slurmd runs.
            fs::create_dir_all(world.path("", "").parent().unwrap()).unwrap();
        }
        scenario(world);
    }
}

#[test]
fn only_jobs_of_dfrs_are_freed_of_the_cores_that_slurm_bound_them_to() {
    let mut world = World::new(LAYOUTS[0]);
    world.start_job();
    let tree = world.scratch.path().join("cgroup/cpuset");
    fs::create_dir_all(tree.join(world.layout.job)).unwrap();
    let base = tree.join("slurm_n1/cgroup.procs");
    files::write(&base, "\n").unwrap();
    world.push(&[(18, 1.0, false)]);
    assert_eq!(files::read(&base).unwrap(), "", "no order names job 17");
    world.push(&[(JOB, 0.5, false)]);
    assert_ne!(files::read(&base).unwrap(), "");
}

#[test]
fn a_job_is_capped_changed_and_freed() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, false)]);
        assert_eq!(world.cap(), Some(0.5));
        world.push(&[(JOB, 0.5, false)]);
        assert_eq!(world.cap(), Some(1.0));
        world.push(&[]);
        assert_eq!(world.cap(), None);
    });
}

#[test]
fn a_job_on_several_nodes_has_short_periods_as_long_as_it_is() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, false)]);
        assert_eq!((world.cap(), world.period()), (Some(0.5), Some(100)));
        world.jobs_span_nodes = true;
        world.push(&[(JOB, 0.25, false)]);
        world.wait(1);
        assert_eq!((world.cap(), world.period()), (Some(0.5), Some(20)));
        world.crash();
        world.push(&[(JOB, 0.25, false)]);
        assert_eq!((world.cap(), world.period()), (Some(0.5), Some(20)));
        world.jobs_span_nodes = false;
        world.push(&[(JOB, 0.125, false)]);
        assert_eq!((world.cap(), world.period()), (Some(0.25), Some(100)));
        world.push(&[]);
        assert_eq!(world.cap(), None);
    });
}

#[test]
fn a_job_that_comes_later_is_capped_when_it_comes() {
    in_every_layout(|mut world| {
        world.push(&[(JOB, 0.25, false)]);
        world.wait(1);
        world.start_job();
        world.wait(1);
        assert_eq!(world.cap(), Some(0.5));
    });
}

#[test]
fn externally_changed_cap_is_restored() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, false)]);
        let (name, text) = if world.layout.v2 {
            ("cpu.max", "max 100000")
        } else {
            ("cpu.cfs_quota_us", "-1")
        };
        world.write(&world.path("cpu", name), text);
        assert_eq!(world.cap(), None);
        world.tick();
        assert_eq!(world.cap(), Some(0.5));
    });
}

#[test]
fn cap_is_retried_when_it_could_not_be_lifted() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, false)]);
        let weight = world.weight_file();
        let _ = fs::remove_file(&weight);
        fs::create_dir(&weight).unwrap();
        world.push(&[]);
        assert_eq!(world.cap(), Some(0.5), "the write failed");
        world.wait(1);
        assert!(world.reconciler.jobs[&JOB].capped);
        fs::remove_dir(&weight).unwrap();
        world.wait(1);
        assert_eq!(world.cap(), None);
        assert!(!world.reconciler.jobs[&JOB].capped);
    });
}

#[test]
fn a_cap_that_was_written_in_part_is_undone() {
    in_every_layout(|mut world| {
        world.start_job();
        let (blocked, usual) = if world.layout.v2 {
            (world.weight_file(), "100")
        } else {
            (world.path("cpu", "cpu.cfs_period_us"), "1024")
        };
        fs::create_dir_all(&blocked).unwrap();
        world.push(&[(JOB, 0.25, false)]);
        assert_eq!(world.cap(), None, "the write failed");
        assert!(world.reconciler.jobs[&JOB].capped);
        fs::remove_dir(&blocked).unwrap();
        world.push(&[]);
        assert_eq!(files::read(&world.weight_file()).unwrap(), usual);
        assert!(!world.reconciler.jobs[&JOB].capped);
    });
}

#[test]
fn unchanged_cap_is_not_rewritten() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, false)]);
        let name = if world.layout.v2 {
            "cpu.max"
        } else {
            "cpu.cfs_quota_us"
        };
        let modified = |world: &World| {
            fs::metadata(world.path("cpu", name))
                .unwrap()
                .modified()
                .unwrap()
        };
        let before = modified(&world);
        std::thread::sleep(Duration::from_millis(20));
        world.tick();
        assert_eq!(modified(&world), before);
    });
}

#[test]
fn parked_job_is_frozen_reclaimed_and_reported_until_resumed() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, true)]);
        assert!(world.is_frozen() && world.has("frozen.17"));
        world.settle_freezer();
        world.tick();
        assert_eq!(world.reclaim_requests(), 1);
        world.wait(1);
        assert_eq!(world.reclaim_requests(), 1, "one reclaim at a time");
        assert!(!world.is_parked(), "not before its memory is gone");
        world.reclaim_ends(1 << 20);
        assert!(world.is_parked());
        assert!(world.reconciler.status(&world.orders, world.now()).jobs[0].parked);
        world.push(&[(JOB, 0.25, false)]);
        assert!(!world.reconciler.status(&world.orders, world.now()).jobs[0].parked);
        assert!(!world.is_frozen() && !world.is_parked() && !world.has("frozen.17"));
    });
}

#[test]
fn job_is_retried_and_not_parked_when_it_stays_in_ram() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, true)]);
        world.settle_freezer();
        world.tick();
        world.reclaim_ends(150 << 20);
        assert!(!world.is_parked());
        world.wait(1);
        assert_eq!(world.reclaim_requests(), 0);
        world.wait(2);
        assert_eq!(world.reclaim_requests(), 1);
        world.reclaim_ends(1 << 20);
        assert!(world.is_parked());
    });
}

#[test]
fn a_job_that_has_ended_on_this_node_alone_is_parked_here() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, false)]);
        world.end_job();
        world.push(&[(JOB, 0.25, true)]);
        assert!(!world.is_parked(), "another step may be being launched");
        world.wait(2);
        assert!(world.is_parked());
        world.push(&[(JOB, 0.25, false)]);
        assert!(!world.is_parked());
    });
}

#[test]
fn ended_job_is_reported_when_nothing_is_left_of_it() {
    in_every_layout(|mut world| {
        world.start_job();
        world.asks_for_ends = true;
        world.push(&[(JOB, 1.0, false)]);
        world.wait(3);
        assert!(!world.is_parked(), "it is still here");
        assert!(!world.is_frozen(), "it could not die");
        world.end_job();
        world.wait(1);
        assert!(!world.is_parked(), "its end may not be known to Slurm yet");
        world.wait(2);
        assert!(world.is_parked());
        world.asks_for_ends = false;
        world.start_job();
        world.push(&[(JOB, 0.5, false)]);
        assert!(!world.is_parked(), "this is another job");
    });
}

#[test]
fn late_step_is_frozen_before_the_job_is_parked_again() {
    in_every_layout(|mut world| {
        world.push(&[(JOB, 0.25, true)]);
        world.wait(2);
        assert!(world.is_parked());
        world.start_job();
        world.tick();
        assert!(world.is_frozen() && !world.is_parked());
        world.settle_freezer();
        world.tick();
        world.reclaim_ends(1 << 20);
        assert!(world.is_parked());
        world.push(&[]);
        assert!(!world.is_frozen() && !world.is_parked());
    });
}

#[test]
fn absent_job_is_parked_only_while_orders_name_it() {
    in_every_layout(|mut world| {
        world.push(&[(JOB, 0.25, true)]);
        world.wait(2);
        assert!(world.is_parked());
        world.push(&[]);
        assert!(!world.is_parked());
    });
}

#[test]
fn a_reclaim_that_ends_after_the_thaw_parks_nothing() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, true)]);
        world.settle_freezer();
        world.tick();
        world.push(&[(JOB, 0.25, false)]);
        world.settle_freezer();
        world.push(&[(JOB, 0.25, true)]);
        world.settle_freezer();
        world.tick();
        assert_eq!(world.reclaim_requests(), 2);
        world.reclaim_ends(1 << 20);
        assert!(
            !world.is_parked(),
            "that was the first, which was cancelled"
        );
        world.reclaim_ends(1 << 20);
        assert!(world.is_parked());
    });
}

#[test]
fn job_stays_thawed_when_slurm_thawed_it() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.slurm_sets_frozen(false);
        world.wait(1);
        world.wait(1);
        assert!(!world.is_frozen() && !world.is_parked());
        // Once the controller has wanted it thawed, it may want it frozen again.
        world.push(&[(JOB, 0.25, false)]);
        world.push(&[(JOB, 0.25, true)]);
        assert!(world.is_frozen());
    });
}

#[test]
fn job_thawed_by_slurm_is_parked_again_when_orders_persist() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        // slurmd gets a resumption after the suspension that followed it.
        world.slurm_sets_frozen(false);
        world.wait(1);
        world.wait(4);
        assert!(!world.is_frozen() && !world.is_parked());
        world.wait(1);
        world.settle_freezer();
        world.tick();
        world.reclaim_ends(1 << 20);
        assert!(world.is_frozen() && world.is_parked());
        world.push(&[(JOB, 0.25, false)]);
        assert!(!world.is_frozen());
    });
}

#[test]
fn job_suspended_by_slurm_is_parked_and_not_thawed() {
    in_every_layout(|mut world| {
        world.start_job();
        world.slurm_sets_frozen(true);
        world.park();
        world.push(&[(JOB, 0.25, false)]);
        assert!(world.is_frozen(), "Slurm's resume will thaw it");
        assert!(!world.is_parked());
    });
}

#[test]
fn expired_orders_lift_caps_and_keep_jobs_frozen() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.wait(60);
        assert!(world.cap().is_some() && world.is_frozen());
        world.expire_orders();
        assert_eq!(world.cap(), None);
        world.wait(1000);
        assert!(world.is_frozen() && world.is_parked() && world.has("frozen.17"));
        let status = world.reconciler.status(&world.orders, world.now());
        assert!(status.failed_open && status.jobs[0].parked);
        world.push(&[(JOB, 0.5, false)]);
        assert_eq!(world.cap(), Some(1.0));
        assert!(!world.is_frozen() && !world.is_parked() && !world.has("frozen.17"));
    });
}

#[test]
fn empty_orders_thaw_jobs_after_expiry() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.expire_orders();
        world.push(&[]);
        assert!(!world.is_frozen() && !world.is_parked() && !world.has("frozen.17"));
    });
}

#[test]
fn expired_orders_freeze_no_other_job() {
    in_every_layout(|mut world| {
        world.push(&[(JOB, 0.25, true)]);
        world.expire_orders();
        world.start_job();
        world.wait(1);
        assert!(!world.is_frozen() && !world.has("frozen.17"));
    });
}

#[test]
fn job_resumed_after_expiry_runs_with_all_steps() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.expire_orders();
        world.slurm_sets_frozen(false);
        world.wait(1);
        assert!(!world.is_parked());
        let step = world.later_step();
        world.wait(1);
        world.wait(1);
        assert!(!world.is_frozen());
        let state = files::read(&step).unwrap();
        assert!(["0", "THAWED"].contains(&state.as_str()), "{state}");
        // Orders from before the resume may still come; a job that is being killed has to run.
        world.push(&[(JOB, 0.25, true)]);
        assert!(!world.is_frozen());
    });
}

#[test]
fn parked_job_leaves_nothing_when_it_ends_after_expiry() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.expire_orders();
        world.slurm_sets_frozen(false);
        world.end_job();
        world.wait(1);
        assert!(!world.is_parked() && !world.has("frozen.17"));
        world.start_job();
        world.wait(1);
        assert!(!world.is_frozen(), "the requeued job is another run");
    });
}

#[test]
fn restarted_daemon_reports_parked_jobs_without_orders() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.crash();
        world.expire_orders();
        assert_eq!(world.cap(), None);
        assert!(world.is_frozen() && !world.is_parked());
        world.reclaim_ends(1 << 20);
        assert!(world.is_frozen() && world.is_parked());
        world.push(&[]);
        assert!(!world.is_frozen() && !world.has("frozen.17"));
    });
}

#[test]
fn note_of_a_frozen_job_is_ignored_when_it_was_thawed() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.slurm_sets_frozen(false);
        world.crash();
        world.expire_orders();
        assert!(!world.is_frozen() && !world.has("frozen.17"));
        // So a suspend by Slurm is not taken for ours.
        world.slurm_sets_frozen(true);
        world.push(&[]);
        assert!(world.is_frozen());
    });
}

#[test]
fn restarted_daemon_lifts_caps_only_after_first_orders() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.crash();
        world.wait(1);
        assert!(
            world.cap().is_some() && world.is_frozen(),
            "nothing is touched before the first message"
        );
        assert!(
            !world.is_parked(),
            "but its predecessor's word is not repeated unseen"
        );
        world.push(&[(18, 0.5, false)]);
        assert_eq!(world.cap(), None);
        assert!(!world.is_frozen() && !world.has("frozen.17"));
    });
}

#[test]
fn restarted_daemon_parks_the_job_again() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.crash();
        world.push(&[(JOB, 0.25, true)]);
        world.tick();
        world.reclaim_ends(1 << 20);
        assert!(world.is_parked());
        world.push(&[(JOB, 0.25, false)]);
        assert!(
            !world.is_frozen(),
            "its predecessor froze it, so it may thaw it"
        );
    });
}

#[test]
fn restarted_daemon_parks_a_large_job_of_which_little_stays() {
    in_every_layout(|mut world| {
        world.start_job();
        world.set_resident(16 << 30);
        world.push(&[(JOB, 0.25, true)]);
        world.settle_freezer();
        world.tick();
        world.reclaim_ends(200 << 20);
        assert!(world.is_parked(), "less than a sixteenth");
        world.crash();
        world.push(&[(JOB, 0.25, true)]);
        world.tick();
        world.reclaim_ends(200 << 20);
        assert!(world.is_parked(), "it is as large as it was");
    });
}

#[test]
fn restarted_daemon_lifts_caps_when_no_orders_arrive() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, false)]);
        world.crash();
        world.wait(60);
        assert!(world.cap().is_some());
        world.wait(1);
        assert_eq!(world.cap(), None);
    });
}

#[test]
fn stop_lifts_caps_and_keeps_jobs_frozen() {
    in_every_layout(|mut world| {
        world.start_job();
        world.can_reclaim();
        world.has_swap_on("/dev/sda2");
        world.park();
        world.wait(2);
        assert!(world.has("swap.sock"));
        let now = world.now();
        world.reconciler.release(now);
        assert_eq!(world.cap(), None);
        assert!(world.is_frozen());
        let left: Vec<_> = fs::read_dir(world.scratch.path().join("run"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["frozen.17"]);
        assert_eq!(
            world.measurements().last().unwrap().reason,
            IntervalEnd::Stop
        );
        world.crash();
        world.push(&[(JOB, 0.25, false)]);
        assert!(!world.is_frozen(), "its successor knows by the note");
    });
}

#[test]
fn existing_caps_are_lifted_when_the_daemon_stops_before_orders() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, false)]);
        world.crash();
        let now = world.now();
        world.reconciler.release(now);
        assert_eq!(world.cap(), None);
    });
}

#[test]
fn a_job_that_no_orders_name_after_a_restart_leaves_nothing() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, false)]);
        let now = world.now();
        world.reconciler.release(now);
        world.crash();
        world.push(&[]);
        world.end_job();
        world.wait(1);
        world.wait(1);
        assert!(!world.path("cpu", "").exists());
    });
}

#[test]
fn directory_being_created_by_slurm_is_no_leftover() {
    let mut world = World::new(LAYOUTS[0]);
    world.push(&[]);
    // Where it has one tree for both, Slurm may be in the middle of making them.
    fs::create_dir_all(world.path("cpu", "")).unwrap();
    world.wait(1);
    assert!(world.path("cpu", "").exists());
    world.start_job();
    world.wait(1);
    world.wait(1);
    assert!(world.path("cpu", "").exists());
}

#[test]
fn a_job_that_ends_leaves_nothing_and_its_number_may_come_again() {
    in_every_layout(|mut world| {
        world.start_job();
        world.park();
        world.end_job();
        world.wait(1);
        assert!(!world.is_parked() && !world.has("frozen.17"));
        assert!(!world.path("cpu", "").exists());
        world.start_job();
        world.wait(1);
        assert!(world.is_frozen(), "the requeued job is another run");
    });
}

#[test]
fn measurements_contain_share_and_cpu_seconds() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, false)]);
        world.set_cpu_use(2.0);
        world.wait(4);
        world.push(&[(JOB, 0.5, false)]);
        world.set_cpu_use(7.0);
        world.wait(10);
        world.set_cpu_use(8.0);
        world.wait(1);
        world.end_job();
        world.wait(1);
        let lines = world.measurements();
        let found: Vec<_> = lines
            .iter()
            .map(|line| {
                (
                    line.share.unwrap(),
                    line.end - line.start,
                    line.cpu_seconds,
                    line.reason,
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                (0.25, 4.0, 2.0, IntervalEnd::Change),
                (0.5, 10.0, 5.0, IntervalEnd::Period),
                (0.5, 1.0, 1.0, IntervalEnd::End),
            ]
        );
        assert_eq!(lines[0].measured_share(), Some(0.25));
        assert_eq!(
            (lines[1].cap_cores, lines[1].capacity_cores),
            (Some(1.0), 2.0)
        );
    });
}

#[test]
fn status_shows_what_is_enforced() {
    in_every_layout(|mut world| {
        world.start_job();
        world.set_cpu_use(3.0);
        world.push(&[(JOB, 0.25, false), (18, 0.1, true)]);
        world.seconds += 2;
        let status = world.reconciler.status(&world.orders, world.now());
        assert_eq!(
            (status.generation, status.heard_seconds_ago),
            (Some(1), Some(2.0))
        );
        assert_eq!((status.capacity_cores, status.failed_open), (2.0, false));
        let job = &status.jobs[0];
        assert_eq!(
            (job.id, job.share, job.cap_cores, job.present),
            (JOB, Some(0.25), Some(0.5), true)
        );
        assert_eq!(
            (job.cpu_seconds, job.resident_bytes),
            (Some(3.0), Some(200 << 20))
        );
        assert_eq!((status.jobs[1].id, status.jobs[1].present), (18, false));
    });
}

/// Files with how much memory the job may have, and how much with swap, or in swap.
fn limit_files(world: &World) -> (PathBuf, PathBuf) {
    let (memory, swap) = if world.layout.v2 {
        ("memory.max", "memory.swap.max")
    } else {
        ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
    };
    (world.path("memory", memory), world.path("memory", swap))
}

#[test]
fn a_jobs_memory_goes_to_swap_only_while_it_is_parked() {
    in_every_layout(|mut world| {
        let (memory, swap) = limit_files(&world);
        let (none, kept) = if world.layout.v2 {
            ("max", "0")
        } else {
            ("-1", "104857600")
        };
        world.start_job();
        let unlimited = if world.layout.v2 {
            "max"
        } else {
            "9223372036854771712"
        };
        world.write(&memory, unlimited);
        world.write(&swap, unlimited);
        world.push(&[(JOB, 0.25, false)]);
        // Slurm sets the limit after it has made the directory.
        world.write(&memory, "104857600");
        world.wait(1);
        assert_eq!(files::read(&swap).unwrap(), kept);
        world.park();
        assert_eq!(files::read(&swap).unwrap(), none);
        world.push(&[(JOB, 0.25, false)]);
        assert_eq!(files::read(&swap).unwrap(), kept);
        world.push(&[]);
        assert_eq!(files::read(&swap).unwrap(), none, "as Slurm had made it");
    });
}

/// The job runs, has a memory limit, and is kept out of swap; the file and the word for that.
fn kept_out_of_swap(world: &mut World) -> (PathBuf, &'static str) {
    let (memory, swap) = limit_files(world);
    world.start_job();
    world.write(&memory, "104857600");
    world.write(&swap, "9223372036854771712");
    world.push(&[(JOB, 0.25, false)]);
    let kept = if world.layout.v2 { "0" } else { "104857600" };
    assert_eq!(files::read(&swap).unwrap(), kept);
    (swap, kept)
}

#[test]
fn shares_leave_out_cores_that_slurm_reserves_from_the_first_orders_on() {
    let mut world = World::new(LAYOUTS[2]);
    world.reconciler.settings.capacity.fixed = None;
    let root = world.scratch.path().join("cgroup");
    files::write(&root.join("cpuset.cpus.effective"), "0-3\n").unwrap();
    for number in 0..4 {
        let topology = world.scratch.path().join("processors");
        let file = topology.join(format!("cpu{number}/topology/thread_siblings_list"));
        world.write(&file, &number.to_string());
    }
    world.start_job();
    world.push(&[(JOB, 0.5, false)]); // Slurm has 2 of the 4
    assert_eq!(world.cap(), Some(1.0));
    files::write(&root.join("cpuset.cpus.effective"), "0\n").unwrap();
    world.wait(1);
    assert_eq!(world.cap(), Some(0.5), "the others have gone");
}

#[test]
fn expired_orders_keep_running_jobs_out_of_swap() {
    in_every_layout(|mut world| {
        let (swap, kept) = kept_out_of_swap(&mut world);
        let none = if world.layout.v2 { "max" } else { "-1" };
        world.expire_orders();
        assert_eq!(world.cap(), None);
        assert_eq!(files::read(&swap).unwrap(), kept);
        world.push(&[]);
        assert_eq!(files::read(&swap).unwrap(), none, "it is given back");
    });
}

#[test]
fn restarted_daemon_keeps_jobs_out_of_swap_until_orders() {
    in_every_layout(|mut world| {
        let (swap, kept) = kept_out_of_swap(&mut world);
        let none = if world.layout.v2 { "max" } else { "-1" };
        world.crash();
        world.expire_orders();
        assert_eq!(files::read(&swap).unwrap(), kept);
        world.push(&[]);
        assert_eq!(files::read(&swap).unwrap(), none);
    });
}

#[test]
fn stop_allows_swap_again_after_expiry() {
    in_every_layout(|mut world| {
        let (swap, _) = kept_out_of_swap(&mut world);
        world.expire_orders();
        let now = world.now();
        world.reconciler.release(now);
        let none = if world.layout.v2 { "max" } else { "-1" };
        assert_eq!(files::read(&swap).unwrap(), none);
    });
}

#[test]
fn node_with_swap_in_ram_parks_nothing_and_reports_it() {
    in_every_layout(|mut world| {
        world.start_job();
        world.can_reclaim();
        world.has_swap_on("/dev/zram0");
        world.push(&[]);
        world.wait(1);
        assert!(!world.has("swap.sock"));
        let reported = world.reconciler.warnings.reported();
        assert!(matches!(reported[..], [("swap", text)] if text.contains("zram")));
        world.has_swap_on("/dev/sda2");
        world.wait(1);
        assert!(world.has("swap.sock"));
        assert_eq!(world.reconciler.warnings.reported(), []);
    });
}

#[test]
fn job_stays_frozen_while_notes_are_unreadable() {
    in_every_layout(|mut world| {
        world.start_job();
        world.push(&[(JOB, 0.25, true)]);
        assert!(world.is_frozen() && world.has("frozen.17"));
        world.settle_freezer();
        world.crash();
        let (run, away) = (
            world.scratch.path().join("run"),
            world.scratch.path().join("away"),
        );
        fs::rename(&run, &away).unwrap();
        world.push(&[]);
        assert!(world.is_frozen());
        fs::rename(&away, &run).unwrap();
        world.wait(1);
        assert!(!world.is_frozen() && !world.has("frozen.17"));
    });
}
