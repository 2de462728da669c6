//! Reading and writing the small files of control groups.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::CgroupError;
use super::core_set::CoreSet;

/// No such device (`ENODEV`): the kernel's error for a file of a group that was removed.
const NO_SUCH_DEVICE: i32 = 19;

/// Names the file and the deed in an error.
pub fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CgroupError {
    let path = path.display().to_string();
    move |source| CgroupError {
        doing,
        path,
        source,
    }
}

/// What is in the file cannot be understood.
pub fn malformed(path: &Path) -> CgroupError {
    failed("understand", path)(io::ErrorKind::InvalidData.into())
}

/// The file's text, without white space around it.
///
/// # Errors
///
/// If it cannot be read.
pub fn read(path: &Path) -> Result<String, CgroupError> {
    let text = fs::read_to_string(path).map_err(failed("read", path))?;
    Ok(text.trim().to_string())
}

/// The number that is the file's text.
///
/// # Errors
///
/// If it cannot be read or is no number: what cannot be read is not nothing.
pub fn read_number(path: &Path) -> Result<u64, CgroupError> {
    let text = read(path)?;
    text.parse().map_err(|_| malformed(path))
}

/// The limit that is the file's text; none if it is `max` or `-1`, or does not exist, as at the
/// kernel's own root.
///
/// # Errors
///
/// If it exists and cannot be read or understood.
pub fn read_limit(path: &Path) -> Result<Option<u64>, CgroupError> {
    match read(path) {
        Ok(text) if text == "max" || text.starts_with('-') => Ok(None),
        Ok(_) => read_number(path).map(Some),
        Err(error) if error.source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The CPUs that the file lists.
///
/// # Errors
///
/// If it cannot be read, or is no list of the kernel's.
pub fn read_cores(path: &Path) -> Result<CoreSet, CgroupError> {
    let text = read(path)?;
    CoreSet::parse(&text).ok_or_else(|| malformed(path))
}

/// As `read_cores()`, and none where the group was removed or the kernel has no such file.
///
/// # Errors
///
/// If it is there and cannot be read or understood.
pub fn read_cores_if_there(path: &Path) -> Result<CoreSet, CgroupError> {
    match read_cores(path) {
        Err(error) if has_vanished(&error.source) => Ok(CoreSet::default()),
        other => other,
    }
}

/// The number behind `key` in a file of lines `key number`; none if there is no such line.
///
/// # Errors
///
/// If the file cannot be read.
pub fn read_keyed(path: &Path, key: &str) -> Result<Option<u64>, CgroupError> {
    let text = read(path)?;
    Ok(text.lines().find_map(|line| {
        line.strip_prefix(key)?
            .strip_prefix(' ')?
            .trim()
            .parse()
            .ok()
    }))
}

/// Replaces the file's text, unless it is that.
///
/// # Errors
///
/// If the kernel refuses it.
pub fn change(path: &Path, text: &str) -> Result<(), CgroupError> {
    if read(path).is_ok_and(|known| known == text) {
        return Ok(());
    }
    write(path, text)
}

/// Replaces the file's text.
///
/// # Errors
///
/// If the kernel refuses it.
pub fn write(path: &Path, text: &str) -> Result<(), CgroupError> {
    fs::write(path, text).map_err(failed("write", path))
}

/// `write()` in one call, which a signal ends: for what takes the kernel long.
///
/// # Errors
///
/// If the kernel refuses it; `Interrupted` after a signal.
pub fn write_once(path: &Path, text: &str) -> Result<(), CgroupError> {
    let written = fs::File::create(path).and_then(|mut file| file.write(text.as_bytes()));
    written.map(drop).map_err(failed("write", path))
}

/// Subdirectories of `directory`, by name; none if it does not exist.
///
/// # Errors
///
/// If it exists and cannot be read.
pub fn subdirectories(directory: &Path) -> Result<Vec<(String, PathBuf)>, CgroupError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed("read", directory)(error)),
    };
    let mut found: Vec<_> = entries
        // A directory that vanishes while we read is a job that ended.
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .collect();
    found.sort();
    Ok(found)
}

/// Process ids in the control group and all below it; what vanishes meanwhile is left out.
///
/// # Errors
///
/// If a list is there and cannot be read.
pub fn processes(directory: &Path) -> Result<Vec<u32>, CgroupError> {
    let mut found = own_processes(directory)?;
    for (_, below) in subdirectories(directory)? {
        found.extend(processes(&below)?);
    }
    Ok(found)
}

/// Whether there is a process in the control group or below it; none in one that has vanished.
///
/// # Errors
///
/// If a list is there and cannot be read.
pub fn has_processes(directory: &Path) -> Result<bool, CgroupError> {
    if !own_processes(directory)?.is_empty() {
        return Ok(true);
    }
    for (_, below) in subdirectories(directory)? {
        if has_processes(&below)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Process ids in the control group itself; none if it has vanished.
///
/// # Errors
///
/// If the list is there and cannot be read.
pub fn own_processes(directory: &Path) -> Result<Vec<u32>, CgroupError> {
    let text = match read(&directory.join("cgroup.procs")) {
        Ok(text) => text,
        Err(error) if has_vanished(&error.source) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    Ok(text
        .lines()
        .filter_map(|line| line.trim().parse().ok())
        .collect())
}

/// The group was removed, before or after its file was opened.
pub fn has_vanished(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(NO_SUCH_DEVICE)
}

/// Nanoseconds as seconds.
pub fn seconds_from_nanoseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// Microseconds as seconds.
pub fn seconds_from_microseconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn missing_or_unreadable_file_is_an_error() {
        let scratch = Scratch::new();
        let file = scratch.path().join("memory.current");
        assert!(read_number(&file).is_err(), "missing");
        assert!(read_keyed(&file, "frozen").is_err(), "missing");
        fs::create_dir(&file).unwrap();
        assert!(read_number(&file).is_err(), "unreadable");
        assert!(read_limit(&file).is_err(), "unreadable");
        fs::create_dir(scratch.path().join("cgroup.procs")).unwrap();
        assert!(processes(scratch.path()).is_err(), "unreadable");
    }

    #[test]
    fn no_limit_has_several_spellings() {
        let scratch = Scratch::new();
        let file = scratch.path().join("limit");
        assert_eq!(read_limit(&file).unwrap(), None);
        for (text, limit) in [("max\n", None), ("-1\n", None), ("4096\n", Some(4096))] {
            write(&file, text).unwrap();
            assert_eq!(read_limit(&file).unwrap(), limit, "{text}");
        }
        write(&file, "many").unwrap();
        assert!(read_limit(&file).is_err());
    }
}
