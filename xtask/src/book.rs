//! `cargo xtask book`: the documentation as a site, by mdBook.
//!
//! mdBook takes one directory, and the pages link to files all over the repository. So the pages of docs/
//! are staged beside copies of what they link to, which become `repository/…`: the site is whole without a
//! forge, and links in docs/ work in both.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::files;
use crate::style::links;

/// Where files from outside docs/ are in the site.
const REPOSITORY: &str = "repository";
/// The release that the pages were looked at with.
const MDBOOK: &str = "0.5.4";

#[derive(Args)]
pub struct BookArguments {
    /// Stage the pages for mdBook, and do not run it
    #[arg(long)]
    stage: bool,
}

/// Writes target/book/source and, unless the arguments exclude it, target/book/site.
///
/// # Errors
///
/// What cannot be read or written, or that mdBook is missing or fails.
pub fn run(arguments: &BookArguments) -> Result<(), String> {
    let root = crate::root();
    let source = root.join("target/book/source");
    stage(root, &source)?;
    if arguments.stage {
        println!("{}", source.display());
        return Ok(());
    }
    let mut mdbook = Command::new("mdbook");
    let ended = mdbook.arg("build").arg(root).status().map_err(|error| {
        format!("mdbook: {error}; install it: cargo install --locked mdbook@{MDBOOK}")
    })?;
    if !ended.success() {
        return Err(format!("mdbook build: {ended}"));
    }
    println!("{}", root.join("target/book/site/index.html").display());
    Ok(())
}

fn stage(root: &Path, source: &Path) -> Result<(), String> {
    if source.exists() {
        fs::remove_dir_all(source).map_err(|error| files::failed(source, &error))?;
    }
    let docs = root.join("docs");
    let mut linked = BTreeSet::new();
    for path in files::below(&docs)? {
        let relative = path.strip_prefix(&docs).unwrap_or(&path);
        if path.extension().is_some_and(|ending| ending == "md") {
            let text = files::read(&path)?;
            linked.extend(outside(&Path::new("docs").join(relative), &text));
            let text = moved(&text, relative);
            files::write(&source.join(relative), text)?;
        } else {
            copy(&path, &source.join(relative))?;
        }
    }
    for path in linked {
        stage_linked(root, &path, source)?;
    }
    Ok(())
}

/// What a page of the repository links to outside docs/, from the root of the repository.
fn outside(page: &Path, text: &str) -> Vec<PathBuf> {
    let folder = page.parent().unwrap_or(Path::new(""));
    let targets = links::prose(text).flat_map(|(_, line)| links::targets(line));
    targets
        .map(|target| normal(&folder.join(target)))
        .filter(|path| !path.starts_with("docs"))
        .collect()
}

/// Links of a page of docs/ that lead out of docs/ lead to the copies.
fn moved(text: &str, page: &Path) -> String {
    let depth = page.components().count() - 1;
    let out = format!("]({}../", "../".repeat(depth));
    let to = format!("]({}{REPOSITORY}/", "../".repeat(depth));
    text.replace(&out, &to)
}

/// A page, a file or a directory that a page links to.
fn stage_linked(root: &Path, path: &Path, source: &Path) -> Result<(), String> {
    let (from, to) = (root.join(path), source.join(REPOSITORY).join(path));
    if from.is_dir() {
        let mut list = format!(
            "<!doctype html>\n<title>{0}</title>\n<h1>{0}</h1>\n<ul>\n",
            path.display()
        );
        for file in files::below(&from)? {
            let below = file.strip_prefix(&from).unwrap_or(&file);
            copy(&file, &to.join(below))?;
            list.push_str(&format!(
                "<li><a href=\"{0}\">{0}</a></li>\n",
                below.display()
            ));
        }
        list.push_str("</ul>\n");
        return files::write(&to.join("index.html"), list);
    }
    if path.extension().is_none_or(|ending| ending != "md") {
        return copy(&from, &to);
    }
    // What such a page links to is in the site if pages of docs/ link to it, too, or it is one of them.
    let depth = path.components().count();
    let text = files::read(&from)?;
    for linked in outside(path, &text) {
        let target = source.join(REPOSITORY).join(&linked);
        if !target.exists() && linked.extension().is_none_or(|ending| ending != "md") {
            stage_linked(root, &linked, source)?;
        }
    }
    let text = text.replace(
        &format!("]({}docs/", "../".repeat(depth - 1)),
        &format!("]({}", "../".repeat(depth)),
    );
    // The contents are beside every page.
    let text = text.replace("SUMMARY.md)", &format!("{REPOSITORY}/README.md)"));
    files::write(&to, text)
}

/// Without `..` in the middle.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let bytes = fs::read(from).map_err(|error| files::failed(from, &error))?;
    files::write(to, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_out_of_docs_lead_to_copies() {
        let text = "[a](../slurm-conf/dfrs.conf#L3) [b](install.md)";
        assert_eq!(
            moved(text, Path::new("x.md")),
            "[a](repository/slurm-conf/dfrs.conf#L3) [b](install.md)"
        );
        let text = "[a](../../README.md) [b](../install.md)";
        assert_eq!(
            moved(text, Path::new("adr/1.md")),
            "[a](../repository/README.md) [b](../install.md)"
        );
        assert_eq!(
            outside(Path::new("docs/adr/1.md"), text),
            [Path::new("README.md")]
        );
    }

    #[test]
    fn every_link_of_the_staged_pages_leads_to_a_staged_file() {
        let stage_in = std::env::temp_dir().join(format!("dfrs-book-{}", std::process::id()));
        stage(crate::root(), &stage_in).expect("stages");
        let mut pages = 0;
        for path in files::below(&stage_in).expect("files") {
            let Ok(relative) = path.strip_prefix(&stage_in) else {
                continue;
            };
            if path.extension().is_some_and(|ending| ending == "md") {
                let text = files::read(&path).expect("text");
                let problems = links::problems(&stage_in, relative, &text);
                assert_eq!(problems, [""; 0]);
                pages += 1;
            }
        }
        assert!(pages > 40, "{pages}");
        fs::remove_dir_all(stage_in).expect("cleans up");
    }
}
