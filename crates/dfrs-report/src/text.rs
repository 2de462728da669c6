//! Text of other people, made harmless.

/// The text with everything that means something in HTML, SVG and their attributes replaced, and
/// without the control characters that neither may hold.
///
/// ```
/// assert_eq!(dfrs_report::escape("a < b & \"c\""), "a &lt; b &amp; &quot;c&quot;");
/// ```
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(' '),
            '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            character if character.is_control() => escaped.push('\u{FFFD}'),
            character => escaped.push(character),
        }
    }
    escaped
}

/// As [`escape`], and what stands between backticks becomes `<code>`. A backtick without a second
/// one stays.
pub(crate) fn inline(text: &str) -> String {
    let parts: Vec<String> = text.split('`').map(escape).collect();
    let mut html = String::new();
    for (place, part) in parts.iter().enumerate() {
        let is_last = place + 1 == parts.len();
        match (place % 2 == 1, is_last) {
            (true, false) => html.push_str(&format!("<code>{part}</code>")),
            (true, true) => html.push_str(&format!("`{part}")),
            (false, _) => html.push_str(part),
        }
    }
    html
}

/// One line of a CSV file (RFC 4180, ended by a line feed): a field with a comma, a quote or a line
/// break is quoted.
pub fn csv_line<T: AsRef<str>>(fields: &[T]) -> String {
    let quoted: Vec<String> = fields
        .iter()
        .map(|field| match field.as_ref() {
            field if field.contains([',', '"', '\n', '\r']) => {
                format!("\"{}\"", field.replace('"', "\"\""))
            }
            field => field.to_string(),
        })
        .collect();
    quoted.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_control_characters_are_made_harmless() {
        let hostile = "<script>alert('x')</script>\u{0}\u{1b}";
        let escaped = escape(hostile);
        assert!(
            !escaped.contains(['<', '>', '\'', '\u{0}', '\u{1b}']),
            "{escaped}"
        );
        assert_eq!(escape("größer, 10 µs"), "größer, 10 µs");
    }

    #[test]
    fn backticks_make_code() {
        assert_eq!(inline("run `a < b` now"), "run <code>a &lt; b</code> now");
        assert_eq!(inline("a ` b"), "a ` b");
        assert_eq!(inline(""), "");
        assert_eq!(inline("`x`"), "<code>x</code>");
        assert_eq!(inline("`x` and `"), "<code>x</code> and `");
    }

    #[test]
    fn csv_fields_are_quoted_where_needed() {
        assert_eq!(csv_line(&["a", "b,c", "d\"e"]), "a,\"b,c\",\"d\"\"e\"\n");
    }
}
