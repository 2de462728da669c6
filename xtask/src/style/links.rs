//! Links between the project's own documents.

use std::path::Path;

/// One line for each link of this Markdown file to a file that does not exist.
pub fn problems(root: &Path, path: &Path, text: &str) -> Vec<String> {
    if path.extension().is_none_or(|extension| extension != "md") {
        return Vec::new();
    }
    let folder = root.join(path).parent().unwrap_or(root).to_path_buf();
    let mut problems = Vec::new();
    for (number, line) in prose(text) {
        for target in targets(line) {
            if !folder.join(target).exists() {
                let (path, line) = (path.display(), number + 1);
                problems.push(format!(
                    "{path}:{line}: the link to '{target}' leads nowhere; mend or remove it"
                ));
            }
        }
    }
    problems
}

/// The lines outside fenced code, with their numbers from 0.
pub fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence
    })
}

/// Files that a line links to, as `[text](file)` or `[text](file#part)`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| {
        let target = rest.split(')').next()?.split('#').next()?;
        let elsewhere =
            target.is_empty() || target.contains("://") || target.starts_with("mailto:");
        (!elsewhere).then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::problems;

    fn found(text: &str) -> Vec<String> {
        problems(crate::root(), Path::new("crates/page.md"), text)
    }

    #[test]
    fn links_to_files_that_exist_or_elsewhere_are_right() {
        let text = "[a](../Cargo.toml) and [b](../xtask/src/main.rs#L1), [c](#here)\n\
                    [d](https://example.org/x) [e](mailto:x@example.org)\n\
                    ```\n[f](nowhere.md)\n```\n";
        assert_eq!(found(text), [""; 0]);
    }

    #[test]
    fn links_to_nowhere_are_named_with_their_line() {
        assert_eq!(
            found("```\n```\nsee [a](nowhere.md#x) and [b](../Cargo.toml) and [c](gone.md)\n"),
            [
                "crates/page.md:3: the link to 'nowhere.md' leads nowhere; mend or remove it",
                "crates/page.md:3: the link to 'gone.md' leads nowhere; mend or remove it"
            ]
        );
    }
}
