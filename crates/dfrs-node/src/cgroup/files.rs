//! Reading and writing the small files of control groups.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::CgroupError;

/// Names the file and the deed in an error.
pub fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CgroupError {
    let path = path.display().to_string();
    move |source| CgroupError {
        doing,
        path,
        source,
    }
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

/// The number that is the file's text; none if it cannot be read or is no number (as `max`).
pub fn read_number(path: &Path) -> Option<u64> {
    read(path).ok()?.parse().ok()
}

/// The number behind `key` in a file of lines `key number`.
pub fn read_keyed(path: &Path, key: &str) -> Option<u64> {
    let text = read(path).ok()?;
    text.lines().find_map(|line| {
        line.strip_prefix(key)?
            .strip_prefix(' ')?
            .trim()
            .parse()
            .ok()
    })
}

/// Replaces the file's text.
///
/// # Errors
///
/// If the kernel refuses it.
pub fn write(path: &Path, text: &str) -> Result<(), CgroupError> {
    fs::write(path, text).map_err(failed("write", path))
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
pub fn processes(directory: &Path) -> Vec<u32> {
    let mut found = own_processes(directory);
    for (_, below) in subdirectories(directory).unwrap_or_default() {
        found.extend(processes(&below));
    }
    found
}

fn own_processes(directory: &Path) -> Vec<u32> {
    let text = fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.trim().parse().ok())
        .collect()
}

/// Nanoseconds as seconds.
pub fn seconds_from_nanoseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// Microseconds as seconds.
pub fn seconds_from_microseconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1e6
}
