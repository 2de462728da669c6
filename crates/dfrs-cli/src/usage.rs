//! Invalid calls, reported in one line like every other failure.

use clap::error::ErrorKind;
use dfrs_lab::usage::one_line;

use crate::report::CommandOutcome;

/// What clap says about a call: help and version as they are, errors in one line.
pub fn outcome(error: &clap::Error) -> CommandOutcome {
    let text = error.render().to_string();
    let code = u8::try_from(error.exit_code()).unwrap_or(2);
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => text.into(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => CommandOutcome {
            errors: text,
            code,
            ..CommandOutcome::default()
        },
        _ => CommandOutcome::failed(format!("dfrs: {}; try --help", one_line(&text)), code),
    }
}
