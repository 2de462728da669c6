//! Names of types: each stands for one thing in the whole workspace, tests left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where each type's name is declared.
#[derive(Default)]
pub struct TypeNames(BTreeMap<String, Vec<(PathBuf, usize)>>);

impl TypeNames {
    /// Reads the declarations of a file, up to its tests. Associated types and types within functions do not count.
    pub fn read(&mut self, path: &Path, text: &str) {
        if path.extension().is_none_or(|extension| extension != "rs") || is_test(path) {
            return;
        }
        let mut before = "";
        let lines = text.lines().enumerate();
        for (index, line) in lines.take_while(|(_, line)| *line != "mod tests {") {
            let is_for_tests = before == "#[cfg(test)]";
            before = line;
            if let Some(name) = declared(line).filter(|_| !is_for_tests) {
                let places = self.0.entry(name.to_owned()).or_default();
                places.push((path.to_owned(), index + 1));
            }
        }
    }

    /// What to print of names that are declared more than once, a line each.
    pub fn problems(&self) -> impl Iterator<Item = String> {
        self.0
            .iter()
            .filter(|(_, places)| places.len() > 1)
            .map(|(name, places)| {
                let places = places
                    .iter()
                    .map(|(path, line)| format!("{}:{line}", path.display()));
                let places = Vec::from_iter(places).join(", ");
                format!("{places}: each declares a type {name}; give each its own name")
            })
    }
}

/// Whether all of a file is for tests, benches or examples.
pub fn is_test(path: &Path) -> bool {
    let is_part = |part: &str| path.iter().any(|piece| piece == part);
    is_part("tests") || is_part("benches") || is_part("examples") || path.ends_with("tests.rs")
}

/// The name of the type that a line at the left margin declares.
fn declared(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let keywords = ["struct ", "enum ", "trait ", "union ", "type "];
    let rest = keywords
        .iter()
        .find_map(|keyword| line.strip_prefix(keyword))?;
    rest.split(|character: char| !character.is_alphanumeric() && character != '_')
        .next()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::TypeNames;

    #[test]
    fn names_that_stand_twice_are_problems_outside_tests() {
        let mut names = TypeNames::default();
        names.read(
            Path::new("a.rs"),
            "pub(crate) struct Room<'a>(&'a u8);\n    type Item = u8;\n",
        );
        names.read(
            Path::new("b.rs"),
            "enum Other {}\n#[cfg(test)]\nstruct Room;\n",
        );
        names.read(Path::new("tests/c.rs"), "struct Room;\n");
        assert_eq!(names.problems().count(), 0);
        names.read(Path::new("d.rs"), "\npub type Room = u8;\n");
        assert_eq!(
            names.problems().collect::<Vec<_>>(),
            ["a.rs:1, d.rs:2: each declares a type Room; give each its own name"]
        );
    }
}
