//! What is in each shipped program: software bills of materials (SBOM), by cargo-cyclonedx.

use std::fs;
use std::path::Path;

use super::ReleaseSource;
use crate::files::{self, failed};
use crate::program::{output, text};

/// The version that is asked for: another one may write another file of the same source.
const CYCLONEDX: &str = "0.5.9";

/// Where they run: Debian's amd64, as the packages.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The files below the crate's directory that the program writes, and what the release calls them.
const PROGRAMS: [(&str, &str); 3] = [
    ("sched_dfrs.cdx.json", "sched_dfrs.so.cdx.json"),
    ("crates/dfrs-cli/dfrs-cli.cdx.json", "dfrs.cdx.json"),
    ("crates/dfrs-node/dfrs-node.cdx.json", "dfrsd.cdx.json"),
];

/// `sbom/PROGRAM.cdx.json` for each (CycloneDX 1.5, without what is only needed to build it).
///
/// # Errors
///
/// What cargo-cyclonedx says.
pub fn write(source: &ReleaseSource, directory: &Path) -> Result<Vec<String>, String> {
    if let Err(reason) = is_installed(source) {
        return Ok(vec![format!(
            "bills of materials: {reason}: cargo install cargo-cyclonedx --version {CYCLONEDX} --locked"
        )]);
    }
    // It writes beside the manifests of the whole workspace.
    let tree = directory.join("tree");
    let name = source.name();
    let archive = directory.join(format!("{name}.tar.gz"));
    fs::create_dir(&tree).map_err(|error| failed(&tree, &error))?;
    output(
        source
            .command("tar")
            .arg("-xzf")
            .arg(archive)
            .arg("-C")
            .arg(&tree),
    )?;
    let root = tree.join(&name);
    let mut command = source.command("cargo");
    command
        .current_dir(&root)
        .args([
            "cyclonedx",
            "--quiet",
            "--format",
            "json",
            "--spec-version",
            "1.5",
        ])
        .args(["--all", "--no-build-deps", "--target", TARGET]);
    output(&mut command)?;
    let written = directory.join("sbom");
    for (from, to) in PROGRAMS {
        let bill = files::read(&root.join(from))?;
        files::write(&written.join(to), without_path(&bill, &root, &name))?;
    }
    fs::remove_dir_all(&tree).map_err(|error| failed(&tree, &error))?;
    Ok(Vec::new())
}

fn is_installed(source: &ReleaseSource) -> Result<(), String> {
    let version = text(source.command("cargo").args(["cyclonedx", "--version"]))
        .map_err(|_| "cargo-cyclonedx is not installed".to_owned())?;
    match version.rsplit(' ').next() {
        Some(CYCLONEDX) => Ok(()),
        _ => Err(format!("'{version}' is installed")),
    }
}

/// Names of our own packages have the place of the source in them.
fn without_path(bill: &str, root: &Path, name: &str) -> String {
    bill.replace(
        &format!("file://{}", root.display()),
        &format!("file:///{name}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bills_do_not_say_where_they_were_made() {
        let bill = "path+file:///a/tree/slurm-dfrs-1.2.3/crates/dfrs-core#1.2.3";
        assert_eq!(
            without_path(
                bill,
                Path::new("/a/tree/slurm-dfrs-1.2.3"),
                "slurm-dfrs-1.2.3"
            ),
            "path+file:///slurm-dfrs-1.2.3/crates/dfrs-core#1.2.3"
        );
    }
}
