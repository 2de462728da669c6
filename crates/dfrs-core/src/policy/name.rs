//! The papers' names, read and written.

use std::fmt;
use std::str::FromStr;

use super::{Grace, Optimisation, Periodic, Policy, Retry, Settings, Submission};
use crate::units::Span;

/// The submission policies and their names; the name may be followed by `*`.
const SUBMISSIONS: [(&str, Submission); 7] = [
    ("", Submission::Nothing),
    ("Greedy", Submission::Greedy),
    ("GreedyP", Submission::GreedyP),
    ("GreedyPM", Submission::GreedyPM),
    ("GreedyPMC", Submission::LeastCostPreemption),
    ("GreedyPMCR", Submission::Reserving),
    ("MCB8", Submission::Mcb8),
];

/// The periodic policies and their names.
const PERIODICS: [(&str, Periodic); 2] = [("per", Periodic::Remap), ("move-per", Periodic::Moves)];

/// The optimisations and their names.
const OPTIMISATIONS: [(&str, Optimisation); 2] = [
    ("MIN", Optimisation::Minimum),
    ("VT", Optimisation::VirtualTime),
];

/// Parts of names that only [`super::FurtherGoal`]s have, and what names of the IPDPS 2010 paper
/// begin with: what is not in a name by mistake.
const FURTHER_PARTS: [&str; 3] = ["STRETCH-PER", "OPT=AVG", "OPT=MAX"];
const FURTHER_NAMES: [&str; 2] = ["DYNMCB8", "GREEDY-PMTN"];

/// The name of the policy for sites that have chosen none.
const DEFAULT: &str = "default";

/// The longest text that is taken for a name, in bytes. Names have about half of it.
const MAX_NAME_BYTES: usize = 100;

/// Why a text is not the name of a policy. The message names the part, and what is allowed there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The name is longer than any valid one.
    #[error("a policy's name of {length} bytes; allowed are {MAX_NAME_BYTES}")]
    TooLong {
        /// The name's length in bytes.
        length: usize,
    },
    /// The part before the first `/` is no submission policy.
    #[error("policy {name:?}: unknown submission policy {part:?}; allowed are {allowed}")]
    Submission {
        /// The whole name.
        name: String,
        /// The part at fault.
        part: String,
        /// What is allowed.
        allowed: String,
    },
    /// Only the papers' experiments have such a policy, and it is not known here.
    #[error(
        "policy {name:?} is one of the papers' experiments: dfrs sim, reproduce and decide run it, slurmctld does not; take another one, such as default"
    )]
    Further {
        /// The whole name.
        name: String,
    },
    /// Another part is not known, has no valid value or is out of place, or the parts contradict
    /// each other.
    #[error("policy {name:?}: {why}")]
    Part {
        /// The whole name.
        name: String,
        /// Which part, and what is allowed; or what does not go together, and what would.
        why: String,
    },
}

impl PolicyError {
    /// An error about any part of this name but the first.
    pub fn part(name: &str, why: impl Into<String>) -> Self {
        let (name, why) = (name.into(), why.into());
        Self::Part { name, why }
    }

    /// A part of this name has a value that it cannot have.
    pub fn value(name: &str, part: &str, allowed: &str) -> Self {
        let why = format!("{part:?} has no valid value; allowed is {allowed}");
        Self::part(name, why)
    }
}

/// Reads names of policies: [`str::parse`], or what also knows further ones.
pub type PolicyReader = fn(&str) -> Result<Policy, PolicyError>;

impl FromStr for Policy {
    type Err = PolicyError;

    /// Reads a name; upper and lower case are the same.
    fn from_str(name: &str) -> Result<Self, PolicyError> {
        let name = name.trim();
        if name.eq_ignore_ascii_case(DEFAULT) {
            return Ok(Self::own());
        }
        let periodics = PERIODICS.map(|(known, _)| known);
        let optimisations = OPTIMISATIONS.map(|(known, _)| known);
        let read = PolicyParts::read(name, &periodics, &optimisations);
        let found = read.and_then(|parts| parts.checked(parts.draft()));
        found.map_err(|error| match error {
            PolicyError::TooLong { .. } => error,
            _ if is_further(name) => PolicyError::Further { name: name.into() },
            _ => error,
        })
    }
}

/// Whether a name is that of a policy which this crate does not know.
fn is_further(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    name == "GREEDY"
        || FURTHER_NAMES.iter().any(|known| upper.starts_with(known))
        || upper.split('/').any(|part| FURTHER_PARTS.contains(&part))
}

