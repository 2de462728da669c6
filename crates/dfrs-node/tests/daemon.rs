//! The program itself, on a directory that looks like cgroup v2, as any user.

use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use dfrs_node_proto::framing::Frame;
use dfrs_node_proto::report::NodeStatus;

const JOB: &str = "cgroup/system.slice/n1_slurmstepd.scope/job_17";

struct Daemon {
    directory: PathBuf,
    process: Child,
}

impl Daemon {
    fn start(name: &str) -> Daemon {
        let name = format!("dfrsd-{}-{name}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(directory.join(JOB)).unwrap();
        fs::write(directory.join(JOB).join("cpu.max"), "max 100000\n").unwrap();
        fs::write(directory.join(JOB).join("memory.max"), "max\n").unwrap();
        fs::write(directory.join(JOB).join("cpu.stat"), "usage_usec 1500000\n").unwrap();
        Daemon::serve(directory)
    }

    /// On a directory in which the jobs are already.
    fn serve(directory: PathBuf) -> Daemon {
        fs::write(directory.join("cgroup/cgroup.controllers"), "cpu memory\n").unwrap();
        let log = fs::File::create(directory.join("log")).unwrap();
        let process = serve(&directory).stderr(log).spawn().unwrap();
        let daemon = Daemon { directory, process };
        // The socket is there for a moment before it can be connected to.
        let serves = || daemon.log().contains("serving node");
        assert!(wait_until(serves), "{}", daemon.log());
        daemon
    }

    fn socket(&self) -> PathBuf {
        self.directory.join("run/n1/dfrsd.sock")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.join("log")).unwrap()
    }

