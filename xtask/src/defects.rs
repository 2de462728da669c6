//! Plants defects in a copy of the sources, one after the other, and sees whether simulation finds them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;
use dfrs_agent::simulation::generate::{Kinds, generate};
use dfrs_agent::simulation::run as try_scenario;

/// Command line.
#[derive(Args)]
pub struct Arguments {
    /// Only these defects, by the names of their files without .txt
    names: Vec<String>,
    /// How many seeds each defect is looked for in
    #[arg(long, default_value_t = 2000)]
    seeds: u64,
}

/// So many failures are looked at: some seeds may fail without the defect, too.
const MOST_FAILURES: usize = 20;

/// A change that makes something wrong.
struct Defect {
    name: String,
    what: String,
    file: PathBuf,
    right: String,
    wrong: String,
}

/// Plants them.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let root = super::root();
    let defects = read_all(&root.join("tests/defects"), &arguments.names)?;
    let copy = root.join("target/defects/tree");
    copy_sources(root, &copy)?;
    let mut unnoticed = Vec::new();
    for defect in &defects {
        let path = copy.join(&defect.file);
        let text = read(&path)?;
        if text.matches(&defect.right).count() != 1 {
            return Err(format!(
                "tests/defects/{}.txt: what it changes is not once in {}; bring it up to date",
                defect.name,
                defect.file.display()
            ));
        }
        write(&path, &text.replacen(&defect.right, &defect.wrong, 1))?;
        let found = simulate(root, &copy, arguments.seeds);
        write(&path, &text)?;
        match found? {
            Some(failure) => println!("{}: found ({}): {failure}", defect.name, defect.what),
            None => {
                println!("{}: NOT found ({})", defect.name, defect.what);
                unnoticed.push(defect.name.as_str());
            }
        }
    }
    if unnoticed.is_empty() {
        Ok(())
    } else {
        Err(format!("not found: {}", unnoticed.join(", ")))
    }
}

/// The first failure of a seed that goes well without the defect; `None`: there is none.
fn simulate(root: &Path, copy: &Path, seeds: u64) -> Result<Option<String>, String> {
    let cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()))
        .args(["run", "--quiet", "--release", "--package", "xtask", "--"])
        .args(["simulate", "--no-minimise", "--seeds", &seeds.to_string()])
        .args(["--failures", &MOST_FAILURES.to_string()])
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", root.join("target/defects/target"))
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    let output = String::from_utf8_lossy(&cargo.stdout);
    if !output.contains(" seeds, ") {
        return Err("the changed sources do not compile, see above".into());
    }
    let kinds = Kinds::sound();
    let failure = output.lines().find(|line| {
        let seed = line.strip_prefix("seed ");
        let seed = seed.and_then(|seed| seed.split_once(": "));
        let seed = seed.and_then(|(seed, _)| seed.parse().ok());
        seed.is_some_and(|seed| try_scenario(&generate(seed, &kinds)).is_ok())
    });
    Ok(failure.map(str::to_owned))
}

fn read_all(directory: &Path, names: &[String]) -> Result<Vec<Defect>, String> {
    let entries = fs::read_dir(directory).map_err(|error| failed(directory, &error))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
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
    let list = Command::new("git")
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git cannot be started: {error}"))?;
    for name in list
        .stdout
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        let name = String::from_utf8_lossy(name).into_owned();
        let (from, to) = (root.join(&name), copy.join(&name));
        let Ok(bytes) = fs::read(&from) else { continue };
        if fs::read(&to).is_ok_and(|there| there == bytes) {
            continue;
        }
        let directory = to.parent().unwrap_or(copy);
        fs::create_dir_all(directory).map_err(|error| failed(directory, &error))?;
        fs::write(&to, bytes).map_err(|error| failed(&to, &error))?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| failed(path, &error))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
