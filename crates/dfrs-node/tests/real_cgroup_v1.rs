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

use dfrs_node_proto::report::NodeStatus;

const CONTROLLERS: [&str; 5] = ["cpu", "cpuacct", "cpuset", "freezer", "memory"];
const STEP: &str = "slurm_test/uid_0/job_17/step_0";
const JOB: &str = "slurm_test/uid_0/job_17";
/// In `memory`: as jobacct_gather/cgroup makes one.
const TASK: &str = "slurm_test/uid_0/job_17/step_0/task_0";
const UNPRIVILEGED_UID: u32 = 65534;

/// The memory limit that Slurm gives the job, in bytes.
const LIMIT: u64 = 512 << 20;

/// How long a test waits for what must come true: no promise of dfrsd's, but more than a busy machine needs.
const TIMEOUT: Duration = Duration::from_secs(60);

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
        fs::create_dir(node.file("memory", TASK)).unwrap();
        let limit = node.file("memory", JOB).join("memory.limit_in_bytes");
        fs::write(limit, LIMIT.to_string()).unwrap();
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
        assert!(wait_until(|| socket.exists()), "dfrsd did not start");
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
        self.start_in(
            &[("freezer", STEP), ("cpuacct", STEP), ("memory", TASK)],
            script,
        );
    }

    /// In the place of `slurmstepd`, which is never frozen: it counts how often it gets memory in
    /// the middle of a system call, and ends when it is refused that.
    fn start_step_daemon(&mut self) {
        let rounds = "dd if=/dev/zero of=/dev/null bs=256k count=1 2> /dev/null";
        let script = format!("while {rounds}; do echo >> rounds; sleep 0.1; done");
        self.start_in(&[("memory", STEP)], &script);
    }

    fn rounds(&self) -> usize {
        fs::read(self.directory.join("rounds")).map_or(0, |rounds| rounds.len())
    }

    fn start_in(&mut self, groups: &[(&str, &str)], script: &str) {
        let places: Vec<String> = groups
            .iter()
            .map(|(controller, group)| {
                format!(
                    "echo $$ > {}",
                    self.file(controller, group).join("cgroup.procs").display()
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

    /// The job's memory limit in bytes.
    fn limit(&self) -> u64 {
        self.limit_of(JOB)
    }

    fn limit_of(&self, group: &str) -> u64 {
        self.read("memory", &format!("{group}/memory.limit_in_bytes"))
            .parse()
            .unwrap()
    }

    /// Whether the kernel may end the job's processes for want of memory.
    fn is_killable(&self) -> bool {
        let control = self.read("memory", &format!("{JOB}/memory.oom_control"));
        control.contains("oom_kill_disable 0")
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
        let task = self.file("memory", TASK);
        wait_until(|| fs::remove_dir(&task).is_ok() || !task.exists());
        for controller in ["cpuacct", "freezer", "memory"] {
            let path = self.file(controller, STEP);
            wait_until(|| fs::remove_dir(&path).is_ok() || !path.exists());
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
    wait_until(|| fs::remove_dir(group).is_ok() || !group.exists());
}

fn wait_until(condition: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while !condition() {
        if begin.elapsed() > TIMEOUT {
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
    let capped = wait_until(|| node.status().jobs[0].cap_cores == Some(0.2));
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
    let uncapped = wait_until(|| node.quota().as_deref() == Some("-1"));
    assert!(uncapped, "{}", node.log());
    let used = node.cores_used_at_least(0.25);
    println!("uncapped: {used:.3} cores used");
    assert!(used > 0.25, "{used} cores used without a cap");

    node.end_job();
    let gone = wait_until(|| !node.file("cpu", "slurm_test/uid_0").exists());
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
        let capped = wait_until(|| node.quota().is_some() && cap(&node) == long);
        assert!(capped, "{}", node.log());
        node.push(r#"{"id":17,"share":0.2,"spans_nodes":true}"#);
        assert!(wait_until(|| cap(&node) == short), "{}", node.log());
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
    assert!(wait_until(|| cap(&node) == lifted), "{}", node.log());
}

#[test]
#[ignore = "needs root and cgroup v1"]
fn a_frozen_job_stands_still_and_leaves_ram_if_there_is_swap() {
    let mut node = Node::new("park");
    let swappiness = [STEP, TASK].map(|group| node.file("memory", group).join("memory.swappiness"));
    for file in &swappiness {
        fs::write(file, "0").unwrap(); // as with vm.swappiness=0
    }
    node.start("(head -c 100M /dev/urandom; exec sleep 1000) | tail -c 100M & while :; do :; done");
    let full = wait_until(|| node.resident() > 100 << 20);
    assert!(full, "{} bytes", node.resident());
    node.push(r#"{"id":17,"share":1,"frozen":true}"#);
    assert!(wait_until(|| node.freezer() == "FROZEN"));
    let used = node.cores_used();
    println!("frozen: {used:.3} cores used");
    assert!(used < 0.001, "{used} cores used while frozen");

    let has_swap = node.status().swap_bytes > 200 << 20;
    if has_swap {
        let begin = Instant::now();
        assert!(wait_until(|| node.is_parked()), "{}", node.log());
        println!(
            "parked {:.2} s later: {} bytes in RAM",
            begin.elapsed().as_secs_f64(),
            node.resident()
        );
        assert!(node.resident() < 32 << 20);
        let limit = node.limit();
        println!("held to {limit} bytes");
        assert!((8 << 20..=32 << 20).contains(&limit) && !node.is_killable());
        for file in &swappiness {
            assert_eq!(fs::read_to_string(file).unwrap(), "0\n");
        }
    } else {
        println!("no swap: what is not in RAM's page cache stays there");
        sleep(Duration::from_secs(1));
        assert!(!node.is_parked() && node.resident() > 90 << 20);
    }

    node.push(r#"{"id":17,"share":1}"#);
    assert!(wait_until(
        || node.freezer() == "THAWED" && !node.is_parked()
    ));
    assert_eq!((node.limit(), node.is_killable()), (LIMIT, true));
    assert!(node.cores_used_at_least(0.25) > 0.25, "it goes on");
}

/// The job's memory, of which `memory.force_empty` would never see the end, is touched in a loop.
#[test]
#[ignore = "needs root and cgroup v1"]
fn reclaim_ends_when_the_job_comes_back() {
    let mut node = Node::new("cancel");
    node.start(
        "exec python3 -c '
memory = bytearray(300 << 20)
while True:
    for page in range(0, len(memory), 4096): memory[page] ^= 1'",
    );
    assert!(wait_until(|| node.resident() > 300 << 20));
    if node.status().swap_bytes < 400 << 20 {
        println!("no swap: nothing to cancel");
        return;
    }
    for _ in 0..3 {
        node.push(r#"{"id":17,"share":1,"frozen":true}"#);
        let begun = wait_until(|| node.is_parked() || node.limit() < LIMIT);
        assert!(begun, "{}", node.log());
        node.push(r#"{"id":17,"share":1}"#);
        let begin = Instant::now();
        let is_back = || node.freezer() == "THAWED" && node.limit() == LIMIT;
        assert!(wait_until(is_back), "{}", node.log());
        println!("back after {:.2} s", begin.elapsed().as_secs_f64());
        sleep(Duration::from_millis(500));
        assert_eq!((node.limit(), node.is_killable()), (LIMIT, true));
    }
    // The thread that reclaims is free for others.
    node.push(r#"{"id":17,"share":1,"frozen":true}"#);
    assert!(wait_until(|| node.is_parked()), "{}", node.log());
    node.stop_daemon();
    assert_eq!((node.limit(), node.is_killable()), (LIMIT, true));
    assert_eq!(node.freezer(), "FROZEN");
}

/// A user's process that may lock memory, as Slurm's unit of slurmd lets all: `memory.py` of the hostile jobs.
fn hostile(node: &Node, arguments: &str) -> String {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hostile/memory.py");
    fs::copy(program, node.directory.join("memory.py")).unwrap();
    format!(
        "exec setpriv --reuid={UNPRIVILEGED_UID} --regid={UNPRIVILEGED_UID} --clear-groups --inh-caps=+ipc_lock --ambient-caps=+ipc_lock \
         /usr/bin/python3 {}/memory.py {arguments}",
        node.directory.display()
    )
}

/// The kernel charges a page that comes back from swap to the job that it was swapped out of.
#[test]
#[ignore = "needs root and cgroup v1"]
fn pages_that_another_job_locks_do_not_come_back_to_a_parked_one() {
    let mut node = Node::new("shared");
    if node.status().swap_bytes < 400 << 20 {
        println!("no swap: nothing to park");
        return;
    }
    let shared = Path::new("/dev/shm").join(format!("dfrs-test-{}", std::process::id()));
    let share = hostile(&node, &format!("share 300 {}", shared.display()));
    node.start(&share);
    node.start_step_daemon();
    assert!(wait_until(
        || node.resident() > 300 << 20 && node.rounds() > 0
    ));
    node.push(r#"{"id":17,"share":1,"frozen":true}"#);
    assert!(wait_until(|| node.is_parked()), "{}", node.log());

    let other = node.file("memory", "slurm_test/uid_1/job_18");
    fs::create_dir_all(&other).unwrap();
    let pin = hostile(&node, &format!("pin 300 {}", shared.display()));
    let script = format!("echo $$ > {}/cgroup.procs; {pin}", other.display());
    let mut other_job = Command::new("sh").args(["-c", &script]).spawn().unwrap();
    let begin = Instant::now();
    let mut max_resident = 0;
    while begin.elapsed() < Duration::from_secs(5) {
        max_resident = max_resident.max(node.resident());
        sleep(Duration::from_millis(20));
    }
    println!("while another job locks its pages: {max_resident} bytes in RAM at most");
    assert!(max_resident <= 32 << 20 && node.is_parked());
    for process in &mut node.processes {
        assert!(process.try_wait().unwrap().is_none(), "not ended");
    }
    let rounds = node.rounds();
    let goes_on = wait_until(|| node.rounds() > rounds);
    assert!(goes_on, "what is in slurmstepd's place gets no memory");

    node.push(r#"{"id":17,"share":1}"#);
    assert!(wait_until(
        || node.freezer() == "THAWED" && node.limit() == LIMIT
    ));
    assert!(wait_until(|| node.limit_of(TASK) > LIMIT), "it has none");
    other_job.kill().unwrap();
    other_job.wait().unwrap();
    fs::remove_file(&shared).unwrap();
    sleep(Duration::from_millis(500));
    assert!(node.processes[0].try_wait().unwrap().is_none(), "it runs");
}

/// Whether the machine has any.
fn has_swap() -> bool {
    fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().count() > 1)
}

/// Huge pages that the kernel has set aside, until this is dropped.
struct HugePages(String);

impl HugePages {
    const FILE: &str = "/proc/sys/vm/nr_hugepages";

    /// None: there are none, or not so many.
    fn reserve(count: u32) -> Option<HugePages> {
        let before = fs::read_to_string(Self::FILE).ok()?;
        let wanted = before.trim().parse::<u32>().ok()? + count;
        fs::write(Self::FILE, wanted.to_string()).ok()?;
        let pages = HugePages(before);
        let there = fs::read_to_string(Self::FILE).ok()?;
        (there.trim() == wanted.to_string()).then_some(pages)
    }
}

impl Drop for HugePages {
    fn drop(&mut self) {
        let _ = fs::write(Self::FILE, self.0.trim());
    }
}

/// Huge pages count for no job, and do not go to swap.
#[test]
#[ignore = "needs root and cgroup v1"]
fn job_with_huge_pages_is_not_parked_and_is_reported() {
    let mut node = Node::new("huge");
    let (true, Some(_pages)) = (has_swap(), HugePages::reserve(64)) else {
        println!("no swap, or no huge pages");
        return;
    };
    let job = hostile(&node, "huge 100");
    node.start(&format!("{job} > {}/huge", node.directory.display()));
    let output = node.directory.join("huge");
    let is_filled = || fs::read_to_string(&output).is_ok_and(|text| text.contains("filled"));
    assert!(wait_until(is_filled));
    node.push(r#"{"id":17,"share":1,"frozen":true}"#);
    let stuck = node.directory.join("run/test/stuck.17.sock");
    assert!(wait_until(|| stuck.is_symlink()), "{}", node.log());
    assert!(!node.is_parked(), "{}", node.log());
    assert_eq!(node.limit(), LIMIT);
    let is_reported = || {
        node.log()
            .contains("MiB stay in RAM; are they locked, or huge pages")
    };
    assert!(wait_until(is_reported), "{}", node.log());
    node.push(r#"{"id":17,"share":1}"#);
    assert!(wait_until(|| node.freezer() == "THAWED"));
}

#[test]
#[ignore = "needs root and cgroup v1"]
fn user_process_outside_steps_is_capped_and_frozen() {
    let mut node = Node::new("epilog");
    node.start("exec sleep 1000");
    // As slurmstepd starts a task's epilog: where it is itself, which is the job's freezer group.
    let place = |controller: &str, path: &str| {
        let procs = node.file(controller, path).join("cgroup.procs");
        format!("echo $$ > {}", procs.display())
    };
    let script = format!(
        "{}; {}; {}; exec setpriv --reuid={UNPRIVILEGED_UID} --regid={UNPRIVILEGED_UID} --clear-groups sh -c 'while :; do :; done'",
        place("freezer", JOB),
        place("memory", STEP),
        place("cpuacct", STEP)
    );
    let epilog = Command::new("sh")
        .args(["-c", &script])
        .current_dir(&node.directory)
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    node.processes.push(epilog);
    node.push(r#"{"id":17,"share":0.2}"#);
    let capped = wait_until(|| node.quota().as_deref() == Some("20000"));
    assert!(capped, "{}", node.log());
    sleep(Duration::from_millis(500));
    let used = node.cores_used_at_least(0.17);
    println!("beside the steps: {used:.3} cores used with a share of 0.2");
    assert!((used - 0.2).abs() < 0.03, "{used}");
    node.push(r#"{"id":17,"share":1,"frozen":true}"#);
    assert!(wait_until(|| node.freezer() == "FROZEN"));
    assert!(!node.is_parked(), "it is let end first");
    let step = node.file("freezer", STEP).join("cgroup.procs");
    let id = node.processes[1].id().to_string();
    let in_step = || {
        let all = fs::read_to_string(&step).unwrap();
        all.lines().any(|line| line == id)
    };
    assert!(wait_until(in_step), "{}", node.log());
    let used = node.cores_used();
    println!("frozen: {used:.3} cores used");
    assert!(used < 0.01, "{used}");
}

#[test]
#[ignore = "needs root and cgroup v1"]
fn leftover_processes_are_ended_when_the_job_is_over() {
    let mut node = Node::new("remains");
    node.start(&format!(
        "exec setpriv --reuid={UNPRIVILEGED_UID} --regid={UNPRIVILEGED_UID} --clear-groups sleep 1000"
    ));
    node.push(r#"{"id":17,"share":0.2}"#);
    assert!(wait_until(|| node.quota().is_some()), "{}", node.log());
    sleep(Duration::from_secs(12));
    let is_there = |node: &mut Node| node.processes[0].try_wait().unwrap().is_none();
    assert!(is_there(&mut node), "orders name it");
    node.push("");
    let begin = Instant::now();
    while is_there(&mut node) && begin.elapsed() < Duration::from_secs(20) {
        sleep(Duration::from_millis(100));
    }
    println!("ended after {:.1} s", begin.elapsed().as_secs_f64());
    assert!(!is_there(&mut node), "{}", node.log());
    // The line is logged after they are gone.
    let is_logged = || node.log().contains("killed 1 processes left on this node");
    assert!(wait_until(is_logged), "{}", node.log());
}

#[test]
#[ignore = "needs root and cgroup v1"]
fn stop_lifts_the_cap_and_keeps_the_job_frozen() {
    let mut node = Node::new("stop");
    node.start("while :; do :; done");
    node.push(r#"{"id":17,"share":0.1,"frozen":true}"#);
    // The cap comes after the freezing, in the same look.
    assert!(wait_until(
        || node.freezer() == "FROZEN" && node.quota().as_deref() == Some("5000")
    ));
    node.stop_daemon();
    assert_eq!(node.freezer(), "FROZEN");
    assert_eq!(node.quota().as_deref(), Some("-1"));
    assert_eq!(node.names(), ["frozen.17"], "only the note of it");
    assert!(
        node.log().contains("JobId=17 stays frozen"),
        "{}",
        node.log()
    );
    node.start_daemon();
    node.push("");
    let awake = wait_until(|| node.freezer() == "THAWED");
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
            .uid(UNPRIVILEGED_UID)
            .gid(UNPRIVILEGED_UID);
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
    let refused = "refused a connection from uid=65534";
    assert!(
        wait_until(|| node.log().contains(refused)),
        "{}",
        node.log()
    );
}

/// As slurmd and slurmstepd do with `ConstrainCores=yes`: all cores for the base, the first for the job of the step.
fn bind_to_first_core(node: &Node, step: &str) {
    let mut directory = node.file("cpuset", "");
    for (level, name) in [""].into_iter().chain(step.split('/')).enumerate() {
        directory.push(name);
        fs::create_dir_all(&directory).unwrap();
        let cores = if level < 3 {
            all_cores()
        } else {
            "0".to_owned()
        };
        fs::write(directory.join("cpuset.mems"), "0").unwrap();
        fs::write(directory.join("cpuset.cpus"), cores).unwrap();
    }
}

/// Those of the machine, as `0-3`.
fn all_cores() -> String {
    let all = fs::read_to_string("/sys/fs/cgroup/cpuset/cpuset.cpus").unwrap();
    all.trim().to_owned()
}

/// Where the process may run; empty once it has ended.
fn allowed_cores(process: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mut lines = status.lines();
    let cores = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    cores.unwrap_or_default().trim().to_owned()
}

#[test]
#[ignore = "needs root and cgroup v1"]
fn a_job_that_slurm_bound_to_a_core_may_use_all() {
    let mut node = Node::new("cores");
    bind_to_first_core(&node, STEP);
    node.start(
        "echo $$ > cgroup/cpuset/slurm_test/uid_0/job_17/step_0/cgroup.procs; exec sleep 1000",
    );
    let process = node.processes[0].id().to_string();
    let cores = || allowed_cores(&process);
    assert!(wait_until(|| cores() == "0"), "it is bound: {}", cores());
    node.push(r#"{"id":17,"share":1}"#);
    assert!(
        wait_until(|| cores() == all_cores()),
        "{}: {}",
        cores(),
        node.log()
    );

    // Slurm's next step: the job is bound again, which the kernel refuses where a step has more.
    let job = node.file("cpuset", JOB);
    fs::write(job.join("cpuset.cpus"), "0").unwrap();
    fs::write(job.join("step_0/cpuset.cpus"), "0").unwrap();
}

/// A job that DFRS does not schedule has the first core for itself.
#[test]
#[ignore = "needs root and cgroup v1"]
fn a_job_leaves_the_core_that_another_partitions_job_is_bound_to() {
    const OTHER: &str = "slurm_test/uid_1/job_18/step_0";
    let mut node = Node::new("held");
    let all = all_cores();
    if !all.starts_with("0-") && !all.starts_with("0,") {
        println!("one core: none is left beside another job's");
        return;
    }
    bind_to_first_core(&node, STEP);
    bind_to_first_core(&node, OTHER);
    fs::create_dir_all(node.file("freezer", OTHER)).unwrap();
    let groups = [("freezer", STEP), ("cpuset", STEP)];
    let busy = "(while :; do :; done) & while :; do :; done";
    node.start_in(&groups, busy);
    let processes = |node: &Node| -> Vec<String> {
        let list = node.read("freezer", &format!("{STEP}/cgroup.procs"));
        list.lines().map(str::to_owned).collect()
    };
    let may_use = |node: &Node, count: usize, is_right: &dyn Fn(&str) -> bool| {
        let all = processes(node);
        all.len() == count && all.iter().all(|process| is_right(&allowed_cores(process)))
    };
    // The kernel lists cores in ascending order.
    let leaves_the_first = |cores: &str| !cores.is_empty() && !cores.starts_with('0');
    let has_all = |cores: &str| cores == all_cores();
    assert!(wait_until(|| may_use(&node, 2, &|cores| cores == "0")));
    node.push(r#"{"id":17,"share":1}"#);
    assert!(wait_until(|| may_use(&node, 2, &has_all)), "{}", node.log());

    node.start_in(&[("freezer", OTHER), ("cpuset", OTHER)], "exec sleep 1000");
    let own = node.processes[1].id().to_string();
    let left = wait_until(|| may_use(&node, 2, &leaves_the_first));
    assert!(left, "{}", node.log());
    let begin = Instant::now();
    node.start_in(&groups, busy);
    let left = wait_until(|| may_use(&node, 4, &leaves_the_first));
    assert!(left, "they came later: {}", node.log());
    println!(
        "late ones leave after {:.2} s",
        begin.elapsed().as_secs_f64()
    );
    for group in [OTHER, "slurm_test/uid_1/job_18"] {
        let cores = node.read("cpuset", &format!("{group}/cpuset.cpus"));
        assert_eq!((cores.as_str(), allowed_cores(&own).as_str()), ("0", "0"));
    }
    let in_group = node.read("cpuset", &format!("{OTHER}/cgroup.procs"));
    assert_eq!(in_group, own);
    // Slurm's next step of DFRS's job: the job is bound again.
    for group in [JOB, STEP] {
        fs::write(node.file("cpuset", group).join("cpuset.cpus"), "0").unwrap();
    }

    let ours = node.file("cpuset", "slurm_test/dfrs");
    assert!(ours.is_dir());
    let mut other = node.processes.remove(1);
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(wait_until(|| may_use(&node, 4, &has_all)), "{}", node.log());
    assert!(wait_until(|| !ours.exists()), "it is not needed any more");
}
