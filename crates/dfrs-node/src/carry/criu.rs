//! criu's command lines, and running them inside a job's namespaces.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::held::HeldProcess;
use super::image::{DUMP_LOG, OUTPUT, RESTORE_LOG};
use super::procfs::{self, ProcessStatus};
use super::signals;
use super::stage::{self, CriuStage};
use super::tree::{self, JobTree, Namespaces};

/// Where criu is if nothing else is said.
pub const PROGRAM: &str = "/usr/sbin/criu";
/// A restore that takes longer, and for each so many bytes a second more, has failed.
const RESTORE_TIMEOUT: Duration = Duration::from_secs(600);
/// The same of a dump. Ending it can end what it traces: the images' file system may be back first.
const DUMP_TIMEOUT: Duration = Duration::from_secs(3600);
const BYTES_OF_TIMEOUT: u64 = 16 << 20;
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
}

/// What is asked of criu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    /// Dump the tree of this root, by its number in the namespace; it stays stopped.
    Dump { root_pid: u32 },
    /// Restore the tree of this root.
    Restore { root_pid: u32 },
}

/// Where an image is, or shall be.
#[derive(Debug, Clone, Copy)]
pub struct ImagePlace<'a> {
    /// Its directory.
    pub path: &'a Path,
    /// About how large it is.
    pub bytes: u64,
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
        })
    }

    /// Dumps a tree into a directory; its processes are stopped then. `look` is called when all is
    /// in the image and they are traced still, with the processes that are criu's own.
    ///
    /// # Errors
    ///
    /// What `look` says, criu's first error, or why it could not be run; one line.
    pub fn dump(
        &self,
        tree: &JobTree,
        place: &ImagePlace,
        look: &mut dyn FnMut(&BTreeSet<u32>) -> Result<(), String>,
    ) -> Result<(), String> {
        let root_pid = tree.root_pid;
        let deed = Deed::Dump { root_pid };
        self.run(&tree.init, &tree.namespaces, deed, place, look)
    }

    /// Restores a tree from a directory, into the namespaces of an init. `look` is called before
    /// it goes on.
    ///
    /// # Errors
    ///
    /// As [`Self::dump`]. Nothing of it is left if `look` had not yet let it go on.
    pub fn restore(
        &self,
        init: &HeldProcess,
        namespaces: &Namespaces,
        root_pid: u32,
        place: &ImagePlace,
        look: &mut dyn FnMut(&BTreeSet<u32>) -> Result<(), String>,
    ) -> Result<(), String> {
        let deed = Deed::Restore { root_pid };
        let mut let_go = false;
        let mut look = |criu: &BTreeSet<u32>| {
            look(criu)?;
            let_go = true;
            Ok(())
        };
        let done = self.run(init, namespaces, deed, place, &mut look);
        // criu ends well, too, where it could not start what looks.
        if !let_go {
            end_all(init);
        }
        done
    }

    fn run(
        &self,
        init: &HeldProcess,
        namespaces: &Namespaces,
        deed: Deed,
        place: &ImagePlace,
        look: &mut dyn FnMut(&BTreeSet<u32>) -> Result<(), String>,
    ) -> Result<(), String> {
        let image = place.path;
        let script = std::env::current_exe().map_err(|error| format!("dfrsd: {error}"))?;
        // As root, and in the job's mount namespace: what runs there must be what is seen here.
        for path in [self.program.as_path(), image, &script] {
            let inner = path.strip_prefix("/").unwrap_or(path);
            if !procfs::is_same_file(&procfs::file(init, "root").join(inner), path) {
                return Err(format!("{} is not the same inside the job", path.display()));
            }
        }
        let named = |error: io::Error| format!("{}: {error}", self.program.display());
        let stage = CriuStage::new().map_err(named)?;
        let timeout = deed.timeout() + Duration::from_secs(place.bytes / BYTES_OF_TIMEOUT);
        let mut refused = None;
        let status = self
            .start(namespaces, deed, image, &script, stage.address())
            .and_then(|child| {
                wait(
                    child,
                    timeout,
                    &mut |criu| {
                        if let Some(waiting) = stage.arrived() {
                            let looked = criu_processes(criu, deed).and_then(|own| look(&own));
                            match looked {
                                Ok(()) => drop(waiting.go_on()),
                                Err(error) => refused = Some(error),
                            }
                        }
                    },
                    &|| {
                        if let Deed::Restore { .. } = deed {
                            end_all(init)
                        }
                    },
                )
            })
            .map_err(named)?;
        if let Some(error) = refused {
            return Err(error);
        }
        if status.is_some_and(|status| status.success()) {
            return Ok(());
        }
        let log = image.join(deed.log());
        let read = |path: &Path| {
            let bytes = fs::read(path).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let reason = match status {
            None => format!("not done after {} s", timeout.as_secs()),
            Some(status) => first_error(&read(&log))
                .or_else(|| first_line(&read(&image.join(OUTPUT))))
                .unwrap_or_else(|| status.to_string()),
        };
        Err(format!("criu {}: {reason}", deed.word()))
    }

    fn start(
        &self,
        namespaces: &Namespaces,
        deed: Deed,
        image: &Path,
        script: &Path,
        stage: &str,
    ) -> io::Result<Child> {
        let output: File = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(image.join(OUTPUT))?;
        // nsenter opens them before it enters one.
        let own = std::process::id();
        let [mounts, pids] = [&namespaces.mounts, &namespaces.pids]
            .map(|namespace| format!("/proc/{own}/fd/{}", namespace.as_raw_fd()));
        let words = command_line(&self.program, &mounts, &pids, deed, image, script);
        Command::new(&words[0])
            .args(&words[1..])
            .env_clear()
            .env(stage::ADDRESS, stage)
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
            Deed::Restore { .. } => "restore",
        }
    }

    fn timeout(self) -> Duration {
        match self {
            Deed::Dump { .. } => DUMP_TIMEOUT,
            Deed::Restore { .. } => RESTORE_TIMEOUT,
        }
    }

    fn log(self) -> &'static str {
        match self {
            Deed::Dump { .. } => DUMP_LOG,
            Deed::Restore { .. } => RESTORE_LOG,
        }
    }
}

