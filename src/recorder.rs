//! The flight recorder's files in StateSaveLocation.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dfrs_agent::publish::recorder::{Occasion, Recorder};
use dfrs_core::DecisionRecord;

/// A user that makes this file requests a record of the next decision.
const REQUEST: &str = "dfrs_record";
/// The last decision that was requested, and the last plan that was dropped.
const ASKED: &str = "dfrs_recorded.json";
const DROPPED: &str = "dfrs_dropped.json";
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
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_path_buf(),
            dropped: None,
        }
    }

    fn write(&self, name: &str, record: &DecisionRecord<'_>) -> Result<Option<String>, String> {
        let path = self.directory.join(name);
        let new = path.with_extension("new");
        serde_json::to_vec(record)
            .map_err(io::Error::other)
            .and_then(|json| fs::write(&new, json))
            .and_then(|()| fs::rename(&new, &path))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Some(path.display().to_string()))
    }
}

impl Recorder for Files {
    fn is_requested(&mut self) -> bool {
        self.directory.join(REQUEST).exists()
    }

    fn save(
        &mut self,
        occasion: Occasion,
        record: &DecisionRecord<'_>,
    ) -> Result<Option<String>, String> {
        match occasion {
            Occasion::Requested => {
                // First: one that cannot be taken away would have every decision recorded.
                let request = self.directory.join(REQUEST);
                fs::remove_file(&request)
                    .map_err(|error| format!("{}: {error}", request.display()))?;
                self.write(ASKED, record)
            }
            Occasion::Dropped if self.dropped.is_some_and(|at| at.elapsed() < INTERVAL) => Ok(None),
            Occasion::Dropped => {
                self.dropped = Some(Instant::now());
                self.write(DROPPED, record)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use dfrs_core::{Cluster, Events, Plan, Policy, Time};

    use super::*;

    fn record() -> DecisionRecord<'static> {
        DecisionRecord {
            title: "a decision that was asked for".into(),
            program: "slurm-dfrs".into(),
            policy: Cow::Owned(Policy::recommended()),
            now: Time::from_seconds(1000),
            cluster: Cow::Owned(Cluster::default()),
            events: Cow::Owned(Events::default()),
            plan: Cow::Owned(Plan::default()),
            blocked: Vec::new(),
            violations: vec!["a rule".into()],
        }
    }

    #[test]
    fn a_decision_is_recorded_once_for_each_request_and_dropped_plans_once_a_minute() {
        let directory = std::env::temp_dir().join(format!("dfrs-recorder-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let mut files = Files::new(&directory);
        assert!(!files.is_requested());
        fs::write(directory.join(REQUEST), "").expect("a request");
        assert!(files.is_requested());
        let record = record();
        let kept = files.save(Occasion::Requested, &record).expect("kept");
        let path = kept.expect("a path");
        let json = fs::read_to_string(path).expect("text");
        let again: DecisionRecord<'_> = serde_json::from_str(&json).expect(&json);
        assert_eq!(again, record);
        assert!(!files.is_requested());
        let first = files.save(Occasion::Dropped, &record);
        assert!(first.expect("kept").is_some());
        assert_eq!(files.save(Occasion::Dropped, &record), Ok(None));
        fs::remove_dir_all(directory).expect("cleans up");
    }
}
