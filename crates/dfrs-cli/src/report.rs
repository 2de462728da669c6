//! What a check found, and how it is printed.

use serde::Serialize;
use std::fmt::Write;

/// Exit code of a check that failed.
const FAILED: u8 = 1;

/// Exit code of input that no program would accept.
const BAD_INPUT: u8 = 2;

/// What the program does at its end.
pub struct CommandOutcome {
    /// For standard output.
    pub output: String,
    /// For standard error.
    pub errors: String,
    /// The exit code.
    pub code: u8,
}

impl CommandOutcome {
    /// Output and errors of what was done, or one line about why it was not, which is bad input.
    pub fn of(result: Result<(String, String), String>) -> Self {
        match result {
            Ok((output, errors)) => Self {
                output,
                errors,
                code: 0,
            },
            Err(error) => Self {
                output: String::new(),
                errors: error + "\n",
                code: BAD_INPUT,
            },
        }
    }
}

/// One thing that is wrong.
#[derive(Serialize)]
pub struct CheckProblem {
    /// Where, counted from 1; none if it is about the whole file.
    pub line: Option<usize>,
    /// Time of the event, in the journal's seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t: Option<f64>,
    /// What, and what to do.
    pub what: String,
}

/// What is to be said about one file.
#[derive(Serialize)]
pub struct CheckFindings {
    /// "journal", "dfrs.conf", or "file" when it is neither.
    kind: &'static str,
    /// Whether it is right.
    ok: bool,
    /// What is in it, if it could be read to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    problems: Vec<CheckProblem>,
    #[serde(skip)]
    code: u8,
}

impl CheckFindings {
    pub fn valid(kind: &'static str, summary: String) -> Self {
        Self {
            kind,
            ok: true,
            summary: Some(summary),
            problems: Vec::new(),
            code: 0,
        }
    }

    /// The report of a file that can be read, and breaks promises.
    pub fn invalid(kind: &'static str, summary: String, problems: Vec<CheckProblem>) -> Self {
        Self {
            kind,
            ok: false,
            summary: Some(summary),
            problems,
            code: FAILED,
        }
    }

    /// The report of a file that cannot be read.
    pub fn bad_input(kind: &'static str, problem: CheckProblem) -> Self {
        Self {
            kind,
            ok: false,
            summary: None,
            problems: vec![problem],
            code: BAD_INPUT,
        }
    }
}

/// Findings about a file.
#[derive(Serialize)]
pub struct CheckReport {
    pub file: String,
    #[serde(flatten)]
    pub findings: CheckFindings,
}

impl CheckReport {
    /// One line on standard output if all is right, else one line for each problem on standard error.
    pub fn as_text(&self) -> CommandOutcome {
        let CheckFindings {
            kind,
            summary,
            problems,
            code,
            ..
        } = &self.findings;
        let errors = problems.iter().fold(String::new(), |mut lines, problem| {
            let _ = writeln!(lines, "{}", self.line(problem)); // a String takes all
            lines
        });
        let output = match summary {
            Some(summary) if problems.is_empty() => {
                format!("{}: {kind} is right: {summary}\n", self.file)
            }
            _ => String::new(),
        };
        CommandOutcome {
            output,
            errors,
            code: *code,
        }
    }

    /// One JSON object on standard output, whatever was found.
    pub fn as_json(&self) -> CommandOutcome {
        match serde_json::to_string(self) {
            Ok(text) => CommandOutcome {
                output: text + "\n",
                errors: String::new(),
                code: self.findings.code,
            },
            Err(error) => CommandOutcome {
                output: String::new(),
                errors: format!("{error}\n"),
                code: BAD_INPUT,
            },
        }
    }

    fn line(&self, problem: &CheckProblem) -> String {
        let place = problem
            .line
            .map_or(String::new(), |line| format!("{line}:"));
        let time = problem.t.map_or(String::new(), |t| format!(" t={t}:"));
        format!("{}:{place}{time} {}", self.file, problem.what)
    }
}
