//! Links between the project's own documents.

use std::fs;
use std::path::Path;

/// One line for each link of this Markdown file to a file, or to a heading of a Markdown file, that does not
/// exist.
pub fn problems(root: &Path, path: &Path, text: &str) -> Vec<String> {
    if path.extension().is_none_or(|extension| extension != "md") {
        return Vec::new();
    }
    let folder = root.join(path).parent().unwrap_or(root).to_path_buf();
    let mut problems = Vec::new();
    for (number, line) in prose(text) {
        let (path, line_number) = (path.display(), number + 1);
        for target in targets(line) {
            if !folder.join(target).exists() {
                problems.push(format!(
                    "{path}:{line_number}: the link to '{target}' leads nowhere; mend or remove it"
                ));
            }
        }
        for (target, heading) in parts(line) {
            let other = (!target.is_empty()).then(|| fs::read_to_string(folder.join(target)));
            let page = match &other {
                None => text,
                Some(Ok(page)) => page,
                Some(Err(_)) => continue, // reported above
            };
            if !headings(page).any(|name| name == heading) {
                problems.push(format!(
                    "{path}:{line_number}: '{target}' has no heading for '#{heading}'; mend the link"
                ));
            }
        }
    }
    problems
}

/// Headings that a line links to, with the Markdown file, which is empty for this one.
fn parts(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split("](").skip(1).filter_map(|rest| {
        let (target, heading) = rest.split(')').next()?.split_once('#')?;
        let is_page = target.is_empty() || target.ends_with(".md");
        (is_page && !target.contains("://")).then_some((target, heading))
    })
}

/// As links name them: in small letters, with a hyphen for each blank and without punctuation.
fn headings(text: &str) -> impl Iterator<Item = String> {
    prose(text)
        .filter_map(|(_, line)| Some(line.strip_prefix('#')?.trim_start_matches('#').trim()))
        .map(|title| {
            let kept = title.to_lowercase();
            let kept = kept.chars().filter_map(|letter| match letter {
                ' ' => Some('-'),
                '-' | '_' => Some(letter),
                letter if letter.is_alphanumeric() => Some(letter),
                _ => None,
            });
            kept.collect()
        })
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
pub fn targets(line: &str) -> impl Iterator<Item = &str> {
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
        let text = "# `He`-re, there\n[a](../Cargo.toml) and [b](../xtask/src/main.rs#L1), [c](#he-re-there)\n\
                    [r](../README.md#see-it)\n\
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
    #[test]
    fn links_to_headings_that_are_none_are_named() {
        assert_eq!(
            found("# A\n[a](#b) [b](../README.md#nothing)\n"),
            [
                "crates/page.md:2: '' has no heading for '#b'; mend the link",
                "crates/page.md:2: '../README.md' has no heading for '#nothing'; mend the link"
            ]
        );
    }
}
