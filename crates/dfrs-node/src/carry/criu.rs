//! criu's command lines, and running them inside a job's namespaces.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::image::{DUMP_LOG, OUTPUT, RESTORE_LOG};
use super::procfs;

/// Where criu is if nothing else is said.
pub const PROGRAM: &str = "/usr/sbin/criu";
/// A dump or a restore that takes longer has failed.
const TIMEOUT: Duration = Duration::from_secs(600);
/// Deleted files that are still open go into the image up to this size.
pub const MAX_DELETED_FILE_BYTES: u64 = 64 << 20;
/// Beginnings of errors after which criu goes on, or which say less than the next one.
const HARMLESS_ERRORS: [&str; 3] = [
    "tun: Unable to create tun",
    "rlimit: Can't setup",
    "exited, status=",
];
const CHECK_INTERVAL: Duration = Duration::from_millis(2);
const SEARCH_PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// The criu of this node.
#[derive(Debug, Clone)]
pub struct Criu {
    program: PathBuf,
    timeout: Duration,
}

/// What is asked of criu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    /// Dump the tree of this root, by its number in the namespace; it stays stopped.
    Dump {
        root_pid: u32,
    },
    Restore,
}

impl Criu {
    /// The criu at this path, which must be one that only root can change.
    ///
    /// # Errors
    ///
    /// If it is not; one line.
    pub fn new(program: &Path) -> Result<Criu, String> {
        use std::os::unix::fs::MetadataExt;
        let named = |text: &str| format!("{}: {text}", program.display());
        let found = fs::metadata(program);
        let found =
            found.map_err(|error| named(&format!("{error}; install criu, or give --criu")))?;
        let is_ours = found.uid() == 0 && found.mode() & 0o022 == 0;
        if !program.is_absolute() || !found.is_file() || !is_ours {
            return Err(named("not a program of root's, by its whole path"));
        }
        Ok(Criu {
            program: program.to_owned(),
            timeout: TIMEOUT,
        })
    }

    /// Dumps a tree into a directory; its processes are stopped then.
    ///
    /// # Errors
    ///
    /// criu's first error, or why it could not be run; one line.
    pub fn dump(&self, init: u32, root_pid: u32, image: &Path) -> Result<(), String> {
        self.run(init, Deed::Dump { root_pid }, image)
    }

    /// Restores a tree from a directory, into the namespaces of an init.
    ///
    /// # Errors
    ///
    /// criu's first error, or why it could not be run; one line.
    pub fn restore(&self, init: u32, image: &Path) -> Result<(), String> {
        self.run(init, Deed::Restore, image)
    }

    fn run(&self, init: u32, deed: Deed, image: &Path) -> Result<(), String> {
        // As root, and in the job's mount namespace: what runs there must be what is seen here.
        for path in [self.program.as_path(), image] {
            let inner = path.strip_prefix("/").unwrap_or(path);
            if !procfs::is_same_file(&procfs::file(init, "root").join(inner), path) {
                return Err(format!("{} is not the same inside the job", path.display()));
            }
        }
        let output = image.join(OUTPUT);
        let status = self
            .start(init, deed, image, &output)
            .and_then(|child| wait(child, self.timeout))
            .map_err(|error| format!("{}: {error}", self.program.display()))?;
        if status.is_some_and(|status| status.success()) {
            return Ok(());
        }
        let log = image.join(deed.log());
        let read = |path: &Path| {
            let bytes = fs::read(path).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let reason = match status {
            None => format!("not done after {} s", self.timeout.as_secs()),
            Some(status) => first_error(&read(&log))
                .or_else(|| first_line(&read(&output)))
                .unwrap_or_else(|| status.to_string()),
        };
        Err(format!("criu {}: {reason}", deed.word()))
    }

    fn start(&self, init: u32, deed: Deed, image: &Path, output: &Path) -> io::Result<Child> {
        let output: File = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(output)?;
        let words = command_line(&self.program, init, deed, image);
        Command::new(&words[0])
            .args(&words[1..])
            .env_clear()
            .env("PATH", SEARCH_PATH)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            // With what it starts, which nsenter's end would not end.
            .process_group(0)
            .spawn()
    }
}

impl Deed {
    fn word(self) -> &'static str {
        match self {
            Deed::Dump { .. } => "dump",
            Deed::Restore => "restore",
        }
    }

    fn log(self) -> &'static str {
        match self {
            Deed::Dump { .. } => DUMP_LOG,
            Deed::Restore => RESTORE_LOG,
        }
    }
}

