//! What was found, and how it is printed.

use std::fmt::Write;

use dfrs_proto::slurm_conf::{self, Verdict};
use serde::Serialize;

use super::site_verdict::SiteVerdict;
use crate::report::CommandOutcome;

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingLevel {
    /// The configuration is as it should be.
    #[default]
    Ok,
    /// A step of the installation that is not done yet, and that nothing keeps from being done.
    Todo,
    /// DFRS works, but not as well as it could.
    Warning,
    /// DFRS does not work, or would not.
    Error,
}

impl FindingLevel {
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
pub struct DoctorFinding {
    pub level: FindingLevel,
    /// A word for the subject.
    pub about: &'static str,
    pub what: String,
    /// What to do; none if all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// All of them, in the order in which they were found.
#[derive(Debug, Default)]
pub struct DoctorFindings(pub Vec<DoctorFinding>);

#[derive(Serialize)]
struct DoctorReport<'a> {
    version: u32,
    worst: FindingLevel,
    findings: &'a [DoctorFinding],
    #[serde(flatten)]
    site: Option<&'a SiteVerdict>,
}

/// Findings about one subject.
pub struct Topic<'a> {
    about: &'static str,
    findings: &'a mut DoctorFindings,
    bad: bool,
}

impl DoctorFindings {
    /// What follows is about this.
    pub fn topic(&mut self, about: &'static str) -> Topic<'_> {
        Topic {
            about,
            findings: self,
            bad: false,
        }
    }

    /// The level of the worst.
    pub fn worst(&self) -> FindingLevel {
        let levels = self.0.iter().map(|finding| finding.level);
        levels.max().unwrap_or_default()
    }

    /// Lines or an object, and the exit code of the worst.
    pub fn outcome(&self, json: bool) -> CommandOutcome {
        self.outcome_with(None, json)
    }

    /// The same, with what a site has to change.
    pub fn outcome_with(&self, site: Option<&SiteVerdict>, json: bool) -> CommandOutcome {
        let worst = self.worst();
        let output = if json {
            let report = DoctorReport {
                version: 1,
                worst,
                findings: &self.0,
                site,
            };
            // Strings and numbers only: cannot fail.
            serde_json::to_string(&report).unwrap_or_default() + "\n"
        } else {
            self.text() + &site.map(SiteVerdict::text).unwrap_or_default()
        };
        CommandOutcome {
            code: worst.code(),
            ..output.into()
        }
    }

    /// A line each.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.0 {
            let level = match finding.level {
                FindingLevel::Ok => "ok",
                FindingLevel::Todo => "to do",
                FindingLevel::Warning => "warning",
                FindingLevel::Error => "error",
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
                Verdict::Later => FindingLevel::Todo,
                Verdict::Warning => FindingLevel::Warning,
                Verdict::Refused => FindingLevel::Error,
            };
            self.add(level, finding.what.clone(), Some(finding.remedy.clone()));
        }
    }

    /// A step of the installation that is not done yet.
    pub fn todo(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(FindingLevel::Todo, what.into(), Some(remedy.into()));
    }

    /// DFRS works, but not as well as it could.
    pub fn warning(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(FindingLevel::Warning, what.into(), Some(remedy.into()));
    }

    /// DFRS does not work, or would not.
    pub fn error(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(FindingLevel::Error, what.into(), Some(remedy.into()));
    }

    /// Says what is there.
    pub fn ok(&mut self, what: impl Into<String>) {
        self.add(FindingLevel::Ok, what.into(), None);
    }

    /// Says what is there, unless something was wrong with it.
    pub fn done(mut self, what: impl Into<String>) {
        if !self.bad {
            self.add(FindingLevel::Ok, what.into(), None);
        }
    }

    fn add(&mut self, level: FindingLevel, what: String, remedy: Option<String>) {
        self.bad |= level > FindingLevel::Ok;
        // What others wrote, as names of partitions, must not break the line.
        let one_line = |text: String| text.replace(|letter: char| letter.is_control(), " ");
        self.findings.0.push(DoctorFinding {
            level,
            about: self.about,
            what: one_line(what),
            remedy: remedy.map(one_line),
        });
    }
}
