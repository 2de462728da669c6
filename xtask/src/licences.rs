//! `cargo xtask licences`: may everything that is linked together be distributed together?

mod expression;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use clap::Args;
use serde::Deserialize;

/// Checks that the licence of every crate that is linked into a program of ours is one that
/// deny.toml allows. Tools and tests of the developers (this one, build scripts) are not looked at.
#[derive(Args)]
pub struct Arguments {}

/// What `cargo metadata` says.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    /// "dev", "build", or none for what is linked.
    kind: Option<String>,
}

/// Asks cargo, and looks at every package that is linked.
pub fn run(_arguments: &Arguments) -> Result<(), String> {
    let allowed = allowed(
        &fs::read_to_string(crate::root().join("deny.toml"))
            .map_err(|error| format!("deny.toml: cannot be read: {error}"))?,
    )?;
    let metadata = metadata()?;
    let linked = linked(&metadata);
    let tree = tree()?;
    let built = built(&tree);
    let problems: Vec<String> = metadata
        .packages
        .iter()
        .filter(|package| linked.contains(package.id.as_str()))
        .filter(|package| built.contains(&(package.name.as_str(), package.version.as_str())))
        .filter_map(|package| problem(package, &allowed))
        .collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("\n"))
    }
}

fn metadata() -> Result<Metadata, String> {
    let output = cargo(&["metadata", "--format-version", "1", "--locked"])?;
    serde_json::from_slice(&output).map_err(|error| format!("cargo metadata: {error}"))
}

/// What `cargo tree` says, a package a line. `cargo metadata` also has optional packages that are only named
/// by features of others (`name?/feature`) and never built.
fn tree() -> Result<String, String> {
    let what = ["tree", "--workspace", "--locked", "--target", "all"];
    let how = ["--edges", "normal", "--prefix", "none", "--format", "{p}"];
    let output = cargo(&[&what[..], &how].concat())?;
    String::from_utf8(output).map_err(|error| format!("cargo tree: {error}"))
}

/// What cargo prints. The first argument is its command.
fn cargo(arguments: &[&str]) -> Result<Vec<u8>, String> {
    let command = arguments.first().copied().unwrap_or_default();
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(crate::root())
        .output()
        .map_err(|error| format!("cargo {command} cannot be run: {error}"))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        let errors = String::from_utf8_lossy(&output.stderr);
        Err(format!("cargo {command}: {errors}"))
    }
}

/// Names and versions of lines such as `name v1.0.0 (proc-macro)`.
fn built(tree: &str) -> BTreeSet<(&str, &str)> {
    let words = tree.lines().map(str::split_whitespace);
    words
        .filter_map(|mut words| Some((words.next()?, words.next()?.strip_prefix('v')?)))
        .collect()
}

/// The ids of all packages that are linked into some program of the workspace but this one.
fn linked(metadata: &Metadata) -> BTreeSet<&str> {
    let is_tool = |id: &str| {
        metadata
            .packages
            .iter()
            .any(|package| package.id == id && package.name == env!("CARGO_PKG_NAME"))
    };
    let members = metadata.workspace_members.iter().map(String::as_str);
    let mut open: Vec<&str> = members.filter(|id| !is_tool(id)).collect();
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if found.insert(id) {
            let nodes = metadata.resolve.nodes.iter().filter(|node| node.id == id);
            open.extend(
                nodes
                    .flat_map(|node| &node.deps)
                    .filter(is_linked)
                    .map(|dep| dep.pkg.as_str()),
            );
        }
    }
    found
}

fn is_linked(dependency: &&Dependency) -> bool {
    dependency.dep_kinds.iter().any(|kind| kind.kind.is_none())
}

/// The words of `allow = [...]` in deny.toml.
fn allowed(deny: &str) -> Result<Vec<String>, String> {
    let list = deny
        .split_once("\nallow = [")
        .and_then(|(_, rest)| rest.split_once(']'));
    let Some((list, _)) = list else {
        return Err("deny.toml: has no line 'allow = ['".into());
    };
    Ok(list
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect())
}

fn problem(package: &Package, allowed: &[String]) -> Option<String> {
    let is_allowed = |name: &str| allowed.iter().any(|word| word == name);
    let what = match package.license.as_deref() {
        None => "names no licence".to_owned(),
        Some(text) => match expression::holds(text, &is_allowed) {
            Some(true) => return None,
            Some(false) => format!("has the licence '{text}', which deny.toml does not allow"),
            None => format!("has a licence that cannot be understood: '{text}'"),
        },
    };
    Some(format!(
        "Cargo.lock: {} {} {what}; use another crate",
        package.name, package.version
    ))
}

#[cfg(test)]
mod tests {
    use super::{Metadata, Package, allowed, built, linked, problem};

    fn said(license: Option<&str>) -> Option<String> {
        let (id, name, version) = ("1".into(), "a".into(), "1.0".into());
        let package = Package {
            id,
            name,
            version,
            license: license.map(str::to_owned),
        };
        problem(&package, &["MIT".to_owned()])
    }

    #[test]
    fn the_list_of_deny_toml_is_read() {
        let text = "[licenses]\n# allow nothing\nallow = [\"MIT\",\n \"Zlib\"]\nother = [\"X\"]\n";
        assert_eq!(allowed(text), Ok(vec!["MIT".to_owned(), "Zlib".to_owned()]));
        assert!(allowed("[licenses]\n").is_err());
    }

    #[test]
    fn crates_that_are_not_allowed_are_named() {
        assert_eq!(said(Some("MIT OR Apache-2.0")), None);
        let expected = "Cargo.lock: a 1.0 has the licence 'Apache-2.0', which deny.toml does not allow; use another crate";
        assert_eq!(said(Some("Apache-2.0")).as_deref(), Some(expected));
        assert_eq!(
            said(None).as_deref(),
            Some("Cargo.lock: a 1.0 names no licence; use another crate")
        );
        assert!(said(Some("MIT OR (")).is_some_and(|said| said.contains("cannot be understood")));
    }

    #[test]
    fn what_is_built_is_read_from_the_tree() {
        let text = "ours v0.1.0 (/a path/ours)\nb v1.2.3 (proc-macro) (*)\n\nc v2.0.0\n";
        let all = [("b", "1.2.3"), ("c", "2.0.0"), ("ours", "0.1.0")];
        assert_eq!(built(text).into_iter().collect::<Vec<_>>(), all);
    }

    #[test]
    fn only_what_is_linked_counts() {
        let text = r#"{
            "packages": [{"id": "X", "name": "xtask", "version": "1"}],
            "workspace_members": ["A", "X"],
            "resolve": {"nodes": [
                {"id": "A", "deps": [
                    {"pkg": "B", "dep_kinds": [{"kind": "dev"}, {"kind": null}]},
                    {"pkg": "C", "dep_kinds": [{"kind": "build"}]}]},
                {"id": "B", "deps": [{"pkg": "D", "dep_kinds": [{"kind": null}]}]},
                {"id": "X", "deps": [{"pkg": "E", "dep_kinds": [{"kind": null}]}]}]}}"#;
        let metadata: Metadata = serde_json::from_str(text).expect("JSON");
        assert_eq!(
            linked(&metadata).into_iter().collect::<Vec<_>>(),
            ["A", "B", "D"]
        );
    }
}
