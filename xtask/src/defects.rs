//! Plants defects in a copy of the sources, one after the other, and sees whether simulation finds them.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use clap::Args;
use dfrs_testbed::simulation::generate::{Kinds, generate};
use dfrs_testbed::simulation::run as try_scenario;

use crate::files::{self, failed, read, write};
use crate::program::{git, text};

/// Command line.
#[derive(Args)]
pub struct DefectsArguments {
    /// Only these defects, by the names of their files without .txt
    names: Vec<String>,
    /// How many seeds each defect is looked for in
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
}

/// Every core tries so many seeds before all look whether one of them has failed.
const SEEDS_PER_ROUND: u64 = 25;

/// A change that makes something wrong.
struct Defect {
    name: String,
    what: String,
    file: PathBuf,
    right: String,
    wrong: String,
}

impl Defect {
    /// The text of its file with it.
    fn planted(&self, text: &str) -> Result<String, String> {
        if text.matches(&self.right).count() != 1 {
            return Err(format!(
                "tests/defects/{}.txt: what it changes is not once in {}; bring it up to date",
                self.name,
                self.file.display()
            ));
        }
        Ok(text.replacen(&self.right, &self.wrong, 1))
    }
}

/// Plants them.
pub fn run(arguments: &DefectsArguments) -> Result<(), String> {
    let root = super::root();
    let defects = read_all(&root.join("tests/defects"), &arguments.names)?;
    let copy = root.join("target/defects/tree");
    copy_sources(root, &copy)?;
    // A seed that fails without a defect, too, has not found it.
    std::panic::set_hook(Box::new(|_| {}));
    let mut unnoticed = Vec::new();
    for defect in &defects {
        let path = copy.join(&defect.file);
        let right = read(&path)?;
        write(&path, defect.planted(&right)?)?;
        let built = build(&copy, &root.join("target/defects/target"));
        write(&path, right)?;
        let (name, what) = (&defect.name, &defect.what);
        match find(&built?, arguments.seeds)? {
            Some((seed, failure)) => println!("{name}: seed {seed}, {failure} ({what})"),
            None => {
                println!("{name}: NOT found in {} seeds ({what})", arguments.seeds);
                unnoticed.push(name.as_str());
            }
        }
    }
    if unnoticed.is_empty() {
        Ok(())
    } else {
        Err(format!("not found: {}", unnoticed.join(", ")))
    }
}

/// Builds what tries seeds, and nothing else, with what was built for the last defect. Returns its path.
fn build(copy: &Path, target: &Path) -> Result<PathBuf, String> {
    let built = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(["build", "--quiet", "--release"])
        .args(["--package", "dfrs-testbed", "--example", "seeds"])
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", target)
        // The program is built more often than it runs long.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        // Whatever the environment says: it goes before a profile's setting.
        .env("CARGO_INCREMENTAL", "1")
        .status()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if built.success() {
        Ok(target.join("release/examples/seeds"))
    } else {
        Err("the changed sources do not compile, see above".into())
    }
}

/// The first seed that fails and goes well without the defect, and how; `None`: there is none.
fn find(program: &Path, seeds: u64) -> Result<Option<(u64, String)>, String> {
    let kinds = Kinds::sound();
    let mut next = 1;
    while next <= seeds {
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let end = (next + SEEDS_PER_ROUND * cores).min(seeds + 1);
        match try_on_all_cores(program, next..end, cores)? {
            Some((seed, failure)) if try_scenario(&generate(seed, &kinds)).is_ok() => {
                return Ok(Some((seed, failure)));
            }
            Some((seed, _)) => next = seed + 1,
            None => next = end,
        }
    }
    Ok(None)
}

/// The first of these seeds that fails, and how.
fn try_on_all_cores(
    program: &Path,
    seeds: Range<u64>,
    cores: u64,
) -> Result<Option<(u64, String)>, String> {
    let start = |first: u64| {
        Command::new(program)
            .args([first, seeds.end, cores].map(|number| number.to_string()))
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| failed(program, &error))
    };
    let running: Result<Vec<Child>, String> =
        (seeds.start..seeds.start + cores).map(start).collect();
    let mut first = None;
    for child in running? {
        let output = child
            .wait_with_output()
            .map_err(|error| failed(program, &error))?;
        if !output.status.success() {
            return Err(format!(
                "{}: ended with {}",
                program.display(),
                output.status
            ));
        }
        let line = String::from_utf8_lossy(&output.stdout);
        let found = line.trim().split_once(' ');
        let found =
            found.and_then(|(seed, failure)| Some((seed.parse().ok()?, failure.to_owned())));
        first = first.into_iter().chain(found).min();
    }
    Ok(first)
}

fn read_all(directory: &Path, names: &[String]) -> Result<Vec<Defect>, String> {
    let files = files::below(directory)?;
    let all: Result<Vec<Defect>, String> = files.iter().map(|path| read_one(path)).collect();
    let mut all = all?;
    let known = |name: &&String| all.iter().any(|defect| defect.name == **name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        return Err(format!("there is no tests/defects/{unknown}.txt"));
    }
    all.retain(|defect| names.is_empty() || names.contains(&defect.name));
    Ok(all)
}

fn read_one(path: &Path) -> Result<Defect, String> {
    let text = read(path)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let parse = || {
        let (head, change) = text.split_once("\n<<<\n")?;
        let (right, rest) = change.split_once("\n===\n")?;
        let (wrong, _) = rest.split_once("\n>>>")?;
        let (what, file) = head.split_once("\nfile ")?;
        Some(Defect {
            name: name.clone().into_owned(),
            what: what.trim_start_matches("# ").trim_end_matches('.').into(),
            file: file.trim().into(),
            right: right.into(),
            wrong: wrong.into(),
        })
    };
    parse().ok_or_else(|| {
        let path = path.display();
        format!(
            "{path}: expected are # what it is, file PATH, <<<, the text, ===, the new text, >>>"
        )
    })
}

/// What Git knows of, and what is new and not ignored. Unchanged files keep their times, so that little is
/// compiled again.
fn copy_sources(root: &Path, copy: &Path) -> Result<(), String> {
    let list = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    for name in text(&mut git(root, &list))?.split_terminator('\0') {
        let (from, to) = (root.join(name), copy.join(name));
        let Ok(bytes) = fs::read(&from) else { continue };
        if !fs::read(&to).is_ok_and(|there| there == bytes) {
            write(&to, bytes)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_defect_can_be_planted() {
        let root = crate::root();
        let defects = read_all(&root.join("tests/defects"), &[]).expect("can be read");
        assert!(!defects.is_empty());
        for defect in defects {
            let text = read(&root.join(&defect.file)).expect("can be read");
            defect.planted(&text).expect("fits");
        }
    }
}