/// The parts of a name, of which each is known but that need not go together.
pub struct PolicyParts<'a> {
    name: &'a str,
    submission: Submission,
    opportunistic: bool,
    /// What is done every period, as the list of known words spells it.
    pub periodic: Option<&'static str>,
    /// What follows `OPT=`, as the list of known words spells it.
    pub optimisation: Option<&'static str>,
    grace: Grace,
}

impl<'a> PolicyParts<'a> {
    /// Reads a name, given the words for what is done every period and for optimisations.
    ///
    /// # Errors
    ///
    /// The first part that is not known, or not in its place.
    pub fn read(
        name: &'a str,
        periodics: &[&'static str],
        optimisations: &[&'static str],
    ) -> Result<Self, PolicyError> {
        if name.len() > MAX_NAME_BYTES {
            return Err(PolicyError::TooLong { length: name.len() });
        }
        let mut parts = name.split('/');
        let (submission, opportunistic) = submission(name, parts.next().unwrap_or_default())?;
        let mut found = Self {
            name,
            submission,
            opportunistic,
            periodic: None,
            optimisation: None,
            grace: Grace::Nothing,
        };
        let mut last = 0;
        for text in parts {
            let place = found.take_part(text, periodics, optimisations)?;
            if place <= last {
                let why = format!(
                    "{text:?} is out of place; the order is submission[*][/per or /move-per][/OPT=...][/MINVT=... or /MINFT=...], each at most once"
                );
                return Err(PolicyError::part(name, why));
            }
            last = place;
        }
        Ok(found)
    }

    /// The policy that has these parts; words that this crate does not know play no part.
    pub fn draft(&self) -> Policy {
        let periodic = self.periodic.and_then(|word| meaning(&PERIODICS, word));
        let optimisation = self
            .optimisation
            .and_then(|word| meaning(&OPTIMISATIONS, word));
        Policy {
            submission: self.submission,
            opportunistic: self.opportunistic,
            periodic: periodic.unwrap_or(Periodic::Nothing),
            optimisation: optimisation.unwrap_or(Optimisation::Uniform),
            grace: self.grace,
            retry: match self.submission {
                Submission::LeastCostPreemption | Submission::Reserving => Retry::Backoff,
                _ => Retry::Nothing,
            },
            settings: Settings::default(),
        }
    }

    /// The policy, made of these parts, if they go together.
    ///
    /// # Errors
    ///
    /// What does not.
    pub fn checked(&self, policy: Policy) -> Result<Policy, PolicyError> {
        match policy.contradiction() {
            Some(why) => Err(self.contradiction(why)),
            None => Ok(policy),
        }
    }

    /// An error about parts that do not go together.
    pub fn contradiction(&self, why: &str) -> PolicyError {
        PolicyError::part(self.name, why)
    }
}

/// Reads the part before the first `/`.
fn submission(name: &str, part: &str) -> Result<(Submission, bool), PolicyError> {
    let stem = part.strip_suffix('*');
    match meaning(&SUBMISSIONS, stem.unwrap_or(part)) {
        Some(Submission::Nothing) if stem.is_some() => Err(PolicyError::part(
            name,
            "* needs a submission policy before it (Greedy, GreedyP, GreedyPM, GreedyPMC, GreedyPMCR or MCB8)",
        )),
        Some(submission) => Ok((submission, stem.is_some())),
        None => Err(PolicyError::Submission {
            name: name.into(),
            part: part.into(),
            allowed: list(SUBMISSIONS.iter().map(|(known, _)| {
                if known.is_empty() {
                    "nothing (as in /per)"
                } else {
                    known
                }
            })) + ", each also with * except the empty one",
        }),
    }
}

impl PolicyParts<'_> {
    /// Reads one part after the first `/` and returns its place in the order of parts.
    fn take_part(
        &mut self,
        text: &str,
        periodics: &[&'static str],
        optimisations: &[&'static str],
    ) -> Result<u8, PolicyError> {
        let value_error = |allowed: &str| PolicyError::value(self.name, text, allowed);
        let word = |words: &[&'static str], text: &str| {
            let mut words = words.iter().copied();
            words.find(|known| known.eq_ignore_ascii_case(text))
        };
        if let Some(periodic) = word(periodics, text) {
            self.periodic = Some(periodic);
            return Ok(1);
        }
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        match key.to_ascii_uppercase().as_str() {
            "OPT" => {
                let found = word(optimisations, value);
                let known = || value_error(&list(optimisations.iter().copied()));
                self.optimisation = Some(found.ok_or_else(known)?);
                Ok(2)
            }
            key @ ("MINVT" | "MINFT") => {
                let bound = whole_seconds(value).map_err(value_error)?;
                self.grace = if key == "MINVT" {
                    Grace::VirtualTime(bound)
                } else {
                    Grace::FlowTime(bound)
                };
                Ok(3)
            }
            _ => {
                let allowed = list(
                    periodics
                        .iter()
                        .copied()
                        .chain(["OPT=", "MINVT=", "MINFT="]),
                );
                let why = format!("unknown part {text:?}; allowed are {allowed}");
                Err(PolicyError::part(self.name, why))
            }
        }
    }
}

impl Policy {
    /// Reads a name, with those of further goals if this policy has one.
    ///
    /// # Errors
    ///
    /// What is wrong with the name.
    pub fn read_alike(&self, name: &str) -> Result<Self, PolicyError> {
        match self.optimisation {
            Optimisation::Further(goal) => goal.read(name),
            _ => name.parse(),
        }
    }

    /// What in this policy does not go together, if anything.
    fn contradiction(&self) -> Option<&'static str> {
        let remaps = self.submission == Submission::Mcb8 || self.periodic != Periodic::Nothing;
        let by_cost = self.weighs_moves();
        if self.submission == Submission::Nothing && self.periodic == Periodic::Nothing {
            return Some("nothing would ever start; it needs a submission policy or /per");
        }
        if by_cost && !self.opportunistic {
            return Some("GreedyPMC tries waiting jobs at every event; write GreedyPMC*");
        }
        if by_cost != (self.periodic == Periodic::Moves)
            && (!by_cost || self.periodic != Periodic::Nothing)
        {
            return Some("GreedyPMC* and /move-per go together: GreedyPMC*[/move-per]");
        }
        if !self.opportunistic && self.periodic == Periodic::Nothing {
            return Some(
                "a job that does not fit at submission would wait for ever; add * or /per",
            );
        }
        if self.grace != Grace::Nothing && !remaps && !by_cost {
            return Some(
                "MINVT and MINFT limit what MCB8 or GreedyPMC moves, and nothing here uses either; add /per or leave them out",
            );
        }
        None
    }
}

/// Reads a time: whole seconds from 1 to 2³² - 1. The limit keeps all sums of times in range.
///
/// # Errors
///
/// What is allowed.
pub fn whole_seconds(text: &str) -> Result<Span, &'static str> {
    let seconds = text.parse::<u32>().ok().filter(|seconds| *seconds > 0);
    let span = seconds.map(|seconds| Span::from_seconds(i64::from(seconds)));
    span.ok_or("a whole number of seconds, at least 1 and at most 4294967295")
}

/// What a word of the table means, in any case.
fn meaning<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    let mut table = table.iter();
    let found = table.find(|(known, _)| known.eq_ignore_ascii_case(word));
    found.map(|(_, meaning)| *meaning)
}

