//! What lies in directories.

use std::fs;
use std::path::{Path, PathBuf};

/// All files of a directory and of those below it, in order of their names.
///
/// # Errors
///
/// A directory that cannot be read.
pub fn below(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries =
        fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
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
