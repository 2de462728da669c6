//! The examples of the documents that need no cluster: fenced code that is marked "sh run" is run as it stands,
//! page by page, with what the blocks before it on the same page left.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The fence that marks an example as one that is run.
const MARK: &str = "```sh run";

#[test]
fn examples_of_the_documents_work() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut run = 0;
    for page in pages(&root) {
        let text = std::fs::read_to_string(&page).expect("a page");
        let name = page.file_stem().unwrap_or_default().to_string_lossy();
        let directory = empty(&format!("documentation-{name}"));
        for example in examples(&text) {
            let (succeeded, output) = shell(&example, &directory);
            assert!(succeeded, "{}:\n{example}\n{output}", page.display());
            run += 1;
        }
    }
    assert!(run >= 6, "only {run} examples are marked '{MARK}'");
}

/// A directory of this test's own.
fn empty(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory); // there may be none
    std::fs::create_dir_all(&directory).expect("a directory");
    directory
}

/// The pages that are read by people: README.md, and docs/ without its directories.
fn pages(root: &Path) -> Vec<PathBuf> {
    let documents = std::fs::read_dir(root.join("docs")).expect("docs");
    let mut pages: Vec<PathBuf> = documents
        .map(|entry| entry.expect("an entry").path())
        .collect();
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.push(root.join("README.md"));
    pages.sort();
    pages
}

fn examples(text: &str) -> Vec<String> {
    let blocks = text.split("\n```").collect::<Vec<_>>();
    let mark = MARK.trim_start_matches('`');
    let marked = blocks
        .iter()
        .filter_map(|block| block.strip_prefix(mark)?.strip_prefix('\n'));
    marked.map(str::to_owned).collect()
}

/// Whether all commands of it ended well, and what they said. `dfrs` is the one that was built.
fn shell(script: &str, directory: &Path) -> (bool, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_dfrs"));
    let programs = program.parent().expect("a directory").display();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", script])
        .current_dir(directory)
        .env("PATH", format!("{programs}:{path}"))
        .output()
        .expect("bash");
    let printed = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&printed).into_owned(),
    )
}

#[test]
fn only_marked_code_is_an_example() {
    let text = "# a\n\n```sh run\nls\npwd\n```\n\n```sh\nfalse\n```\n\n```sh run\ntrue\n```\n";
    assert_eq!(examples(text), ["ls\npwd", "true"]);
    assert!(!shell("false; true", Path::new("/")).0);
}
