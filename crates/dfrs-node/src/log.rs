//! Lines on stderr, which the service manager keeps.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};

/// Writes one line, if that is possible: a full disk, or a log without a reader, is no reason to
/// end.
pub fn line(text: impl Display) {
    let _ = writeln!(io::stderr(), "dfrsd: {text}");
}

/// A job, as Slurm's own log names it.
pub fn job(id: u32) -> String {
    format!("JobId={id}")
}

/// A text about a job without the job's name before it: what comes before names it already.
pub fn without_job(id: u32, text: &str) -> &str {
    let rest = text.strip_prefix(&job(id));
    rest.and_then(|rest| rest.strip_prefix(": "))
        .unwrap_or(text)
}

/// Logs a problem once for as long as it stays the same, because the daemon meets it again at each
/// pass of its loop; and only when it was met twice in a row, because a job that ends takes its
/// files away under our hands, which is no problem.
#[derive(Debug, Default)]
pub struct ActiveWarnings {
    open: BTreeMap<String, ActiveWarning>,
}

#[derive(Debug)]
struct ActiveWarning {
    text: String,
    reported: bool,
}

impl ActiveWarnings {
    /// Notes a problem with `subject`.
    pub fn note(&mut self, subject: impl Into<String>, text: impl Display) {
        let (subject, text) = (subject.into(), text.to_string());
        match self.open.get_mut(&subject) {
            Some(known) if known.text == text => {
                if !known.reported {
                    line(format_args!("{subject}: {text}"));
                    known.reported = true;
                }
            }
            _ => {
                self.open.insert(
                    subject,
                    ActiveWarning {
                        text,
                        reported: false,
                    },
                );
            }
        }
    }

    /// Logs a problem that is met once, as that something failed, at once.
    pub fn report(&mut self, subject: impl Into<String>, text: impl Display) {
        let subject = subject.into();
        self.note(subject.clone(), &text);
        self.note(subject, text);
    }

    /// `subject` has no problem any more: a next complaint about it is new.
    pub fn clear(&mut self, subject: &str) {
        self.open.remove(subject);
    }

    /// Everything whose name begins so has no problem any more, or is gone.
    pub fn clear_all(&mut self, prefix: &str) {
        self.open.retain(|subject, _| !subject.starts_with(prefix));
    }

    /// Handles a result: notes an error, settles otherwise.
    pub fn check<T, E: Display>(
        &mut self,
        subject: impl Into<String>,
        result: Result<T, E>,
    ) -> Option<T> {
        let subject = subject.into();
        match result {
            Ok(value) => {
                self.clear(&subject);
                Some(value)
            }
            Err(error) => {
                self.note(subject, error);
                None
            }
        }
    }

    /// What was logged and not settled.
    pub fn reported(&self) -> Vec<(&str, &str)> {
        let reported = self.open.iter().filter(|(_, warning)| warning.reported);
        reported
            .map(|(subject, warning)| (subject.as_str(), warning.text.as_str()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::process::{Command, exit};

    /// What the next test runs in a process of its own.
    #[test]
    #[ignore = "ends its process"]
    fn a_line_is_written() {
        line("to a full disk");
        exit(7);
    }

    #[test]
    fn a_line_that_cannot_be_written_is_no_reason_to_end() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "log::tests::a_line_is_written", "--ignored"])
            .arg("--nocapture")
            .stderr(full)
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(7));
    }

    #[test]
    fn warning_is_reported_when_it_repeats() {
        let mut warnings = ActiveWarnings::default();
        assert_eq!(warnings.check("JobId=1 cap", Err::<(), _>("no")), None);
        assert_eq!(warnings.reported(), []);
        warnings.note("JobId=1 cap", "no");
        assert_eq!(warnings.reported(), [("JobId=1 cap", "no")]);
        assert_eq!(warnings.check("JobId=1 cap", Ok::<_, String>(5)), Some(5));
        assert_eq!(warnings.reported(), []);
    }

    #[test]
    fn failure_is_reported_at_once() {
        let mut warnings = ActiveWarnings::default();
        warnings.report("JobId=1 image", "no");
        assert_eq!(warnings.reported(), [("JobId=1 image", "no")]);
        warnings.report("JobId=1 image", "not again");
        assert_eq!(warnings.reported(), [("JobId=1 image", "not again")]);
    }

    #[test]
    fn job_is_named_once() {
        assert_eq!(without_job(1, "JobId=1: no"), "no");
        assert_eq!(without_job(1, "JobId=17: no"), "JobId=17: no");
        assert_eq!(without_job(1, "/images/1: no"), "/images/1: no");
    }

    #[test]
    fn warnings_are_cleared_when_the_job_ended() {
        let mut warnings = ActiveWarnings::default();
        for subject in ["JobId=1 cap", "JobId=1 cap", "JobId=17 cap", "JobId=17 cap"] {
            warnings.note(subject, "no");
        }
        warnings.clear_all("JobId=1 ");
        assert_eq!(warnings.reported(), [("JobId=17 cap", "no")]);
    }
}
