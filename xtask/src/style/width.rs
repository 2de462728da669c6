//! How wide lines of documents are.

use std::path::Path;

use super::links::prose;

/// Characters of a line of prose, at most.
const MAX_WIDTH: usize = 100;

/// One line for each line of this Markdown file that is too wide. Code, tables and addresses may be wider.
pub fn problems(path: &Path, text: &str) -> Vec<String> {
    if path.extension().is_none_or(|extension| extension != "md") {
        return Vec::new();
    }
    let is_code = |line: &str| line.starts_with("    ");
    let is_table = |line: &str| line.trim_start().starts_with('|');
    let may_be_wide = |line: &str| is_code(line) || is_table(line) || line.contains("://");
    prose(text)
        .filter(|(_, line)| line.chars().count() > MAX_WIDTH && !may_be_wide(line))
        .map(|(number, line)| {
            let (path, number) = (path.display(), number + 1);
            let width = line.chars().count();
            format!("{path}:{number}: {width} characters wide; wrap it at {MAX_WIDTH}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_prose_is_a_problem_and_wide_code_and_tables_are_not() {
        let wide = "x".repeat(101);
        let text = format!(
            "{wide}\n| {wide} |\n```\n{wide}\n```\n    {wide}\nhttps://{wide}\n{}\n",
            &wide[1..]
        );
        let found = problems(Path::new("a.md"), &text);
        assert_eq!(found, ["a.md:1: 101 characters wide; wrap it at 100"]);
        assert!(problems(Path::new("a.rs"), &text).is_empty());
    }
}
