//! The port of the flight recorder: decisions as scenario files, for a closer look.

/// Why a decision is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// Its plan broke a rule and was dropped.
    Dropped,
    /// Somebody asked for it.
    Asked,
}

/// Where recorded decisions go.
pub trait Recorder {
    /// Whether somebody asked for the next decision to be recorded.
    fn is_asked(&mut self) -> bool;
    /// Keeps a scenario file. Returns where it is; `None`: one was kept for the same reason lately.
    ///
    /// # Errors
    ///
    /// One line on what went wrong and where.
    fn keep(&mut self, occasion: Occasion, scenario: &str) -> Result<Option<String>, String>;
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn is_asked(&mut self) -> bool {
        false
    }

    fn keep(&mut self, _: Occasion, _: &str) -> Result<Option<String>, String> {
        Ok(None)
    }
}
