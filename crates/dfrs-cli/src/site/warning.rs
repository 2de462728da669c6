//! What is odd about files that can be read all the same.

/// One thing that Slurm refuses, or reads otherwise than it looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadWarning {
    /// What is odd, and where.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct ReadWarnings {
    pub all: Vec<ReadWarning>,
    /// Files that are included and are not there.
    pub missing: Vec<String>,
}

impl ReadWarnings {
    /// Adds one.
    pub fn add(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.all.push(ReadWarning {
            what: what.into(),
            remedy: remedy.into(),
        });
    }
}
