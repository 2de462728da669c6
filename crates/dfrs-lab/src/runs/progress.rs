//! How far the work is, on a terminal.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// The shortest file whose reading takes a time that users notice, in bytes.
const LONG_FILE: u64 = 16 << 20;

/// How often the elapsed time is drawn.
const TICK: Duration = Duration::from_millis(500);

/// A bar for so many things on standard error; nothing at all if that is no terminal. `unit` is
/// their name.
pub fn bar(what: &str, unit: &str, all: usize, finished: usize) -> ProgressBar {
    let rest = format!("{{pos}} of {{len}} {unit}, {{elapsed}}{{eta_text}}");
    let bar = drawn(ProgressBar::new(all as u64), what, &rest);
    bar.set_position(finished as u64);
    bar.reset_eta();
    bar
}

/// A bar for things of which it is not known how long the rest takes.
pub fn steps(what: &str, unit: &str, all: usize) -> ProgressBar {
    let rest = format!("{{pos}} of {{len}} {unit}, {{elapsed}}");
    drawn(ProgressBar::new(all as u64), what, &rest)
}

/// A file as it is read. Only of a long one it is shown how far it is; a pipe has no length.
pub fn reading(path: &Path, file: File) -> impl Read + use<> {
    let length = file.metadata().map_or(0, |found| found.len());
    let bar = if length < LONG_FILE {
        ProgressBar::hidden()
    } else {
        let bar = ProgressBar::new(length).with_finish(ProgressFinish::AndClear);
        let rest = "{bytes} of {total_bytes}, {elapsed}{eta_text}";
        drawn(bar, &path.display().to_string(), rest)
    };
    bar.wrap_read(file)
}

/// The bar, drawn from now on unless it is hidden. The estimate follows how fast the last parts were.
fn drawn(bar: ProgressBar, what: &str, rest: &str) -> ProgressBar {
    let bar = bar.with_message(what.to_owned());
    if bar.is_hidden() {
        return bar;
    }
    let template = format!("{{msg}} [{{bar:30}}] {rest}");
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
    bar.enable_steady_tick(TICK);
    bar
}
