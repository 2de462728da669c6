//! `cargo xtask release`: everything that is published of a version, of the commit that is checked out.
//! The same commit and the same built programs make the same bytes, wherever the clone is.

mod archive;
mod checks;
mod materials;
mod packages;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::files::{self, failed};
use crate::program;

/// Command line.
#[derive(Args)]
pub struct ReleaseArguments {
    /// Where to write it, which must not exist [default: target/release-VERSION]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// What is released: a clone with nothing in it but a commit.
struct ReleaseSource {
    root: PathBuf,
    version: String,
    /// The commit's full name.
    commit: String,
    /// When it was made, in seconds since 1970: the time of all that is made of it.
    time: String,
}

impl ReleaseSource {
    /// The name of the archive without its ending, and of the directory in it.
    fn name(&self) -> String {
        format!("slurm-dfrs-{}", self.version)
    }

    /// A program in the root of the clone that writes the commit's time into what it makes.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.root)
            .env("SOURCE_DATE_EPOCH", &self.time);
        command
    }
}

/// Writes something of the source into a directory. Returns a line for each thing that it leaves out:
/// what, why, and what to do.
type ReleasePart = fn(&ReleaseSource, &Path) -> Result<Vec<String>, String>;

/// Checks, writes, and says what it has left out.
///
/// # Errors
///
/// What must not be released as it is, and what a program says that fails; nothing is written then.
pub fn run(arguments: &ReleaseArguments) -> Result<(), String> {
    let parts: [ReleasePart; 3] = [archive::write, packages::write, materials::write];
    let (directory, left_out) = make(super::root(), arguments.out.as_deref(), &parts)?;
    for line in left_out {
        println!("left out: {line}");
    }
    println!("{}", directory.display());
    Ok(())
}

/// Returns the directory and what is left out.
fn make(
    root: &Path,
    out: Option<&Path>,
    parts: &[ReleasePart],
) -> Result<(PathBuf, Vec<String>), String> {
    let source = checks::source(root)?;
    let directory = match out {
        Some(directory) => {
            std::path::absolute(directory).map_err(|error| failed(directory, &error))?
        }
        None => root.join(format!("target/release-{}", source.version)),
    };
    checks::is_new(&directory)?;
    let mut partial = directory.clone().into_os_string();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let _ = fs::remove_dir_all(&partial);
    fs::create_dir_all(&partial).map_err(|error| failed(&partial, &error))?;
    let left_out = write(&source, &partial, parts).inspect_err(|_| {
        let _ = fs::remove_dir_all(&partial);
    })?;
    fs::rename(&partial, &directory).map_err(|error| failed(&directory, &error))?;
    Ok((directory, left_out))
}

fn write(
    source: &ReleaseSource,
    directory: &Path,
    parts: &[ReleasePart],
) -> Result<Vec<String>, String> {
    let mut left_out = Vec::new();
    for part in parts {
        left_out.extend(part(source, directory)?);
    }
    write_sums(directory)?;
    Ok(left_out)
}

/// `SHA256SUMS` of all other files, in the order of their names, for `sha256sum --check`.
fn write_sums(directory: &Path) -> Result<(), String> {
    let mut command = Command::new("sha256sum");
    command.current_dir(directory);
    for file in files::below(directory)? {
        command.arg(file.strip_prefix(directory).unwrap_or(&file));
    }
    let sums = program::output(&mut command)?;
    files::write(&directory.join("SHA256SUMS"), sums)
}

#[cfg(test)]
mod tests;