/// The word of the table that means this.
fn word<T: PartialEq>(table: &[(&'static str, T)], meaning: T) -> Option<&'static str> {
    let found = table.iter().find(|(_, known)| *known == meaning);
    found.map(|(word, _)| *word)
}

/// Alternatives, as a text.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Optimisation::Further(goal) = self.optimisation {
            return formatter.write_str(&goal.name(self));
        }
        formatter.write_str(&self.name_with(None, None))
    }
}

impl Policy {
    /// The policy's name, given words for what it does every period and for its optimisation that
    /// are not the usual ones.
    pub fn name_with(&self, periodic: Option<&str>, optimisation: Option<&str>) -> String {
        let periodic = periodic.or_else(|| word(&PERIODICS, self.periodic));
        let optimisation = optimisation.or_else(|| word(&OPTIMISATIONS, self.optimisation));
        let mut name = String::from(word(&SUBMISSIONS, self.submission).unwrap_or_default());
        if self.opportunistic {
            name += "*";
        }
        for (before, word) in [("/", periodic), ("/OPT=", optimisation)] {
            if let Some(word) = word {
                name += before;
                name += word;
            }
        }
        match self.grace {
            Grace::Nothing => name,
            Grace::FlowTime(bound) => format!("{name}/MINFT={}", bound.seconds()),
            Grace::VirtualTime(bound) => format!("{name}/MINVT={}", bound.seconds()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str) -> String {
        name.parse::<Policy>().unwrap_err().to_string()
    }

    #[test]
    fn the_recommended_policy_has_the_papers_name() {
        let name = "GreedyPM*/per/OPT=MIN/MINVT=600";
        assert_eq!(Policy::recommended().to_string(), name);
        assert_eq!(name.parse(), Ok(Policy::recommended()));
        assert_eq!(
            "greedypm*/PER/opt=min/minvt=600".parse(),
            Ok(Policy::recommended())
        );
    }

    #[test]
    fn every_policy_name_round_trips() {
        let mut read = 0;
        for submission in ["", "Greedy", "GreedyP", "GreedyPM", "MCB8"] {
            for star in ["", "*"] {
                for periodic in ["", "/per"] {
                    for optimisation in ["", "/OPT=MIN"] {
                        for grace in ["", "/MINVT=300", "/MINFT=600"] {
                            let name = format!("{submission}{star}{periodic}{optimisation}{grace}");
                            if let Ok(policy) = name.parse::<Policy>() {
                                assert_eq!(policy.to_string(), name);
                                read += 1;
                            }
                        }
                    }
                }
            }
        }
        // 13 basic algorithms, each with no OPT or one; 10 of them use MCB8 and take MINVT or MINFT.
        assert_eq!(read, 2 * (13 + 10 * 2));
    }

    #[test]
    fn dfrs_policy_names_round_trip() {
        for name in [
            "Greedy*/OPT=VT",
            "GreedyPM*/per/OPT=VT/MINVT=600",
            "GreedyPMC*",
            "GreedyPMC*/OPT=VT/MINVT=600",
            "GreedyPMC*/move-per/OPT=VT/MINVT=600",
            "GreedyPMC*/move-per/OPT=MIN/MINFT=300",
        ] {
            let policy: Policy = name.parse().expect(name);
            assert_eq!(policy.to_string(), name);
            assert_eq!(name.to_lowercase().parse(), Ok(policy), "{name}");
        }
        assert!(error("GreedyPMC").contains("write GreedyPMC*"));
        assert!(error("GreedyPMC*/per").contains("GreedyPMC*[/move-per]"));
        assert!(error("GreedyPM*/move-per").contains("GreedyPMC*[/move-per]"));
        assert!(error("/move-per").contains("GreedyPMC*[/move-per]"));
    }

    #[test]
    fn policies_of_the_papers_experiments_are_refused() {
        for name in [
            "/stretch-per",
            "/Stretch-Per/OPT=VT",
            "GreedyPM*/per/opt=avg/MINVT=600",
            "/stretch-per/OPT=MAX",
            "GREEDY",
            "greedy-pmtn-migr",
            "DYNMCB8-PER 300",
            "dynmcb8",
        ] {
            assert_eq!(
                error(name),
                format!(
                    "policy {name:?} is one of the papers' experiments: dfrs sim, reproduce and decide run it, slurmctld does not; take another one, such as default"
                )
            );
        }
        assert!(error("Greedy").contains("add * or /per"));
    }

    #[test]
    fn overlong_policy_name_is_refused() {
        let message = |length| error(&"G".repeat(length));
        assert!(message(MAX_NAME_BYTES).contains("unknown submission policy"));
        assert_eq!(
            message(MAX_NAME_BYTES + 1),
            "a policy's name of 101 bytes; allowed are 100"
        );
    }

    #[test]
    fn errors_name_the_part_and_what_is_allowed() {
        assert!(error("GreedyX*/per").contains("\"GreedyX*\""));
        assert!(error("GreedyX*/per").contains("GreedyPM"));
        assert!(error("Greedy*/often").contains("\"often\""));
        assert!(error("Greedy*/often").contains("per"));
        assert!(error("Greedy*/per/OPT=BEST").contains("MIN"));
        assert!(error("Greedy*/per/MINVT=soon").contains("seconds"));
        assert!(error("Greedy*/per/MINVT=0").contains("seconds"));
        assert!(error("Greedy*/OPT=MIN/per").contains("out of place"));
        assert!(error("Greedy*/per/per").contains("out of place"));
        assert!(error("Greedy*/per/MINVT=1/MINFT=1").contains("out of place"));
        assert!(error("*/per").contains("submission policy"));
        assert!(error("").contains("nothing would ever start"));
        assert!(error("Greedy").contains("add * or /per"));
        assert!(error("Greedy*/MINVT=600").contains("MCB8"));
        assert!(error("Greedy*/").contains("unknown part"));
        assert!(error("Greedy*/per/MINVT=4294967296").contains("4294967295"));
    }
}
