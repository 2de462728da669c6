//! Files that a command writes: looked at before the work begins, which may take hours.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Refuses files that can not be written, or would destroy each other: `read` is read, and each option names
/// a file that is written.
///
/// # Errors
///
/// One line with the file and the option.
pub fn check(read: Option<&Path>, options: &[(&str, Option<&Path>)]) -> Result<(), String> {
    let mut known: Vec<(String, PathBuf)> = Vec::new();
    if let Some(file) = read.and_then(identity) {
        known.push(("the file that is read".into(), file));
    }
    for (option, path) in options {
        let Some(path) = path else { continue };
        check_parent(path).map_err(|error| refused(path, &error))?;
        let Some(file) = identity(path) else { continue };
        if let Some((other, _)) = known.iter().find(|(_, other)| *other == file) {
            return Err(format!(
                "{}: {option} would overwrite {other}; name another file",
                path.display()
            ));
        }
        known.push((format!("that of {option}"), file));
    }
    Ok(())
}

/// The one name of a file, whether it is there or not; none of devices and pipes, which take anything, and
/// of what can not be written anyway.
fn identity(path: &Path) -> Option<PathBuf> {
    if path.exists() {
        return path.canonicalize().ok().filter(|file| file.is_file());
    }
    Some(directory(path).canonicalize().ok()?.join(path.file_name()?))
}

/// Whether there is a directory for it, and none of its name.
fn check_parent(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    match directory(path).metadata()?.is_dir() {
        true => Ok(()),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}

fn directory(path: &Path) -> &Path {
    path.parent()
        .filter(|directory| !directory.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// What is said of a file that the system does not let be written.
pub fn refused(path: &Path, error: &io::Error) -> String {
    format!(
        "{}: cannot be written: {error}; check the path and its permissions",
        path.display()
    )
}

/// Makes the directory for results, if it is not there.
///
/// # Errors
///
/// One line, if the system does not let it be made.
pub fn make_directory(directory: &Path) -> Result<(), String> {
    fs::create_dir_all(directory).map_err(|error| {
        format!(
            "{}: cannot be made: {error}; name another directory with --output",
            directory.display()
        )
    })
}

/// Writes a file as a whole or not at all, and returns its path.
///
/// # Errors
///
/// One line with the file and what the system says.
pub fn save(directory: &Path, name: &str, content: &str) -> Result<String, String> {
    let path = directory.join(name);
    let unfinished = directory.join(format!(".{name}.unfinished"));
    fs::write(&unfinished, content)
        .and_then(|()| fs::rename(&unfinished, &path))
        .map_err(|error| refused(&path, &error))?;
    Ok(path.display().to_string())
}

/// Writes a whole file.
///
/// # Errors
///
/// One line with the file and what the system says.
pub fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| {
        format!(
            "{}: cannot be written: {error}; check the path and the space left",
            path.display()
        )
    })
}
