//! Packages of what docker/build has built, for each Slurm that Debian has.

use std::fs;
use std::path::Path;

use super::ReleaseSource;
use crate::program::output;

/// Debian's releases, and their Slurm.
const SERIES: [(&str, &str); 2] = [("12", "22.05.8"), ("13", "24.11.5")];

/// `slurm-VERSION/`, with packages for Debian and RPMs, of each that is built of this commit.
///
/// # Errors
///
/// What `packaging/build` says.
pub fn write(source: &ReleaseSource, directory: &Path) -> Result<Vec<String>, String> {
    let xtask = std::env::current_exe().map_err(|error| format!("xtask: {error}"))?;
    let mut left_out = Vec::new();
    for (debian, slurm) in SERIES {
        let built = source.root.join("target/docker").join(debian);
        if let Err(reason) = is_of(&built, &source.commit) {
            left_out.push(format!(
                "packages for Slurm {slurm}: target/docker/{debian} {reason}: run docker/build {debian}"
            ));
            continue;
        }
        for format in [None, Some("--rpm")] {
            let mut command = source.command("packaging/build");
            command.args(format).arg(&built);
            command.arg(directory.join(format!("slurm-{slurm}")));
            output(command.env("XTASK", &xtask))?;
        }
    }
    Ok(left_out)
}

/// `built-from` names the commit, and in what the programs differ from shipped ones, if in anything.
fn is_of(built: &Path, commit: &str) -> Result<(), String> {
    match fs::read_to_string(built.join("built-from")) {
        Err(_) => Err("is not built".into()),
        Ok(text) if text.trim_end() == commit => Ok(()),
        Ok(text) => Err(format!(
            "is built from '{}', not from {commit}",
            text.trim_end()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_of_the_commit_alone() {
        let built = std::env::temp_dir().join(format!("dfrs-built-{}", std::process::id()));
        fs::create_dir_all(&built).expect("is made");
        assert_eq!(is_of(&built, "0a1b"), Err("is not built".into()));
        fs::write(built.join("built-from"), "0a1b\n").expect("is written");
        assert_eq!(is_of(&built, "0a1b"), Ok(()));
        fs::write(built.join("built-from"), "0a1b profile=dev\n").expect("is written");
        assert_eq!(
            is_of(&built, "0a1b"),
            Err("is built from '0a1b profile=dev', not from 0a1b".into())
        );
        fs::remove_dir_all(&built).expect("is removed");
    }
}
