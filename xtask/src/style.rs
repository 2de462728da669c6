//! `cargo xtask style`: what no other tool checks.

mod links;
mod markers;
mod width;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

/// Checks that C and shell files name their licence, and that Markdown files have links to files that
/// exist and lines of at most a hundred characters.
#[derive(Args)]
pub struct Arguments {}

/// Looks at every file that git knows.
pub fn run(_arguments: &Arguments) -> Result<(), String> {
    let root = crate::root();
    let mut problems = Vec::new();
    for path in known_files(root)? {
        // Only text is looked at; a file that was just removed is none of our business.
        let Ok(text) = fs::read_to_string(root.join(&path)) else {
            continue;
        };
        problems.extend(markers::problem(&path, &text));
        problems.extend(links::problems(root, &path, &text));
        problems.extend(width::problems(&path, &text));
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("\n"))
    }
}

fn known_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "git ls-files: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    Ok(names.split_terminator('\0').map(PathBuf::from).collect())
}
