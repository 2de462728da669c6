//! What follows for a site, in one line, and the lines that have to change.

use std::fmt::Write;

use serde::Serialize;

use super::finding::{DoctorFinding, DoctorFindings, FindingLevel};
use super::nodes;
use crate::site::{LineChange, SlurmConfFiles};

/// What comes of it.
#[derive(Debug, Serialize)]
pub struct SiteVerdict {
    /// The lines that have to change.
    pub changes: Vec<LineChange>,
    /// One line.
    pub verdict: String,
}

/// What follows from the errors. Nodes and partitions may be in files that are not there.
pub fn refusal(files: &SlurmConfFiles, findings: &DoctorFindings) -> SiteVerdict {
    let errors = findings
        .0
        .iter()
        .filter(|it| it.level == FindingLevel::Error);
    let errors: Vec<&DoctorFinding> = errors.collect();
    let mut certain = errors
        .iter()
        .filter(|it| !["nodes", "dfrs.conf"].contains(&it.about));
    let first = errors.first().map_or("", |it| it.what.as_str());
    match (certain.next(), nodes::some_of(files.missing_files())) {
        (Some(error), _) => cannot(&error.what),
        (None, None) => cannot(first),
        (None, Some(missing)) => SiteVerdict {
            changes: Vec::new(),
            verdict: format!("Whether DFRS can run here is not known without {missing}: {first}"),
        },
    }
}

/// The verdict where slurm.conf cannot be read.
pub fn unknown(why: &str) -> SiteVerdict {
    SiteVerdict {
        changes: Vec::new(),
        verdict: format!("Whether DFRS can run here is not known: {why}"),
    }
}

/// The verdict, if it is certain.
fn cannot(why: &str) -> SiteVerdict {
    SiteVerdict {
        changes: Vec::new(),
        verdict: format!("DFRS cannot run here: {why}"),
    }
}

impl SiteVerdict {
    /// The lines as they are and as they are to be, and the verdict.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut former = "";
        for change in &self.changes {
            let LineChange {
                file,
                line,
                old,
                new,
            } = change;
            let _ = match line {
                Some(line) => writeln!(text, "\n{file}, line {line}:"),
                None if former == file => Ok(()),
                None => writeln!(text, "\n{file}, to be added:"),
            };
            former = if line.is_none() { file } else { "" };
            for (sign, line) in [('-', old), ('+', new)] {
                if let Some(line) = line {
                    let _ = writeln!(text, "{sign} {line}");
                }
            }
        }
        let _ = writeln!(text, "\n{}", self.verdict); // a String takes all
        text
    }
}
