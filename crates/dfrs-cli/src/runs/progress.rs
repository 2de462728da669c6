//! How far the work is, on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often the elapsed time is drawn.
const TICK: Duration = Duration::from_millis(500);

/// A bar for so many runs on standard error; nothing at all if that is no terminal.
pub fn bar(what: &str, runs: usize, finished: usize) -> ProgressBar {
    bar_of(what, "runs", runs, finished)
}

/// The same for something else than runs.
pub fn bar_of(what: &str, unit: &str, runs: usize, finished: usize) -> ProgressBar {
    let bar = ProgressBar::new(runs as u64).with_message(what.to_owned());
    if bar.is_hidden() {
        return bar;
    }
    let template =
        format!("{{msg}} [{{bar:30}}] {{pos}} of {{len}} {unit}, {{elapsed}}{{eta_text}}");
    let style = ProgressStyle::with_template(&template).map(|style| {
        style.progress_chars("=> ").with_key(
            "eta_text",
            |state: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
                if state.pos() > 0 {
                    let _ = write!(
                        out,
                        ", about {:#} left",
                        indicatif::HumanDuration(state.eta())
                    );
                }
            },
        )
    });
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.set_position(finished as u64);
    bar.reset_eta();
    bar.enable_steady_tick(TICK);
    bar
}
