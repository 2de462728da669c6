//! Whether the site's table of contents names every page.

use std::path::{Path, PathBuf};

use super::links::targets;

/// In docs/, in mdBook's format.
pub const FILE: &str = "SUMMARY.md";

/// One line for each page of docs/ that is not named exactly once.
pub fn problems(summary: &str, paths: &[PathBuf]) -> Vec<String> {
    let named: Vec<&str> = summary.lines().flat_map(targets).collect();
    let pages = paths.iter().filter_map(|path| {
        let page = path.strip_prefix("docs").ok()?;
        let is_page = page.extension().is_some_and(|ending| ending == "md");
        (is_page && page != Path::new(FILE)).then_some(page)
    });
    pages
        .filter_map(|page| {
            let times = named.iter().filter(|name| Path::new(name) == page).count();
            let page = page.display();
            (times != 1).then(|| {
                format!("docs/{FILE}: names {page} {times} times; name it once, where readers look for it")
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_named_once() {
        let paths = [
            "docs/a.md",
            "docs/b.md",
            "docs/c.md",
            "docs/adr/1.md",
            "docs/x.css",
            "d.md",
        ];
        let paths = paths.map(PathBuf::from);
        let summary = "- [a](a.md)\n- [c](c.md)\n  - [c](c.md)\n- [d](../d.md)\n\
                       - [1](adr/1.md)\n";
        let found = problems(summary, &paths);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("names b.md 0 times"), "{found:?}");
        assert!(found[1].contains("names c.md 2 times"), "{found:?}");
    }
}