    fn run(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = command(&self.directory)
            .args(arguments)
            .args(["--node", "n1", "--socket-dir", "run"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        child.wait_with_output().unwrap()
    }

    fn send(&self, message: &str) -> Output {
        self.run(&["send"], message)
    }

    fn status(&self) -> NodeStatus {
        serde_json::from_slice(&self.run(&["status", "--json"], "").stdout).unwrap()
    }

    fn cap(&self) -> String {
        fs::read_to_string(self.directory.join(JOB).join("cpu.max"))
            .unwrap()
            .trim()
            .to_string()
    }

    fn stop(&mut self) -> bool {
        Command::new("kill")
            .arg(self.process.id().to_string())
            .status()
            .unwrap();
        self.process.wait().unwrap().success()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

const SERVE: [&str; 9] = [
    "--node=n1",
    "--socket-dir=run",
    "--cgroup-root=cgroup",
    "--cpu-capacity=2",
    "--reserve-cpu=0.5",
    "--measurements=measurements",
    "--measure-interval=1",
    "--interval=10",
    "--message-timeout=60",
];

fn command(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dfrsd"));
    command.current_dir(directory);
    command
}

fn serve(directory: &Path) -> Command {
    let mut command = command(directory);
    command
        .args(SERVE)
        .arg(format!("--controller-user={}", own_uid()));
    command
}

fn wait_until(condition: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while !condition() {
        if begin.elapsed() > Duration::from_secs(20) {
            return false;
        }
        sleep(Duration::from_millis(10));
    }
    true
}

/// The user that runs the test is the controller's user.
fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn state(generation: u64, jobs: &str) -> String {
    format!(
        r#"{{"v":1,"generation":{generation},"time_to_live":60,"nodes":{{"n1":{{"cpus":2,"jobs":[{jobs}]}}}}}}"#
    )
}

#[test]
fn daemon_caps_reports_measures_and_stops_cleanly() {
    let mut daemon = Daemon::start("serve");
    assert!(
        daemon
            .send(&state(5, r#"{"id":17,"share":0.5}"#))
            .status
            .success()
    );
    assert!(
        wait_until(|| daemon.cap() == "75000 100000"),
        "{} {}",
        daemon.cap(),
        daemon.log()
    );
    let status = daemon.status();
    assert_eq!(
        (status.generation, status.capacity_cores, status.slurm_cpus),
        (Some(5), 1.5, Some(2))
    );
    assert_eq!(
        (status.jobs[0].cap_cores, status.jobs[0].cpu_seconds),
        (Some(0.75), Some(1.5))
    );
    let table = String::from_utf8(daemon.run(&["status"], "").stdout).unwrap();
    assert!(
        table.starts_with("node n1 (cgroup v2): 1.50 cores for jobs"),
        "{table}"
    );
    let measured = || fs::read_to_string(daemon.directory.join("measurements")).unwrap();
    assert!(
        wait_until(|| measured().contains(r#""reason":"period""#)),
        "{}",
        measured()
    );
    assert!(daemon.stop());
    assert_eq!(daemon.cap(), "max 100000");
    assert_eq!(
        fs::read_dir(daemon.directory.join("run/n1"))
            .unwrap()
            .count(),
        0
    );
}

#[test]
fn daemon_logs_malformed_messages_and_keeps_running() {
    let daemon = Daemon::start("nonsense");
    let other_version = Frame {
        uid: own_uid(),
        data: br#"{"v":2}"#.to_vec(),
    };
    let others = Frame {
        uid: own_uid() + 4711,
        data: br#"{"v":1,"status":true}"#.to_vec(),
    };
    for frame in [other_version, others] {
        frame
            .write_to(&mut UnixStream::connect(daemon.socket()).unwrap())
            .unwrap();
    }
    UnixStream::connect(daemon.socket())
        .unwrap()
        .write_all(&[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff])
        .unwrap();
    UnixStream::connect(daemon.socket())
        .unwrap()
        .write_all(&[0, 0])
        .unwrap();
    let warnings = [
        "message of version 2",
        "refused a message from uid=",
        "frame of 4294967295 bytes",
        "frame cut short after 2",
    ];
    for warning in warnings {
        assert!(
            wait_until(|| daemon.log().contains(warning)),
            "{warning}: {}",
            daemon.log()
        );
    }
    assert!(daemon.send(&state(9, "")).status.success());
    assert!(daemon.send(&state(8, "")).status.success());
    assert!(
        wait_until(|| daemon
            .log()
            .contains("orders of generation 8 ignored: generation 9 was received before")),
        "{}",
        daemon.log()
    );
    assert_eq!(daemon.status().generation, Some(9));
}

#[test]
fn invalid_usage_is_one_line_and_an_exit_status() {
    let daemon = Daemon::start("misuse");
    let refused = daemon.send(r#"{"v":1,"generation":1,"time_to_live":0,"nodes":{}}"#);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(
        !refused.status.success() && error.lines().count() == 1,
        "{error}"
    );
    assert!(
        error.contains("standard input: invalid message: time_to_live"),
        "{error}"
    );
    let second = serve(&daemon.directory).output().unwrap();
    let error = String::from_utf8(second.stderr).unwrap();
    assert!(
        !second.status.success() && error.contains("another dfrsd serves"),
        "{error}"
    );
    let nowhere = command(&daemon.directory)
        .args(["--node=n2", "--cgroup-root=run"])
        .output()
        .unwrap();
    let error = String::from_utf8(nowhere.stderr).unwrap();
    assert!(
        !nowhere.status.success() && error.contains("--cgroup-root"),
        "{error}"
    );
}

/// A job's directory with all of its memory in RAM, and one step.
fn make_job(directory: &Path, frozen: bool, resident: u64) {
    let user = directory.join("step_batch/user");
    fs::create_dir_all(&user).unwrap();
    for (name, text) in [
        ("cpu.max", "max 100000\n".to_string()),
        ("cpu.stat", "usage_usec 0\n".to_string()),
        ("memory.current", resident.to_string()),
        ("memory.max", "1073741824\n".to_string()),
    ] {
        fs::write(directory.join(name), text).unwrap();
    }
    let events = format!("populated 1\nfrozen {}\n", u8::from(frozen));
    fs::write(user.join("cgroup.events"), events).unwrap();
    fs::write(user.join("cgroup.freeze"), "0\n").unwrap();
}

fn freeze_file(directory: &Path) -> String {
    fs::read_to_string(directory.join("step_batch/user/cgroup.freeze")).unwrap()
}

#[test]
fn cgroups_of_a_user_are_ignored() {
    let name = format!("dfrsd-{}-user", std::process::id());
    let directory = std::env::temp_dir().join(name);
    let users = "cgroup/user.slice/user-1000.slice/user@1000.service/n1_slurmstepd.scope/job_17";
    let slurms = "cgroup/system.slice/slurmstepd.scope/job_17";
    make_job(&directory.join(users), true, 0);
    make_job(&directory.join(slurms), false, 900 << 20);
    let daemon = Daemon::serve(directory);
    let (users, slurms) = (daemon.directory.join(users), daemon.directory.join(slurms));
    let order = state(1, r#"{"id":17,"share":0.5,"frozen":true}"#);
    assert!(daemon.send(&order).status.success());
    assert!(
        wait_until(|| freeze_file(&slurms).trim() == "1"),
        "{}",
        daemon.log()
    );
    sleep(Duration::from_millis(300));
    assert_eq!(freeze_file(&users).trim(), "0", "{}", daemon.log());
    let parked = daemon.directory.join("run/n1/parked.17.sock");
    assert!(fs::symlink_metadata(parked).is_err());
    let count = daemon.log().matches("is not Slurm's").count();
    assert_eq!(count, 1, "{}", daemon.log());
}

#[test]
fn a_job_of_which_the_memory_cannot_be_read_is_not_parked() {
    let name = format!("dfrsd-{}-unreadable", std::process::id());
    let directory = std::env::temp_dir().join(name);
    make_job(&directory.join(JOB), true, 900 << 20);
    fs::remove_file(directory.join(JOB).join("memory.current")).unwrap();
    let daemon = Daemon::serve(directory);
    let order = state(1, r#"{"id":17,"share":0.5,"frozen":true}"#);
    assert!(daemon.send(&order).status.success());
    // Logged when it is met twice, which takes the daemon two seconds.
    assert!(
        wait_until(|| daemon.log().contains("JobId=17 reclaim: cannot read")),
        "{}",
        daemon.log()
    );
    let parked = daemon.directory.join("run/n1/parked.17.sock");
    assert!(fs::symlink_metadata(parked).is_err());
}

/// The lines of a section of the unit.
fn unit_section(name: &str) -> Vec<&'static str> {
    let unit = include_str!("../dfrsd.service");
    let section = unit.split(&format!("[{name}]\n")).nth(1).unwrap();
    let lines = section.lines();
    lines.take_while(|line| !line.starts_with('[')).collect()
}

#[test]
fn systemd_does_not_give_up_a_daemon_that_cannot_start_yet() {
    let unit = unit_section("Unit");
    assert!(unit.contains(&"StartLimitIntervalSec=0"), "{unit:?}");
    let after = "After=nss-user-lookup.target";
    assert!(unit.contains(&after), "SlurmUser may come from a directory");
    assert!(unit_section("Service").contains(&"Restart=always"));
}
