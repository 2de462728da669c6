//! Long work as a list of independent runs: on all cores, with a progress bar, and kept as soon as
//! each is finished.

mod digest;
pub mod progress;
mod store;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use digest::digest;
use store::ResultStore;

/// What a progress bar counts: parts of runs, of which each run has as many.
pub struct Parts {
    /// What they are, in the plural.
    pub name: &'static str,
    /// How many of them a run has.
    pub each: usize,
}

/// Executes runs, and keeps their results in a file if there is one.
///
/// A *run* is whatever the caller says, as long as its serialised form holds everything that its
/// result depends on but for this program: that form is how a result is found again.
pub struct Runs {
    store: Option<ResultStore>,
    threads: usize,
    reused: usize,
}

impl Runs {
    /// Ready to execute, on as many threads as there are cores. A file of results that exists is
    /// read, one that does not is made.
    ///
    /// # Errors
    ///
    /// One line, if the file cannot be used.
    pub fn new(results: Option<&Path>) -> Result<Self, String> {
        Ok(Self {
            store: results.map(ResultStore::open).transpose()?,
            threads: thread::available_parallelism().map_or(1, usize::from),
            reused: 0,
        })
    }

    /// The results of all runs in their order; those that the file of results has are not executed
    /// again. May be called any number of times. `what` heads the progress bar.
    ///
    /// # Errors
    ///
    /// The error of the first run that failed, after all others were executed and kept; or one line
    /// about the file of results, as soon as it cannot be written.
    pub fn execute<K, R>(
        &mut self,
        what: &str,
        runs: &[K],
        run: impl Fn(&K) -> Result<R, String> + Sync,
    ) -> Result<Vec<R>, String>
    where
        K: Serialize + Sync,
        R: Serialize + DeserializeOwned + Send,
    {
        let whole = Parts {
            name: "runs",
            each: 1,
        };
        self.execute_parts(what, &whole, runs, |key, done| {
            let result = run(key);
            done();
            result
        })
    }

    /// Executes long runs: `run` calls its second argument after each of the parts.
    ///
    /// # Errors
    ///
    /// See [`Self::execute`].
    pub fn execute_parts<K, R>(
        &mut self,
        what: &str,
        parts: &Parts,
        runs: &[K],
        run: impl Fn(&K, &mut dyn FnMut()) -> Result<R, String> + Sync,
    ) -> Result<Vec<R>, String>
    where
        K: Serialize + Sync,
        R: Serialize + DeserializeOwned + Send,
    {
        let mut results = self.stored_results(runs)?;
        let missing: Vec<usize> = (0..runs.len())
            .filter(|place| results[*place].is_none())
            .collect();
        self.reused += runs.len() - missing.len();
        let finished = (runs.len() - missing.len()) * parts.each;
        let bar = progress::bar(what, parts.name, runs.len() * parts.each, finished);
        let is_shown = !bar.is_hidden();
        let execute = |place: usize| {
            let mut done = || {
                if is_shown {
                    bar.inc(1);
                }
            };
            run(&runs[place], &mut done)
        };
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..self.threads.min(missing.len()) {
                let sender = sender.clone();
                scope.spawn(|| {
                    // Once the receiver is gone, no further run is begun.
                    let sender = sender;
                    while let Some(place) = missing.get(next.fetch_add(1, Ordering::Relaxed))
                        && sender.send((*place, execute(*place))).is_ok()
                    {}
                });
            }
            drop(sender);
            for (place, result) in receiver {
                if let (Some(store), Ok(result)) = (&mut self.store, &result) {
                    store.add(&runs[place], result)?;
                }
                results[place] = Some(result);
            }
            Ok::<(), String>(())
        })?;
        bar.finish_and_clear();
        results.into_iter().flatten().collect()
    }

    /// Whether results are kept in a file.
    pub fn are_kept(&self) -> bool {
        self.store.is_some()
    }

    /// What people should know about the file of results, a line each.
    pub fn notes(&self) -> String {
        let Some(store) = &self.store else {
            return String::new();
        };
        let mut notes = store.notes();
        if self.reused > 0 {
            notes += &store.note(&format!("runs taken from it: {}", self.reused));
        }
        notes
    }

    /// The results that are there already.
    fn stored_results<K: Serialize, R: DeserializeOwned>(
        &self,
        runs: &[K],
    ) -> Result<Vec<Option<Result<R, String>>>, String> {
        runs.iter()
            .map(|run| match &self.store {
                Some(store) => Ok(store.get(run)?.map(Ok)),
                None => Ok(None),
            })
            .collect()
    }
}
