//! What was found, and how it is told.

use std::fmt::Write;

use dfrs_proto::slurm_conf::{self, Verdict};
use serde::Serialize;

use crate::report::Outcome;

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    #[default]
    Ok,
    /// A step of the installation that is not done yet, and that nothing keeps from being done.
    Todo,
    /// DFRS works, but not as well as it could.
    Warning,
    /// DFRS does not work, or would not.
    Error,
}

impl Level {
    /// The exit code, if this is the worst.
    pub fn code(self) -> u8 {
        match self {
            Self::Ok | Self::Todo => 0,
            Self::Warning => 1,
            Self::Error => 2,
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub struct Finding {
    pub level: Level,
    /// A word for the subject.
    pub about: &'static str,
    pub what: String,
    /// What to do; none if all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// All of them, in the order in which they were found.
#[derive(Debug, Default)]
pub struct Findings(pub Vec<Finding>);

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    worst: Level,
    findings: &'a [Finding],
}

/// Findings about one subject.
pub struct Topic<'a> {
    about: &'static str,
    findings: &'a mut Findings,
    bad: bool,
}

impl Findings {
    /// What follows is about this.
    pub fn topic(&mut self, about: &'static str) -> Topic<'_> {
        Topic {
            about,
            findings: self,
            bad: false,
        }
    }

    fn worst(&self) -> Level {
        let levels = self.0.iter().map(|finding| finding.level);
        levels.max().unwrap_or_default()
    }

    /// Lines or an object, and the exit code of the worst.
    pub fn tell(&self, json: bool) -> Outcome {
        let worst = self.worst();
        let output = if json {
            let report = Report {
                version: 1,
                worst,
                findings: &self.0,
            };
            // Strings and numbers only: cannot fail.
            serde_json::to_string(&report).unwrap_or_default() + "\n"
        } else {
            self.text()
        };
        Outcome {
            output,
            errors: String::new(),
            code: worst.code(),
        }
    }

    /// A line each.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.0 {
            let level = match finding.level {
                Level::Ok => "ok",
                Level::Todo => "to do",
                Level::Warning => "warning",
                Level::Error => "error",
            };
            let (about, what) = (finding.about, &finding.what);
            let _ = write!(text, "{level:<8} {about}: {what}"); // a String takes all
            if let Some(remedy) = &finding.remedy {
                let _ = write!(text, "; {remedy}");
            }
            text.push('\n');
        }
        text
    }
}

impl Topic<'_> {
    /// What the checks found that the plugin makes, too.
    pub fn shared<'f>(&mut self, found: impl IntoIterator<Item = &'f slurm_conf::Finding>) {
        for finding in found {
            let level = match finding.verdict {
                Verdict::Later => Level::Todo,
                Verdict::Warning => Level::Warning,
                Verdict::Refused => Level::Error,
            };
            self.add(level, finding.what.clone(), Some(finding.remedy.clone()));
        }
    }

    /// A step of the installation that is not done yet.
    pub fn todo(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(Level::Todo, what.into(), Some(remedy.into()));
    }

    /// DFRS works, but not as well as it could.
    pub fn warning(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(Level::Warning, what.into(), Some(remedy.into()));
    }

    /// DFRS does not work, or would not.
    pub fn error(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(Level::Error, what.into(), Some(remedy.into()));
    }

    /// Says what is there, unless something was wrong with it.
    pub fn done(mut self, what: impl Into<String>) {
        if !self.bad {
            self.add(Level::Ok, what.into(), None);
        }
    }

    fn add(&mut self, level: Level, what: String, remedy: Option<String>) {
        self.bad |= level > Level::Ok;
        // What others wrote, as names of partitions, must not break the line.
        let one_line = |text: String| text.replace(|letter: char| letter.is_control(), " ");
        self.findings.0.push(Finding {
            level,
            about: self.about,
            what: one_line(what),
            remedy: remedy.map(one_line),
        });
    }
}
