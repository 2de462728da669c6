//! `cargo xtask style`: what no other tool checks.

mod arrows;
pub mod links;
mod markers;
mod summary;
mod types;
mod width;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::program::{git, text};
use crate::{files, pictures};

/// Checks that C and shell files name their licence, that Markdown files have links to files and headings
/// that exist and lines of at most a hundred characters, that the site's contents name every page and charts say what
/// the text says, that no file has an old word for what docs/glossary.md names, that no type's name stands twice and that no
/// import runs against the layers.
#[derive(Args)]
pub struct StyleArguments {}

/// Looks at every file that git knows.
pub fn run(_arguments: &StyleArguments) -> Result<(), String> {
    let root = crate::root();
    let mut problems = Vec::new();
    let mut types = types::TypeNames::default();
    let paths = known_files(root)?;
    for path in &paths {
        // Only text is looked at; a file that was just removed is none of our business.
        let Ok(text) = fs::read_to_string(root.join(path)) else {
            continue;
        };
        problems.extend(markers::problem(path, &text));
        problems.extend(links::problems(root, path, &text));
        problems.extend(width::problems(path, &text));
        problems.extend(words::problems(path, &text));
        problems.extend(arrows::problems(path, &text));
        types.read(path, &text);
    }
    let summary = root.join("docs").join(summary::FILE);
    problems.extend(summary::problems(&files::read(&summary)?, &paths));
    problems.extend(types.problems());
    problems.extend(pictures::problems(root));
    crate::refuse(&problems)
}

fn known_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let names = text(&mut git(root, &["ls-files", "-z"]))?;
    Ok(names.split_terminator('\0').map(PathBuf::from).collect())
}
