//! Progress lines, one event a line:
//!
//! ```text
//! 1763765000.123 start node=n1 task=0 done=0.000 total=1.000
//! 1763765001.123 progress done=0.100
//! 1763765004.321 checkpoint done=0.420
//! 1763765010.124 finish done=1.000
//! ```
//!
//! The first word is UNIX time; `done` and `total` are CPU seconds of work. `stop` stands in place
//! of `finish` when a signal ended the task.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where the lines go, if anywhere.
#[derive(Debug)]
pub struct ProgressReport(Option<(String, File)>);

impl ProgressReport {
    /// Appends to the file at `path`; without a path nothing is written.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: Option<String>) -> Result<Self, String> {
        let Some(path) = path else {
            return Ok(Self(None));
        };
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.map_err(|error| failed(&path, &error))?;
        Ok(Self(Some((path, file))))
    }

    /// Adds one line: the time of now, `event`, the work done and `more`.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn line(&mut self, event: &str, done: Duration, more: &str) -> Result<(), String> {
        let Some((path, file)) = &mut self.0 else {
            return Ok(());
        };
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let separator = if more.is_empty() { "" } else { " " };
        let line = format!(
            "{:.3} {event} done={:.3}{separator}{more}\n",
            now.as_secs_f64(),
            done.as_secs_f64()
        );
        // One write call a line: lines of a killed task are whole.
        let written = file.write_all(line.as_bytes());
        written.map_err(|error| failed(path, &error))
    }
}

fn failed(path: &str, error: &io::Error) -> String {
    format!("report {path}: {error}")
}
