//! What must hold before a version is released. Each refusal is one line.

use std::fs;
use std::path::Path;

use super::ReleaseSource;
use crate::files::read;
use crate::program::{git, text};

/// The clone, if all is well with it.
///
/// # Errors
///
/// Changes that are no part of the commit, manifests that differ in their version, and a changelog
/// without this version.
pub fn source(root: &Path) -> Result<ReleaseSource, String> {
    let changes = text(&mut git(root, &["status", "--porcelain"]))?;
    no_changes(&changes)?;
    let version = version_of(&read(&root.join("Cargo.toml"))?)?;
    let manifests = text(&mut git(root, &["ls-files", "Cargo.toml", "*/Cargo.toml"]))?;
    for path in manifests.lines() {
        same_version(path, &read(&root.join(path))?, &version)?;
    }
    locked_version(&read(&root.join("Cargo.lock"))?, &version)?;
    has_section(&read(&root.join("CHANGELOG.md"))?, &version)?;
    Ok(ReleaseSource {
        root: root.to_owned(),
        version,
        commit: text(&mut git(root, &["rev-parse", "HEAD"]))?,
        time: text(&mut git(root, &["log", "-1", "--format=%ct"]))?,
    })
}

/// # Errors
///
/// There is something of that name.
pub fn is_new(directory: &Path) -> Result<(), String> {
    if fs::symlink_metadata(directory).is_err() {
        return Ok(());
    }
    let directory = directory.display();
    Err(format!(
        "{directory}: exists: remove it, or give --out another directory"
    ))
}

/// From the output of `git status --porcelain`.
fn no_changes(status: &str) -> Result<(), String> {
    let Some(first) = status.lines().next() else {
        return Ok(());
    };
    Err(format!(
        "git status: '{first}' is no part of the commit: commit it, or remove it ({} in all)",
        status.lines().count()
    ))
}

/// The first `version = "…"`, which is that of the workspace.
fn version_of(manifest: &str) -> Result<String, String> {
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    let version =
        version.ok_or("Cargo.toml: no line 'version = \"…\"': give the workspace a version")?;
    Ok(version.to_owned())
}

/// A package that is published has the workspace's version.
fn same_version(path: &str, manifest: &str, version: &str) -> Result<(), String> {
    if manifest.lines().any(|line| line == "publish = false") {
        return Ok(());
    }
    let is_other = |line: &&str| {
        let value = line.strip_prefix("version = ");
        value.is_some_and(|value| value.trim_matches('"') != version)
    };
    match manifest.lines().find(is_other) {
        None => Ok(()),
        Some(line) => Err(format!(
            "{path}: '{line}' is not the workspace's {version}: write 'version.workspace = true'"
        )),
    }
}

/// Packages of the lock file that come from nowhere are the workspace's.
fn locked_version(lock: &str, version: &str) -> Result<(), String> {
    let field = |package: &str, name: &str| {
        let quoted = |line: &str| {
            Some(
                line.strip_prefix(name)?
                    .strip_prefix(" = ")?
                    .trim_matches('"')
                    .to_owned(),
            )
        };
        package.lines().find_map(quoted)
    };
    for package in lock.split("[[package]]").skip(1) {
        let other = field(package, "version").filter(|locked| locked != version);
        if let (Some(other), None) = (other, field(package, "source")) {
            let name = field(package, "name").unwrap_or_default();
            return Err(format!(
                "Cargo.lock: {name} is {other}, not {version}: run cargo check, and commit Cargo.lock"
            ));
        }
    }
    Ok(())
}

/// `## [VERSION] - YYYY-MM-DD`.
fn has_section(changelog: &str, version: &str) -> Result<(), String> {
    let head = format!("## [{version}] - ");
    let is_date = |date: &str| {
        date.len() == "YYYY-MM-DD".len() && date.split('-').all(|part| part.parse::<u16>().is_ok())
    };
    if changelog
        .lines()
        .any(|line| line.strip_prefix(&head).is_some_and(is_date))
    {
        return Ok(());
    }
    Err(format!(
        "CHANGELOG.md: no section '{head}YYYY-MM-DD': put what is under [Unreleased] into one"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: &str = "[workspace.package]\nversion = \"1.2.3\"\nedition = \"2024\"\n";

    #[test]
    fn a_tree_with_changes_is_refused() {
        assert_eq!(no_changes(""), Ok(()));
        let refused = no_changes(" M Cargo.toml\n?? new").expect_err("two changes");
        assert_eq!(
            refused,
            "git status: ' M Cargo.toml' is no part of the commit: commit it, or remove it (2 in all)"
        );
    }

    #[test]
    fn the_version_is_the_workspaces() {
        assert_eq!(version_of(WORKSPACE).as_deref(), Ok("1.2.3"));
        assert!(version_of("[workspace]\n").is_err());
    }

    #[test]
    fn manifests_have_one_version() {
        let check = |manifest: &str| same_version("a/Cargo.toml", manifest, "1.2.3");
        assert_eq!(check(WORKSPACE), Ok(()));
        assert_eq!(check("[package]\nversion.workspace = true\n"), Ok(()));
        assert_eq!(
            check("[package]\nversion = \"0.0.0\"\npublish = false\n"),
            Ok(())
        );
        assert_eq!(
            check("[package]\nversion = \"1.2.4\"\n").expect_err("another version"),
            "a/Cargo.toml: 'version = \"1.2.4\"' is not the workspace's 1.2.3: write 'version.workspace = true'"
        );
    }

    #[test]
    fn the_lock_file_has_that_version() {
        let ours = "[[package]]\nname = \"a\"\nversion = \"1.2.3\"\n\n";
        let others = "[[package]]\nname = \"b\"\nversion = \"7.0.0\"\nsource = \"registry\"\n";
        let check = |lock: &str| locked_version(lock, "1.2.3");
        assert_eq!(check(&format!("version = 4\n\n{ours}{others}")), Ok(()));
        assert_eq!(
            check(&ours.replace("1.2.3", "1.2.2")).expect_err("an old version"),
            "Cargo.lock: a is 1.2.2, not 1.2.3: run cargo check, and commit Cargo.lock"
        );
    }

    #[test]
    fn the_changelog_has_a_dated_section() {
        let check = |line: &str| has_section(&format!("# Changelog\n\n{line}\n"), "1.2.3");
        assert_eq!(check("## [1.2.3] - 2026-11-28"), Ok(()));
        for wrong in [
            "## [Unreleased]",
            "## [1.2.3]",
            "## [1.2.3] - soon",
            "## [1.2.30] - 2026-11-28",
        ] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_exists_is_not_overwritten() {
        assert_eq!(is_new(&crate::root().join("no such directory")), Ok(()));
        let refused = is_new(crate::root()).expect_err("exists");
        assert!(refused.ends_with(": exists: remove it, or give --out another directory"));
    }

    #[test]
    fn manifests_of_this_clone_have_one_version() {
        let root = crate::root();
        let version =
            version_of(&read(&root.join("Cargo.toml")).expect("exists")).expect("is there");
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
        let lock = read(&root.join("Cargo.lock")).expect("exists");
        assert_eq!(locked_version(&lock, &version), Ok(()));
    }
}