/// The command: criu, inside the PID and mount namespaces of a job, so that neither is dumped.
fn command_line(program: &Path, init: u32, deed: Deed, image: &Path) -> Vec<OsString> {
    let (init, ghost_limit) = (init.to_string(), MAX_DELETED_FILE_BYTES.to_string());
    let mut words: Vec<OsString> = ["nsenter", "--target", &init, "--mount", "--pid", "--"]
        .map(OsString::from)
        .to_vec();
    words.push(program.into());
    words.push(deed.word().into());
    words.push("--images-dir".into());
    words.push(image.into());
    words.extend(
        [
            // Root's own defaults are for root's own work.
            "--no-default-config",
            // Slurm's control groups are those of the new step: criu runs in them already.
            "--manage-cgroups=ignore",
            "--file-locks",
            "--tcp-established",
        ]
        .map(OsString::from),
    );
    match deed {
        Deed::Dump { root_pid } => {
            let root_pid = root_pid.to_string();
            words.extend(
                [
                    "--tree",
                    &root_pid,
                    "--leave-stopped",
                    "--ghost-limit",
                    &ghost_limit,
                ]
                .map(OsString::from),
            );
        }
        Deed::Restore => words.push("--restore-detached".into()),
    }
    words.extend(["-v2", "--log-file", deed.log()].map(OsString::from));
    words
}

/// How it ended; none if it had to be ended after `timeout`.
fn wait(mut child: Child, timeout: Duration) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= timeout {
            let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            if let Some(group) = group {
                let _ = kill_process_group(group, Signal::KILL);
            }
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(CHECK_INTERVAL);
    }
}

/// The first error of a log of criu's that can be the cause, without its time and place in criu's
/// source.
fn first_error(log: &str) -> Option<String> {
    let errors = log.lines().filter_map(|line| line.split_once("Error ("));
    let mut texts = errors.map(|(_, line)| line.split_once("): ").map_or(line, |(_, text)| text));
    let text = texts.find(|text| {
        HARMLESS_ERRORS
            .iter()
            .all(|harmless| !text.starts_with(harmless))
    });
    text.map(|text| text.trim().to_owned())
}

fn first_line(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    fn line(deed: Deed) -> String {
        let words = command_line(
            Path::new("/usr/sbin/criu"),
            900,
            deed,
            Path::new("/images/7"),
        );
        let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
        words.join(" ")
    }

    #[test]
    fn command_lines_enter_the_job_and_leave_its_groups_alone() {
        assert_eq!(
            line(Deed::Dump { root_pid: 301 }),
            "nsenter --target 900 --mount --pid -- /usr/sbin/criu dump --images-dir /images/7 \
             --no-default-config --manage-cgroups=ignore --file-locks --tcp-established \
             --tree 301 --leave-stopped --ghost-limit 67108864 -v2 --log-file dump.log"
        );
        assert_eq!(
            line(Deed::Restore),
            "nsenter --target 900 --mount --pid -- /usr/sbin/criu restore --images-dir /images/7 \
             --no-default-config --manage-cgroups=ignore --file-locks --tcp-established \
             --restore-detached -v2 --log-file restore.log"
        );
    }

    #[test]
    fn reason_is_the_first_error() {
        let log = "(00.001) Warn  (criu/x.c:1): old\n\
            (00.002) Error (criu/tun.c:85): tun: Unable to create tun: No such file\n\
            (00.004812) Error (criu/sk-unix.c:815): unix: Can't dump half of it.\n\
            (00.005) Error (criu/cr-dump.c:2098): Dumping FAILED.\n";
        assert_eq!(first_error(log).unwrap(), "unix: Can't dump half of it.");
        assert_eq!(first_error("fine\n"), None);
        assert_eq!(
            first_line("\n  nsenter: failed\nmore"),
            Some("nsenter: failed".to_owned())
        );
    }

    #[test]
    fn program_that_does_not_end_is_ended_with_its_children() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & wait"]).process_group(0);
        let child = command.spawn().unwrap();
        let begun = Instant::now();
        assert_eq!(wait(child, Duration::from_millis(50)).unwrap(), None);
        assert!(begun.elapsed() < Duration::from_secs(30));
        let child = Command::new("true").spawn().unwrap();
        assert!(wait(child, TIMEOUT).unwrap().unwrap().success());
    }

    #[test]
    fn program_of_others_is_refused() {
        let scratch = Scratch::new();
        let program = scratch.path().join("criu");
        fs::write(&program, "").unwrap();
        fs::set_permissions(
            &program,
            std::os::unix::fs::PermissionsExt::from_mode(0o777),
        )
        .unwrap();
        for path in [program.as_path(), Path::new("/nowhere"), Path::new("/usr")] {
            assert!(Criu::new(path).is_err(), "{}", path.display());
        }
        assert!(Criu::new(Path::new("/bin/sh")).is_ok());
    }
}
