//! SPDX licence expressions: names, `WITH` exceptions, `AND`, `OR` and brackets.

/// Whether the work may be used under the licences that `is_allowed` names alone; none if the
/// expression is malformed. `AND` binds closer than `OR`; `/`, in old crates, is `OR`.
pub fn holds(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser {
        words: &words,
        is_allowed,
    };
    let result = parser.any()?;
    parser.words.is_empty().then_some(result)
}

struct Parser<'a> {
    words: &'a [&'a str],
    is_allowed: &'a dyn Fn(&str) -> bool,
}

impl<'a> Parser<'a> {
    fn any(&mut self) -> Option<bool> {
        let mut result = self.all()?;
        while self.take("OR") {
            result |= self.all()?;
        }
        Some(result)
    }

    fn all(&mut self) -> Option<bool> {
        let mut result = self.one()?;
        while self.take("AND") {
            result &= self.one()?;
        }
        Some(result)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let result = self.any()?;
            return self.take(")").then_some(result);
        }
        let name = self.word()?;
        if self.take("WITH") {
            let name = format!("{name} WITH {}", self.word()?);
            return Some((self.is_allowed)(&name));
        }
        Some((self.is_allowed)(name))
    }

    fn word(&mut self) -> Option<&'a str> {
        let (word, rest) = self.words.split_first()?;
        if matches!(*word, "(" | ")" | "AND" | "OR" | "WITH") {
            return None;
        }
        self.words = rest;
        Some(word)
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        self.words = &self.words[usize::from(found)..];
        found
    }
}

#[cfg(test)]
mod tests {
    use super::holds;

    fn with_mit_and_zlib(expression: &str) -> Option<bool> {
        holds(expression, &|name| matches!(name, "MIT" | "Zlib"))
    }

    #[test]
    fn expressions_are_evaluated() {
        for allowed in [
            "MIT",
            "MIT OR Apache-2.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
            "Unlicense/MIT",
            "(MIT OR Apache-2.0) AND Zlib",
            "Apache-2.0 AND X OR MIT",
        ] {
            assert_eq!(with_mit_and_zlib(allowed), Some(true), "{allowed}");
        }
        for refused in [
            "Apache-2.0",
            "MIT AND Apache-2.0",
            "MIT WITH strings",
            "(X OR Apache-2.0) AND MIT",
            "mit",
        ] {
            assert_eq!(with_mit_and_zlib(refused), Some(false), "{refused}");
        }
    }

    #[test]
    fn malformed_expressions_are_not_guessed_at() {
        for malformed in [
            "", "MIT OR", "(MIT", "MIT)", "AND MIT", "MIT WITH", "MIT Zlib",
        ] {
            assert_eq!(with_mit_and_zlib(malformed), None, "{malformed}");
        }
    }
}
