//! What a check found, and how it is printed.

use serde::Serialize;

/// Exit code of a check that failed.
const FAILED: u8 = 1;

/// Exit code of input that no program would accept.
const BAD_INPUT: u8 = 2;

/// What the program does at its end.
#[derive(Default)]
pub struct CommandOutcome {
    /// For standard output.
    pub output: String,
    /// For standard error.
    pub errors: String,
    /// The exit code.
    pub code: u8,
}

impl CommandOutcome {
    /// What was done, or one line about why it was not, which is bad input.
    pub fn of(result: Result<impl Into<Self>, String>) -> Self {
        result.map_or_else(|error| Self::failed(error, BAD_INPUT), Into::into)
    }

    /// One line on standard error.
    pub fn failed(error: String, code: u8) -> Self {
        let (output, errors) = (String::new(), error + "\n");
        Self {
            output,
            errors,
            code,
        }
    }
}

impl From<String> for CommandOutcome {
    fn from(output: String) -> Self {
        Self {
            output,
            ..Self::default()
        }
    }
}

impl From<(String, String)> for CommandOutcome {
    /// For standard output, and notes for standard error.
    fn from((output, errors): (String, String)) -> Self {
        Self {
            output,
            errors,
            code: 0,
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

    /// The report of a file that cannot be read, from this line on where that is known.
    pub fn bad_input(kind: &'static str, line: Option<usize>, what: String) -> Self {
        Self {
            kind,
            ok: false,
            summary: None,
            problems: vec![CheckProblem {
                line,
                t: None,
                what,
            }],
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
        let found = &self.findings;
        let output = match &found.summary {
            Some(summary) if found.problems.is_empty() => {
                format!("{}: {} is right: {summary}\n", self.file, found.kind)
            }
            _ => String::new(),
        };
        let errors = found.problems.iter().map(|problem| self.line(problem));
        CommandOutcome {
            output,
            errors: errors.collect(),
            code: found.code,
        }
    }

    /// One JSON object on standard output, whatever was found.
    pub fn as_json(&self) -> CommandOutcome {
        match serde_json::to_string(self) {
            Ok(text) => CommandOutcome {
                code: self.findings.code,
                ..(text + "\n").into()
            },
            Err(error) => CommandOutcome::failed(error.to_string(), BAD_INPUT),
        }
    }

    fn line(&self, problem: &CheckProblem) -> String {
        let place = problem.line.map(|line| format!("{line}:"));
        let time = problem.t.map(|t| format!(" t={t}:"));
        let (place, time) = (place.unwrap_or_default(), time.unwrap_or_default());
        format!("{}:{place}{time} {}\n", self.file, problem.what)
    }
}
