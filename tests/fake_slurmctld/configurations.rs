//! The files of tests/configurations in slurmctld's records: the plugin refuses what `dfrs doctor` does.

use std::path::{Path, PathBuf};

use super::{HostRun, run_with};

/// What this Slurm has, and an older one does not.
const NOT_HERE: &str = "not in this Slurm";

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configurations")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What follows the line `[dfrs.conf]`.
fn dfrs_conf(text: &str) -> Option<&str> {
    Some(text.split_once("[dfrs.conf]\n")?.1)
}

fn comment<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key))
}

/// What is wrong with what the plugin makes of a case, if something is.
fn mistake(base: &str, path: &Path) -> Option<String> {
    let text = read(path);
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let conf = dfrs_conf(&text).or_else(|| dfrs_conf(base));
    let files = [("base.txt", base), ("case.conf", &text)];
    let run: HostRun = run_with(&format!("configured-{name}"), "configured", conf, &files);
    if run.has(NOT_HERE) {
        return None;
    }
    let refuses = run.has("DFRS is off");
    let is_refused = comment(&text, "# verdict: ").expect("a verdict") == "refused";
    let expected = comment(&text, "# says: ").filter(|_| is_refused);
    let is_right = refuses == is_refused && expected.is_none_or(|words| run.has(words));
    (!is_right).then(|| format!("{name}:\n{}", run.lines.join("\n")))
}

#[test]
fn configurations_are_refused_as_by_the_doctor() {
    let base = read(&directory().join("base.txt"));
    let entries = std::fs::read_dir(directory()).expect("the configurations");
    let paths: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|it| it == "conf"))
        .collect();
    assert!(paths.len() > 30, "{} configurations", paths.len());
    // Each waits for a second most of its time.
    let share = paths.len().div_ceil(8);
    let mistakes: Vec<String> = std::thread::scope(|scope| {
        let base = &base;
        let checks: Vec<_> = paths
            .chunks(share)
            .map(|paths| {
                scope.spawn(move || -> Vec<String> {
                    paths
                        .iter()
                        .filter_map(|path| mistake(base, path))
                        .collect()
                })
            })
            .collect();
        let found = checks.into_iter();
        found
            .flat_map(|check| check.join().expect("no panic"))
            .collect()
    });
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n\n"));
}
