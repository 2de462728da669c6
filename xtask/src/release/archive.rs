//! The source.

use std::path::Path;

use super::ReleaseSource;
use crate::program::{git, output};

/// What the gzip of a release is called with: the strongest compression, no time and no name.
const GZIP: &str = "tar.tar.gz.command=gzip -9 --no-name";

/// `slurm-dfrs-VERSION.tar.gz`, the files of the commit in a directory of that name, with the
/// commit's time and modes 644 and 755.
///
/// # Errors
///
/// What Git says.
pub fn write(source: &ReleaseSource, directory: &Path) -> Result<Vec<String>, String> {
    let name = source.name();
    let file = directory.join(format!("{name}.tar.gz"));
    // The user's own settings would be in the archive.
    let settings = [
        "-c",
        GZIP,
        "-c",
        "tar.umask=0022",
        "-c",
        "core.autocrlf=false",
    ];
    let mut command = git(&source.root, &settings);
    command
        .args(["archive", "--format=tar.gz"])
        .arg(format!("--prefix={name}/"))
        .arg("--output")
        .arg(file)
        .arg(&source.commit);
    output(&mut command).map(|_| Vec::new())
}
