//! The flight recorder's files in StateSaveLocation.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dfrs_agent::publish::recorder::{Occasion, Recorder};

/// A user that makes this file requests a record of the next decision.
const REQUEST: &str = "dfrs_record";
/// The last decision that was requested, and the last plan that was dropped.
const ASKED: &str = "dfrs_recorded.txt";
const DROPPED: &str = "dfrs_dropped.txt";
/// Plans that are dropped again and again are recorded only so often.
const INTERVAL: Duration = Duration::from_secs(60);

/// Writes decisions into a directory.
#[derive(Debug)]
pub struct Files {
    directory: PathBuf,
    /// When the last dropped plan was recorded.
    dropped: Option<Instant>,
}

impl Files {
    /// Writes into this directory.
    #[must_use]
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_path_buf(),
            dropped: None,
        }
    }

    fn write(&self, name: &str, scenario: &str) -> Result<Option<String>, String> {
        let path = self.directory.join(name);
        let new = path.with_extension("new");
        fs::write(&new, scenario)
            .and_then(|()| fs::rename(&new, &path))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Some(path.display().to_string()))
    }
}

impl Recorder for Files {
    fn is_requested(&mut self) -> bool {
        self.directory.join(REQUEST).exists()
    }

    fn save(&mut self, occasion: Occasion, scenario: &str) -> Result<Option<String>, String> {
        match occasion {
            Occasion::Requested => {
                // First: one that cannot be taken away would have every decision recorded.
                let request = self.directory.join(REQUEST);
                fs::remove_file(&request)
                    .map_err(|error| format!("{}: {error}", request.display()))?;
                self.write(ASKED, scenario)
            }
            Occasion::Dropped if self.dropped.is_some_and(|at| at.elapsed() < INTERVAL) => Ok(None),
            Occasion::Dropped => {
                self.dropped = Some(Instant::now());
                self.write(DROPPED, scenario)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_recorded_once_for_each_request_and_dropped_plans_once_a_minute() {
        let directory = std::env::temp_dir().join(format!("dfrs-recorder-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let mut files = Files::new(&directory);
        assert!(!files.is_requested());
        fs::write(directory.join(REQUEST), "").expect("a request");
        assert!(files.is_requested());
        let kept = files
            .save(Occasion::Requested, "scenario a\n")
            .expect("kept");
        let path = kept.expect("a path");
        assert_eq!(fs::read_to_string(path).expect("text"), "scenario a\n");
        assert!(!files.is_requested());
        let first = files.save(Occasion::Dropped, "scenario b\n");
        assert!(first.expect("kept").is_some());
        assert_eq!(files.save(Occasion::Dropped, "scenario c\n"), Ok(None));
        fs::remove_dir_all(directory).expect("cleans up");
    }
}
