//! Where threads write the lines that slurmctld's log is to show.

use std::sync::Arc;

use dfrs_agent::slurm::port::LogLevel;

type Write = dyn Fn(LogLevel, &str) + Send + Sync;

/// A way to the log that any thread may use.
#[derive(Clone)]
pub struct Log(Arc<Write>);

impl Log {
    /// Writes by `write`.
    pub fn from_fn(write: impl Fn(LogLevel, &str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    /// Writes one line.
    pub fn write(&self, level: LogLevel, line: &str) {
        self.0(level, line);
    }

    #[cfg(test)]
    pub(crate) fn discarding() -> Self {
        Self::from_fn(|_, _| {})
    }
}

/// The lines of a log, for tests.
#[cfg(test)]
#[derive(Clone, Default)]
pub(crate) struct CapturedLog(Arc<std::sync::Mutex<Vec<(LogLevel, String)>>>);

#[cfg(test)]
impl CapturedLog {
    pub(crate) fn log(&self) -> Log {
        let lines = Arc::clone(&self.0);
        Log::from_fn(move |level, line| {
            let mut lines = lines.lock().expect("no test panics in it");
            lines.push((level, line.to_owned()));
        })
    }

    /// The error lines so far.
    pub(crate) fn errors(&self) -> Vec<String> {
        let lines = self.0.lock().expect("no test panics in it");
        let errors = lines.iter().filter(|(level, _)| *level == LogLevel::Error);
        errors.map(|(_, line)| line.clone()).collect()
    }
}
