//! Options as clap reads them, for commands and for the files of studies.

/// The command with values that may be negative numbers: an option says itself that they are out of range.
pub fn with_negative_numbers(command: clap::Command) -> clap::Command {
    command
        .mut_args(|argument| match argument.get_action().takes_values() {
            true => argument.allow_negative_numbers(true),
            false => argument,
        })
        .mut_subcommands(with_negative_numbers)
}

/// The paragraphs of an error but the last ones, which are the usage and where to find help.
pub fn one_line(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(str::trim).filter(|paragraph| {
        !paragraph.is_empty()
            && !paragraph.starts_with("Usage:")
            && !paragraph.starts_with("For more information")
    });
    let lines: Vec<String> = paragraphs
        .map(|paragraph| {
            let words: Vec<&str> = paragraph.lines().map(str::trim).collect();
            words.join(" ")
        })
        .collect();
    let message = lines.join("; ");
    message
        .strip_prefix("error: ")
        .unwrap_or(&message)
        .to_owned()
}
