//! Other programs.

use std::process::{Command, Stdio};

/// What a program prints. What it says on standard error is shown only if it fails.
///
/// # Errors
///
/// One line: the program, and the last line that it printed, or why it did not start.
pub fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{name} cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.trim_end().lines().next_back();
    Err(format!(
        "{name}: {}",
        last.unwrap_or(&output.status.to_string())
    ))
}

/// The same as text, without the last line's end.
///
/// # Errors
///
/// As [`output`].
pub fn text(command: &mut Command) -> Result<String, String> {
    let bytes = output(command)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// Git in a clone.
pub fn git(root: &std::path::Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.current_dir(root).args(arguments);
    command
}
