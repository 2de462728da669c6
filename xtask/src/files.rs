//! Files and directories, with errors that name them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// All files of a directory and of those below it, in order of their names.
///
/// # Errors
///
/// A directory that cannot be read.
pub fn below(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(directory).map_err(|error| failed(directory, &error))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(below(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

/// The file's text.
///
/// # Errors
///
/// One line, if it cannot be read.
pub fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| failed(path, &error))
}

/// Writes the file, and makes its directory.
///
/// # Errors
///
/// One line, if it cannot be written.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), String> {
    let directory = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(directory).map_err(|error| failed(directory, &error))?;
    fs::write(path, content).map_err(|error| failed(path, &error))
}

/// The line that says what failed with this file.
pub fn failed(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}
