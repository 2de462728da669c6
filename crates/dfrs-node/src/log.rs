//! Lines on stderr, which the service manager keeps.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};

/// Writes one line, if that is possible: a full disk, or a log that nobody reads any more, is no reason to end.
pub fn line(text: impl Display) {
    let _ = writeln!(io::stderr(), "dfrsd: {text}");
}

/// Says a thing once for as long as it stays the same, because the daemon meets every trouble again
/// at each turn of its loop; and only when it was met twice in a row, because a job that ends takes
/// its files away under our hands, which is no trouble.
#[derive(Debug, Default)]
pub struct Complaints {
    open: BTreeMap<String, Complaint>,
}

#[derive(Debug)]
struct Complaint {
    text: String,
    said: bool,
}

impl Complaints {
    /// Notes trouble with `subject`.
    pub fn note(&mut self, subject: impl Into<String>, text: impl Display) {
        let (subject, text) = (subject.into(), text.to_string());
        match self.open.get_mut(&subject) {
            Some(known) if known.text == text => {
                if !known.said {
                    line(format_args!("{subject}: {text}"));
                    known.said = true;
                }
            }
            _ => {
                self.open.insert(subject, Complaint { text, said: false });
            }
        }
    }

    /// `subject` is well again: a next complaint about it is news.
    pub fn settle(&mut self, subject: &str) {
        self.open.remove(subject);
    }

    /// Everything whose name begins so is well again, or gone.
    pub fn settle_all(&mut self, prefix: &str) {
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
                self.settle(&subject);
                Some(value)
            }
            Err(error) => {
                self.note(subject, error);
                None
            }
        }
    }

    /// What was said and not settled.
    pub fn said(&self) -> Vec<(&str, &str)> {
        let said = self.open.iter().filter(|(_, complaint)| complaint.said);
        said.map(|(subject, complaint)| (subject.as_str(), complaint.text.as_str()))
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
    fn trouble_is_told_when_it_lasts() {
        let mut complaints = Complaints::default();
        assert_eq!(complaints.check("job 1 cap", Err::<(), _>("no")), None);
        assert_eq!(complaints.said(), []);
        complaints.note("job 1 cap", "no");
        assert_eq!(complaints.said(), [("job 1 cap", "no")]);
        assert_eq!(complaints.check("job 1 cap", Ok::<_, String>(5)), Some(5));
        assert_eq!(complaints.said(), []);
    }

    #[test]
    fn a_job_that_ended_is_no_trouble() {
        let mut complaints = Complaints::default();
        for subject in ["job 1 cap", "job 1 cap", "job 17 cap", "job 17 cap"] {
            complaints.note(subject, "no");
        }
        complaints.settle_all("job 1 ");
        assert_eq!(complaints.said(), [("job 17 cap", "no")]);
    }
}
