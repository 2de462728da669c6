//! Words that docs/glossary.md has others for.

use std::path::Path;

/// Old words, and what stands for them. Parts of identifiers count: `told_of` has `told`.
const OLD_WORDS: &[(&[&str], &str)] = &[
    (
        &["told", "tell", "tells", "telling", "untold"],
        "report, notify, send or distinguish",
    ),
    (&["story", "stories"], "test, or transcript"),
    (
        &["nobody", "somebody", "anybody", "everybody", "whoever"],
        "the job, node or user that is meant",
    ),
    (&["newcomer", "newcomers"], "new job"),
    (&["guest", "guests"], "other jobs on the node"),
    (&["courier", "scribe", "mailbox"], "sender, writer or queue"),
    (&["crowd"], "candidates"),
    (&["anew"], "again"),
    (&["hopeless"], "that cannot fit"),
    (&["patience"], "timeout"),
];

/// How identifiers must not begin, and how they begin instead.
const OLD_PREFIXES: &[(&str, &str)] = &[
    ("MOST_", "MAX_"),
    ("LEAST_", "MIN_"),
    ("who_", "the subject's name"),
    ("nobody_", "no_"),
];

/// Files that are not looked at: lists of these words, history, a text that is not ours.
const SKIPPED: &[&str] = &[
    "xtask/src/style/words.rs",
    "docs/glossary.md",
    "docs/plan.md",
    "CHANGELOG.md",
    "LICENSE",
];

/// Where an old word is meant: the user of that name.
const ALLOWED: &[(&str, &str)] = &[
    ("tests/cgroup2/checks.py", "nobody"),
    ("tests/e2e/diagnostics.bats", "nobody"),
];

/// What to print of a file's old words, a line each.
pub fn problems(path: &Path, text: &str) -> Vec<String> {
    let has_words = matches!(
        path.extension().and_then(|extension| extension.to_str()),
        None | Some("rs" | "c" | "h" | "sh" | "py" | "bats" | "md")
    );
    if !has_words || SKIPPED.iter().any(|file| path == Path::new(file)) {
        return Vec::new();
    }
    let allowed = ALLOWED.iter().find(|(file, _)| path == Path::new(file));
    let allowed = allowed.map(|(_, word)| *word);
    let lines = text.lines().enumerate();
    lines
        .filter_map(|(index, line)| {
            let (old, new) = old_word(line, allowed)?;
            let (file, number) = (path.display(), index + 1);
            Some(format!(
                "{file}:{number}: the old word '{old}'; write {new} (docs/glossary.md)"
            ))
        })
        .collect()
}

/// The first old word of a line, and what to write.
fn old_word<'a>(line: &'a str, allowed: Option<&str>) -> Option<(&'a str, &'static str)> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let identifiers = line.split(|character| !is_part(character));
    identifiers
        .filter(|identifier| allowed != Some(*identifier))
        .find_map(|identifier| {
            let prefixes = OLD_PREFIXES.iter();
            let mut begun = prefixes.filter(|(prefix, _)| identifier.starts_with(prefix));
            if let Some((_, new)) = begun.next() {
                return Some((identifier, *new));
            }
            identifier.split('_').find_map(|word| {
                let is_old =
                    |words: &[&str]| words.iter().any(|old| word.eq_ignore_ascii_case(old));
                let (_, new) = OLD_WORDS.iter().find(|(words, _)| is_old(words))?;
                Some((word, *new))
            })
        })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::problems;

    #[test]
    fn old_words_are_problems_in_text_and_in_identifiers() {
        let found = |text: &str| problems(Path::new("a.rs"), text).len();
        assert_eq!(
            found("// It is told.\nlet told_of = MOST_JOBS;\nfn who_runs() {}\n"),
            3
        );
        assert_eq!(found("/// Nobody waits.\nenum Story { Told }\n"), 2);
        assert_eq!(
            found("// history, foretold, utmost\nlet most = MAX_JOBS;\n"),
            0
        );
        assert_eq!(problems(Path::new("a.svg"), "told"), Vec::<String>::new());
        assert_eq!(
            problems(Path::new("CHANGELOG.md"), "told"),
            Vec::<String>::new()
        );
    }
}
