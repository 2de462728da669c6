//! Cores of jobs that DFRS does not schedule, and those that its own jobs have.

use super::*;

/// A node on which Slurm binds jobs to cores.
struct Node(World);

impl Node {
    fn new(layout: Layout) -> Node {
        let node = Node(World::new(layout));
        node.0.start_job();
        node.bind(JOB, "0", true);
        if layout.v2 {
            let scope = node.0.path("", "..");
            node.0.write(&scope.join("cpuset.cpus.effective"), "0-3\n");
        } else {
            let base = node.cpuset(JOB).join("../..");
            node.0.write(&base.join("cpuset.cpus"), "0-3\n");
            node.0.write(&base.join("cpuset.mems"), "0\n");
        }
        node
    }

    /// A job's group, where it is bound.
    fn cpuset(&self, job: u32) -> PathBuf {
        self.0.path("cpuset", "..").join(format!("job_{job}"))
    }

    /// Slurm starts the job and binds it, or it has ended and left its directory.
    fn bind(&self, job: u32, cores: &str, runs: bool) {
        let group = self.cpuset(job);
        self.0.write(&group.join("cpuset.cpus"), cores);
        if self.0.layout.v2 {
            let events = format!("populated {}\n", u8::from(runs));
            self.0.write(&group.join("cgroup.events"), &events);
            self.0.write(&group.join("cpu.max"), "max 100000\n");
        } else {
            let freezer = self.0.path("freezer", "..").join(format!("job_{job}"));
            fs::create_dir_all(freezer).unwrap();
            let process = if runs { "100\n" } else { "\n" };
            self.0.write(&group.join("step_0/cgroup.procs"), process);
        }
    }

    fn end(&self, job: u32) {
        fs::remove_dir_all(self.cpuset(job)).unwrap();
        if !self.0.layout.v2 {
            let freezer = self.0.path("freezer", "..").join(format!("job_{job}"));
            fs::remove_dir_all(freezer).unwrap();
        }
    }

    /// Where the job of DFRS may run.
    fn cores(&self) -> String {
        if self.0.layout.v2 {
            return files::read(&self.cpuset(JOB).join("cpuset.cpus")).unwrap();
        }
        // The group to which its process was moved last.
        let base = self.cpuset(JOB).join("../..");
        let moved: Vec<PathBuf> = ["dfrs", ""]
            .map(|group| base.join(group))
            .into_iter()
            .filter(|group| group.join("cgroup.procs").exists())
            .collect();
        let cores = match &moved[..] {
            [group] => files::read(&group.join("cpuset.cpus")).unwrap(),
            other => format!("moved to {other:?}"),
        };
        for group in moved {
            fs::remove_file(group.join("cgroup.procs")).unwrap();
        }
        cores
    }
}

fn on_every_node(scenario: impl Fn(Node)) {
    for layout in LAYOUTS {
        println!("{layout:?}");
        scenario(Node::new(layout));
    }
}

#[test]
fn cores_follow_what_jobs_of_others_hold() {
    on_every_node(|mut node| {
        node.0.push(&[(JOB, 0.5, false)]);
        assert_eq!(node.cores(), "0-3");

        node.bind(18, "0", true);
        node.0.tick();
        assert_eq!(node.cores(), "1-3", "at the next tick");
        node.bind(19, "2-3", true);
        node.0.tick();
        assert_eq!(node.cores(), "1");
        node.bind(20, "1", true);
        node.0.wait(1);
        assert_eq!(node.cores(), "0-3", "nothing is left");
        for job in [18, 19, 20] {
            let own = files::read(&node.cpuset(job).join("cpuset.cpus")).unwrap();
            assert_eq!(own, ["0", "2-3", "1"][job as usize - 18], "untouched");
        }

        node.end(20);
        node.end(19);
        node.0.tick();
        assert_eq!(node.cores(), "1-3");
        node.bind(18, "0", false);
        node.0.wait(1);
        assert_eq!(node.cores(), "0-3", "a directory that is left holds none");
    });
}

#[test]
fn quiet_job_follows_at_the_next_tick() {
    on_every_node(|mut node| {
        node.0.push(&[(JOB, 0.5, false)]);
        node.0.wait(5);
        node.0.wait(5);
        let _ = node.cores();
        node.bind(18, "0", true);
        node.0.tick();
        assert_eq!(node.cores(), "1-3");
    });
}

#[test]
fn jobs_of_dfrs_hold_no_cores() {
    on_every_node(|mut node| {
        node.bind(18, "0", true);
        node.0.push(&[(JOB, 0.5, false), (18, 0.5, false)]);
        let _ = node.cores();
        node.bind(18, "0", true);
        node.0.push(&[(JOB, 0.5, false)]);
        node.0.wait(1);
        assert_eq!(node.cores(), "0-3", "it was DFRS's");
        let own = files::read(&node.cpuset(18).join("cpuset.cpus")).unwrap();
        assert_eq!(own, "0", "it keeps what it has");
    });
}

#[test]
fn job_that_is_not_wanted_keeps_its_cores() {
    on_every_node(|mut node| {
        node.bind(18, "0", true);
        node.0.push(&[(JOB, 0.5, false)]);
        assert_eq!(node.cores(), "1-3");
        node.0.push(&[]);
        node.end(18);
        node.0.wait(1);
        if node.0.layout.v2 {
            assert_eq!(node.cores(), "1-3");
        } else {
            let base = node.cpuset(JOB).join("../..");
            assert!(!base.join("cgroup.procs").exists());
            let cores = files::read(&base.join("dfrs/cpuset.cpus")).unwrap();
            assert_eq!(cores, "1-3");
        }
    });
}

#[test]
fn unreadable_cores_of_one_job_do_not_hide_those_of_others() {
    on_every_node(|mut node| {
        node.bind(18, "0", true);
        node.bind(19, "1-", true);
        node.0.push(&[(JOB, 0.5, false)]);
        node.0.wait(1);
        assert_eq!(node.cores(), "1-3");
        let status = node.0.reconciler.status(&node.0.orders, node.0.now());
        let is_about_cores = |trouble: &String| trouble.starts_with("cores of other jobs: ");
        assert!(
            status.troubles.iter().any(is_about_cores),
            "{:?}",
            status.troubles
        );
        node.bind(19, "1", true);
        node.0.wait(1);
        assert_eq!(node.cores(), "2-3");
        let status = node.0.reconciler.status(&node.0.orders, node.0.now());
        assert!(!status.troubles.iter().any(is_about_cores));
    });
}
