//! A release of a small repository, made of two clones.

use super::*;

/// A directory that goes with the value.
struct ReleaseDirectory(PathBuf);

impl ReleaseDirectory {
    fn new(name: &str) -> ReleaseDirectory {
        let path = std::env::temp_dir().join(format!("dfrs-release-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("is made");
        ReleaseDirectory(path)
    }

    fn git(&self, clone: &str, arguments: &[&str]) {
        let settings = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
        let directory = self.0.join(clone);
        let mut command = program::git(&directory, &settings);
        program::output(command.args(arguments)).expect("git succeeds");
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.0.join(path), text).expect("is written");
    }
}

impl Drop for ReleaseDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A directory with the repository `one`, of which all checks hold, and its clone `more/two`.
fn two_clones(name: &str) -> ReleaseDirectory {
    let made = ReleaseDirectory::new(name);
    fs::create_dir(made.0.join("one")).expect("is made");
    made.git("one", &["init", "--quiet"]);
    made.write(
        "one/Cargo.toml",
        "[workspace.package]\nversion = \"1.2.3\"\n",
    );
    made.write("one/Cargo.lock", "version = 4\n");
    made.write(
        "one/CHANGELOG.md",
        "# Changelog\n\n## [1.2.3] - 2026-11-28\n",
    );
    made.write("one/.gitignore", "/target\n");
    made.git("one", &["add", "--all"]);
    made.git("one", &["commit", "--quiet", "--message", "A release"]);
    made.git("", &["clone", "--quiet", "one", "more/two"]);
    made
}

const WITHOUT_MATERIALS: [ReleasePart; 2] = [archive::write, packages::write];

#[test]
fn two_clones_make_the_same() {
    let made = two_clones("same");
    let release =
        |clone: &str| make(&made.0.join(clone), None, &WITHOUT_MATERIALS).expect("a release");
    let (one, left_out) = release("one");
    let (two, _) = release("more/two");
    assert!(one.ends_with("one/target/release-1.2.3"));
    let names = ["SHA256SUMS", "slurm-dfrs-1.2.3.tar.gz"];
    assert_eq!(
        files::below(&one),
        Ok(names.map(|name| one.join(name)).to_vec())
    );
    for name in names {
        let read = |directory: &Path| fs::read(directory.join(name)).expect("exists");
        assert_eq!(read(&one), read(&two), "{name}");
    }
    let sums = Command::new("sha256sum")
        .args(["--check", "--status", "SHA256SUMS"])
        .current_dir(&one)
        .status();
    assert!(sums.expect("is started").success());
    assert_eq!(
        left_out.first().map(String::as_str),
        Some("packages for Slurm 22.05.8: target/docker/12 is not built: run docker/build 12")
    );
}

#[test]
fn what_is_not_in_order_is_refused_in_one_line() {
    let made = two_clones("refused");
    let refusal = |out: Option<&Path>| {
        let refused = make(&made.0.join("one"), out, &WITHOUT_MATERIALS).expect_err("is refused");
        assert!(!refused.contains('\n'), "{refused}");
        refused
    };
    assert!(refusal(Some(&made.0)).contains(": exists: "));
    made.write("one/new", "");
    assert!(refusal(None).starts_with("git status: '?? new' is no part of the commit"));
    made.git("one", &["add", "--all"]);
    made.write(
        "one/Cargo.toml",
        "[workspace.package]\nversion = \"1.2.4\"\n",
    );
    made.git(
        "one",
        &["commit", "--quiet", "--all", "--message", "Another version"],
    );
    assert!(refusal(None).starts_with("CHANGELOG.md: no section '## [1.2.4] - YYYY-MM-DD'"));
    assert!(!made.0.join("one/target").exists());
}

#[test]
fn a_part_that_fails_leaves_nothing() {
    let made = two_clones("fails");
    let fails: ReleasePart = |_, _| Err("no packages".into());
    let root = made.0.join("one");
    let refused = make(&root, None, &[archive::write, fails]).expect_err("fails");
    assert_eq!(refused, "no packages");
    assert_eq!(files::below(&root.join("target")), Ok(Vec::new()));
}
