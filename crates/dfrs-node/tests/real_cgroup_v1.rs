//! `dfrsd` on the kernel's own cgroup v1, with processes in the place of Slurm's jobs.
//!
//! Needs root and the hierarchies cpu, cpuacct, cpuset, freezer and memory:
//! `cargo test -p dfrs-node --test real_cgroup_v1 -- --ignored --test-threads=1`. Makes a group
//! `dfrs-test-PID` in each, and removes it. With swap on, parking is checked too.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use dfrs_proto::report::NodeStatus;

const CONTROLLERS: [&str; 5] = ["cpu", "cpuacct", "cpuset", "freezer", "memory"];
const STEP: &str = "slurm_test/uid_0/job_17/step_0";
const JOB: &str = "slurm_test/uid_0/job_17";
const NOBODY: u32 = 65534;

/// How long a test waits for what must come true: no promise of dfrsd's, but more than a busy machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A node of its own: groups in the kernel, a directory that looks like /sys/fs/cgroup, a daemon.
struct Node {
    directory: PathBuf,
    groups: Vec<PathBuf>,
    processes: Vec<Child>,
    daemon: Option<Child>,
    generation: u64,
}

impl Node {
    fn new(name: &str) -> Node {
        let name = format!("dfrs-test-{}-{name}", std::process::id());
        let directory = std::env::temp_dir().join(&name);
        fs::create_dir_all(directory.join("cgroup")).unwrap();
        let mut groups = Vec::new();
        for controller in CONTROLLERS {
            let group = Path::new("/sys/fs/cgroup").join(controller).join(&name);
            fs::create_dir(&group).unwrap_or_else(|error| {
                panic!("{}: {error}: root, and cgroup v1?", group.display())
            });
            symlink(&group, directory.join("cgroup").join(controller)).unwrap();
            groups.push(group);
        }
        let mut node = Node {
            directory,
            groups,
            processes: vec![],
            daemon: None,
            generation: 0,
        };
        // As Slurm with proctrack/cgroup and jobacct_gather/cgroup: everything but `cpu`.
        for controller in ["cpuacct", "freezer", "memory"] {
            fs::create_dir_all(node.file(controller, STEP)).unwrap();
        }
        fs::copy(env!("CARGO_BIN_EXE_dfrsd"), node.directory.join("dfrsd")).unwrap();
        node.start_daemon();
        node
    }

    fn file(&self, controller: &str, path: &str) -> PathBuf {
        self.directory.join("cgroup").join(controller).join(path)
    }

    fn read(&self, controller: &str, path: &str) -> String {
        fs::read_to_string(self.file(controller, path))
            .unwrap()
            .trim()
            .to_string()
    }

    fn dfrsd(&self) -> Command {
        let mut command = Command::new(self.directory.join("dfrsd"));
        command.current_dir(&self.directory);
        command
    }

