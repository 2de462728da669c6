//! `cargo xtask licences`: may everything that is linked together be distributed together?

mod expression;

use std::collections::BTreeSet;
use std::process::Command;

use clap::Args;

use crate::{files, program};

/// Checks that the licence of every crate that is linked into a program of ours is one that
/// deny.toml allows. Tools and tests of the developers (this one, build scripts) are not looked at.
#[derive(Args)]
pub struct LicencesArguments {}

/// Lists what is linked, and looks at every package of it.
pub fn run(_arguments: &LicencesArguments) -> Result<(), String> {
    let allowed = allowed(&files::read(&crate::root().join("deny.toml"))?)?;
    let linked = linked()?;
    let problems: BTreeSet<String> = linked
        .lines()
        .filter(|line| !line.is_empty())
        .filter_map(|line| problem(line, &allowed))
        .collect();
    crate::refuse(&Vec::from_iter(problems))
}

/// What `cargo tree` lists of all that is linked into a program: `name v1.0.0|LICENCE`, a package a
/// line.
fn linked() -> Result<String, String> {
    let what = ["tree", "--workspace", "--exclude", env!("CARGO_PKG_NAME")];
    let how = ["--locked", "--target", "all", "--edges", "normal"];
    let format = ["--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"];
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([&what[..], &how, &format].concat());
    program::text(cargo.current_dir(crate::root()))
}

/// The words of `allow = [...]` in deny.toml.
fn allowed(deny: &str) -> Result<Vec<String>, String> {
    let list = deny.split_once("\nallow = [");
    let list = list.and_then(|(_, rest)| rest.split_once(']'));
    let (list, _) = list.ok_or("deny.toml: has no line 'allow = ['")?;
    let words = list.split('"').skip(1).step_by(2);
    Ok(words.map(str::to_owned).collect())
}

/// What is wrong with the package of a line of [`linked`].
fn problem(line: &str, allowed: &[String]) -> Option<String> {
    let (package, licence) = line.split_once('|').unwrap_or((line, ""));
    let is_allowed = |name: &str| allowed.iter().any(|word| word == name);
    let what = match expression::holds(licence, &is_allowed) {
        Some(true) => return None,
        _ if licence.is_empty() => "names no licence".to_owned(),
        Some(false) => format!("has the licence '{licence}', which deny.toml does not allow"),
        None => format!("has an invalid licence expression: '{licence}'"),
    };
    Some(format!("Cargo.lock: {package} {what}; use another crate"))
}

#[cfg(test)]
mod tests {
    use super::{allowed, linked, problem};

    #[test]
    fn allowed_licences_are_read_from_deny_toml() {
        let text = "[licenses]\n# allow nothing\nallow = [\"MIT\",\n \"Zlib\"]\nother = [\"X\"]\n";
        assert_eq!(allowed(text), Ok(vec!["MIT".to_owned(), "Zlib".to_owned()]));
        assert!(allowed("[licenses]\n").is_err());
    }

    #[test]
    fn crates_that_are_not_allowed_are_reported() {
        let problem = |licence: &str| problem(&format!("a v1.0|{licence}"), &["MIT".to_owned()]);
        assert_eq!(problem("MIT OR Apache-2.0"), None);
        let expected = "Cargo.lock: a v1.0 has the licence 'Apache-2.0', which deny.toml does not allow; use another crate";
        assert_eq!(problem("Apache-2.0").as_deref(), Some(expected));
        assert_eq!(
            problem("").as_deref(),
            Some("Cargo.lock: a v1.0 names no licence; use another crate")
        );
        assert!(problem("MIT OR (").is_some_and(|problem| problem.contains("invalid")));
    }

    #[test]
    fn linked_crates_are_listed_and_tools_are_not() {
        let linked = linked().expect("cargo tree");
        let has = |name: &str| linked.lines().any(|line| line.starts_with(name));
        assert!(has("dfrs-core v") && has("libc v"));
        assert!(!has("xtask v") && !has("bindgen v"));
    }
}
