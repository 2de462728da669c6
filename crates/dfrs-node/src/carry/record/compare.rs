//! Whether what was restored is what was recorded. Nothing is looked at here.

use std::path::Path;

use super::{FileRecord, ProcessRecord, ThreadRecord};

/// Types of files in `st_mode`.
const TYPE: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const CHARACTER_DEVICE: u32 = 0o020_000;
/// Names under which the kernel shows memory, and the directory of which a restored job has one of
/// its own.
const MEMORY: [&str; 4] = ["/memfd:", "/dev/zero", "/SYSV", "/dev/shm/"];
const DELETED: &str = " (deleted)";
const PROCESSES: &str = "/proc/";

/// Refuses processes that have something that was not recorded of them. Control groups have to be
/// these. `is_roots` says of a path whether no user can change what lies there: all directories
/// above it are root's.
///
/// # Errors
///
/// The first that differs; a part of a line.
pub fn check(
    recorded: &[ProcessRecord],
    found: &[ProcessRecord],
    groups: &str,
    is_roots: &dyn Fn(&Path) -> bool,
) -> Result<(), String> {
    for process in found {
        let pid = process.pid;
        let named = |error: String| format!("process {pid}: {error}");
        let known = recorded.iter().find(|known| known.pid == pid);
        let known = known.ok_or_else(|| named("was not in it".to_owned()))?;
        for (thread, now) in &process.threads {
            let then = known.threads.get(thread);
            check_thread(then, now, groups)
                .map_err(|error| named(format!("thread {thread} {error}")))?;
        }
        for (name, now) in &process.files {
            let then: Vec<&FileRecord> = known.files.get(name).into_iter().collect();
            check_file(&then, now, is_roots).map_err(|error| named(format!("{name}: {error}")))?;
        }
        let mapped: Vec<&FileRecord> = known.mapped.iter().collect();
        for now in &process.mapped {
            check_file(&mapped, now, is_roots).map_err(|error| named(format!("maps {error}")))?;
        }
    }
    Ok(())
}

fn check_thread(
    then: Option<&ThreadRecord>,
    now: &ThreadRecord,
    groups: &str,
) -> Result<(), String> {
    let then = then.ok_or_else(|| "was not in it".to_owned())?;
    if now.ids != then.ids {
        return Err("has other users or groups".to_owned());
    }
    for (name, set) in &now.capabilities {
        if set & !then.capabilities.get(name).copied().unwrap_or_default() != 0 {
            return Err(format!("has more capabilities ({name})"));
        }
    }
    if now.limits != then.limits {
        return Err("has given up other rights (NoNewPrivs, Seccomp)".to_owned());
    }
    if now.groups != groups {
        return Err("is in other control groups".to_owned());
    }
    Ok(())
}

fn check_file(
    then: &[&FileRecord],
    now: &FileRecord,
    is_roots: &dyn Fn(&Path) -> bool,
) -> Result<(), String> {
    // criu makes it, and opens nothing for it.
    if is_memory(now) {
        return Ok(());
    }
    let path = &now.path;
    let mut named = then.iter().filter(|then| then.path == now.path).peekable();
    if named.peek().is_none() {
        return Err(format!("{path} was not there"));
    }
    let mut opened = named
        .filter(|then| now.access & !then.access == 0)
        .peekable();
    if opened.peek().is_none() {
        return Err(format!("{path} was not opened in this way"));
    }
    match opened.any(|then| is_same(then, now, is_roots)) {
        true => Ok(()),
        false => Err(format!("{path} is another file")),
    }
}

fn is_same(then: &FileRecord, now: &FileRecord, is_roots: &dyn Fn(&Path) -> bool) -> bool {
    let owner = |file: &FileRecord| (file.uid, file.gid, file.mode);
    if then.mode & TYPE != now.mode & TYPE {
        return false;
    }
    if now.mode & TYPE == CHARACTER_DEVICE {
        return now.device == then.device;
    }
    // The kernel's, which shows them as root's as long as the process is not complete; no user can
    // put another file there.
    if now.path.starts_with(PROCESSES) {
        return then.mode == now.mode;
    }
    // What root has put there has other inodes on another node.
    owner(then) == owner(now) && (then.inode == now.inode || is_roots(Path::new(&now.path)))
}

fn is_memory(file: &FileRecord) -> bool {
    let is_named = MEMORY.iter().any(|name| file.path.starts_with(name));
    is_named && file.path.ends_with(DELETED) && file.links == 0 && file.mode & TYPE == REGULAR
}
