//! Licence markers.

use std::path::Path;

const MARKER: &str = "SPDX-License-Identifier: GPL-2.0-or-later";

/// How far into a file the marker may stand.
const HEAD_LINES: usize = 3;

/// The line to print if this C or shell file does not name its licence at its head.
pub fn problem(path: &Path, text: &str) -> Option<String> {
    if !needs_marker(path, text)
        || text
            .lines()
            .take(HEAD_LINES)
            .any(|line| line.contains(MARKER))
    {
        return None;
    }
    Some(format!(
        "{}:1: no licence; write '{MARKER}' into one of the first {HEAD_LINES} lines",
        path.display()
    ))
}

fn needs_marker(path: &Path, text: &str) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("c" | "h" | "sh") => true,
        Some(_) => false,
        None => text
            .lines()
            .next()
            .is_some_and(|first| first.starts_with("#!") && first.ends_with("sh")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::problem;

    #[test]
    fn c_and_shell_files_need_the_marker_at_their_head() {
        let marked = "#!/bin/bash\n# SPDX-License-Identifier: GPL-2.0-or-later\n";
        let late = "#!/bin/bash\n#\n#\n# SPDX-License-Identifier: GPL-2.0-or-later\n";
        for name in ["a.c", "b.h", "c.sh", "demo"] {
            assert_eq!(problem(Path::new(name), marked), None);
            let found = problem(Path::new(name), late).unwrap_or_default();
            assert!(
                found.starts_with(&format!("{name}:1: no licence; ")),
                "{found}"
            );
        }
    }

    #[test]
    fn other_files_need_none() {
        assert_eq!(problem(Path::new("a.md"), ""), None);
        assert_eq!(problem(Path::new("LICENSE"), "text"), None);
        assert_eq!(problem(Path::new("tool"), "#!/usr/bin/env python3\n"), None);
    }
}