/// The command: criu, inside the PID and mount namespaces of a job, so that neither is dumped.
fn command_line(
    program: &Path,
    mounts: &str,
    pids: &str,
    deed: Deed,
    image: &Path,
    script: &Path,
) -> Vec<OsString> {
    let ghost_limit = MAX_DELETED_FILE_BYTES.to_string();
    let mut words: Vec<OsString> = vec!["nsenter".into()];
    words.push(format!("--mount={mounts}").into());
    words.push(format!("--pid={pids}").into());
    words.push("--".into());
    words.push(program.into());
    words.push(deed.word().into());
    words.push("--images-dir".into());
    words.push(image.into());
    words.push("--action-script".into());
    words.push(script.into());
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
                    // Its default is a matter of how it was built (connections.rs).
                    "--network-lock",
                    "iptables",
                ]
                .map(OsString::from),
            );
        }
        Deed::Restore { .. } => words.push("--restore-detached".into()),
    }
    words.extend(["-v2", "--log-file", deed.log()].map(OsString::from));
    words
}

/// The processes that are criu's, and not the job's: criu and its script, of which nsenter is the
/// parent. What it restores is below it, too, until it ends.
fn criu_processes(nsenter: u32, deed: Deed) -> Result<BTreeSet<u32>, String> {
    let mut own = tree::below(nsenter)?;
    if let Deed::Restore { root_pid } = deed {
        let is_root = |process: &u32| {
            ProcessStatus::read(*process)
                .is_some_and(|status| status.own_number() == Some(root_pid))
        };
        if let Some(root) = own.iter().copied().find(is_root) {
            let restored = tree::below(root)?;
            own.retain(|process| !restored.contains(process));
        }
    }
    Ok(own)
}

/// Ends all processes below an init, first those that are traced: criu's end would let them go on.
fn end_all(init: &HeldProcess) {
    let inside = tree::inside(init).unwrap_or_default();
    let is_traced =
        |process: &u32| ProcessStatus::read(*process).is_some_and(|status| status.is_traced());
    let (traced, others): (Vec<u32>, Vec<u32>) = inside.into_iter().partition(is_traced);
    for process in traced.into_iter().chain(others) {
        // What is gone need not end.
        let _ = signals::send(process, Signal::KILL.as_raw());
    }
}

/// How it ended; none if it had to be ended after `timeout`. `look` is called all the time, with
/// its number, and `give_up` before the end.
fn wait(
    mut child: Child,
    timeout: Duration,
    look: &mut dyn FnMut(u32),
    give_up: &dyn Fn(),
) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        look(child.id());
        if begun.elapsed() >= timeout {
            give_up();
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
            "/m",
            "/p",
            deed,
            Path::new("/images/7"),
            Path::new("/usr/sbin/dfrsd"),
        );
        let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
        words.join(" ")
    }

    #[test]
    fn command_lines_enter_the_job_and_leave_its_groups_alone() {
        assert_eq!(
            line(Deed::Dump { root_pid: 301 }),
            "nsenter --mount=/m --pid=/p -- /usr/sbin/criu dump --images-dir /images/7 \
             --action-script /usr/sbin/dfrsd \
             --no-default-config --manage-cgroups=ignore --file-locks --tcp-established \
             --tree 301 --leave-stopped --ghost-limit 67108864 --network-lock iptables -v2 --log-file dump.log"
        );
        assert_eq!(
            line(Deed::Restore { root_pid: 301 }),
            "nsenter --mount=/m --pid=/p -- /usr/sbin/criu restore --images-dir /images/7 \
             --action-script /usr/sbin/dfrsd \
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
        let waited = wait(child, Duration::from_millis(50), &mut |_| (), &|| ());
        assert_eq!(waited.unwrap(), None);
        assert!(begun.elapsed() < Duration::from_secs(30));
        let child = Command::new("true").spawn().unwrap();
        let waited = wait(child, RESTORE_TIMEOUT, &mut |_| (), &|| ());
        assert!(waited.unwrap().unwrap().success());
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
