//! Text to `Key=Value` pairs, line by line.

use super::error::ConfError;

/// The error for a user of `Include`, known from `slurm.conf`.
pub(super) const INCLUDE: &str = "Include is not supported; write everything into this file";

/// One `Key=Value` and the line it stands on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub line: usize,
    pub key: String,
    pub value: String,
}

/// The pairs of each line that has any; lines that a backslash joins are one.
pub(super) fn lines(text: &str) -> Result<Vec<Vec<Pair>>, ConfError> {
    let mut result = Vec::new();
    // Some editors begin a file with this mark.
    let mut words = Lexer::new(text.strip_prefix('\u{feff}').unwrap_or(text));
    loop {
        let pairs = words.rest_of_line()?;
        if !pairs.is_empty() {
            result.push(pairs);
        }
        if !words.next_line() {
            return Ok(result);
        }
    }
}

/// A place in the text.
struct Lexer<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: text.chars().peekable(),
            line: 1,
        }
    }

    /// Steps over the end of a line; false at the end of the text.
    fn next_line(&mut self) -> bool {
        self.line += 1;
        self.rest.next().is_some()
    }

    fn rest_of_line(&mut self) -> Result<Vec<Pair>, ConfError> {
        let mut pairs = Vec::new();
        loop {
            self.skip_blanks();
            match self.rest.peek() {
                None | Some('\n') => return Ok(pairs),
                Some('#') => self.skip_comment(),
                Some(_) => pairs.push(self.pair()?),
            }
        }
    }

    fn skip_comment(&mut self) {
        while self.rest.next_if(|c| *c != '\n').is_some() {}
    }

    fn skip_blanks(&mut self) {
        loop {
            if self
                .rest
                .next_if(|c| *c != '\n' && c.is_whitespace())
                .is_some()
            {
                continue;
            }
            if !self.skip_continuation() {
                return;
            }
        }
    }

    /// Steps over a backslash with nothing but blanks between it and the end of its line.
    fn skip_continuation(&mut self) -> bool {
        if self.rest.peek() != Some(&'\\') {
            return false;
        }
        let mut ahead = self.rest.clone();
        ahead.next();
        while ahead.next_if(|c| *c != '\n' && c.is_whitespace()).is_some() {}
        if ahead.next().is_some_and(|c| c != '\n') {
            return false;
        }
        self.rest = ahead;
        self.line += 1;
        true
    }

    fn pair(&mut self) -> Result<Pair, ConfError> {
        let line = self.line;
        let mut key = String::new();
        while let Some(c) = self
            .rest
            .next_if(|c| *c != '=' && *c != '#' && !c.is_whitespace())
        {
            key.push(c);
        }
        if self.rest.next_if_eq(&'=').is_none() {
            return Err(ConfError::at(line, no_equals_sign(&key)));
        }
        if key.is_empty() {
            return Err(ConfError::at(
                line,
                "'=' has no key before it; write KEY=VALUE, without blanks around '='",
            ));
        }
        let value = if self.rest.next_if_eq(&'"').is_some() {
            self.quoted(line, &key)?
        } else {
            self.bare()
        };
        if value.is_empty() {
            return Err(ConfError::at(
                line,
                format!("{key} has no value; write {key}=VALUE, or leave it out for its default"),
            ));
        }
        Ok(Pair { line, key, value })
    }

    fn bare(&mut self) -> String {
        let mut value = String::new();
        loop {
            if self.skip_continuation() {
                continue;
            }
            match self.rest.next_if(|c| *c != '#' && !c.is_whitespace()) {
                Some('\\') => value.extend(self.rest.next()),
                Some(c) => value.push(c),
                None => return value,
            }
        }
    }

    fn quoted(&mut self, line: usize, key: &str) -> Result<String, ConfError> {
        let mut value = String::new();
        loop {
            if self.skip_continuation() {
                continue;
            }
            match self.rest.next_if(|c| *c != '#' && *c != '\n') {
                Some('"') => break,
                Some('\\') => value.extend(self.rest.next()),
                Some(c) => value.push(c),
                None => {
                    let what = format!(
                        "the value of {key} has no closing '\"' before the end of the line or a '#' (write \\# for the character)"
                    );
                    return Err(ConfError::at(line, what));
                }
            }
        }
        if self
            .rest
            .peek()
            .is_some_and(|c| *c != '#' && !c.is_whitespace())
        {
            return Err(ConfError::at(
                line,
                format!("the closing '\"' of {key} must be followed by a blank"),
            ));
        }
        Ok(value)
    }
}

fn no_equals_sign(key: &str) -> String {
    if key.eq_ignore_ascii_case("Include") {
        return INCLUDE.to_owned();
    }
    format!("'{key}' has no '=' right after it; write {key}=VALUE, without blanks around '='")
}