    fn start_daemon(&mut self) {
        let arguments = [
            "--node",
            "test",
            "--socket-dir",
            "run",
            "--cgroup-root",
            "cgroup",
            "--cpu-capacity",
            "1",
        ];
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.directory.join("log"))
            .unwrap();
        self.daemon = Some(self.dfrsd().args(arguments).stderr(log).spawn().unwrap());
        let socket = self.directory.join("run/test/dfrsd.sock");
        assert!(comes_true(|| socket.exists()), "dfrsd did not start");
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.join("log")).unwrap()
    }

    fn stop_daemon(&mut self) {
        let mut daemon = self.daemon.take().unwrap();
        let pid = daemon.id().to_string();
        Command::new("kill").arg(&pid).status().unwrap();
        assert!(daemon.wait().unwrap().success());
    }

    fn push(&mut self, job: &str) {
        self.generation += 1;
        let message = format!(
            r#"{{"v":1,"generation":{},"time_to_live":600,"nodes":{{"test":{{"cpus":1,"jobs":[{job}]}}}}}}"#,
            self.generation
        );
        let file = self.directory.join("message");
        fs::write(&file, message).unwrap();
        let sent = self
            .dfrsd()
            .args(["send", "--node", "test", "--socket-dir", "run", "message"])
            .status();
        assert!(sent.unwrap().success());
    }

    fn status(&self) -> NodeStatus {
        let output = self
            .dfrsd()
            .args(["status", "--node", "test", "--socket-dir", "run", "--json"])
            .output();
        serde_json::from_slice(&output.unwrap().stdout).unwrap()
    }

    /// Starts a shell command in the job, as slurmstepd does: it is in the step before it does anything.
    fn start(&mut self, script: &str) {
        let places: Vec<String> = ["freezer", "cpuacct", "memory"]
            .iter()
            .map(|controller| {
                format!(
                    "echo $$ > {}",
                    self.file(controller, STEP).join("cgroup.procs").display()
                )
            })
            .collect();
        let script = format!("{}; {script}", places.join("; "));
        let child = Command::new("sh")
            .arg("-c")
            .arg(script)
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .process_group(0)
            .spawn();
        self.processes.push(child.unwrap());
    }

    fn cpu_seconds(&self) -> f64 {
        self.read("cpuacct", &format!("{JOB}/cpuacct.usage"))
            .parse::<f64>()
            .unwrap()
            / 1e9
    }

    /// Cores used over a few seconds, by the kernel's accounting.
    fn cores_used(&self) -> f64 {
        let (begin, before) = (Instant::now(), self.cpu_seconds());
        sleep(Duration::from_secs(4));
        (self.cpu_seconds() - before) / begin.elapsed().as_secs_f64()
    }

    /// Cores used, at least `least` of them. Less may be the machine's doing, which has other work, too:
    /// then it is measured again, at most four times. More than a cap allows is wrong at once.
    fn cores_used_at_least(&self, least: f64) -> f64 {
        let mut used = self.cores_used();
        for _ in 0..4 {
            if used >= least {
                break;
            }
            println!("the machine left too little: {used:.3} cores used");
            used = self.cores_used();
        }
        used
    }

    fn is_parked(&self) -> bool {
        fs::symlink_metadata(self.directory.join("run/test/parked.17.sock")).is_ok()
    }

    /// What is beside the socket, and the socket.
    fn names(&self) -> Vec<String> {
        fs::read_dir(self.directory.join("run/test"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    fn freezer(&self) -> String {
        self.read("freezer", &format!("{STEP}/freezer.state"))
    }

    /// The job's cap in microseconds per period, "-1" if it has none; `None` before it had one.
    fn quota(&self) -> Option<String> {
        let path = self.file("cpu", &format!("{JOB}/cpu.cfs_quota_us"));
        Some(fs::read_to_string(path).ok()?.trim().to_string())
    }

    fn resident(&self) -> u64 {
        self.read("memory", &format!("{JOB}/memory.usage_in_bytes"))
            .parse()
            .unwrap()
    }

    fn end_job(&mut self) {
        let _ = fs::write(self.file("freezer", STEP).join("freezer.state"), "THAWED");
        for process in &mut self.processes {
            let _ = Command::new("kill")
                .args(["-9", "--", &format!("-{}", process.id())])
                .status();
            let _ = process.wait();
        }
        self.processes.clear();
        for controller in ["cpuacct", "freezer", "memory"] {
            let path = self.file(controller, STEP);
            comes_true(|| fs::remove_dir(&path).is_ok() || !path.exists());
            let _ = fs::remove_dir(self.file(controller, JOB));
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.end_job();
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        for group in &self.groups {
            remove_group(group);
        }
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Control groups are removed from below; their files go with them.
fn remove_group(group: &Path) {
    for entry in fs::read_dir(group).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_group(&entry.path());
        }
    }
    comes_true(|| fs::remove_dir(group).is_ok() || !group.exists());
}

fn comes_true(condition: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while !condition() {
        if begin.elapsed() > PATIENCE {
            return false;
        }
        sleep(Duration::from_millis(20));
    }
    true
}

#[test]
#[ignore = "needs root and cgroup v1"]
fn busy_processes_use_their_share_and_no_more() {
    let mut node = Node::new("share");
    node.start("while :; do :; done");
    node.push(r#"{"id":17,"share":0.2}"#);
    let capped = comes_true(|| node.status().jobs[0].cap_cores == Some(0.2));
    assert!(capped, "{}", node.log());
    sleep(Duration::from_millis(200));
    let used = node.cores_used_at_least(0.17);
    println!("one process, share 0.2 of one core: {used:.3} cores used");
    assert!((used - 0.2).abs() < 0.03, "{used} cores used");

    node.start("(while :; do :; done) & while :; do :; done");
    sleep(Duration::from_millis(500));
    let used = node.cores_used_at_least(0.17);
    println!("three processes, two started later: {used:.3} cores used");
    assert!(
        (used - 0.2).abs() < 0.03,
        "{used} cores used by processes that came later"
    );

    node.push("");
    let uncapped = comes_true(|| node.quota().as_deref() == Some("-1"));
    assert!(uncapped, "{}", node.log());
    let used = node.cores_used_at_least(0.25);
    println!("uncapped: {used:.3} cores used");
    assert!(used > 0.25, "{used} cores used without a cap");

    node.end_job();
    let gone = comes_true(|| !node.file("cpu", "slurm_test/uid_0").exists());
    assert!(gone, "dfrsd removes what it made");
}

#[test]
#[ignore = "needs root and cgroup v1"]
fn a_job_on_several_nodes_has_its_share_in_short_periods() {
    let mut node = Node::new("periods");
    node.start("while :; do :; done");
    let period = |node: &Node| node.read("cpu", &format!("{JOB}/cpu.cfs_period_us"));
    let cap = |node: &Node| (node.quota().unwrap_or_default(), period(node));
    let short = ("4000".to_owned(), "20000".to_owned());
    let long = ("20000".to_owned(), "100000".to_owned());
    // To and fro: the kernel refuses a cap that is more than what is above it in between.
    for _ in 0..2 {
        node.push(r#"{"id":17,"share":0.2}"#);
        let capped = comes_true(|| node.quota().is_some() && cap(&node) == long);
        assert!(capped, "{}", node.log());
        node.push(r#"{"id":17,"share":0.2,"spans_nodes":true}"#);
        assert!(comes_true(|| cap(&node) == short), "{}", node.log());
    }
    let used = node.cores_used_at_least(0.17);
    println!("share 0.2 in periods of 20 ms: {used:.3} cores used");
    assert!((used - 0.2).abs() < 0.03, "{used} cores used");

    // The kernel has taken the period over.
    let stat = |node: &Node, key: &str| -> u64 {
        let text = node.read("cpu", &format!("{JOB}/cpu.stat"));
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|number| number.trim().parse().ok()).unwrap()
    };
    let (begin, before) = (Instant::now(), stat(&node, "nr_periods "));
    sleep(Duration::from_secs(2));
    let periods = (stat(&node, "nr_periods ") - before) as f64;
    let length = begin.elapsed().as_secs_f64() / periods;
    println!("a period of {:.1} ms by the kernel's count", length * 1e3);
    assert!((0.018..0.03).contains(&length), "{length} s");

    node.push("");
    let lifted = ("-1".to_owned(), "100000".to_owned());
    assert!(comes_true(|| cap(&node) == lifted), "{}", node.log());
}

#[test]
#[ignore = "needs root and cgroup v1"]
fn a_frozen_job_stands_still_and_leaves_ram_if_there_is_swap() {
    let mut node = Node::new("park");
    let swappiness = node.file("memory", STEP).join("memory.swappiness");
    fs::write(&swappiness, "0").unwrap(); // as with vm.swappiness=0
    node.start("(head -c 100M /dev/urandom; exec sleep 1000) | tail -c 100M & while :; do :; done");
    let full = comes_true(|| node.resident() > 100 << 20);
    assert!(full, "{} bytes", node.resident());
    node.push(r#"{"id":17,"share":1,"frozen":true}"#);
    assert!(comes_true(|| node.freezer() == "FROZEN"));
    let used = node.cores_used();
    println!("frozen: {used:.3} cores used");
    assert!(used < 0.001, "{used} cores used while frozen");

    let has_swap = node.status().swap_bytes > 200 << 20;
    if has_swap {
        let begin = Instant::now();
        assert!(comes_true(|| node.is_parked()), "{}", node.log());
        println!(
            "parked {:.2} s later: {} bytes in RAM",
            begin.elapsed().as_secs_f64(),
            node.resident()
        );
        assert!(node.resident() < 32 << 20);
        assert_eq!(fs::read_to_string(&swappiness).unwrap(), "0\n");
    } else {
        println!("no swap: what is not in RAM's page cache stays there");
        sleep(Duration::from_secs(1));
        assert!(!node.is_parked() && node.resident() > 90 << 20);
    }

    node.push(r#"{"id":17,"share":1}"#);
    assert!(comes_true(
        || node.freezer() == "THAWED" && !node.is_parked()
    ));
    assert!(node.cores_used_at_least(0.25) > 0.25, "it goes on");
}

#[test]
#[ignore = "needs root and cgroup v1"]
fn stopping_lifts_the_cap_and_leaves_frozen_what_is_frozen() {
    let mut node = Node::new("stop");
    node.start("while :; do :; done");
    node.push(r#"{"id":17,"share":0.1,"frozen":true}"#);
    // The cap comes after the freezing, in the same look.
    assert!(comes_true(
        || node.freezer() == "FROZEN" && node.quota().as_deref() == Some("10000")
    ));
    node.stop_daemon();
    assert_eq!(node.freezer(), "FROZEN");
    assert_eq!(node.quota().as_deref(), Some("-1"));
    assert_eq!(node.names(), ["frozen.17"], "only the note of it");
    assert!(node.log().contains("job 17 stays frozen"), "{}", node.log());
    node.start_daemon();
    node.push("");
    let awake = comes_true(|| node.freezer() == "THAWED");
    assert!(awake, "a state that does not name it thaws it");
    node.stop_daemon();
    assert!(node.names().is_empty(), "{:?}", node.names());
}

#[test]
#[ignore = "needs root and cgroup v1"]
fn other_users_are_refused_even_if_the_socket_is_open_to_them() {
    let node = Node::new("peer");
    let socket = node.directory.join("run/test/dfrsd.sock");
    let ask = || {
        let mut command = node.dfrsd();
        command
            .args(["status", "--node", "test", "--socket-dir", "run"])
            .uid(NOBODY)
            .gid(NOBODY);
        let output = command.output().unwrap();
        (
            output.status.success(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (answered, error) = ask();
    assert!(!answered && error.contains("Permission denied"), "{error}");
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
    let (answered, error) = ask();
    assert!(!answered, "{error}");
    let refused = "refused a connection of user 65534";
    assert!(
        comes_true(|| node.log().contains(refused)),
        "{}",
        node.log()
    );
}

/// As slurmd and slurmstepd do with `ConstrainCores=yes`: all cores for the base, the first for the job.
fn bind_to_first_core(node: &Node) {
    let all = fs::read_to_string("/sys/fs/cgroup/cpuset/cpuset.cpus").unwrap();
    let mut directory = node.file("cpuset", "");
    for (level, name) in ["", "slurm_test", "uid_0", "job_17", "step_0"]
        .iter()
        .enumerate()
    {
        directory.push(name);
        fs::create_dir_all(&directory).unwrap();
        let cores = if level < 3 { all.trim() } else { "0" };
        fs::write(directory.join("cpuset.mems"), "0").unwrap();
        fs::write(directory.join("cpuset.cpus"), cores).unwrap();
    }
}

#[test]
#[ignore = "needs root and cgroup v1"]
fn a_job_that_slurm_bound_to_a_core_may_use_all() {
    let mut node = Node::new("cores");
    bind_to_first_core(&node);
    node.start(
        "echo $$ > cgroup/cpuset/slurm_test/uid_0/job_17/step_0/cgroup.procs; exec sleep 1000",
    );
    let process = node.processes[0].id();
    let cores = || {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let line = status
            .lines()
            .find(|line| line.starts_with("Cpus_allowed_list:"));
        line.unwrap_or_default()
            .rsplit('\t')
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(comes_true(|| cores() == "0"), "it is bound: {}", cores());
    node.push(r#"{"id":17,"share":1}"#);
    let all = fs::read_to_string("/sys/fs/cgroup/cpuset/cpuset.cpus").unwrap();
    assert!(
        comes_true(|| cores() == all.trim()),
        "{}: {}",
        cores(),
        node.log()
    );

    // Slurm's next step: the job is bound again, which the kernel refuses where a step has more.
    let job = node.file("cpuset", JOB);
    fs::write(job.join("cpuset.cpus"), "0").unwrap();
    fs::write(job.join("step_0/cpuset.cpus"), "0").unwrap();
}
